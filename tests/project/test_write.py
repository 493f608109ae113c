import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from holdfast.errors import NotWritten
from holdfast.project.write import write_copy

HERE = ".holdfast/cache/offloaded/20260129_142530_bash-0123abcd.md"


def files(root: Path) -> set[str]:
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}


def test_a_copy_appears_whole_and_nothing_else_does(tmp_path: Path) -> None:
    write_copy(str(tmp_path), HERE, b"all\n")
    assert (tmp_path / HERE).read_bytes() == b"all\n"
    assert files(tmp_path) == {HERE}


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_copy_is_readable_by_nobody_else_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_copy(str(tmp_path), HERE, b"all")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / HERE).stat().st_mode) == 0o600
    for folder in (".holdfast", ".holdfast/cache", ".holdfast/cache/offloaded"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700


def test_a_copy_that_is_there_is_left_alone_and_one_that_is_not_right_is_mended(
    tmp_path: Path,
) -> None:
    write_copy(str(tmp_path), HERE, b"all")
    first = (tmp_path / HERE).stat().st_ino
    write_copy(str(tmp_path), HERE, b"all")
    assert (tmp_path / HERE).stat().st_ino == first
    (tmp_path / HERE).write_bytes(b"changed")
    write_copy(str(tmp_path), HERE, b"all")
    assert (tmp_path / HERE).read_bytes() == b"all"
    assert files(tmp_path) == {HERE}


@pytest.mark.parametrize("at", [".holdfast", ".holdfast/cache", ".holdfast/cache/offloaded"])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, at: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / at).parent.mkdir(parents=True)
    outside.mkdir()
    (root / at).symlink_to(outside)
    with pytest.raises(NotWritten) as refused:
        write_copy(str(root), HERE, b"secret")
    assert refused.value.path == HERE
    assert files(outside) == set()


def test_a_link_in_the_place_of_the_copy_is_replaced_and_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / HERE).parent.mkdir(parents=True)
    outside.write_bytes(b"theirs")
    (root / HERE).symlink_to(outside)
    write_copy(str(root), HERE, b"ours")
    assert outside.read_bytes() == b"theirs"
    assert not (root / HERE).is_symlink()
    assert (root / HERE).read_bytes() == b"ours"


@pytest.mark.parametrize("path", ["../out/a.md", ".holdfast/../../out/a.md", "/out/a.md"])
def test_a_path_that_leads_out_of_the_root_is_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with pytest.raises(NotWritten):
        write_copy(str(root), path, b"all")
    assert files(tmp_path) == set()


def test_a_folder_in_the_place_of_the_copy_is_refused_and_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / HERE).mkdir(parents=True)
    with pytest.raises(NotWritten):
        write_copy(str(tmp_path), HERE, b"all")
    assert files(tmp_path) == set()


def test_a_pipe_in_the_place_of_the_copy_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / HERE).parent.mkdir(parents=True)
    os.mkfifo(tmp_path / HERE)
    writing = Thread(target=write_copy, args=(str(tmp_path), HERE, b"all"), daemon=True)
    writing.start()
    writing.join(timeout=10)
    waited = writing.is_alive()
    if waited:
        # Let it go on, so that what failed here holds up nothing else.
        os.close(os.open(tmp_path / HERE, os.O_WRONLY | os.O_NONBLOCK))
        writing.join()
    assert not waited
    assert (tmp_path / HERE).read_bytes() == b"all"


def test_a_root_that_is_gone_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(NotWritten):
        write_copy(str(tmp_path / "gone"), HERE, b"all")
