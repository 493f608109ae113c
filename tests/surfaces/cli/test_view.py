"""`holdfast view`: what would be sent now, and nothing is changed for it."""

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import NotRecorded
from holdfast.session.open import open_store
from tests.input.making import LEDGERLY, run
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import messages, recorded, window_for


@pytest.fixture
def live(project: Path) -> Path:
    """A project with a session that has something to compress."""
    recorded(project)
    return project


def _entries(root: Path) -> int:
    with open_store(root) as store:
        return sum(listed.head.seq for listed in store.sessions())


def _sent(root: Path) -> bytes:
    """What the session sends under a policy that leaves everything as it is."""
    with holdfast.open("live", root=root, policy=holdfast.Policy()) as session:
        return session.wire()


def test_the_messages_are_those_that_would_be_sent(live: Path) -> None:
    found = document("view")
    assert (found["schema"], found["session"], found["format"]) == (
        "holdfast.view/1",
        "live",
        "openai_chat",
    )
    assert found["messages"] == messages()
    assert found["usage"]["tokens"] == document("status")["usage"]["tokens"]
    ran = run("view", "--wire", cwd=live)
    assert (ran.code, ran.out.encode(), ran.err) == (0, _sent(live) + b"\n", "")


def test_what_stands_in_for_what_left_is_shown_as_the_model_reads_it(live: Path) -> None:
    done("compress", "--window", window_for(0.9))
    shown = done("view")
    stand_in = next(
        message["content"] for message in document("view")["messages"] if message["role"] == "tool"
    )
    assert stand_in.startswith("## Offloaded")
    assert stand_in in shown
    assert json.loads(invoke("view", "--wire").stdout) == json.loads(_sent(live))


def test_every_part_stands_under_the_number_and_the_role_of_its_message(live: Path) -> None:
    call = {"id": "c9", "type": "function", "function": {"name": "run", "arguments": '{"a": 1}'}}
    with holdfast.open("talk", root=live) as session:
        session.append({"role": "system", "content": "Be brief."})
        session.append({"role": "user", "content": "Run it."})
        session.append({"role": "assistant", "content": "Running.", "tool_calls": [call]})
        session.append({"role": "tool", "tool_call_id": "c9", "content": "ok\ndone"})
    assert done("view", "talk").split("\n\n") == [
        "## 1 · system",
        "Be brief.",
        "## 2 · user",
        "Run it.",
        "## 3 · assistant",
        "Running.",
        "## 3 · assistant, call c9 of run",
        '{"a": 1}',
        "## 4 · tool, result of c9",
        "ok\ndone\n",
    ]


def test_nothing_is_planned_compressed_or_written_for_a_look(live: Path) -> None:
    before = _entries(live)
    for options in ((), ("--json",), ("--wire",)):
        assert invoke("view", *options).exit_code == 0
    assert (_entries(live), document("log")["events"]) == (before, [])


def test_a_transcript_is_shown_in_the_format_that_its_agent_speaks(project: Path) -> None:
    done("ingest", str(LEDGERLY))
    found = document("view")
    assert (found["format"], found["messages"][0]["role"]) == ("anthropic", "user")
    assert done("view").startswith("## 1 · user\n\n")
    assert _entries(project) > 50


def test_a_session_that_is_not_there_or_holds_no_messages_is_told_of(project: Path) -> None:
    missing = invoke("view")
    assert isinstance(missing.exception, NotRecorded)
    (project / "notes.log").write_text("plain words\nand more\n")
    invoke("ingest", "notes.log")
    ran = run("view", cwd=project)
    assert (ran.code, ran.out) == (NotRecorded.exit_code, "")
    assert ran.err == "holdfast: no message to send in session 'notes.log'\n"
    assert invoke("view", "--wire", "--json").exit_code == 2
