"""A copy made while others write can be put elsewhere and holds everything: catalogue D09."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from holdfast.engine.references import text_of_entry
from holdfast.errors import StoreRefused
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.session.session import Session
from holdfast.stores.sqlite import SqliteStore
from tests.reliability.forks import Forks
from tests.surfaces.cli.working import talk


def restored(copy: Path, root: Path) -> SqliteStore:
    """The store of a project that a copy was put into."""
    (root / ".holdfast").mkdir(parents=True, mode=0o700)
    shutil.copy(copy, root / ".holdfast" / "ledger.db")
    store = open_store(root)
    assert isinstance(store, SqliteStore)
    return store


def test_a_copy_made_beside_four_writers_is_whole_and_every_reference_in_it_resolves(
    forks: Forks, tmp_path: Path
) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy.db"
    home.mkdir()
    session = open_session("s", root=home)
    session.extend(talk(60))
    made = session.compact(4_000)
    children = [forks.start("append_some", str(home), f"w{n}", f"{n}-", 200) for n in range(4)]
    for child in children:
        assert child.hear() == ["ready"]
    for child in children:
        child.tell("begin")
    store = session.store
    assert isinstance(store, SqliteStore)
    size = store.copy_to(str(copy))
    for child in children:
        child.finish()
    assert (copy.stat().st_size, stat.S_IMODE(copy.stat().st_mode)) == (size, 0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "home"]
    with restored(copy, tmp_path / "elsewhere") as there:
        assert list(there.check()) == []
        again = Session("s", there, owns_store=False)
        assert {ref: again.read(ref).encode() for ref in made.originals} == made.originals
        assert again.messages() == session.messages()
        for listed in there.sessions():
            one = Session(listed.name, there, owns_store=False)
            told = [(e.id, text_of_entry(e)) for e in one.ledger.path()]
            assert [(name, one.read(name)) for name, _ in told] == told
    session.close()


def test_a_copy_is_never_written_over_something(tmp_path: Path) -> None:
    session = open_session("s", root=tmp_path)
    session.append({"role": "user", "content": "hello"})
    store = session.store
    assert isinstance(store, SqliteStore)
    taken, link = tmp_path / "taken", tmp_path / "link"
    taken.write_text("mine")
    link.symlink_to(tmp_path / "nowhere")
    for path in (taken, link, tmp_path / "no" / "folder"):
        with pytest.raises(StoreRefused):
            store.copy_to(str(path))
    assert (taken.read_text(), os.path.lexists(tmp_path / "nowhere")) == ("mine", False)
    session.close()
