"""Readers cannot make the write-ahead log grow without end: catalogue R02."""

import os
from pathlib import Path

from holdfast.stores.connection import MAX_LOG_BYTES
from tests.reliability.forks import Child, Forks
from tests.reliability.ledgers import ledger, opened

MEGABYTES = 60
LARGEST_PINNED = 64 * 1024 * 1024


def begin(forks: Forks, root: Path) -> Child:
    with opened(str(root)) as session:
        session.extend([{"role": "user", "content": str(number)} for number in range(3)])
    return forks.start("say_much", str(root), MEGABYTES + 1)


def largest_log(writer: Child, path: str, appends: int) -> int:
    largest = 0
    for _ in range(appends):
        assert writer.hear() is not None
        largest = max(largest, os.stat(f"{path}-wal").st_size)
        writer.tell("again")
    return largest


def test_a_reader_that_stops_half_way_does_not_make_the_log_grow(
    forks: Forks, tmp_path: Path
) -> None:
    path = ledger(str(tmp_path))
    writer = begin(forks, tmp_path)
    reader = forks.start("half_read", path)
    assert reader.hear() == ["reading"]
    largest = largest_log(writer, path, MEGABYTES * 4)
    print(f"at the most {largest / 2**20:.1f} MiB")
    # One transaction may begin when the log is as large as it is kept.
    assert largest <= 2 * MAX_LOG_BYTES
    reader.release()
    writer.kill()


def test_a_pinned_log_stays_bounded_and_shrinks_once_its_reader_is_gone(
    forks: Forks, tmp_path: Path
) -> None:
    path = ledger(str(tmp_path))
    writer = begin(forks, tmp_path)
    reader = forks.start("pin", path)
    assert reader.hear() == ["reading"]
    largest = largest_log(writer, path, MEGABYTES * 4)
    print(f"at the most {largest / 2**20:.1f} MiB")
    assert MAX_LOG_BYTES < largest <= LARGEST_PINNED
    reader.tell("end")
    assert reader.finish() == [["gone"]]
    largest_log(writer, path, 3)
    assert writer.hear() is not None
    assert os.stat(f"{path}-wal").st_size <= MAX_LOG_BYTES
    writer.kill()
