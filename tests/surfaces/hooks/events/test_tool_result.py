"""A large result is stored whole and leaves, in the shape of its tool; a small one stays."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.ledger.entry import ToolReturned
from holdfast.surfaces.hooks.hosts.claude_code import text_of, with_text
from tests.contracts.transcripts import assistant, call, jsonl, result, user
from tests.surfaces.hooks.hooking import HOOK, LARGE, SESSION, environment, ran_bash, run


def output(ran: Any) -> Any:
    return ran.document["hookSpecificOutput"]["updatedToolOutput"]


def reference(text: str) -> str:
    return text.partition("**Ref:** ")[2][:12]


@pytest.mark.seed("R040", "R043", "R217")
def test_a_large_result_leaves_and_all_of_it_can_be_read_by_its_reference(project: Path) -> None:
    shown = output(run(project, "PostToolUse", ran_bash(LARGE)))
    assert shown["isImage"] is False
    text = shown["stdout"]
    assert len(text) < 6_000
    assert "ERROR disk full" in text
    with holdfast.open(SESSION, root=project) as session:
        assert session.read(reference(text)) == LARGE
    path = text.partition("**Path:** ")[2].partition("\n")[0]
    assert (project / path).read_text() == LARGE


def test_what_is_shown_is_said_to_be_estimated(project: Path) -> None:
    text = output(run(project, "PostToolUse", ran_bash(LARGE)))["stdout"]
    told = text.partition("**Tokens Saved:** ")[2].partition("\n")[0]
    assert told.endswith(" (estimated)")
    saved = int(told.split()[0].replace(",", ""))
    from holdfast.models.tokenizers import counter

    count = counter("o200k_base")
    real = count(LARGE) - count(text)
    assert abs(saved - real) < 0.25 * real


SHAPES: list[tuple[Any, str]] = [
    ("text", "text"),
    ([{"type": "text", "text": "one"}, {"type": "image", "data": "x"}], "one\n"),
    ({"stdout": "out", "stderr": "err", "isImage": False}, "out\nerr"),
    ({"type": "text", "file": {"filePath": "/a", "content": "c", "numLines": 1}}, "c"),
    ({"mode": "content", "content": "a:1", "numFiles": 1}, "a:1"),
    ({"result": "page", "code": 200}, "page"),
    ({"stdout": "iVBOR", "isImage": True}, ""),
    ({"type": "create", "filePath": "/a", "content": "c", "structuredPatch": []}, ""),
    ({"isAsync": True, "status": "async_launched"}, ""),
    (None, ""),
]


@pytest.mark.parametrize(("response", "text"), SHAPES)
def test_each_shape_is_read_and_a_replacement_has_the_same(response: Any, text: str) -> None:
    assert text_of(response) == text
    if not text:
        return
    made: Any = with_text(response, "short")
    assert type(made) is type(response)
    assert text_of(made).strip() == "short"
    if isinstance(response, dict):
        assert made.keys() == response.keys()


def test_output_in_a_file_of_the_clients_own_is_read_from_there(
    project: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "tool-results" / "out.txt"
    kept.parent.mkdir()
    kept.write_text(LARGE * 3)
    document = ran_bash(
        LARGE[:30_000], persistedOutputPath=str(kept), persistedOutputSize=len(LARGE) * 3
    )
    shown = output(run(project, "PostToolUse", document))
    assert not any(name.startswith("persisted") for name in shown)
    with holdfast.open(SESSION, root=project) as session:
        assert session.read(reference(shown["stdout"])) == LARGE * 3


def test_no_other_file_is_read_because_a_result_names_it(project: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.txt"
    foreign.write_text("CANARY-17\n" * 9_000)
    fifo = tmp_path / "tool-results"
    fifo.mkdir()
    os.mkfifo(fifo / "pipe")
    for named in (foreign, fifo / "pipe", fifo / "absent.txt"):
        document = ran_bash(LARGE, persistedOutputPath=str(named), persistedOutputSize=1)
        shown = output(run(project, "PostToolUse", document))
        with holdfast.open(SESSION, root=project) as session:
            assert "CANARY-17" not in session.read(reference(shown["stdout"]))


@pytest.mark.parametrize(
    "document",
    [
        ran_bash("a few words"),
        {**ran_bash(LARGE), "tool_name": "Skill"},
        {**ran_bash(LARGE), "tool_name": "mcp__plugin_holdfast_holdfast__context_recover"},
        {**ran_bash(LARGE), "tool_input": {"command": "cat .holdfast/cache/offloaded/x.md"}},
        {
            **ran_bash(""),
            "tool_name": "Read",
            "tool_input": {"file_path": "/a.py", "offset": 100, "limit": 2_000},
            "tool_response": {"type": "text", "file": {"content": LARGE}},
        },
    ],
    ids=["small", "a skill", "recovered by the server", "recovered by hand", "a page of a file"],
)
def test_what_is_small_or_was_asked_for_stays(project: Path, document: dict[str, Any]) -> None:
    assert run(project, "PostToolUse", document).out == ""


def test_what_may_not_be_stored_does_not_leave(project: Path) -> None:
    (project / "holdfast.toml").write_text('[never_store]\ntools = ["Bash"]\n')
    assert run(project, "PostToolUse", ran_bash(LARGE)).out == ""
    assert b"disk full" not in _everything(project)


def test_a_secret_is_not_shown_in_what_stands_there_nor_in_the_copy(project: Path) -> None:
    key = "AKIAIOSFODNN7EXAMPLF"
    secret = (
        f"aws_access_key_id = {key}\naws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzzz\n"
    )
    shown = output(run(project, "PostToolUse", ran_bash(secret + LARGE)))["stdout"]
    assert key not in shown
    (copy,) = (project / ".holdfast/cache/offloaded").iterdir()
    assert key not in copy.read_text()
    with holdfast.open(SESSION, root=project) as session:
        assert key in session.read(reference(shown))


def test_a_failure_is_kept_and_shown_as_it_is(project: Path) -> None:
    done = run(
        project,
        "PostToolUseFailure",
        {"tool_name": "Bash", "tool_use_id": "t9", "error": "Exit code 3\nno such export"},
    )
    assert done.out == ""
    with holdfast.open(SESSION, root=project) as session:
        (kept,) = list(session.store.read(SESSION))
    assert "no such export" in str(kept.body)


def test_the_same_result_told_twice_has_one_name(project: Path) -> None:
    first = output(run(project, "PostToolUse", ran_bash(LARGE)))["stdout"]
    again = output(run(project, "PostToolUse", ran_bash(LARGE)))["stdout"]
    assert reference(first) == reference(again)


def test_original_and_stand_in_meet_when_the_transcript_is_read(
    project: Path, tmp_path: Path
) -> None:
    shown = output(run(project, "PostToolUse", ran_bash(LARGE)))["stdout"]
    transcript = tmp_path / f"{SESSION}.jsonl"
    lines = jsonl(
        user("u1", None, "Find the bug."),
        assistant("a1", "u1", "m1", call("toolu_1", "Bash", command="cat app.log")),
        result("r1", "a1", "toolu_1", shown),
    )
    transcript.write_bytes(lines)
    run(project, "Stop", {"transcript_path": str(transcript)})
    with holdfast.open(SESSION, root=project) as session:
        results = [e for e in session.ledger.path() if isinstance(e.body, ToolReturned)]
        assert [e.body.output for e in results if isinstance(e.body, ToolReturned)] == [LARGE]
        in_sight = [item.body for item in session.ledger.window().items]
        assert ToolReturned("toolu_1", shown) in in_sight
        assert session.read(reference(shown)) == LARGE
        assert session.ledger.find(reference(shown)).id == results[0].id
        (event,) = [one for one in session.log() if one.kind == "TIER_1"]
        assert event.saved > 10_000
        assert [hit.ref for hit in session.recover("disk full")] == [results[0].id[:12]]
        raws = b"".join(s.lead + s.raw for s in session.store.sightings(SESSION))
    assert raws == lines


def test_nothing_of_a_result_is_left_when_its_message_is_purged(
    project: Path, tmp_path: Path
) -> None:
    secret = "a word of its own: quetzalcoatlus"
    shown = output(run(project, "PostToolUse", ran_bash(f"{LARGE}{secret}\n{LARGE}")))["stdout"]
    run(project, "UserPromptSubmit", {"prompt": "Where is the archaeopteryx?"})
    transcript = tmp_path / f"{SESSION}.jsonl"
    asked = user("u1", None, "Where is the archaeopteryx?")
    called = assistant("a1", "u1", "m1", call("toolu_1", "Bash", command="cat app.log"))
    transcript.write_bytes(jsonl(asked, called, result("r1", "a1", "toolu_1", shown)))
    run(project, "Stop", {"transcript_path": str(transcript)})
    with holdfast.open(SESSION, root=project) as session:
        names = [session.ledger.path()[0].id, session.ledger.find(reference(shown)).id]
    command = HOOK.removesuffix("-hook")
    for name in names:
        subprocess.run(
            [command, "purge", SESSION, "--ref", name[:12], "--yes"],
            cwd=project,
            env=environment(HOME=str(project / "home")),
            check=True,
            capture_output=True,
        )
    with holdfast.open(SESSION, root=project) as session:
        everything = str([e.body for e in session.store.read(SESSION)])
    assert "quetzalcoatlus" not in everything
    assert "archaeopteryx" not in everything
    assert b"quetzalcoatlus" not in _everything(project)


def _everything(project: Path) -> bytes:
    files = (path for path in (project / ".holdfast").rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files)
