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
