import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import NotWritten, Unreadable
from holdfast.project.integrations.files import (
    append_lines,
    file_names,
    read_file,
    resolve,
    rewrite_file,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (tmp_path / "secret.md").write_text("not yours")
    return made


def test_a_file_that_is_not_there_reads_as_nothing(root: Path) -> None:
    assert read_file(str(root), "NOTES.md") is None


@pytest.mark.parametrize(
    "path", ["../secret.md", "a/../../secret.md", "/etc/passwd", "", ".", ".."]
)
def test_a_path_that_leads_out_is_not_opened(root: Path, path: str) -> None:
    for act in (
        lambda: read_file(str(root), path),
        lambda: rewrite_file(str(root), path, lambda _: b"x"),
    ):
        with pytest.raises(Unreadable):
            act()
    assert (root.parent / "secret.md").read_text() == "not yours"


def test_a_path_no_system_takes_is_refused(root: Path) -> None:
    with pytest.raises(Unreadable):
        resolve(str(root), "a\0b")


@pytest.mark.parametrize("target", ["../secret.md", "/etc/passwd"])
def test_a_link_out_of_the_project_is_neither_read_nor_written(root: Path, target: str) -> None:
    (root / "NOTES.md").symlink_to(target)
    with pytest.raises(Unreadable):
        read_file(str(root), "NOTES.md")
    with pytest.raises(Unreadable):
        rewrite_file(str(root), "NOTES.md", lambda _: b"mine")
    with pytest.raises(Unreadable):
        append_lines(str(root), "NOTES.md", b"mine")
    assert (root.parent / "secret.md").read_text() == "not yours"
    assert (root / "NOTES.md").is_symlink()


def test_a_folder_that_links_out_is_not_gone_through(root: Path) -> None:
    (root / "grimoires").symlink_to(root.parent)
    with pytest.raises(Unreadable):
        rewrite_file(str(root), "grimoires/secret.md", lambda _: b"mine")
    with pytest.raises(Unreadable):
        file_names(str(root), "grimoires")


def test_a_link_inside_the_project_is_followed_and_stays_a_link(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "NOTES.md").write_text("old")
    (root / "NOTES.md").symlink_to("docs/NOTES.md")
    assert rewrite_file(str(root), "NOTES.md", lambda known: known + b" new")
    assert (root / "NOTES.md").is_symlink()
    assert (root / "docs" / "NOTES.md").read_text() == "old new"


def test_a_pipe_in_its_place_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "NOTES.md")
    with pytest.raises(Unreadable):
        read_file(str(root), "NOTES.md")


def test_a_folder_in_its_place_is_refused(root: Path) -> None:
    (root / "NOTES.md").mkdir()
    with pytest.raises(Unreadable):
        read_file(str(root), "NOTES.md")


def test_a_file_that_is_too_large_is_refused(root: Path) -> None:
    with (root / "NOTES.md").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    with pytest.raises(Unreadable):
        read_file(str(root), "NOTES.md")


def test_a_rewrite_keeps_who_may_read_the_file_and_leaves_no_draft(root: Path) -> None:
    (root / "NOTES.md").write_text("old")
    (root / "NOTES.md").chmod(0o664)
    rewrite_file(str(root), "NOTES.md", lambda _: b"new")
    assert stat.S_IMODE((root / "NOTES.md").stat().st_mode) == 0o664
    assert [path.name for path in root.iterdir()] == ["NOTES.md"]


def test_a_change_that_changes_nothing_writes_nothing(root: Path) -> None:
    (root / "NOTES.md").write_text("same")
    before = (root / "NOTES.md").stat()
    assert not rewrite_file(str(root), "NOTES.md", lambda known: known)
    assert (root / "NOTES.md").stat().st_ino == before.st_ino


def test_what_an_editor_saved_in_the_meantime_is_kept(root: Path) -> None:
    path = root / "NOTES.md"
    path.write_text("a\n")
    saves = iter(["a\nb\n", "a\nb\nc\n"])

    def change(known: bytes) -> bytes:
        saved = next(saves, None)
        if saved is not None:
            path.write_text(saved)  # someone saves while the new text is being worked out
        return known + b"ours\n"

    assert rewrite_file(str(root), "NOTES.md", change)
    assert path.read_text() == "a\nb\nc\nours\n"


def test_a_file_that_someone_else_keeps_writing_is_left_to_them(root: Path) -> None:
    path = root / "NOTES.md"
    path.write_text("0")
    turns = iter(range(1, 100))

    def change(known: bytes) -> bytes:
        path.write_text(str(next(turns)))
        return known + b"ours"

    with pytest.raises(NotWritten):
        rewrite_file(str(root), "NOTES.md", change)
    assert "ours" not in path.read_text()
    assert [one.name for one in root.iterdir()] == ["NOTES.md"]


def test_a_change_that_fails_leaves_the_file_as_it_was(root: Path) -> None:
    (root / "NOTES.md").write_text("old")

    def change(known: bytes) -> bytes:
        raise KeyError(known)

    with pytest.raises(KeyError):
        rewrite_file(str(root), "NOTES.md", change)
    assert [(one.name, one.read_text()) for one in root.iterdir()] == [("NOTES.md", "old")]


ADD = """
import sys
from holdfast.project.integrations.files import append_lines, rewrite_file
root, who = sys.argv[1:]
for turn in range(40):
    line = f"{who} {turn}\\n".encode()
    rewrite_file(root, "NOTES.md", lambda known: known + line)
    append_lines(root, "log.jsonl", line)
"""


def test_processes_that_write_at_once_lose_no_line_of_each_other(root: Path) -> None:
    (root / "NOTES.md").write_text("first\n")
    running = [
        subprocess.Popen([sys.executable, "-c", ADD, str(root), f"writer{who}"]) for who in range(4)
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0, 0]
    wanted = sorted(f"writer{who} {turn}" for who in range(4) for turn in range(40))
    assert sorted((root / "NOTES.md").read_text().splitlines()) == ["first", *wanted]
    assert sorted((root / "log.jsonl").read_text().splitlines()) == wanted
