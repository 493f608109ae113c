"""Regular files are read up to a bound; everything else is refused in words."""

import os
import socket
from collections.abc import Callable
from errno import EFBIG, EINVAL, ELOOP
from pathlib import Path

import pytest

from holdfast.project.regular_files import open_regular, read_end, read_regular


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def a_folder(place: Path) -> None:
    place.mkdir()


def a_socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))


REFUSED = [
    (a_pipe, "it is a named pipe"),
    (a_device, "it is a device"),
    (a_folder, "it is a folder"),
    (a_socket, "it is a socket"),
]


@pytest.mark.parametrize(("plant", "words"), REFUSED, ids=[one.__name__ for one, _ in REFUSED])
def test_what_is_no_regular_file_is_refused_also_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Callable[[Path], None], words: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    plant(Path("planted"))
    Path("link").symlink_to("planted")
    with pytest.raises(OSError, match=words) as refused:
        read_regular("link", 10, links=True)
    assert (refused.value.errno, refused.value.strerror) == (EINVAL, words)


def test_a_link_is_followed_only_where_it_may_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"words")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_regular(tmp_path / "link", 5, links=True) == b"words"
    with pytest.raises(OSError, match="it is a symbolic link") as refused:
        read_regular(tmp_path / "link", 5, links=False)
    assert refused.value.errno == ELOOP


@pytest.mark.parametrize(("size", "most"), [(6, "0 kB"), (2_049, "2 kB"), (3 * 1024**2, "2 MB")])
def test_a_file_that_is_larger_than_it_may_be_is_refused(
    tmp_path: Path, size: int, most: str
) -> None:
    (tmp_path / "file").write_bytes(b"x" * size)
    bound = {"0 kB": 5, "2 kB": 2_048, "2 MB": 2 * 1024**2}[most]
    with pytest.raises(OSError, match=f"it has more than {most}") as refused:
        read_regular(tmp_path / "file", bound, links=False)
    assert refused.value.errno == EFBIG
    assert read_regular(tmp_path / "file", size, links=False) == b"x" * size


def test_a_file_without_a_size_is_read_up_to_its_bound() -> None:
    with pytest.raises(OSError, match="it has more than"):
        read_regular("/proc/self/maps", 10, links=False)


def test_a_file_is_found_relative_to_an_open_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"words")
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert read_regular("file", 5, links=False, folder=folder) == b"words"
    finally:
        os.close(folder)


def test_the_end_of_a_file_is_read_without_the_rest(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_end(tmp_path / "file", 4, links=False) == b"6789"
    assert read_end(tmp_path / "file", 40, links=False) == b"0123456789"


def test_a_file_that_is_not_there_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "file", links=True)


def test_a_refused_file_leaves_no_descriptor_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with pytest.raises(OSError, match="it is a named pipe"):
            open_regular(tmp_path / "pipe", links=False)
    assert len(os.listdir("/proc/self/fd")) == before
