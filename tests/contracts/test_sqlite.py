"""What the embedded store promises beyond the contract: its file, its neighbours, its damage."""

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import apsw
import pytest
from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, append_arrivals
from holdfast.core.ledger.entry import Said, Sighting
from holdfast.core.ledger.head import Head
from holdfast.errors import StoreBusy, StoreDamaged, StoreFull, StoreRefused
from holdfast.session.session import Session
from holdfast.stores.connection import Database, connect, has_reset_defect, make_durable
from holdfast.stores.fsck import repair
from holdfast.stores.migrations import MIGRATIONS
from holdfast.stores.sqlite import SqliteStore, translate_errors
from holdfast.stores.store import Build
from tests.reliability.later import later_release

LARGE = "x" * 5_000
WRITE = """
import sys
from holdfast.session.session import Session
from holdfast.stores.sqlite import SqliteStore
with Session("s", SqliteStore(sys.argv[1])) as session:
    for number in range(25):
        session.append({"role": "user", "content": f"{sys.argv[2]}-{number}"})
"""
DIE = """
import os, sys
from msgspec.structs import replace
from holdfast.core.ledger.append import Arrival, Draft, append_arrivals
from holdfast.core.ledger.entry import Said
from holdfast.stores.sqlite import SqliteStore

class Deadly(tuple):
    def __iter__(self):
        yield from tuple.__iter__(self)
        os._exit(9)

def saying(raw):
    return [Arrival(raw, (Draft(Said("user", "x" * 5000)),))]

def build(head):
    batch = append_arrivals(head, saying(b"lost"))
    return replace(batch, sightings=Deadly(batch.sightings))

store = SqliteStore(sys.argv[1])
store.append("s", lambda head: append_arrivals(head, saying(b"kept")))
store.append("s", build)
"""
FILL = """
import os, random, resource, signal, sys
from holdfast.errors import StoreFull
from holdfast.session.session import Session
from holdfast.stores.sqlite import SqliteStore

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
session = Session("s", SqliteStore(sys.argv[1]))
session.append({"role": "user", "content": "kept"})
room = max(os.path.getsize(sys.argv[1] + end) for end in ("", "-wal")) + 100_000
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
noise = random.Random(1).randbytes(400_000).hex()
try:
    session.append({"role": "user", "content": noise})
except StoreFull as full:
    assert full.path == sys.argv[1]
    session.append({"role": "user", "content": "after"})
    sys.exit(7)
"""


def saying(*texts: str) -> Build:
    """A build that adds texts at the end."""
    arrivals = [Arrival(text.encode(), (Draft(Said("user", text)),)) for text in texts]
    return lambda head: append_arrivals(head, arrivals)


def opened(folder: Path, project: str = "") -> SqliteStore:
    """A store in a folder of its own."""
    return SqliteStore(str(folder / "own" / "ledger.db"), project=project)


