"""The files of a repository that a packet may tell of."""

import subprocess
from pathlib import Path

import pytest

from holdfast.packets.codebase import MAX_FILE_BYTES, read_text_files


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("def app(): ...\n")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "dep.js").write_text("x")
    (tmp_path / "secret.env").write_text("KEY=1\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "latin.txt").write_bytes(b"\xe9\xe8")
    (tmp_path / "huge.txt").write_text("x" * (MAX_FILE_BYTES + 1))
    (tmp_path / "link.py").symlink_to(tmp_path / "src" / "app.py")
    (tmp_path / ".gitignore").write_text("secret.env\n")
    return tmp_path


def test_git_says_what_is_ignored(tree: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    assert sorted(read_text_files(tree)) == [".gitignore", "src/app.py"]


def test_without_git_the_usual_folders_are_left_out(tree: Path) -> None:
    found = read_text_files(tree)
    assert sorted(found) == [".gitignore", "secret.env", "src/app.py"]
    assert found["src/app.py"] == "def app(): ...\n"


def test_no_more_files_are_read_than_asked_for(tree: Path) -> None:
    assert len(read_text_files(tree, limit=1)) == 1
