"""A project of its own for every test of the command line, and a home that holds nothing yet."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in; `home` beside it is the user's."""
    for name in list(os.environ):
        if name.startswith(("HOLDFAST_", "XDG_", "CLAUDE_", "CODEX_")) or name in (
            "NO_COLOR",
            "FORCE_COLOR",
            "TERM",
        ):
            monkeypatch.delenv(name)
    root = tmp_path / "project"
    (root / "home").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.chdir(root)
    return root
