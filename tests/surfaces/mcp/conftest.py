"""A project with a session in it, for servers to work on."""

from pathlib import Path

import pytest

from tests.surfaces.cli.working import recorded


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder that a server is started in; its session is called `live`."""
    root = tmp_path / "project"
    root.mkdir()
    recorded(root)
    return root
