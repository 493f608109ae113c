"""Stores of earlier schemas open as they are; those of later ones are left alone: catalogue D10."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from holdfast import Session
from holdfast.errors import StoreRefused
from holdfast.stores.connection import connect
from holdfast.stores.migrations import MIGRATIONS, migrate
from holdfast.stores.sqlite import SqliteStore
from tests.reliability.forks import Forks
from tests.reliability.goldens import expected, held, restored, schemas
from tests.reliability.ledgers import SESSION, bodies, engine_at, message, said, setting, store_at

SCHEMAS = pytest.mark.parametrize("schema", schemas())


def files(path: str) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in Path(path).parent.iterdir()}


def test_every_schema_has_a_golden_store() -> None:
    assert schemas() == list(range(1, len(MIGRATIONS) + 1))


@SCHEMAS
def test_a_store_of_an_earlier_schema_opens_and_holds_what_it_held(
    schema: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    restored(schema, path)
    with store_at(path) as store:
        assert held(store) == expected(schema)
        assert list(store.check()) == []
        Session(SESSION, store).append(message(0))
        assert held(store).entries[:-1] == expected(schema).entries
    assert setting(path, "user_version") == len(MIGRATIONS)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_store_of_a_later_schema_is_refused_and_left_as_it_is(mode: str, tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with store_at(path) as store:
        Session(SESSION, store).append(message(0))
    db = engine_at(path, writing=True)
    db.execute(f"pragma user_version = {len(MIGRATIONS) + 1}; pragma journal_mode = {mode}")
    db.close()
    before = files(path)
    with pytest.raises(StoreRefused) as refused:
        store_at(path)
    assert refused.value.path == path
    assert files(path) == before


def test_a_database_that_is_not_ours_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "other.db")
    Path(path).parent.mkdir(mode=0o700)
    db = engine_at(path, writing=True)
    db.execute("create table notes(text); insert into notes values ('theirs')")
    db.close()
    before, mode = files(path), Path(path).stat().st_mode
    with pytest.raises(StoreRefused) as refused:
        store_at(path)
    assert refused.value.path == path
    assert (files(path), Path(path).stat().st_mode) == (before, mode)


def test_migrating_only_as_far_as_asked_stops_there(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    Path(path).touch()
    db = connect(path)
    migrate(db, path, upto=1)
    db.close()
    assert setting(path, "user_version") == 1


def die_at_every_write(
    forks: Forks, path: Callable[[int], str], check: Callable[[SqliteStore], None]
) -> int:
    """Open a store in processes that die ever later, until one lives; how many died."""
    for writes in count(1):
        child = forks.start("migrate_until", path(writes), writes)
        lived = child.hear() is not None
        child.kill()
        with store_at(path(writes)) as store:
            check(store)
        assert setting(path(writes), "user_version") == len(MIGRATIONS)
        if lived:
            print(f"killed before each of {writes - 1} writes")
            return writes - 1
    raise AssertionError


def test_a_process_killed_while_making_a_store_leaves_one_that_opens(
    forks: Forks, tmp_path: Path
) -> None:
    def check(store: SqliteStore) -> None:
        Session(SESSION, store).append(message(0))
        assert (bodies(store), list(store.check())) == (said(1), [])

    died = die_at_every_write(forks, lambda at: str(tmp_path / str(at) / "ledger.db"), check)
    assert died > 10


@pytest.mark.parametrize("schema", schemas()[:-1])
def test_a_process_killed_while_upgrading_a_store_leaves_one_that_holds_what_it_held(
    schema: int, forks: Forks, tmp_path: Path
) -> None:
    def path(at: int) -> str:
        made = tmp_path / str(at) / "ledger.db"
        if not made.exists():
            restored(schema, str(made))
        return str(made)

    def check(store: SqliteStore) -> None:
        assert (held(store), list(store.check())) == (expected(schema), [])

    assert die_at_every_write(forks, path, check) > 3
