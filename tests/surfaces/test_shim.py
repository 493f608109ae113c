"""`context-manager.sh`, as the protocol calls it: a real process that hands words on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.working import talked

SHIM = Path(__file__).parents[2] / "scripts" / "context-manager.sh"
RECORDS = '#!/bin/sh\nprintf "%s\\n" "$@"\nexit 7\n'


def ran(root: Path, *words: str, holdfast: str | None = None) -> subprocess.CompletedProcess[str]:
    """The shim, run where `holdfast` is this one, or a script of the test's own."""
    folder = root / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "holdfast"
    program.write_text(holdfast or f'#!/bin/sh\nexec "{sys.executable}" -m holdfast "$@"\n')
    program.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    home = {"HOME": str(root), "HOLDFAST_ROOT": str(root), "PATH": path}
    return subprocess.run(
        [str(SHIM), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **home},
    )


@pytest.mark.parametrize(
    ("words", "handed"),
    [
        (["compact"], ["compress", "--dry-run"]),
        (["compact", "--dry-run"], ["compress", "--dry-run"]),
        (["rules"], ["rules"]),
        (["rules", "--json"], ["rules", "--json"]),
        (["preserve"], ["preserve"]),
        (["preserve", "session_continuity"], ["preserve", "session_continuity"]),
        (["preserve", "two words; ls"], ["preserve", "two words; ls"]),
        (["recover", "1"], ["recover", "--level", "1"]),
        (["recover", "2"], ["recover", "--level", "2"]),
        (["recover", "3"], ["recover", "--level", "3"]),
    ],
)
@pytest.mark.seed("R175", "R176", "R177", "R279", "R280", "R281", "R282", "R283", "R284", "R285")
def test_words_are_handed_on_and_the_exit_code_comes_back(
    tmp_path: Path, words: list[str], handed: list[str]
) -> None:
    done = ran(tmp_path, *words, holdfast=RECORDS)
    assert (done.stdout.splitlines(), done.returncode) == (handed, 7)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["compact", "--force"],
        ["compact", "--dry-run", "x"],
        ["rules", "--xml"],
        ["preserve", "a", "b"],
        ["preserve", "--create"],
        ["recover"],
        ["recover", "4"],
        ["recover", "1", "2"],
        ["recover", "1; ls"],
    ],
)
def test_other_words_are_refused_with_the_usage(tmp_path: Path, words: list[str]) -> None:
    done = ran(tmp_path, *words, holdfast=RECORDS)
    assert (done.stdout, done.returncode) == ("", 2)
    assert done.stderr.startswith("usage: context-manager.sh compact")


def test_help_prints_the_usage(tmp_path: Path) -> None:
    done = ran(tmp_path, "--help", holdfast=RECORDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: context-manager.sh compact")


@pytest.mark.seed("R106", "R281", "R283")
def test_with_the_real_program_it_answers_and_changes_nothing(tmp_path: Path) -> None:
    talked(tmp_path)
    (tmp_path / "NOTES.md").write_text("## Session Continuity\n")
    plan = ran(tmp_path, "compact")
    assert plan.returncode == 0
    assert "### Phases" in plan.stdout
    rules = ran(tmp_path, "rules", "--json")
    assert json.loads(rules.stdout)["schema"] == "holdfast.rules/1"
    assert ran(tmp_path, "preserve").returncode == 1
    assert ran(tmp_path, "preserve", "session_continuity").returncode == 0
    assert ran(tmp_path, "preserve", "nonsense").returncode == 2
    assert (tmp_path / "NOTES.md").read_text() == "## Session Continuity\n"
