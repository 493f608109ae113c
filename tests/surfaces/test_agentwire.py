"""`agentwire context …`, as the protocol calls it: a real process that hands words on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.session.open import open as open_session
from tests.packets.test_make_and_deliver import TALK, TASK

SHIM = Path(__file__).parents[2] / "scripts" / "agentwire"
RECORDS = '#!/bin/sh\nprintf "%s\\n" "$HOLDFAST_LAYOUT" "$@"\nexit 7\n'


def ran(root: Path, *words: str, holdfast: str | None = None) -> subprocess.CompletedProcess[str]:
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


@pytest.mark.seed("R275", "R276", "R277", "R278")
@pytest.mark.parametrize(
    "words",
    [
        ["generate", "Add JWT auth", "--depth", "standard"],
        ["preview", "--pane", "1"],
        ["stats"],
        ["clear", "--pane", "1"],
        ["generate", "two words; ls"],
    ],
)
def test_words_are_handed_on_and_the_exit_code_comes_back(tmp_path: Path, words: list[str]) -> None:
    done = ran(tmp_path, "context", *words, holdfast=RECORDS)
    assert (done.stdout.splitlines(), done.returncode) == (["agentwire", "context", *words], 7)


@pytest.mark.parametrize("words", [[], ["contexts"], ["run"]])
def test_other_words_are_wrong_usage(tmp_path: Path, words: list[str]) -> None:
    done = ran(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: agentwire context generate")


@pytest.mark.seed("R271", "R275", "R278")
def test_the_files_are_where_the_protocol_has_them(tmp_path: Path) -> None:
    with open_session("talk", root=tmp_path) as session:
        session.extend(TALK)
    file = tmp_path / ".agentwire/context/pane-1.yaml"
    assert ran(tmp_path, "context", "generate", TASK, "--pane", "1").returncode == 0
    assert TASK in ran(tmp_path, "context", "preview", "--pane", "1").stdout
    assert file.is_file()
    assert ran(tmp_path, "context", "clear", "--pane", "1").returncode == 0
    assert not file.exists()