def sql(folder: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    """Run a statement behind the store's back."""
    db = handle(str(folder / "own" / "ledger.db"))
    try:
        return list(db.execute(statement, values))
    finally:
        db.close()


def empty_file(path: str) -> None:
    """A file that only we can read, with nothing in it yet."""
    Path(path).touch(mode=0o600)


def handle(path: str) -> Database:
    """A connection that is not the store's."""
    return cast(Database, apsw.Connection(path))


def test_two_projects_in_one_file_do_not_see_each_other(tmp_path: Path) -> None:
    with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
        one.append("s", saying("a", LARGE))
        assert (two.head("s"), two.sessions(), list(two.read("s"))) == (None, [], [])
        two.append("s", saying("b"))
        assert [e.body for e in one.read("s")] == [Said("user", "a"), Said("user", LARGE)]
        assert [e.body for e in two.read("s")] == [Said("user", "b")]
        assert [listed.name for listed in one.sessions()] == ["s"]
        assert [*one.check(), *two.check()] == []


def test_a_project_orders_its_own_sessions(tmp_path: Path) -> None:
    with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
        one.append("s", saying("a"))
        two.append("t", saying("a"))
        one.append("u", saying("a"))
        assert [(listed.name, listed.touched) for listed in one.sessions()] == [("u", 2), ("s", 1)]
        assert [(listed.name, listed.touched) for listed in two.sessions()] == [("t", 1)]


def test_content_that_comes_again_is_stored_once(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append("s", saying(LARGE))
        store.append("t", saying(LARGE, LARGE))
        assert len(list(store.read("t"))) == 2
    # The text inside its body; the bytes that it came in are told by it.
    assert sql(tmp_path, "select count(*) from blobs") == [(1,)]


def test_content_is_deduplicated_inside_a_project_only(tmp_path: Path) -> None:
    with opened(tmp_path, "one") as one, opened(tmp_path, "two") as two:
        one.append("s", saying(LARGE))
        two.append("s", saying(LARGE))
    assert sql(tmp_path, "select project, count(*) from blobs group by project") == [
        ("one", 1),
        ("two", 1),
    ]


def test_what_one_handle_wrote_another_reads(tmp_path: Path) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as two:
        written = one.append("s", saying("a", LARGE))
        assert tuple(two.read("s")) == written.entries
        assert two.head("s") == written.head


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        written = store.append("s", saying("a", LARGE))
    with opened(tmp_path) as store:
        assert tuple(store.read("s")) == written.entries
        assert store.head("s") == written.head
        assert tuple(store.sightings("s")) == written.sightings


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "own" / "ledger.db")
    opened(tmp_path).close()
    writers = [subprocess.Popen([sys.executable, "-c", WRITE, path, who]) for who in ("one", "two")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    with opened(tmp_path) as store:
        entries = list(store.read("s"))
        assert [e.parent for e in entries] == [None, *(e.id for e in entries[:-1])]
        texts = [e.body.text for e in entries if isinstance(e.body, Said)]
        assert sorted(texts) == sorted(f"{who}-{n}" for who in ("one", "two") for n in range(25))
        assert list(store.check()) == []


def test_a_process_that_dies_while_writing_leaves_what_was_there_before(tmp_path: Path) -> None:
    path = str(tmp_path / "own" / "ledger.db")
    died = subprocess.run([sys.executable, "-c", DIE, path], check=False, timeout=60)
    assert died.returncode == 9
    with opened(tmp_path) as store:
        assert [seen.raw for seen in store.sightings("s")] == [b"kept"]
        assert len(list(store.read("s"))) == 1
        assert list(store.check()) == []


def test_a_batch_of_which_a_part_cannot_be_written_is_not_written_at_all(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append("s", saying("a"))
        before = store.sessions()

        def clashing(head: Head) -> Batch:
            batch = append_arrivals(head, [Arrival(b"b", (Draft(Said("user", "b")),))])
            return replace(batch, entries=batch.entries * 2)

        with pytest.raises(apsw.ConstraintError):
            store.append("s", clashing)
        assert store.sessions() == before
        assert [e.body for e in store.read("s")] == [Said("user", "a")]
        assert [seen.raw for seen in store.sightings("s")] == [b"a"]


@pytest.mark.slow
def test_a_writer_that_waits_too_long_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append("s", saying("a"))
        other = handle(store.path)
        other.execute("begin immediate")
        try:
            with pytest.raises(StoreBusy) as caught:
                store.append("s", saying("b"))
        finally:
            other.execute("rollback")
            other.close()
        assert caught.value.path == store.path
        assert [e.body for e in store.read("s")] == [Said("user", "a")]


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "own" / "ledger.db")
    filled_up = subprocess.run([sys.executable, "-c", FILL, path], check=False, timeout=60)
    assert filled_up.returncode == 7
    with opened(tmp_path) as store:
        assert [e.body for e in store.read("s")] == [Said("user", "kept"), Said("user", "after")]
        assert list(store.check()) == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (apsw.BusyError("locked"), StoreBusy),
        (apsw.IOError("disk I/O error"), StoreFull),
        (apsw.CorruptError("malformed"), StoreDamaged),
        (apsw.NotADBError("no database"), StoreDamaged),
        (apsw.CantOpenError("cannot open"), StoreRefused),
        (apsw.ReadOnlyError("read only"), StoreRefused),
        (apsw.PermissionsError("denied"), StoreRefused),
    ],
)
def test_what_the_engine_complains_of_is_told_in_our_words(
    error: apsw.Error, told: type[StoreBusy]
) -> None:
    with pytest.raises(told) as caught, translate_errors("ledger.db"):
        raise error
    assert caught.value.path == "ledger.db"


# The folder and the file.


def test_the_store_makes_a_folder_that_is_ours_alone_and_out_of_version_control(
    tmp_path: Path,
) -> None:
    opened(tmp_path).close()
    folder = tmp_path / "own"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / "ledger.db").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path == str(folder)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "own").symlink_to(tmp_path / "real")
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path.startswith(str(tmp_path / "own"))
    assert list((tmp_path / "real").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ("n" * 300)
    with pytest.raises(StoreRefused) as caught:
        opened(folder)
    assert caught.value.path.startswith(str(folder))


def test_a_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "target").write_bytes(b"")
    (tmp_path / "own" / "ledger.db").symlink_to(tmp_path / "target")
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path == str(tmp_path / "own" / "ledger.db")
    assert (tmp_path / "target").read_bytes() == b""


def test_a_file_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own" / "ledger.db").mkdir(parents=True)
    (tmp_path / "own").chmod(0o700)
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path == str(tmp_path / "own" / "ledger.db")


