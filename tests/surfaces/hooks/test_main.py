"""A hook is never in the way: one document or none, exit code 0, in time, and once."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.surfaces.hooks.hooking import HOOK, LARGE, environment, ran_bash, run

GARBAGE = [
    b"",
    b"not json",
    b"[1, 2]",
    b"{",
    b"\xff\xfe\x00",
    b'{"session_id": 7}',
    b'{"session_id": "\\ud800", "tool_use_id": "x", "tool_response": "y"}',
    b"[" * 100_000,
    b'{"session_id": "../../etc/passwd", "cwd": "/nowhere/at/all"}',
]
EVENTS = (
    *("PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "PreCompact"),
    *("SessionStart", "PreToolUse", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"),
    *("session.compact", "session.append", "statusline", "NoSuchEvent"),
)


@pytest.mark.parametrize("raw", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_answered_with_nothing(project: Path, raw: bytes) -> None:
    for event in ("PostToolUse", "SessionStart", "session.compact"):
        done = run(project, event, raw)
        assert (done.code, done.err) == (0, "")
        assert done.out == "" or json.loads(done.out)


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_ends_well_with_one_document_or_none_whatever_is_printed(
    project: Path, event: str
) -> None:
    (project / "sitecustomize.py").write_text("print('a banner'); import sys\n")
    done = run(
        project,
        event,
        {**ran_bash(LARGE), "prompt": "hello", "source": "startup", "error": "it failed"},
        PYTHONWARNINGS="always",
        PYTHONDEVMODE="1",
    )
    assert (done.code, done.err) == (0, "")
    assert done.out == "" or event in ("PreCompact", "statusline") or json.loads(done.out)


@pytest.mark.parametrize(
    "words", [[], ["claude-code"], ["claude-code", "Stop", "more"], ["emacs", "Stop"], ["--help"]]
)
def test_words_that_mean_nothing_never_end_with_the_code_that_stops_an_agent(
    project: Path, words: list[str]
) -> None:
    done = subprocess.run(
        [HOOK, *words],
        cwd=project,
        env=environment(),
        input=b"{}",
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_inside_a_hook_does_nothing(project: Path) -> None:
    done = run(project, "PostToolUse", ran_bash(LARGE), HOLDFAST_HOOK="1")
    assert (done.code, done.out) == (0, "")
    assert not (project / ".holdfast").exists()


def test_a_locked_ledger_is_not_waited_for_longer_than_its_time(project: Path) -> None:
    run(project, "UserPromptSubmit", {"prompt": "Find the bug."})
    ledger: Any = apsw.Connection(str(project / ".holdfast" / "ledger.db"))
    ledger.execute("begin exclusive")
    began = time.monotonic()
    done = run(project, "PostToolUse", ran_bash(LARGE))
    took = time.monotonic() - began
    ledger.execute("rollback")
    ledger.close()
    assert (done.code, done.out, done.err) == (0, "", "")
    assert took < 7.5  # half of what the host waits
    assert "PostToolUse" in (project / ".holdfast" / "hooks.log").read_text()


def test_input_that_is_never_closed_is_given_up(project: Path) -> None:
    with subprocess.Popen(
        [HOOK, "claude-code", "Stop"],
        cwd=project,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as running:
        assert running.wait(timeout=20) == 0


def test_what_goes_wrong_is_logged_and_told_only_to_who_asks(project: Path) -> None:
    (project / ".holdfast").mkdir()
    (project / ".holdfast" / "ledger.db").write_bytes(b"no database" * 100)
    quiet = run(project, "PostToolUse", ran_bash(LARGE))
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    log = project / ".holdfast" / "hooks.log"
    assert "claude-code PostToolUse: " in log.read_text()
    assert (log.stat().st_mode & 0o777) == 0o600
    told = run(project, "PostToolUse", ran_bash(LARGE), HOLDFAST_HOOK_DEBUG="1")
    assert (told.code, told.out) == (0, "")
    assert told.err.startswith("holdfast-hook: claude-code PostToolUse: ")


def test_the_log_begins_afresh_before_it_grows_large(project: Path) -> None:
    (project / ".holdfast").mkdir()
    (project / ".holdfast" / "ledger.db").write_bytes(b"no database" * 100)
    log = project / ".holdfast" / "hooks.log"
    log.write_text("x" * 300_000)
    run(project, "PostToolUse", ran_bash(LARGE))
    assert log.stat().st_size < 10_000
    assert (project / ".holdfast" / "hooks.log.1").stat().st_size == 300_000


def test_a_small_result_loads_nothing_and_leaves_nothing(project: Path) -> None:
    code = (
        "import sys; sys.argv = ['x', 'claude-code', 'PostToolUse']\n"
        "from holdfast.surfaces.hooks import main\n"
        "assert main._answer_or_nothing(sys.argv[1:]) == b''\n"
        "sys.stderr = open(3, 'w'); print(*sys.modules, file=sys.stderr)\n"
    )
    script = f'exec 3>&1; "{HOOK.replace("holdfast-hook", "python")}" -c "$0" 3>&1 >/dev/null'
    done = subprocess.run(
        ["sh", "-c", script, code],
        cwd=project,
        env=environment(HOME=str(project / "home")),
        input=json.dumps({"session_id": "s", **ran_bash("a few words")}),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    modules = done.stdout.split()
    assert "holdfast.surfaces.hooks.main" in modules
    heavy = {"msgspec", "apsw", "click", "splintr", "pathlib", "re", "typing", "json", "logging"}
    assert heavy.intersection(modules) == set()
    assert not (project / ".holdfast").exists()


def test_a_bound_that_somebody_set_holds_for_small_results_too(project: Path) -> None:
    (project / "holdfast.toml").write_text("[offload]\nabove = 300\n")
    done = run(project, "PostToolUse", ran_bash("some words that are many\n" * 120))
    assert "## Offloaded" in done.out
