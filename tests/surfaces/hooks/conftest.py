"""A project of its own for every test of a hook."""

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder that an agent works in."""
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "home").mkdir()
    return root
