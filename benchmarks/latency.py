"""How long a search takes, and how large its index is, at ten thousand to a million entries.

Entries are lines of real sessions put together anew, so that words are as rare and as frequent as
they are there. Beside it: the engine's full-text search alone, all words of the question OR-ed, and
ripgrep over the same text in files, when it is there. By the clock and by the processor: the first
says what a user waits for on this machine as busy as it is, the second what the work is.
`HOLDFAST_SIZES` names other sizes.
"""

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

import apsw

from benchmarks.data import trajectories
from benchmarks.table import print_table
from holdfast.engine.recover import search
from holdfast.session.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.text.language import COMMON_WORDS
from holdfast.text.words import WORD

SIZES = (10_000, 100_000, 1_000_000)
A_SESSION = 1_000
"""Entries of each session."""
QUESTIONS = 60
SEED = 7
MEGABYTE = 1e6


def run() -> None:
    """Print the table."""
    sizes = tuple(int(size) for size in os.environ.get("HOLDFAST_SIZES", "").split()) or SIZES
    lines = _lines()
    if not lines:
        print("latency: no real sessions here (set HOLDFAST_DATA)")
        return
    header = (
        *("entries", "how", "p50 ms", "p99 ms", "p50 ms of a processor"),
        *("index MB for each MB of text", "indexing"),
    )
    rows: list[tuple[object, ...]] = []
    for size in sizes:
        with TemporaryDirectory() as folder:
            rows.extend(_measured(size, lines, Path(folder)))
    print_table("Search: how long it takes", header, rows)


def _lines() -> list[str]:
    """Every different line of the real sessions, in an order that is always the same."""
    lines: dict[str, None] = {}
    for trajectory in trajectories():
        for message in trajectory["messages"]:
            for line in str(message.get("content") or "").split("\n"):
                if 20 <= len(line) <= 400:
                    lines[line] = None
    made = list(lines)
    random.Random(SEED).shuffle(made)
    return made


def _texts(size: int, lines: Sequence[str]) -> Iterator[str]:
    chance = random.Random(SEED)
    for _ in range(size):
        yield "\n".join(chance.choices(lines, k=chance.choice((1, 1, 2, 3, 5, 8))))


def _questions(lines: Sequence[str]) -> list[str]:
    """Some words of a line, as a person would ask for it."""
    chance = random.Random(SEED + 1)
    asked: list[str] = []
    while len(asked) < QUESTIONS:
        words = [w for w in WORD.findall(chance.choice(lines)) if w.isalpha() and len(w) > 2]
        if len(words) >= 5:
            start = chance.randrange(len(words) - 4)
            asked.append("where did we see the " + " ".join(words[start : start + 5]))
    return asked


def _measured(size: int, lines: Sequence[str], folder: Path) -> list[tuple[object, ...]]:
    asked = _questions(lines)
    text = sum(len(one.encode()) for one in _texts(size, lines)) / MEGABYTE
    with SqliteStore(str(folder / "ledger" / "ledger.db")) as store:
        _fill(store, size, lines)
        start, before = perf_counter(), _worked()
        store.index()
        indexing, worked = perf_counter() - start, _worked() - before
        index = _index_size(Path(store.path)) / text
        mine = _timed(lambda question: search(store, question), asked)
        name = store.sessions()[len(store.sessions()) // 2].name
        one = _timed(lambda question: search(store, question, sessions=[name]), asked)
    plain, size_alone, time_alone, worked_alone = _alone(folder / "alone.db", size, lines, asked)
    count = f"{size:,}"
    rows = [
        (count, "holdfast, all sessions", *mine, f"{index:.2f}", _rate(text, indexing, worked)),
        (count, "holdfast, one session", *one, "", ""),
        (
            count,
            "FTS5 alone",
            *plain,
            f"{size_alone / text:.2f}",
            _rate(text, time_alone, worked_alone),
        ),
    ]
    if shutil.which("rg"):
        rows.append((count, "ripgrep", *_grepped(folder, size, lines, asked), "0", ""))
    return rows


def _rate(text: float, seconds: float, worked: float) -> str:
    return f"{seconds:.1f} s ({worked:.1f} s of a processor, {text / worked:.1f} MB/s)"


def _fill(store: SqliteStore, size: int, lines: Sequence[str]) -> None:
    texts = _texts(size, lines)
    roles = ("user", "assistant")
    for number in range(max(size // A_SESSION, 1)):
        session = Session(f"s{number}", store, owns_store=False)
        some = (next(texts) for _ in range(min(A_SESSION, size)))
        session.extend([{"role": roles[at % 2], "content": text} for at, text in enumerate(some)])


def _index_size(path: Path) -> float:
    """What the index takes in the file, by the engine's own account."""
    db = apsw.Connection(str(path))
    sql = "select sum(pgsize) from dbstat where name glob 'found*' or name in ('spots', 'indexed')"
    size = db.execute(sql).fetchone()
    db.close()
    return float(str(size[0])) / MEGABYTE if size else 0.0


def _timed(ask: Callable[[str], object], asked: Sequence[str]) -> tuple[str, str, str]:
    """The middle and the worst time by the clock, and the middle time of a processor."""
    ask(asked[0])
    took: list[float] = []
    worked: list[float] = []
    for question in asked:
        start, before = perf_counter(), _worked()
        ask(question)
        took.append(perf_counter() - start)
        worked.append(_worked() - before)
    took.sort()
    worked.sort()
    middle, worst = len(took) // 2, int(len(took) * 0.99)
    return _ms(took[middle]), _ms(took[worst]), _ms(worked[middle])


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f}"


def _worked() -> float:
    """Processor time of this process and of those that it waited for."""
    used = (getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _alone(
    path: Path, size: int, lines: Sequence[str], asked: Sequence[str]
) -> tuple[tuple[str, str, str], float, float, float]:
    """The same text and questions in a full-text table that keeps no text."""
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.execute("create virtual table f using fts5(t, content='', tokenize='porter unicode61')")
    texts = list(_texts(size, lines))
    start, before = perf_counter(), _worked()
    with db:
        db.executemany("insert into f(t) values (?)", ((text,) for text in texts))
    took, worked = perf_counter() - start, _worked() - before
    db.pragma("wal_checkpoint", "truncate")

    def ask(question: str) -> object:
        words = " OR ".join(f'"{word}"' for word in WORD.findall(question))
        sql = "select rowid from f where f match ? order by rank limit 5"
        return db.execute(sql, (words,)).fetchall()

    times = _timed(ask, asked)
    db.close()
    return times, path.stat().st_size / MEGABYTE, took, worked


def _grepped(
    folder: Path, size: int, lines: Sequence[str], asked: Sequence[str]
) -> tuple[str, str, str]:
    """Any of the telling words, in files of one session each."""
    place = folder / "files"
    place.mkdir()
    texts = _texts(size, lines)
    for number in range(max(size // A_SESSION, 1)):
        page = "\n\n".join(next(texts) for _ in range(min(A_SESSION, size)))
        (place / f"s{number}.md").write_text(page)

    def ask(question: str) -> object:
        words = [w for w in WORD.findall(question) if w.lower() not in COMMON_WORDS]
        command = ["rg", "-i", "-c", "|".join(words), str(place)]
        return subprocess.run(command, capture_output=True, check=False)

    return _timed(ask, asked)
