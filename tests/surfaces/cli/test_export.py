import json
from pathlib import Path

import pytest

from holdfast.errors import NotRecorded, Unreadable
from holdfast.session.open import open as open_session
from tests.input.making import LEDGERLY, coded, line, run, told
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.test_ingest import BUNDLED

DOCUMENTS = {
    "lines": LEDGERLY.read_bytes(),
    "an array": b'[\n  {"role": "user", "content": "1"},\n\t{"role":"tool","content":"2"}\n]\n',
    "a request": b'{"model":"gpt-4o", "messages" : [ {"role":"user","content":"one"} ] , "n":1}',
    "carriage returns": told("one").replace(b"\n", b"\r\n") * 3,
    "no newline": told("one").rstrip(b"\n"),
    "a mark": b"\xef\xbb\xbf" + told("one"),
    "blank lines": b"\n\n" + told("one") + b"\n \n",
    "odd spelling": b'{"content" : "\\u0041\\/","role":"user","role":"user"}\n',
}


@pytest.mark.parametrize("what", DOCUMENTS)
def test_bytes_come_back_as_they_came(what: str, project: Path) -> None:
    (project / "in.jsonl").write_bytes(DOCUMENTS[what])
    done("ingest", "in.jsonl", "--session", "s")
    result = invoke("export", "s")
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, DOCUMENTS[what], "")
    assert done("export", "-o", "out.jsonl") == ""
    assert (project / "out.jsonl").read_bytes() == DOCUMENTS[what]


def test_bytes_come_back_from_a_process_of_its_own(project: Path) -> None:
    done("ingest", str(LEDGERLY))
    ran = run("export", BUNDLED[:5], cwd=project)
    assert (ran.code, ran.out.encode(), ran.err) == (0, LEDGERLY.read_bytes(), "")


def test_json_reports_on_the_file_that_was_written(project: Path) -> None:
    done("ingest", str(LEDGERLY))
    assert document("export", "--output", "out.jsonl") == {
        "schema": "holdfast.export/1",
        "session": BUNDLED,
        "path": "out.jsonl",
        "bytes": LEDGERLY.stat().st_size,
        "sources": [],
    }
    assert invoke("export", "--json").exit_code == 2
    assert (project / "out.jsonl").read_bytes() == LEDGERLY.read_bytes()


def test_the_file_of_a_sub_agent_is_exported_by_its_name(project: Path) -> None:
    side = line({**coded("aside", 0), "isSidechain": True, "agentId": "a1"})
    (project / "main.jsonl").write_bytes(line(coded("main", 0)))
    (project / "agent-a1.jsonl").write_bytes(side)
    done("ingest", "main.jsonl", "agent-a1.jsonl")
    assert invoke("export", "--source", "agent-a1").stdout_bytes == side
    whole = invoke("export")
    assert whole.stdout_bytes == line(coded("main", 0))
    assert "agent-a1" in whole.stderr
    result = invoke("export", "--source", "agent-a2")
    assert isinstance(result.exception, NotRecorded)
    assert (result.exception.what, result.exception.name) == ("source", "agent-a2")


def test_a_session_told_message_by_message_is_exported_as_an_array(project: Path) -> None:
    messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    with open_session("live", root=project) as session:
        session.extend(messages)
    assert json.loads(done("export", "live")) == messages


@pytest.mark.parametrize("output", ["missing/out.jsonl", "folder", "in.jsonl/out"])
def test_a_place_that_cannot_be_written_is_refused(output: str, project: Path) -> None:
    (project / "folder").mkdir()
    (project / "in.jsonl").write_bytes(told("one"))
    done("ingest", "in.jsonl")
    result = invoke("export", "-o", output)
    assert isinstance(result.exception, Unreadable)
    assert result.exception.where == output
