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
from holdfast.session import Session

LENGTHS = (1_000, 10_000, 100_000)
LOOK = 25
"""Messages between two requests: looking at each would only repeat the same answer."""


def run() -> None:
    """Print the table."""
    if data_folder() is None:
        print("growth: no sessions; set HOLDFAST_DATA to the folder that holds dev/")
        return
    print_table(
        "A live session on disk: real messages appended one by one, window of 200,000 tokens",
        ("messages", "bytes in", "bytes stored", "stored / in", "an append", "last compression"),
        [_row(length) for length in LENGTHS],
    )


def _row(length: int) -> tuple[str, ...]:
    given, appending, last = 0, 0.0, 0.0
    with TemporaryDirectory() as root:
        with holdfast.open("s", root=root, model="claude-sonnet-4-5", window=200_000) as session:
            for number, message in enumerate(islice(_messages(), length)):
                given += len(msgspec.json.encode(message))
                start = process_time()
                session.append(message)
                appending += process_time() - start
                if number % LOOK == 0:
                    last = _looked(session) or last
                    _say(number, length)
        stored = sum(file.stat().st_size for file in Path(root).rglob("ledger.db*"))
    return (
        f"{length:,}",
        f"{given:,}",
        f"{stored:,}",
        f"{stored / given:.2f}×",
        f"{appending / length * 1e6:,.0f} µs",
        f"{last * 1e3:,.0f} ms",
    )


def _looked(session: Session) -> float:
    """Seconds of a request that brought a summary; nothing for any other."""
    before, start = len(session.summary().refs), process_time()
    session.messages()
    took = process_time() - start
    return took if len(session.summary().refs) != before else 0.0


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
