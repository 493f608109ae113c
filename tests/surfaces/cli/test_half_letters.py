"""Messages with half a letter (a lone surrogate) in them, through the command line."""

import json
from pathlib import Path

from tests.input.making import run

HALF = "lone \udfff end"


def test_messages_with_half_a_letter_are_printed_as_json_that_reads_back_equal(
    tmp_path: Path,
) -> None:
    said = [{"role": "user", "content": HALF}, {"role": "assistant", "content": "Ok."}]
    (tmp_path / "messages.json").write_text(json.dumps(said))
    ran = run("--root", str(tmp_path), "compress", "messages.json", "--json", cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["messages"] == said


def test_a_result_with_half_a_letter_is_found_and_printed_with_a_sign_for_it(
    tmp_path: Path,
) -> None:
    command = {"name": "bash", "arguments": json.dumps({"command": f"grep {HALF} notes.md"})}
    said = [
        {"role": "user", "content": "Find it."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": command}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "nothing"},
    ]
    (tmp_path / "messages.json").write_text(json.dumps(said))
    assert run("--root", str(tmp_path), "ingest", "messages.json", cwd=tmp_path).code == 0
    ran = run("--root", str(tmp_path), "recover", "lone", cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "lone \ufffd end" in ran.out
