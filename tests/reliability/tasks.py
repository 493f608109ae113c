"""What children do. Each says what it has done once the product has said that it is done."""

import os
import resource
import time
from collections.abc import Callable
from itertools import count

import apsw

import holdfast
from holdfast.errors import Conflict, StoreFull
from holdfast.models.tokenizers import VOCABULARIES, counter
from holdfast.stores.sqlite import SqliteStore
from holdfast.transcripts.follow import follow as follow_file
from tests.reliability.failing import kill_at
from tests.reliability.forks import Line
from tests.reliability.later import later_release
from tests.reliability.ledgers import (
    SESSION,
    TESTS,
    document,
    engine_at,
    ledger,
    message,
    opened,
    plan,
    store_at,
    text,
)

AT_ONCE = 6
"""Appends until an appender waits to be told to go on, so that compressors get their turn."""


def warm_up() -> None:
    """Load what is otherwise loaded late, so that every child has it."""
    for vocabulary in VOCABULARIES:
        counter(vocabulary)(text(5))


def append(line: Line, root: str, project: str = TESTS) -> None:
    """Append for ever, from where the session ends."""
    with opened(root, project=project) as session:
        head = session.store.head(SESSION)
        for number in count(head.seq if head else 0):
            session.append(message(number))
            line.tell(number)


def commit(line: Line, root: str) -> None:
    """Append and compress for ever; says the number and the name of every entry."""
    with opened(root) as session:
        head = session.store.head(SESSION)
        done = head.lane("").messages if head else 0
        for number in count(done):
            session.append(message(number))
            line.tell(*_end_of(session))
            if number % 3 == 2:
                written = session.ledger.commit(plan(session.ledger.window())).entries[0]
                line.tell(written.seq, written.id)


def _end_of(session: holdfast.Session) -> tuple[int, str]:
    window = session.ledger.window()
    return window.ledger[-1].seq, str(window.end)


def ingest(line: Line, root: str, first: int) -> None:
    """Ingest one file after another for ever."""
    with store_at(ledger(root)) as store:
        for number in count(first):
            path = os.path.join(root, f"f{number}.jsonl")
            with open(path, "wb") as file:
                file.write(document(number))
            holdfast.ingest(path, store)
            line.tell(number)


def follow(line: Line, root: str, path: str) -> None:
    """Read what is new in a transcript whenever told to; says how many entries that were."""
    with store_at(ledger(root)) as store:
        line.tell("ready")
        while line.hear() is not None:
            line.tell(follow_file(store, SESSION, path))


def append_some(line: Line, root: str, session: str, by: str, many: int) -> None:
    """Append a number of messages, once told to begin; says how long the slowest took."""
    line.tell("ready")
    line.hear()
    slowest = 0.0
    with opened(root, session) as one:
        for number in range(many):
            begun = time.monotonic()
            one.append(message(number, by))
            slowest = max(slowest, time.monotonic() - begun)
    line.tell("done", round(slowest * 1000))


def append_as(line: Line, root: str, by: str) -> None:
    """Append to a session that others append to as well, a few messages whenever told to."""
    with opened(root) as session:
        for number in count():
            session.append(message(number, by))
            line.tell(number)
            if number % AT_ONCE == AT_ONCE - 1:
                line.hear()


def append_by_old(line: Line, path: str, engine: str, by: str, many: int) -> None:
    """Append with an old engine, opening the store anew for each message."""
    line.tell("ready")
    line.hear()
    for number in range(many):
        with store_at(path, engine=engine) as store:
            holdfast.Session(SESSION, store).append(message(number, by))


