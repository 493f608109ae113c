"""A turn costs what is new: a durable append and the work of `messages()`, by session length.

Copying the list that `messages()` returns is measured apart and taken off: it is as long as the
window, whoever makes it. In a fresh process the window has to be read back once; that is a number
of its own, and so is what a hook needs: the append and the level.
"""

import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import holdfast
from benchmarks.table import print_table
from holdfast.engine.live_window import message_dicts
from holdfast.session.session import Session

LENGTHS = (100, 1_000, 10_000, 100_000)
ROUNDS = 60

FRESH = """
import sys, time
import holdfast, holdfast.session.open, holdfast.stores.sqlite
start = time.perf_counter()
with holdfast.open("s", root=sys.argv[1]) as session:
    session.append({"role": "user", "content": "one more"})
    session.status(quick=True).level
    decided = time.perf_counter()
    if sys.argv[2] == "messages":
        session.messages()
print(decided - start, time.perf_counter() - decided)
"""


def run() -> None:
    """Print the tables."""
    live: dict[int, tuple[float, float]] = {}
    fresh: dict[int, tuple[float, float]] = {}
    for length in LENGTHS:
        with TemporaryDirectory() as root:
            with holdfast.open("s", root=root) as session:
                _fill(session, length)
                live[length] = _live(session)
            fresh[length] = _fresh(root)
    first = LENGTHS[0]
    print_table(
        "Append and messages(), a live session (copying the list aside)",
        ("messages", "per turn", "against 100", "copying the list, a message"),
        [
            (
                f"{n:,}",
                f"{turn * 1e3:.2f} ms",
                f"{turn / live[first][0]:.2f}×",
                f"{copy / n * 1e6:.1f} µs",
            )
            for n, (turn, copy) in live.items()
        ],
    )
    print_table(
        "The same in a fresh process",
        ("messages", "open, append, level", "against 100", "reading the window back, a message"),
        [
            (
                f"{n:,}",
                f"{turn * 1e3:.2f} ms",
                f"{turn / fresh[first][0]:.2f}×",
                f"{read / n * 1e6:.1f} µs",
            )
            for n, (turn, read) in fresh.items()
        ],
    )


def _fill(session: Session, length: int) -> None:
    for start in range(0, length, 1_000):
        stop = min(start + 1_000, length)
        session.extend(_message(number) for number in range(start, stop))
    session.messages()
    session.status()


def _message(number: int) -> dict[str, object]:
    role = "assistant" if number % 2 else "user"
    return {"role": role, "content": f"message {number}: " + "words and more words " * 10}


def _live(session: Session) -> tuple[float, float]:
    """Seconds of a turn, and of copying the list it ends with."""
    turns: list[float] = []
    copies: list[float] = []
    raws: list[bytes] = []
    for number in range(ROUNDS):
        start = perf_counter()
        session.append(_message(number))
        raws = session.ledger.live_window.messages()
        turns.append(perf_counter() - start)
    # Afterwards: copying a hundred thousand dictionaries would throw the turns out of the caches.
    for _ in range(5):
        start = perf_counter()
        message_dicts(raws)
        copies.append(perf_counter() - start)
    return median(turns), median(copies)


def _fresh(root: str) -> tuple[float, float]:
    runs = [_process(root, "level") for _ in range(9)]
    reads = [_process(root, "messages") for _ in range(3)]
    return median(turn for turn, _ in runs), min(read for _, read in reads)


def _process(root: str, what: str) -> tuple[float, float]:
    out = subprocess.run(
        [sys.executable, "-c", FRESH, root, what], check=True, capture_output=True, text=True
    ).stdout
    turn, read = out.split()
    return float(turn), float(read)
