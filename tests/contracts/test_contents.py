"""What grows with every version is told against the version before, and read as it was given."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.append import append_note
from holdfast.core.ledger.entry import Checkpointed, Noted
from holdfast.core.ledger.summary import Fact, Summary
from holdfast.core.plan.policy import Policy
from holdfast.errors import StoreDamaged
from holdfast.session.session import Session
from holdfast.stores.blobs import MAX_DELTA_DEPTH
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Erasure
from tests.contracts.test_sqlite import opened, sql
from tests.reliability.chains import turn

DRAWN = Random(7)
LINES = [DRAWN.randbytes(60).hex() for _ in range(1_000)]
VERSIONS = 3 * MAX_DELTA_DEPTH
SIZE = "select coalesce(sum(length(data)), 0) from blobs"


def version(number: int) -> Checkpointed:
    """An account that grows by a line, and loses one, with every version."""
    rows = tuple(Fact(text, "e1") for text in LINES[number : 300 + 2 * number])
    return Checkpointed(Summary(facts=rows), upto=number)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with opened(tmp_path) as made:
        yield made


def grown(store: SqliteStore, versions: int = VERSIONS) -> list[Checkpointed]:
    bodies = [version(number) for number in range(versions)]
    for body in bodies:
        store.append("s", lambda head, body=body: append_note(head, body))
    return bodies


def test_every_version_is_read_as_it_was_given(store: SqliteStore, tmp_path: Path) -> None:
    bodies = grown(store)
    assert [entry.body for entry in store.read("s")] == bodies
    with opened(tmp_path) as fresh:
        for number in (VERSIONS, 1, MAX_DELTA_DEPTH, MAX_DELTA_DEPTH + 1, 2 * MAX_DELTA_DEPTH + 3):
            (entry,) = fresh.read("s", numbers=[number])
            assert entry.body == bodies[number - 1]
    assert list(store.check()) == []


def test_versions_cost_what_is_new_in_them(store: SqliteStore, tmp_path: Path) -> None:
    grown(store, 1)
    [(one,)] = sql(tmp_path, SIZE)
    grown(store)
    [(all_of_them,)] = sql(tmp_path, SIZE)
    assert isinstance(one, int)
    assert isinstance(all_of_them, int)
    # A whole one every so often, and little else.
    assert all_of_them < 6 * one


def test_reading_a_version_needs_few_others(store: SqliteStore, tmp_path: Path) -> None:
    grown(store)
    rows = sql(tmp_path, "select hash, base from blobs")
    bases: dict[object, object] = {row[0]: row[1] for row in rows}

    def depth(name: object) -> int:
        return 0 if bases[name] is None else 1 + depth(bases[name])

    assert {depth(name) for name in bases} == set(range(MAX_DELTA_DEPTH + 1))


def test_a_version_that_is_erased_leaves_the_later_ones_whole(
    store: SqliteStore, tmp_path: Path
) -> None:
    bodies = grown(store, 6)
    entries = list(store.read("s"))
    head = store.head("s")
    assert head is not None
    gone = LINES[2].encode()
    changed = tuple(replace(e, body=Noted("gone")) for e in entries[:3])
    store.erase("s", Erasure(seq=head.seq, tombstones=(), entries=changed, head=head))
    assert [entry.body for entry in store.read("s")][3:] == bodies[3:]
    with opened(tmp_path) as fresh:
        assert [entry.body for entry in fresh.read("s")][3:] == bodies[3:]
        names = {row[0] for row in sql(tmp_path, "select hash from blobs")}
        contents = [fresh.blobs.read("", name) for name in names if isinstance(name, bytes)]
    assert len(contents) == 3
    assert not any(gone in content for content in contents)


def test_a_version_whose_base_is_damaged_is_not_read_and_is_found(
    store: SqliteStore, tmp_path: Path
) -> None:
    grown(store, 3)
    sql(tmp_path, "update blobs set data = x'00' where base is null")
    with opened(tmp_path) as fresh:
        for number in (1, 2, 3):
            with pytest.raises(StoreDamaged):
                list(fresh.read("s", numbers=[number]))
        assert {damage.kind for damage in fresh.check()} == {"lost"}
        # What is new is laid down by itself then.
        fresh.append("s", lambda head: append_note(head, version(4)))
        assert [e.body for e in fresh.read("s", numbers=[4])] == [version(4)]


def test_a_session_of_many_summaries_stays_smaller_than_what_it_was_told(tmp_path: Path) -> None:
    told = 0
    with opened(tmp_path) as store:
        session = Session("s", store, policy=Policy(window=24_000, reserve=1_000), owns_store=False)
        for number in range(1, 120):
            messages = turn(number, 60)
            told += sum(len(str(message)) for message in messages)
            session.extend(messages)
            session.messages()
        summaries = [e for e in store.read("s") if isinstance(e.body, Checkpointed)]
        assert len(summaries) > 2
        assert store.size() < 1.2 * told
