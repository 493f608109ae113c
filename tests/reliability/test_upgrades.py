"""Stores of earlier schemas open as they are; those of later ones are left alone: catalogue D10."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from holdfast import Session
from holdfast.errors import StoreRefused
from holdfast.stores import migrations
from holdfast.stores.migrations import MIGRATIONS
from holdfast.stores.sqlite import SqliteStore
from tests.reliability.forks import Forks
from tests.reliability.goldens import expected, held, restored, schemas
from tests.reliability.later import later_release
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


@SCHEMAS
def test_a_store_opens_with_a_later_release_and_holds_what_it_held(
    schema: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    restored(schema, path)
    with later_release():
        with store_at(path) as store:
            assert (held(store), list(store.check())) == (expected(schema), [])
        assert setting(path, "user_version") == len(MIGRATIONS) + 1
    with pytest.raises(StoreRefused):
        store_at(path)


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


def die_at_every_write(
    forks: Forks, task: str, path: Callable[[int], str], check: Callable[[SqliteStore], None]
) -> int:
    """Open a store in processes that die ever later, until one lives; how many died."""
    for writes in count(1):
        child = forks.start(task, path(writes), writes)
        lived = child.hear() is not None
        child.kill()
        with store_at(path(writes)) as store:
            check(store)
        assert setting(path(writes), "user_version") == len(migrations.MIGRATIONS)
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

    def path(at: int) -> str:
        return str(tmp_path / str(at) / "ledger.db")

    assert die_at_every_write(forks, "migrate_until", path, check) > 10


@SCHEMAS
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

    with later_release():
        assert die_at_every_write(forks, "upgrade_until", path, check) > 3
