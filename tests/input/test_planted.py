"""What somebody planted where the store should be is refused, and what it points at stays."""

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError, StoreRefused
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from tests.input.making import chat, listing, run

TREASURE = b"somebody else's bytes"
Plant = Callable[[Path, Path], None]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project next to something that must not be touched."""
    (tmp_path / "victim").mkdir(mode=0o700)
    (tmp_path / "victim" / "treasure").write_bytes(TREASURE)
    (tmp_path / "empty").mkdir(mode=0o700)
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def link_to_a_folder(place: Path, around: Path) -> None:
    place.symlink_to(around / "victim")


def link_to_an_empty_folder(place: Path, around: Path) -> None:
    place.symlink_to(around / "empty")


def link_to_a_file(place: Path, around: Path) -> None:
    place.symlink_to(around / "victim" / "treasure")


def link_to_nothing(place: Path, around: Path) -> None:
    place.symlink_to(around / "victim" / "not there yet")


def link_to_itself(place: Path, around: Path) -> None:
    del around
    place.symlink_to(place)


def pipe(place: Path, around: Path) -> None:
    del around
    os.mkfifo(place)


def second_name(place: Path, around: Path) -> None:
    os.link(around / "victim" / "treasure", place)


def folder(place: Path, around: Path) -> None:
    del around
    place.mkdir(mode=0o700)


def plain_file(place: Path, around: Path) -> None:
    del around
    place.write_bytes(TREASURE)


AT_FOLDER = (
    link_to_a_folder,
    link_to_an_empty_folder,
    link_to_a_file,
    link_to_nothing,
    link_to_itself,
    pipe,
    second_name,
    plain_file,
)
AT_LEDGER = (
    link_to_a_folder,
    link_to_a_file,
    link_to_nothing,
    link_to_itself,
    pipe,
    second_name,
    folder,
)
AT_LOG = (link_to_a_folder, link_to_a_file, link_to_nothing, link_to_itself, folder)


def _whole(around: Path) -> dict[str, tuple[int, bytes]]:
    return listing(around / "victim") | listing(around / "empty")


@pytest.mark.parametrize("plant", AT_FOLDER)
def test_a_store_folder_that_is_something_else_is_refused(
    plant: Plant, project: Path, tmp_path: Path
) -> None:
    plant(project / ".holdfast", tmp_path)
    before = _whole(tmp_path), os.lstat(project / ".holdfast")
    with pytest.raises(StoreRefused) as caught:
        open_store(project)
    assert caught.value.path == str(project / ".holdfast")
    (project / "a.jsonl").write_bytes(b"".join(chat(2)))
    assert run("ingest", "a.jsonl", cwd=project).code == StoreRefused.exit_code
    assert (_whole(tmp_path), os.lstat(project / ".holdfast")) == before


@pytest.mark.parametrize("plant", AT_LEDGER)
def test_a_ledger_that_is_something_else_is_refused(
    plant: Plant, project: Path, tmp_path: Path
) -> None:
    (project / ".holdfast").mkdir(mode=0o700)
    plant(project / ".holdfast" / "ledger.db", tmp_path)
    before = _whole(tmp_path)
    with pytest.raises(StoreRefused) as caught:
        open_store(project)
    assert caught.value.path == str(project / ".holdfast" / "ledger.db")
    assert _whole(tmp_path) == before


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("plant", AT_LOG)
def test_a_log_that_is_something_else_is_refused_and_what_it_points_at_stays(
    plant: Plant, ending: str, project: Path, tmp_path: Path
) -> None:
    (project / ".holdfast").mkdir(mode=0o700)
    plant(project / ".holdfast" / f"ledger.db{ending}", tmp_path)
    before = _whole(tmp_path)
    try:
        with open_session("s", root=project) as session:
            session.append({"role": "user", "content": "hello"})
    except HoldfastError:
        pass
    assert _whole(tmp_path) == before


@pytest.mark.parametrize("plant", [link_to_a_file, link_to_nothing, second_name, pipe, folder])
def test_an_ignore_file_that_is_something_else_is_left_alone(
    plant: Plant, project: Path, tmp_path: Path
) -> None:
    (project / ".holdfast").mkdir(mode=0o700)
    plant(project / ".holdfast" / ".gitignore", tmp_path)
    before = _whole(tmp_path), os.lstat(project / ".holdfast" / ".gitignore")
    try:
        with open_session("s", root=project) as session:
            session.append({"role": "user", "content": "hello"})
    except StoreRefused:
        pass
    assert (_whole(tmp_path), os.lstat(project / ".holdfast" / ".gitignore")) == before


def test_a_store_folder_others_may_write_to_is_refused(project: Path) -> None:
    (project / ".holdfast").mkdir()
    (project / ".holdfast").chmod(0o777)
    with pytest.raises(StoreRefused) as caught:
        open_store(project)
    assert caught.value.path == str(project / ".holdfast")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_store_folder_of_another_user_is_refused(project: Path) -> None:
    (project / ".holdfast").mkdir(mode=0o700)
    os.chown(project / ".holdfast", 12345, 12345)
    with pytest.raises(StoreRefused) as caught:
        open_store(project)
    assert caught.value.path == str(project / ".holdfast")


@pytest.mark.parametrize("below", ["file", "file/below"])
def test_a_project_that_is_a_file_is_refused_in_our_words(below: str, project: Path) -> None:
    (project / "file").write_bytes(TREASURE)
    with pytest.raises(StoreRefused):
        open_store(project / below)
    assert (project / "file").read_bytes() == TREASURE


@contextmanager
def _swapping(place: Path, victim: Path) -> Generator[None]:
    """A thread that turns a folder into a link and back, as fast as it can."""
    over = threading.Event()
    aside = place.with_name("aside")

    def swap() -> None:
        while not over.is_set():
            try:
                os.rename(place, aside)
                os.symlink(victim, place)
                os.unlink(place)
                os.rename(aside, place)
            except OSError:
                # The store made its folder anew in between: take that one.
                if os.path.islink(place):
                    os.unlink(place)
                if aside.exists() and not place.exists():
                    os.rename(aside, place)
                elif aside.exists():
                    os.rename(aside, place.with_name(f"aside-{os.urandom(8).hex()}"))

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _race(project: Path, tmp_path: Path, opens: int) -> None:
    before = _whole(tmp_path)
    leaked: list[str] = []
    with _swapping(project / ".holdfast", tmp_path / "empty"):
        for at in range(opens):
            try:
                with open_session(f"s{at % 10}", root=project) as session:
                    session.append({"role": "user", "content": "hello"})
            except HoldfastError:
                continue
            except OSError as error:
                leaked.append(type(error).__name__)
    assert _whole(tmp_path) == before
    assert leaked == []


def test_a_folder_swapped_for_a_link_while_it_is_opened_is_never_written_through(
    project: Path, tmp_path: Path
) -> None:
    _race(project, tmp_path, 500)


@pytest.mark.slow
def test_ten_thousand_swaps_are_never_written_through(project: Path, tmp_path: Path) -> None:
    _race(project, tmp_path, 10_000)
