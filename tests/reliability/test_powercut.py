"""What was acknowledged survives a power cut at any moment: catalogue D02."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reliability.ledgers import bodies, ledger, said, store_at
from tests.reliability.powercut import (
    Image,
    Moment,
    can_record,
    laid_down,
    moments,
    record,
    synced_folders,
)

pytestmark = pytest.mark.skipif(not can_record(), reason="strace is missing or not permitted")

MANY = 130
"""Appends: enough for the log to be written back and begun again."""
OLD = "3.40.1"
"""An engine that gets the rollback journal."""


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder in memory where there is one: images are read back, not kept."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


def drawn(moment: Moment, torn: int, draw: random.Random) -> Iterator[Image]:
    if moment.is_ack:
        yield moment.disk.worst()
    for _ in range(torn if moment.is_ack else 1):
        yield moment.disk.torn(draw)


def check(image: Image, acked: int, folder: Path, engine: str) -> None:
    path = laid_down(image, folder)
    with store_at(path, engine=engine or None) as store:
        found = bodies(store)
        assert found == said(len(found))
        # One more than acknowledged may be there: it was safe before it was said to be.
        assert acked <= len(found) <= acked + 1
        assert list(store.check()) == []
    shutil.rmtree(folder)


def cut(calls: list[str], root: Path, quick: Path, *, torn: int, engine: str = "") -> int:
    draw = random.Random(7)
    images = written_back = 0
    for moment in moments(calls, str(Path(ledger(str(root))).parent)):
        for image in drawn(moment, torn, draw):
            check(image, moment.acked, quick / str(images), engine)
            images += 1
        written_back = len(moment.disk.worst().get("ledger.db", b""))
    # Without the log written back into the database, half of what can go wrong was not tried.
    assert written_back > 50_000
    return images


@pytest.mark.parametrize(
    ("torn", "least"), [(2, 400), pytest.param(14, 2_000, marks=pytest.mark.slow)]
)
def test_no_power_cut_takes_back_what_was_acknowledged(
    tmp_path: Path, quick: Path, torn: int, least: int
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    images = cut(record(root, MANY), root, quick, torn=torn)
    print(f"{images} images, 0 corrupt, 0 acknowledged entries lost")
    assert images >= least


def test_no_power_cut_takes_back_what_was_acknowledged_under_the_rollback_journal(
    tmp_path: Path, quick: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    images = cut(record(root, 40, OLD), root, quick, torn=4, engine=OLD)
    print(f"{images} images, 0 corrupt, 0 acknowledged entries lost")
    assert images >= 200


def test_a_new_ledgers_folder_is_safely_in_its_project_before_anything_is_acknowledged(
    tmp_path: Path,
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    folder = Path(ledger(str(root))).parent
    steps = synced_folders(record(root, 1))
    assert f"synced {root}" in steps[steps.index(f"made {folder}") :]
