"""What a live session takes up on disk, and what a compression costs as it grows.

Real sessions are appended one after another to a single one, message by message, as an agent would;
each time round every message says which round it is, so that nothing is stored once for all.
"""

import sys
from collections.abc import Iterator
from itertools import count, islice
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
    words = message.get("content")
    return {**message, "content": f"{words}\n(round {turn})"} if isinstance(words, str) else message


def _say(number: int, length: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{number:,} of {length:,} messages", end="", file=sys.stderr, flush=True)
