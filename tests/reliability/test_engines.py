"""No engine that can lose committed writes is trusted with the write-ahead log: catalogue D08."""

from pathlib import Path

import apsw
import pytest

from holdfast import Session
from holdfast.errors import StoreRefused
from holdfast.stores.connection import has_reset_defect
from tests.reliability.forks import Forks
from tests.reliability.ledgers import SESSION, bodies, message, said, setting, store_at

OLD = "3.40.1"
VERSIONS = {
    "3.7.0": True,
    "3.40.1": True,
    "3.43.2": True,
    "3.44.5": True,
    "3.44.6": False,
    "3.44.10": False,
    "3.45.0": True,
    "3.49.9": True,
    "3.50.6": True,
    "3.50.7": False,
    "3.51.0": True,
    "3.51.1": True,
    "3.51.2": True,
    "3.51.3": False,
    "3.51.10": False,
    "3.52.0": False,
    "3.54.1": False,
    "4.0.0": False,
}


def journal_mode(path: str) -> object:
    return setting(path, "journal_mode")


def test_exactly_the_engines_with_the_defect_are_known_to_have_it() -> None:
    assert {version: has_reset_defect(version) for version in VERSIONS} == VERSIONS


def test_the_engine_in_use_is_free_of_the_defect_and_uses_the_write_ahead_log(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with store_at(path):
        assert (has_reset_defect(apsw.sqlite_lib_version()), journal_mode(path)) == (False, "wal")


def test_an_old_engine_works_with_the_rollback_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with store_at(path, engine=OLD) as store:
        session = Session(SESSION, store)
        session.extend([message(0), message(1)])
        session.append(message(2))
        assert (bodies(store), list(store.check())) == (said(3), [])
        assert journal_mode(path) == "delete"


def test_an_old_engine_takes_over_a_store_that_nobody_else_has_open(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with store_at(path) as store:
        Session(SESSION, store).append(message(0))
    with store_at(path, engine=OLD) as store:
        Session(SESSION, store).append(message(1))
        assert (bodies(store), journal_mode(path)) == (said(2), "delete")
    with store_at(path) as store:
        assert (bodies(store), list(store.check()), journal_mode(path)) == (said(2), [], "wal")


def test_an_old_engine_is_refused_where_another_process_uses_the_write_ahead_log(
    forks: Forks, tmp_path: Path
) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    holder = forks.start("hold", path, "")
    assert holder.hear() == ["held", 0]
    with pytest.raises(StoreRefused) as refused:
        store_at(path, engine=OLD)
    assert refused.value.path == path
    holder.tell("again")
    assert holder.hear() == ["held", 1]
    holder.release()
    with store_at(path) as store:
        assert (bodies(store), list(store.check())) == (said(2), [])


def test_an_old_engine_never_writes_where_a_newer_one_began_a_write_ahead_log(
    forks: Forks, tmp_path: Path
) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with store_at(path, engine=OLD) as old:
        session = Session(SESSION, old)
        session.append(message(0))
        newer = forks.start("hold", path, "")
        assert newer.hear() == ["held", 0]
        if journal_mode(path) == "wal":
            with pytest.raises(StoreRefused):
                session.append(message(1))
        else:
            session.append(message(1))
            assert journal_mode(path) == "delete"
        newer.kill()


def test_old_engines_share_a_store_among_themselves(forks: Forks, tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with store_at(path, engine=OLD):
        pass
    writers = [forks.start("append_by_old", path, OLD, f"{at}-", 25) for at in range(4)]
    for writer in writers:
        assert writer.hear() == ["ready"]
    for writer in writers:
        writer.tell("begin")
    for writer in writers:
        writer.finish()
    with store_at(path, engine=OLD) as store:
        found = sorted(str(body) for body in bodies(store))
        assert found == sorted(str(body) for at in range(4) for body in said(25, f"{at}-"))
        assert list(store.check()) == []
