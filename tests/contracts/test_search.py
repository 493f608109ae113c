"""What every store promises about finding: asked of each of them in the same words."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.index.terms import PassageHit, Term, parse_query
from holdfast.stores import index
from holdfast.stores.connection import connect
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Store
from tests.contracts.test_store import STORES, saying
from tests.examples import examples

LARGE = "\n".join(f"row {number} of the table" for number in range(400)) + "\nthe lighthouse\n"


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with STORES[request.param](tmp_path) as made:
        yield made


def places(store: Store, words: str, *sessions: str) -> list[tuple[str, int, int]]:
    """Where words stand: by session, entry and passage; without what only stands beside it."""
    terms = parse_query(words).terms
    best = store.search(terms, sessions=sessions or None).found
    most = max((one.promise for one in best), default=0.0)
    return [(one.session, one.seq, one.passage) for one in best if one.promise == most]


def test_a_word_is_found_where_it_stands(store: Store) -> None:
    store.append("s", saying("a red bicycle", "a blue car", LARGE))
    assert places(store, "bicycle") == [("s", 1, 0)]
    assert places(store, "bicycles") == [("s", 1, 0)]
    ((name, seq, passage),) = places(store, "lighthouse")
    assert (name, seq, passage > 3) == ("s", 3, True)


def test_what_was_appended_after_a_search_is_found_by_the_next(store: Store) -> None:
    store.append("s", saying("first"))
    assert places(store, "second") == []
    store.append("s", saying("second"))
    assert places(store, "second") == [("s", 2, 0)]


def test_a_search_keeps_to_the_sessions_it_is_given(store: Store) -> None:
    for name in ("one", "two", "three"):
        store.append(name, saying(f"the lantern of {name}"))
    assert places(store, "lantern", "two") == [("two", 1, 0)]
    assert {name for name, _, _ in places(store, "lantern", "one", "three")} == {"one", "three"}
    assert {name for name, _, _ in places(store, "lantern")} == {"one", "two", "three"}
    assert places(store, "lantern", "none of them") == []


def test_what_stands_beside_a_match_is_offered_too(store: Store) -> None:
    store.append("s", saying("far away", "not here", "where is the lantern?", "in the shed", "x"))
    found = store.search(parse_query("lantern").terms).found
    assert found[0].seq == 3
    assert {one.seq for one in found} == {1, 2, 3, 4, 5}


def test_no_more_is_offered_than_was_asked_for(store: Store) -> None:
    store.append("s", saying(*(f"lantern number {at}" for at in range(50))))
    found = store.search(parse_query("lantern").terms, limit=7).found
    assert [one.seq for one in found] == [50, 49, 48, 47, 46, 45, 44]


@settings(max_examples=examples(40))
@given(
    st.lists(st.lists(st.text("ab cDé猫🚀_/\n", max_size=60), min_size=1, max_size=5), max_size=6),
    st.sampled_from(["a", "cD", "D", "é", "e", "猫猫", "🚀", "ab", "b"]),
)
def test_an_index_that_grew_equals_one_that_was_made_at_once(
    batches: list[list[str]], word: str
) -> None:
    terms = (Term((word,)), *parse_query(word).terms)
    grown, whole = MemoryStore(), MemoryStore()
    for batch in batches:
        grown.append("s", saying(*batch))
        grown.search(terms)
    whole.append("s", saying(*(text for batch in batches for text in batch)))
    assert grown.search(terms) == whole.search(terms)


def test_batches_that_are_cut_short_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"lantern number {at}" for at in range(40)]
    with SqliteStore(str(tmp_path / "a" / "l.db")) as whole:
        whole.append("s", saying(*texts))
        at_once = whole.search(parse_query("lantern").terms)
    monkeypatch.setattr(index, "BATCH_ENTRIES", 3)
    with SqliteStore(str(tmp_path / "b" / "l.db")) as bits:
        bits.append("s", saying(*texts))
        assert bits.search(parse_query("lantern").terms) == at_once


WRITER = """
import sys
from holdfast.core.index.terms import parse_query
from holdfast.stores.sqlite import SqliteStore
from tests.contracts.test_store import saying
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with SqliteStore(path) as store:
    for at in range(count):
        store.append(name, saying(f"word{name}{at} lantern"))
        if at % 3 == 0:
            store.search(parse_query("lantern").terms)
"""


def test_processes_that_write_and_search_at_once_index_every_entry_once(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    SqliteStore(path).close()
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, name, "30"])
        for name in ("shared", "shared", "own")
    ]
    with SqliteStore(path) as store:
        while any(process.poll() is None for process in running):
            store.search(parse_query("lantern").terms)
        assert [process.returncode for process in running] == [0, 0, 0]
        found = store.search(parse_query("lantern").terms, limit=1_000).found
        assert sorted((one.session, one.seq) for one in found) == [
            *(("own", at) for at in range(1, 31)),
            *(("shared", at) for at in range(1, 61)),
        ]
        assert rows(path) == 90


def test_a_reader_sees_what_another_process_wrote_after_it_had_searched(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with SqliteStore(path) as store:
        store.append("s", saying("nothing yet"))
        assert places(store, "word", "s") == []
        subprocess.run([sys.executable, "-c", WRITER, path, "s", "1"], check=True)
        assert places(store, "words0") == [("s", 2, 0)]


def rows(path: str) -> int:
    """How many passages the file has in its index."""
    db = connect(path)
    try:
        ((count,),) = db.execute("select count(*) from found_docsize")
        return int(count)
    finally:
        db.close()


def terms_in(path: str) -> set[str]:
    """The words that the index has anything for, as the engine lists them."""
    db = connect(path)
    try:
        db.execute("create virtual table temp.v using fts5vocab('main', 'found', 'row')")
        return {str(row[0]) for row in db.execute("select term from temp.v")}
    finally:
        db.close()


def test_an_index_of_another_version_is_made_again(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with SqliteStore(path) as store:
        store.append("s", saying("the lantern"))
        before = store.search(parse_query("lantern").terms)
        db = connect(path)
        db.execute("update indexed set version = 0")
        db.close()
        assert store.search(parse_query("lantern").terms) == before
        assert rows(path) == 1


def test_projects_in_one_file_do_not_see_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with SqliteStore(path, project="a") as a, SqliteStore(path, project="b") as b:
        a.append("s", saying("the lantern of a"))
        b.append("s", saying("the lantern of b", "again the lantern"))
        assert places(a, "lantern") == [("s", 1, 0)]
        assert len(places(b, "lantern")) == 2
        assert [found.session for one in a.stores_of_all_projects() for found in lanterns(one)] == [
            "s"
        ] * 3


def lanterns(store: Store) -> tuple[PassageHit, ...]:
    return store.search(parse_query("lantern").terms).found


def test_a_damaged_index_is_told_of_and_made_again(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with SqliteStore(path) as store:
        store.append("s", saying(*(f"the lantern number {at}" for at in range(200))))
        before = store.search(parse_query("lantern").terms)
    db = connect(path)
    db.execute("update found_data set block = zeroblob(length(block)) where id > 1000")
    db.close()
    with SqliteStore(path) as store:
        told = list(store.check())
        assert {(damage.kind, damage.where) for damage in told} == {("cache", "index")}
        assert len(store.repair()) == 1
        assert list(store.check()) == []
        assert store.search(parse_query("lantern").terms) == before
