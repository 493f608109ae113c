"""What all commands have in common: help, bad usage, colour, pipes, completion."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import __version__
from holdfast.surfaces.cli.main import COMMANDS
from tests.input.making import LEDGERLY, run, told
from tests.surfaces.cli.commands import done, invoke

PATHS = [(name,) for name in COMMANDS] + [("config", "show")]


@pytest.mark.parametrize("command", PATHS, ids=" ".join)
def test_the_help_of_every_command_shows_an_example(command: tuple[str, ...]) -> None:
    out = done(*command, "--help")
    examples = out.split("Examples:\n")[1]
    assert "holdfast " + command[0] in examples
    assert out == done(*command, "-h")


def test_the_help_lists_every_command_and_an_example() -> None:
    out = done("--help")
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert "Example:  holdfast ingest && holdfast status" in out


def test_the_help_and_the_version_are_shown_by_a_process_of_its_own(tmp_path: Path) -> None:
    assert run("--help", cwd=tmp_path).code == 0
    assert run("--version", cwd=tmp_path) == (0, f"holdfast, version {__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nothing-like-it",),
        ("--nothing-like-it",),
        ("show", "--from", "x"),
        ("show", "a", "b"),
        ("status", "--window", "0"),
        ("status", "--window", "-5"),
        ("ingest", "--wire", "nothing", "x"),
        ("completion", "tcsh"),
        ("completion",),
        ("config", "nothing"),
        ("export", "-o"),
        ("sessions", "--limit", "many"),
        ("compress", "--budget", "0"),
        ("compress", "--profile", "nothing-like-it"),
        ("rules", "--format", "yaml"),
        ("recover",),
        ("run",),
        ("replay",),
        ("log", "--limit", "-1"),
        ("undo", "x"),
    ],
    ids=lambda arguments: " ".join(arguments) or "nothing",
)
def test_bad_usage_ends_with_two_and_writes_to_stderr_only(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ran = run(*arguments, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(("Usage: holdfast", "Error: "))
    assert not (tmp_path / ".holdfast").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed_for_each_shell(shell: str, tmp_path: Path) -> None:
    assert "_HOLDFAST_COMPLETE" in done("completion", shell)
    ran = run("completion", shell, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "_HOLDFAST_COMPLETE" in ran.out


def test_commands_and_sessions_are_completed(project: Path) -> None:
    (project / "alpha.jsonl").write_bytes(told("hello"))
    done("ingest", "alpha.jsonl")
    asked = {"_HOLDFAST_COMPLETE": "bash_complete"}

    def completed(words: str) -> list[str]:
        number = str(len(words.split(" ")) - 1)
        ran = subprocess.run(
            [str(Path(sys.executable).with_name("holdfast"))],
            cwd=project,
            env={**os.environ, **asked, "COMP_WORDS": words, "COMP_CWORD": number},
            capture_output=True,
            check=False,
        )
        return [line.split(",")[1] for line in ran.stdout.decode().splitlines()]

    assert completed("holdfast st") == ["status"]
    assert completed("holdfast show al") == ["alpha"]
    assert completed("holdfast status --session al") == ["alpha"]
    assert completed("holdfast compress --session al") == ["alpha"]
    assert completed("holdfast undo --session al") == ["alpha"]
    assert completed("holdfast rules --profile cl") == ["claude-code"]


def _on_a_terminal(*arguments: str, cwd: Path, **environment: str) -> str:
    """What a command prints when a terminal is looking."""
    leader, follower = pty.openpty()
    variables = {"PATH": os.environ["PATH"], "HOME": str(cwd), "PAGER": "cat", "TERM": "xterm"}
    child = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *arguments],
        cwd=cwd,
        env={**variables, **environment},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(leader, 65_536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    assert child.wait() == 0
    return b"".join(parts).decode()


@pytest.mark.parametrize("command", ["sessions", "status", "fsck"])
def test_colour_is_for_terminals_whose_user_wants_it(command: str, project: Path) -> None:
    done("ingest", str(LEDGERLY))
    assert "\x1b[" in _on_a_terminal(command, cwd=project)
    assert "\x1b[" not in _on_a_terminal(command, cwd=project, NO_COLOR="1")
    assert "\x1b[" not in _on_a_terminal(command, cwd=project, TERM="dumb")


@pytest.mark.parametrize(
    "command", ["sessions", "status", "show", "fsck", "ingest", "log", "intent", "rules"]
)
def test_a_pipe_gets_no_colour(command: str, project: Path) -> None:
    done("ingest", str(LEDGERLY))
    paths = [str(LEDGERLY)] if command == "ingest" else []
    assert "\x1b[" not in run(command, *paths, cwd=project).out
    assert "\x1b[" not in run(command, *paths, cwd=project, NO_COLOR="1", FORCE_COLOR="1").out


@pytest.mark.parametrize("command", ["sessions", "show", "fsck"])
def test_a_pipe_gets_colour_when_it_is_asked_for(command: str, project: Path) -> None:
    done("ingest", str(LEDGERLY))
    assert "\x1b[" in run(command, cwd=project, FORCE_COLOR="1").out


@pytest.mark.parametrize("command", [("show",), ("export",), ("show", "--json")], ids=" ".join)
def test_a_reader_that_goes_away_is_no_error_to_be_told_of(
    command: tuple[str, ...], project: Path
) -> None:
    done("ingest", str(LEDGERLY))
    child = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *command],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() == 141


def test_the_root_is_taken_before_and_behind_the_command(project: Path) -> None:
    elsewhere = project / "elsewhere"
    elsewhere.mkdir()
    (project / "a.jsonl").write_bytes(told("hello"))
    done("--root", "elsewhere", "ingest", "a.jsonl")
    before = json.loads(done("--root", "elsewhere", "sessions", "--json"))
    behind = json.loads(done("sessions", "--root", "elsewhere", "--json"))
    assert before == behind
    assert before["root"] == str(elsewhere)
    assert [row["session"] for row in before["sessions"]] == ["a"]
    assert not (project / ".holdfast").exists()


def test_the_root_is_found_by_variable_and_by_git(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git").mkdir()
    (project / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "down")
    assert json.loads(done("sessions", "--json"))["root"] == str(project)
    monkeypatch.setenv("HOLDFAST_ROOT", str(project / "deep"))
    assert json.loads(done("sessions", "--json"))["root"] == str(project / "deep")


def test_what_nobody_foresaw_ends_with_a_sentence_and_not_with_a_traceback(project: Path) -> None:
    (project / ".holdfast").mkdir(mode=0o700)
    (project / ".holdfast" / "ledger.db").write_bytes(b"this is no database" * 300)
    ran = run("sessions", cwd=project)
    assert (ran.code, ran.out) == (74, "")
    assert ran.err.startswith("holdfast: the store ")
    assert len(ran.err.splitlines()) == 1


def test_an_unknown_command_is_bad_usage_in_process() -> None:
    assert invoke("nothing-like-it").exit_code == 2
