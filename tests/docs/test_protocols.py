"""The page about other protocols: every command on it runs, in order, and does not fail."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "protocols.md"
SESSION = Path(__file__).parents[2] / "examples" / "session" / "ledgerly.jsonl"
COMMANDS = re.findall(r"^    (holdfast .*)$", PAGE.read_text(), re.MULTILINE)
NAMED = ("SES-001", "LAR-006", "LAR-014", "LAR-024", "LAR-028", "LAR-033", "PR-018", "PR-019")
RELATED = ("session-continuity", "synthesis-checkpoint", "jit-retrieval", "attention-budget")


@pytest.mark.seed("R307", "R308", "R309", "R310", "R311", "R312", "R313", "R314", "R315")
def test_every_command_of_the_page_runs(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "holdfast", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HOLDFAST_ROOT": str(tmp_path)},
        )
        assert (words, ran.returncode, ran.stderr if ran.returncode else "") == (words, 0, "")
        return ran.stdout

    run("ingest", str(SESSION))
    printed = {command: run(*shlex.split(command)[1:]) for command in COMMANDS}
    assert [command for command, text in printed.items() if not text.strip()] == []


def test_every_protocol_and_skill_is_on_the_page() -> None:
    page = PAGE.read_text()
    assert [name for name in (*NAMED, *RELATED) if name not in page] == []


def test_the_program_on_the_page_runs(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HOLDFAST_ROOT": str(tmp_path)},
    )
    assert ran.stdout.strip() == "1"