def test_a_file_with_a_second_name_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    os.link(tmp_path / "own" / "ledger.db", tmp_path / "other")
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path == str(tmp_path / "own" / "ledger.db")


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    opened(tmp_path).close()
    path = tmp_path / "own" / "ledger.db"
    path.chmod(0o644)
    opened(tmp_path).close()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["own", "own/ledger.db"])
def test_what_belongs_to_another_user_is_refused(tmp_path: Path, name: str) -> None:
    opened(tmp_path).close()
    os.chown(tmp_path / name, 12345, 12345)
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path == str(tmp_path / name)


# The schema.


def test_a_file_that_is_no_database_is_refused_as_damaged(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    path = tmp_path / "own" / "ledger.db"
    path.write_bytes(b"these are notes, and no database at all\n" * 40)
    path.chmod(0o600)
    with pytest.raises(StoreDamaged) as caught:
        opened(tmp_path)
    assert caught.value.path == str(path)


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    sql(tmp_path, "create table notes(text)")
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path == str(tmp_path / "own" / "ledger.db")
    assert sql(tmp_path, "select name from sqlite_schema") == [("notes",)]


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    sql(tmp_path, f"pragma user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(StoreRefused) as caught:
        opened(tmp_path)
    assert caught.value.path == str(tmp_path / "own" / "ledger.db")


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    empty_file(str(tmp_path / "own" / "ledger.db"))
    with opened(tmp_path) as store:
        store.append("s", saying("a"))
        assert list(store.check()) == []
    assert sql(tmp_path, "pragma user_version") == [(len(MIGRATIONS),)]


def test_a_store_of_an_older_version_is_brought_up_to_date(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append("s", saying("a"))
    with later_release():
        with opened(tmp_path) as store:
            store.append("s", saying("b"))
            assert list(store.check()) == []
        assert sql(tmp_path, "pragma user_version") == [(len(MIGRATIONS) + 1,)]


@pytest.mark.parametrize(
    ("version", "unsafe"),
    [
        ("3.6.23", True),
        ("3.44.5", True),
        ("3.44.6", False),
        ("3.45.0", True),
        ("3.50.6", True),
        ("3.50.7", False),
        ("3.51.2", True),
        ("3.51.3", False),
        ("3.54.1", False),
        ("4.0", False),
    ],
)
def test_engines_that_can_lose_committed_writes_are_known(version: str, unsafe: bool) -> None:
    assert has_reset_defect(version) is unsafe


def test_an_unsafe_engine_gets_the_rollback_journal(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    path = str(tmp_path / "own" / "ledger.db")
    with SqliteStore(path, engine="3.45.0") as store:
        store.append("s", saying("a"))
    assert sql(tmp_path, "pragma journal_mode") == [("delete",)]


def test_an_unsafe_engine_refuses_a_file_that_others_have_in_write_ahead_mode(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as store:
        store.append("s", saying("a"))
        with pytest.raises(StoreRefused) as caught:
            SqliteStore(store.path, engine="3.45.0")
        assert caught.value.path == store.path


def test_a_commit_means_that_the_bytes_are_on_the_disk(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    empty_file(path)
    db = connect(path)
    make_durable(db, path)
    assert (db.pragma("journal_mode"), db.pragma("synchronous")) == ("wal", 2)
    db.close()


# Damage.


def damaged(folder: Path) -> list[tuple[str, str]]:
    """What a check finds, by kind and place."""
    with opened(folder) as store:
        return [(found.kind, found.where) for found in store.check()]


def filled(folder: Path) -> None:
    """A store with one small and one large entry."""
    with opened(folder) as store:
        store.append("s", saying("small", LARGE))


@pytest.mark.parametrize(
    "change",
    [
        "update entries set at = 'later' where seq = 1",
        "update entries set lane = 'other' where seq = 1",
        "update entries set body = x'80' where seq = 1",
        "update entries set parent = x'00' where seq = 2",
    ],
)
def test_a_row_that_was_changed_is_not_read_and_is_found(tmp_path: Path, change: str) -> None:
    filled(tmp_path)
    sql(tmp_path, change)
    with opened(tmp_path) as store, pytest.raises(StoreDamaged) as caught:
        list(store.read("s"))
    assert caught.value.path == str(tmp_path / "own" / "ledger.db")
    assert ("lost", "s") in damaged(tmp_path)


def test_bytes_that_were_changed_are_not_given_back_and_are_found(tmp_path: Path) -> None:
    filled(tmp_path)
    sql(tmp_path, "update sightings set raw = x'80' where pos = 0")
    with opened(tmp_path) as store, pytest.raises(StoreDamaged):
        list(store.sightings("s"))
    assert ("lost", "s") in damaged(tmp_path)


def test_content_that_was_changed_is_not_read_and_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    sql(tmp_path, "update blobs set data = cast(substr(data, 1, length(data) - 3) as blob)")
    with opened(tmp_path) as store, pytest.raises(StoreDamaged):
        list(store.read("s"))
    kinds = [kind for kind, _ in damaged(tmp_path)]
    assert kinds == ["lost", "lost"]


def test_content_that_is_other_content_is_not_read_and_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path) as store:
        store.append("s", saying(LARGE.upper()))
    first, second = sql(tmp_path, "select hash, data from blobs order by hash")
    sql(tmp_path, "update blobs set data = ? where hash = ?", first[1], second[0])
    assert "lost" in [kind for kind, where in damaged(tmp_path) if where.startswith("content")]
    with opened(tmp_path) as store, pytest.raises(StoreDamaged):
        assert list(store.read("s")) + list(store.sightings("s")) == []


def test_content_that_is_missing_is_told_and_found(tmp_path: Path) -> None:
    filled(tmp_path)
    sql(tmp_path, "delete from blobs")
    with opened(tmp_path) as store, pytest.raises(StoreDamaged):
        list(store.read("s"))
    assert damaged(tmp_path) == [("lost", "s")]


def test_content_that_nothing_refers_to_is_found_as_waste(tmp_path: Path) -> None:
    filled(tmp_path)
    sql(tmp_path, "delete from entries where seq = 2")
    assert "waste" in [kind for kind, _ in damaged(tmp_path)]


def test_an_entry_that_was_deleted_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    sql(tmp_path, "delete from entries where seq = 1")
    found = damaged(tmp_path)
    assert ("lost", "s, entry 1") in found
    assert ("lost", "s") in found


def test_pages_overwritten_in_the_file_are_found(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append("s", saying(*(f"{number} {LARGE}" for number in range(200))))
    path = tmp_path / "own" / "ledger.db"
    data = bytearray(path.read_bytes())
    for at in range(4096 * 40, len(data), 4096 * 2):
        data[at : at + 64] = b"\xff" * 64
    path.write_bytes(bytes(data))
    with opened(tmp_path) as store:
        found = list(store.check())
    assert found != []
    assert {(damage.kind, damage.where) for damage in found} == {("lost", "database")}


def test_a_head_that_was_changed_is_rebuilt(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path) as store:
        true = store.head("s")
        store.append("s", lambda head: Batch(replace(head, title="not the title")))
        assert [found.kind for found in store.check()] == ["cache"]
        assert len(repair(store)) == 1
        assert store.head("s") == true
        assert list(store.check()) == []
        assert repair(store) == []


def test_a_reading_that_is_damaged_is_not_believed_and_repairing_drops_it(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path) as store:
        head = store.head("s")
        assert head is not None
        store.write_cache("s", "told", head, b"what it told")
    sql(tmp_path, "update readings set data = x'00' || substr(data, 2)")
    with opened(tmp_path) as store:
        assert store.read_cache("s", "told") is None
        assert [(found.kind, found.what) for found in store.check()] == [
            ("cache", "its reading cannot be read")
        ]
        assert len(repair(store)) == 1
        assert list(store.check()) == []


def test_repairing_leaves_a_session_that_cannot_be_read_alone(tmp_path: Path) -> None:
    filled(tmp_path)
    sql(tmp_path, "update entries set at = 'later' where seq = 1")
    with opened(tmp_path) as store:
        before = store.head("s")
        assert repair(store) == []
        assert store.head("s") == before


def test_a_session_made_without_a_head_stands_at_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    sql(tmp_path, "insert into sessions(project, name, touched, head) values ('', 't', 0, x'')")
    with opened(tmp_path) as store:
        assert store.head("t") == Head()


def test_a_session_can_be_kept_in_the_folder_it_is_in(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        with SqliteStore("ledger.db") as store:
            store.append("s", saying("a"))
    finally:
        os.chdir(here)
    assert (tmp_path / "ledger.db").is_file()


def test_a_window_kept_by_a_session_survives_the_process(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"message {number}"} for number in range(1_100)]
    with Session("s", opened(tmp_path)) as session:
        session.extend(messages)
        assert session.messages() == messages
    with opened(tmp_path) as store:
        kept = store.window("s")
        assert kept is not None
        assert (kept.seq, len(kept.items)) == (1_100, 1_100)
        later = Session("s", store, owns_store=False)
        later.append({"role": "user", "content": "one more"})
        assert Session("s", store).messages() == [
            *messages,
            {"role": "user", "content": "one more"},
        ]


def test_a_sighting_is_written_over_only_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.append("s", saying("a"))
        same = Sighting("", 0, 1, b"a", b"", 1, 1)
        store.append("s", lambda head: Batch(head, sightings=(same,)))
        assert list(store.sightings("s")) == [same]