def append_when_told(line: Line, root: str, project: str, sessions: int, first: int) -> None:
    """Fill some sessions in turn, and then append one message whenever told to."""
    with store_at(ledger(root), project=project) as store:
        for number in count():
            name = f"{SESSION}{number % sessions}"
            holdfast.Session(name, store).append(message(number // sessions))
            if number + 1 >= first:
                line.tell(number + 1)
                if line.hear() is None:
                    return


def compress(line: Line, root: str) -> None:
    """Compress for ever, as others do; says which compressions were written and how many not."""
    with opened(root) as session:
        while True:
            window = session.ledger.window()
            if len([item for item in window.items if not item.covers]) < 12:
                continue
            try:
                written = session.ledger.commit(plan(window)).entries[0]
            except Conflict:
                line.tell("conflict")
                continue
            line.tell("written", written.seq, written.id)


def watch(line: Line, root: str) -> None:
    """Read the whole session whenever told to; fails when a reading does not continue the last."""
    known: list[str] = []
    with opened(root) as session:
        while True:
            names = [entry.id for entry in session.store.read(SESSION)]
            assert names[: len(known)] == known, "an entry that was there is gone"
            head = session.store.head(SESSION)
            assert (head.seq if head else 0) >= len(names), "the head is behind the entries"
            known = names
            line.tell("read", len(known))
            line.hear()


def fill_file(line: Line, root: str, largest: int) -> None:
    """Append until no file may grow further; go on when it may."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    _fill(
        line,
        root,
        lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        ),
    )


def fill_disk(line: Line, root: str, ballast: str) -> None:
    """Append until the disk is full; go on when something else was deleted from it."""
    _fill(line, root, lambda: os.unlink(ballast))


def _fill(line: Line, root: str, make_room: Callable[[], None]) -> None:
    with opened(root) as session:
        number = _append_while_possible(line, session)
        line.tell("full", len(list(session.store.read(SESSION))))
        make_room()
        for more in range(number, number + 20):
            session.append(message(more))
            line.tell(more)
        assert list(session.store.check()) == []


def _append_while_possible(line: Line, session: holdfast.Session) -> int:
    for number in count():
        try:
            session.append(message(number))
        except StoreFull as error:
            assert error.path == ledger(os.path.dirname(os.path.dirname(error.path)))
            return number
        line.tell(number)
    raise AssertionError


def hold(line: Line, path: str, engine: str) -> None:
    """Hold a store open after one append, and append once more whenever told to."""
    with store_at(path, engine=engine or None) as store:
        session = holdfast.Session(SESSION, store)
        for number in count():
            session.append(message(number))
            line.tell("held", number)
            if line.hear() is None:
                return


def copy(line: Line, path: str, target: str) -> None:
    """Copy a store that others use, the way the engine offers."""
    source, copied = apsw.Connection(path), apsw.Connection(target)
    with copied.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(50)
    copied.close()
    source.close()
    line.tell("copied")


def half_read(line: Line, path: str) -> None:
    """Begin to read a session through the product, and stop half-way until told to go on."""
    with store_at(path) as store:
        entries = store.read(SESSION)
        next(entries)
        line.tell("reading")
        line.hear()


def pin(line: Line, path: str) -> None:
    """Keep a read transaction open, as no code of the product does, until told to end it."""
    db = engine_at(path)
    db.execute("begin")
    db.execute("select count(*) from entries").fetchall()
    line.tell("reading")
    line.hear()
    db.execute("rollback")
    db.close()
    line.tell("gone")


def migrate_until(line: Line, path: str, writes: int) -> None:
    """Open a store, and be killed before the given write to the disk."""
    kill_at(writes)
    with SqliteStore(path, project="tests") as store:
        line.tell("opened", len(store.sessions()))


def upgrade_until(line: Line, path: str, writes: int) -> None:
    """Open a store with a later release, and be killed before the given write to the disk."""
    with later_release():
        migrate_until(line, path, writes)


def say_much(line: Line, root: str, megabytes: int) -> None:
    """Append that many megabytes of ordinary text, a quarter of one at a time."""
    with opened(root) as session:
        for number in range(megabytes * 4):
            session.append({"role": "user", "content": prose(number)})
            line.tell(number)
            line.hear()


def prose(number: int) -> str:
    """A quarter of a megabyte of what a tool might print."""
    rows = (f"{at:6} src/module.py: {text(at, f'{number}-')[:40]}\n" for at in range(4_200))
    return "".join(rows)[: 256 * 1024]


TASKS: dict[str, Callable[..., None]] = {
    task.__name__: task
    for task in (
        append,
        append_as,
        append_by_old,
        append_some,
        append_when_told,
        commit,
        compress,
        copy,
        fill_disk,
        fill_file,
        follow,
        half_read,
        hold,
        ingest,
        migrate_until,
        pin,
        say_much,
        upgrade_until,
        watch,
    )
}
