"""A full disk is said to be full, takes nothing back, and is no end: catalogue D04."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import StoreFull
from tests.reliability.forks import Child, Forks
from tests.reliability.ledgers import bodies, ledger, said, store_at

SIZE = 2 * 1024 * 1024


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk takes root")
    disk = tmp_path / "disk"
    disk.mkdir()
    options = f"size={SIZE},mode=700"
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def appended(child: Child) -> tuple[int, int, int]:
    """How many appends were acknowledged before it was full, were there then, and in all."""
    before = after = there = 0
    for words in child.finish():
        if words[0] == "full":
            there = int(words[1])
        elif there:
            after += 1
        else:
            before += 1
    return before, there, before + after


def check_all_is_there(root: Path, child: Child) -> None:
    before, there, total = appended(child)
    print(f"{before} appends until it was full, {total} in all")
    assert (before > 0, there, total) == (True, before, before + 20)
    with store_at(ledger(str(root))) as store:
        assert bodies(store) == said(total)
        assert list(store.check()) == []


@pytest.mark.parametrize("largest", [200_000, 500_000, 2_000_000])
def test_a_file_that_may_not_grow_keeps_what_was_acknowledged_and_goes_on_when_it_may(
    largest: int, forks: Forks, tmp_path: Path
) -> None:
    check_all_is_there(tmp_path, forks.start("fill_file", str(tmp_path), largest))


def test_a_full_disk_keeps_what_was_acknowledged_and_goes_on_when_there_is_room(
    forks: Forks, small: Path
) -> None:
    ballast = small / "ballast"
    ballast.write_bytes(bytes(SIZE // 2))
    root = small / "project"
    root.mkdir()
    check_all_is_there(root, forks.start("fill_disk", str(root), str(ballast)))


@pytest.mark.parametrize("left", [0, 4_096, 8_192, 40_960, 81_920])
def test_a_store_that_cannot_be_made_on_a_full_disk_can_be_made_once_there_is_room(
    left: int, small: Path
) -> None:
    ballast = small / "ballast"
    # One page more than the file: the folder that holds it.
    ballast.write_bytes(bytes(SIZE - left))
    with pytest.raises(StoreFull):
        store_at(str(small / "store" / "ledger.db"))
    ballast.unlink()
    with store_at(str(small / "store" / "ledger.db")) as store:
        assert (store.sessions(), list(store.check())) == ([], [])
