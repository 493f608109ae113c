"""What a live session takes up on disk, and what a compression costs as it grows.

Real sessions are appended one after another to a single one, message by message, as an agent would;
each time round every message says which round it is, so that nothing is stored once for all.

`python -m benchmarks.growth WINDOW LENGTH` prints the rows of one live session of another length.
"""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import msgspec

import holdfast
from benchmarks.data import data_folder, trajectories
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Compressed
from holdfast.session.session import Session

COMPRESSED = (1_000, 3_000, 10_000)
APPENDED = (10_000, 100_000)
WINDOWS = (20_000, 200_000)
MARKS = (500, 1_000, 2_000, 4_000, 20_000)
"""Numbers of messages after which the next stretch is measured."""
STRETCH = 500
LIVE_LENGTH = 4_500
PAGE_BYTES = 4_096
LOOK = 25
"""Messages between two requests: looking at each would only repeat the same answer."""


def run() -> None:
    """Print the table."""
    if data_folder() is None:
        print("growth: no sessions; set HOLDFAST_DATA to the folder that holds dev/")
        return
    print_table(
        "A live session on disk: real messages appended one by one, window of 200,000 tokens",
        (
            *("messages", "bytes in", "stored / in", "readable copies / in", "an append"),
            *("summaries", "the last one took"),
        ),
        [
            *(_row(length, compressed=True) for length in COMPRESSED),
            *(_row(length, compressed=False) for length in APPENDED),
        ],
    )
    print_live(WINDOWS, LIVE_LENGTH)


def print_live(windows: Sequence[int], length: int) -> None:
    """Print what each stretch of a live session takes: a message, then what to send."""
    rows: list[tuple[str, ...]] = []
    for window in windows:
        # A process of its own: its memory holds no other session.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows += pool.submit(live_rows, window, length).result()
    print_table(
        "A live session: append and messages() for each message",
        (
            "window",
            "messages",
            f"{STRETCH} more",
            "memory",
            "bytes in",
            "ledger / in",
            "files / in",
        ),
        rows,
    )


def live_rows(window: int, length: int) -> list[tuple[str, ...]]:
    """Run a session of this window and length; return a row for each measured stretch."""
    rows: list[tuple[str, ...]] = []
    given, start = 0, 0.0
    with (
        TemporaryDirectory() as root,
        holdfast.open("s", root=root, model="claude-sonnet-4-5", window=window) as session,
    ):
        for number, message in enumerate(islice(_messages(), length), 1):
            given += len(msgspec.json.encode(message))
            session.append(message)
            session.messages()
            if number - STRETCH in MARKS:
                took = process_time() - start
                ledger, files = _sizes(Path(root))
                rows.append(
                    (
                        *(f"{window:,}", f"{number - STRETCH:,}", f"{took:.2f} s"),
                        *(f"{_memory() / 1e6:,.0f} MB", f"{given:,}"),
                        *(f"{ledger / given:.2f}×", f"{files / given:.2f}×"),
                    )
                )
                _say(number, length)
            if number in MARKS:
                start = process_time()
    return rows


def _memory() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def _row(length: int, *, compressed: bool) -> tuple[str, ...]:
    given, appending, looks = 0, 0.0, list[float]()
    with TemporaryDirectory() as root:
        with holdfast.open("s", root=root, model="claude-sonnet-4-5", window=200_000) as session:
            for number, message in enumerate(islice(_messages(), length)):
                given += len(msgspec.json.encode(message))
                start = process_time()
                session.append(message)
                appending += process_time() - start
                if compressed and number % LOOK == 0:
                    looks += _looked(session)
                    _say(number, length)
        stored, copied = _sizes(Path(root))
    return (
        f"{length:,}",
        f"{given:,}",
        f"{stored / given:.2f}×",
        f"{copied / given:.2f}×",
        f"{appending / length * 1e6:,.0f} µs",
        f"{len(looks)}",
        f"{looks[-1] * 1e3:,.0f} ms" if looks else "–",
    )


def _sizes(root: Path) -> tuple[int, int]:
    """Bytes of the ledger, and of the copies for people."""
    files = [file for file in root.rglob("*") if file.is_file()]
    ledger = sum(file.stat().st_size for file in files if file.name.startswith("ledger.db"))
    return ledger, sum(file.stat().st_size for file in files) - ledger


def _looked(session: Session) -> list[float]:
    """Seconds of a request that brought a summary; nothing for any other."""
    before = session.store.head(session.name)
    start = process_time()
    session.messages()
    took = process_time() - start
    new = session.store.read(session.name, since=before.seq if before else 0)
    made = [e for e in new if isinstance(e.body, Compressed) and e.body.summary is not None]
    return [took] if made else []


def _messages() -> Iterator[dict[str, Any]]:
    for turn in count():
        for trajectory in trajectories():
            for message in trajectory["messages"]:
                yield _marked(message, turn)


def _marked(message: dict[str, Any], turn: int) -> dict[str, Any]:
    """Return a message that says its round, with ids of calls that no other round has."""
    marked = dict(message)
    if isinstance(words := message.get("content"), str):
        marked["content"] = f"{words}\n(round {turn})"
    if "tool_call_id" in message:
        marked["tool_call_id"] = f"{message['tool_call_id']}-{turn}"
    if "tool_calls" in message:
        calls = message["tool_calls"]
        marked["tool_calls"] = [{**call, "id": f"{call['id']}-{turn}"} for call in calls]
    return marked


def _say(number: int, length: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{number:,} of {length:,} messages", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    print_live([int(sys.argv[1])], int(sys.argv[2]))
