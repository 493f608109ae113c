"""fsck: no damage goes unseen, no sound store is accused, and repair touches no content."""

import os
import random
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

import apsw
import msgspec
import pytest

from holdfast.core.ledger.entry import Compressed, Said, Step
from holdfast.core.ledger.head import Head
from holdfast.errors import HoldfastError, NotRecorded, StoreDamaged
from holdfast.session.open import open_store
from holdfast.session.session import Session
from holdfast.stores import packing
from holdfast.stores.connection import Database
from holdfast.stores.fsck import repair
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Damage
from holdfast.transcripts.export import document_names, export_document
from tests.input.making import LEDGERLY, line, read_in, run, told, transcript

Rows = list[tuple[Any, ...]]
LOST, STALE = 74, 1


def _project(folder: Path) -> Path:
    """A project with sessions of every kind: files, a rewound one, a live one, a compressed one."""
    folder.mkdir()
    (folder / "home").mkdir()
    read_in(LEDGERLY, folder)
    lines = transcript(30, session="rewound")
    (folder / "rewound.jsonl").write_bytes(b"".join(lines))
    read_in(folder / "rewound.jsonl", folder)
    (folder / "rewound.jsonl").write_bytes(b"".join(lines[:20]) + told("another way"))
    read_in(folder / "rewound.jsonl", folder)
    with open_store(folder) as store:
        live = Session("live", store)
        for at in range(12):
            live.append({"role": ("user", "assistant")[at % 2], "content": f"{at} " * 2_400})
        live.append({"role": "user", "content": [{"type": "text", "text": "a"}] * 2})
        live.status()
        path = live.ledger.path()
        step = Step((path[0].id,), "a test", Said("user", "shorter"), before=400, after=1)
        live.ledger.commit(Compressed((step,), 0, path[-1].seq))
        live.report(usage={"input_tokens": 5_000, "output_tokens": 10}, model="claude-opus-4-5")
        live.status()
    return folder


class Kept(NamedTuple):
    """A project, and its ledger as it was before anybody damaged it."""

    root: Path
    ledger: bytes


def _ledger(root: Path) -> Path:
    return root / ".holdfast" / "ledger.db"


def _put_back(kept: Kept) -> Path:
    """The project with its ledger as it was: in place, for a project is known by its place."""
    shutil.rmtree(kept.root / ".holdfast", ignore_errors=True)
    (kept.root / ".holdfast").mkdir(mode=0o700)
    _ledger(kept.root).write_bytes(kept.ledger)
    _ledger(kept.root).chmod(0o600)
    return kept.root


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A project that every test may damage."""
    root = _project(tmp_path_factory.mktemp("fsck") / "project")
    return Kept(root, _ledger(root).read_bytes())


@pytest.fixture
def project(made: Kept) -> Path:
    """A project to damage."""
    return _put_back(made)


@contextmanager
def _engine(root: Path) -> Generator[Database]:
    connection = cast(Database, apsw.Connection(str(_ledger(root))))
    try:
        yield connection
    finally:
        connection.close()


def _open(root: Path) -> SqliteStore:
    store = open_store(root)
    assert isinstance(store, SqliteStore)
    return store


def _checked(root: Path) -> list[Damage]:
    """What fsck finds; a store that cannot be opened at all is one damage."""
    try:
        with _open(root) as store:
            return list(store.check())
    except HoldfastError as error:
        return [Damage("lost", "store", str(error))]


def _lost(root: Path) -> list[Damage]:
    return [damage for damage in _checked(root) if damage.kind == "lost"]


def _everything(root: Path) -> dict[tuple[str, str], bytes]:
    """The bytes of every document of every session."""
    with _open(root) as store:
        sessions = [Session(listed.name, store) for listed in store.sessions()]
        return {
            (session.name, source): b"".join(export_document(session.ledger, source))
            for session in sessions
            for source in document_names(session.ledger)
        }


def _content(root: Path) -> dict[str, Rows]:
    with _engine(root) as db:
        return {
            table: db.execute(f"select * from {table}").fetchall()
            for table in ("entries", "sightings", "blobs")
        }


class Row(NamedTuple):
    """A row that can be taken out."""

    table: str
    where: str
    values: tuple[Any, ...]


KEYS = {
    "sessions": ("key",),
    "entries": ("session", "seq"),
    "sightings": ("session", "source", "pos", "version"),
    "blobs": ("project", "hash"),
    "counts": ("session", "vocabulary", "last"),
}


def _rows(db: Database, table: str) -> list[Row]:
    keys = KEYS[table]
    found = db.execute(f"select {', '.join(keys)} from {table}").fetchall()
    where = " and ".join(f"{key} = ?" for key in keys)
    return [Row(table, where, tuple(values)) for values in found]


def test_a_sound_store_is_called_sound(project: Path) -> None:
    assert _checked(project) == []
    ran = run("fsck", cwd=project)
    assert (ran.code, ran.err, len(ran.out.splitlines())) == (0, "", 1)


@pytest.fixture(scope="module")
def thousand_made(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A store of over a thousand pieces of content under their hashes."""
    root = tmp_path_factory.mktemp("thousand")
    chance = random.Random(7)
    words = [chance.randbytes(2_500).hex() for _ in range(1_100)]
    (root / "many.jsonl").write_bytes(b"".join(told(word) for word in words))
    read_in(root / "many.jsonl", root)
    return Kept(root, _ledger(root).read_bytes())


@pytest.fixture
def thousand(thousand_made: Kept) -> Path:
    """The same, to damage."""
    return _put_back(thousand_made)


def _blobs(db: Database) -> list[tuple[bytes, bytes]]:
    return [(name, data) for name, data in db.execute("select hash, data from blobs").fetchall()]


def _flipped(data: bytes, at: int, bit: int = 0xFF) -> bytes:
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]


@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_wrong_byte_in_any_of_a_thousand_contents_is_found_in_each(
    place: float, thousand: Path
) -> None:
    with _engine(thousand) as db:
        blobs = _blobs(db)
        assert len(blobs) >= 1_000
        db.execute("begin")
        for name, data in blobs:
            wrong = _flipped(data, round((len(data) - 1) * place))
            db.execute("update blobs set data = ? where hash = ?", (wrong, name))
        db.execute("commit")
    named = {damage.where for damage in _lost(thousand)}
    assert {f"content {name.hex()[:12]}" for name, _ in blobs} <= named


def test_a_single_wrong_byte_is_found_and_nothing_else_is_accused(thousand: Path) -> None:
    chance = random.Random(11)
    with _open(thousand) as store, _engine(thousand) as db:
        blobs = _blobs(db)
        for name, data in chance.sample(blobs, 25):
            wrong = _flipped(data, chance.randrange(len(data)))
            db.execute("update blobs set data = ? where hash = ?", (wrong, name))
            found = list(store.check())
            db.execute("update blobs set data = ? where hash = ?", (data, name))
            whole = f"content {name.hex()[:12]}"
            assert [damage.where for damage in found if damage.where != "many"] == [whole]
            assert {damage.kind for damage in found} == {"lost"}
        assert list(store.check()) == []


def test_a_wrong_byte_in_the_file_where_content_lies_is_found(thousand: Path) -> None:
    data = _ledger(thousand).read_bytes()
    with _engine(thousand) as db:
        blobs = _blobs(db)
    found = 0
    for name, payload in random.Random(3).sample(blobs, 30):
        # The rest of it may lie on another page.
        assert data.count(payload[:300]) == 1
        _put_back(Kept(thousand, _flipped(data, data.index(payload[:300]) + 150)))
        found += any(damage.where == f"content {name.hex()[:12]}" for damage in _lost(thousand))
    assert found == 30


@pytest.mark.parametrize("table", KEYS)
def test_each_row_that_is_missing_is_found(table: str, project: Path) -> None:
    unseen: list[Row] = []
    with _open(project) as store, _engine(project) as db:
        rows = _rows(db, table)
        chosen = rows if len(rows) < 60 else random.Random(5).sample(rows, 60)
        for row in chosen:
            kept = db.execute(f"select * from {table} where {row.where}", row.values).fetchall()
            db.execute(f"delete from {table} where {row.where}", row.values)
            if not [damage for damage in store.check() if damage.kind != "waste"]:
                unseen.append(row)
            marks = ", ".join("?" for _ in kept[0])
            db.execute(f"insert into {table} values ({marks})", kept[0])
        assert list(store.check()) == []
    assert unseen == []


@pytest.mark.parametrize("table", [*KEYS, "windows"])
def test_each_table_that_is_missing_is_found(table: str, project: Path) -> None:
    with _engine(project) as db:
        db.execute(f"drop table {table}")
    rebuildable = table in ("counts", "windows")
    assert run("fsck", cwd=project).code in ((LOST, STALE) if rebuildable else (LOST,))


def test_a_session_that_lost_all_its_rows_is_found(project: Path) -> None:
    with _engine(project) as db:
        db.execute("delete from sessions")
    assert _lost(project) != []
    assert run("fsck", cwd=project).code == LOST


@pytest.mark.parametrize(
    "sql",
    [
        "update sessions set head = x'00' where name = 'live'",
        "update sessions set head = x'c1ffff'",
        "update counts set data = x'c1ffff'",
        "update counts set data = zeroblob(4)",
        "insert or replace into windows select key, '', x'c1ffff' from sessions",
        "insert or replace into windows select key, '', zeroblob(100) from sessions",
        "update entries set sum = zeroblob(8) where seq = 3",
        "update entries set body = zeroblob(20) where seq = 3",
        "update entries set seq = seq + 100000 where seq = 3",
        "update entries set at = 'never' where seq = 3",
        "update entries set lane = 'elsewhere' where seq = 3",
        "update sightings set raw = x'7b7d' where pos = 3",
        "update sightings set lead = x'20' where pos = 3",
        "update sightings set pos = pos + 1000 where pos = 3",
        "update sightings set first = 1 where pos = 3",
        "update blobs set data = x''",
        "update blobs set project = 'another'",
    ],
)
def test_a_column_that_was_changed_is_found_and_no_traceback_shown(sql: str, project: Path) -> None:
    with _engine(project) as db:
        db.execute(sql)
    ran = run("fsck", cwd=project)
    assert ran.code in (LOST, STALE)
    assert ran.out != ""


def test_a_kept_window_that_was_changed_is_found(tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_bytes(b"".join(told(f"message {at}") for at in range(1_200)))
    read_in(tmp_path / "long.jsonl", tmp_path)
    with _open(tmp_path) as store:
        before = Session("long", store).messages()
    with _engine(tmp_path) as db:
        ((data,),) = db.execute("select data from windows").fetchall()
        assert isinstance(data, bytes)
    unseen: list[int] = []
    for at in random.Random(2).sample(range(len(data)), 40):
        with _engine(tmp_path) as db:
            db.execute("update windows set data = ?", (_flipped(data, at, 0x01),))
        if not _checked(tmp_path):
            with _open(tmp_path) as store:
                if Session("long", store).messages() != before:
                    unseen.append(at)
    assert unseen == []


@pytest.mark.parametrize("part", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_found(part: float, project: Path) -> None:
    size = _ledger(project).stat().st_size
    os.truncate(_ledger(project), round(size * part))
    assert _lost(project) != []
    assert run("fsck", cwd=project).code == LOST


def test_a_file_that_was_emptied_is_found(project: Path) -> None:
    os.truncate(_ledger(project), 0)
    assert run("fsck", cwd=project).code == LOST


def test_a_file_that_is_gone_is_told_of(project: Path) -> None:
    _ledger(project).unlink()
    ran = run("fsck", cwd=project)
    assert (ran.code, ran.out) == (NotRecorded.exit_code, "")
    assert ran.err.startswith("holdfast: ")
    assert not _ledger(project).exists()


def test_without_its_log_a_store_gives_what_was_laid_down_before_or_says_what_is_missing(
    project: Path, tmp_path: Path
) -> None:
    before = _everything(project)
    _crash(project, tmp_path / "crashed")
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (project / ".holdfast" / name).unlink()
    if not _lost(project):
        assert _everything(project) == before


def test_with_its_log_a_store_that_crashed_has_everything(project: Path, tmp_path: Path) -> None:
    before = _everything(project)
    _crash(project, tmp_path / "crashed")
    assert _checked(project) == []
    late = {("late", ""): b'[{"role":"user","content":"late"}]'}
    assert _everything(project) == {**before, **late}


def _crash(root: Path, aside: Path) -> None:
    """Leave the store as a crash does: the last append in its log, not yet written back."""
    with _open(root) as store:
        Session("late", store).append({"role": "user", "content": "late"})
        shutil.copytree(root / ".holdfast", aside)
    assert (aside / "ledger.db-wal").stat().st_size > 0
    shutil.rmtree(root / ".holdfast")
    shutil.copytree(aside, root / ".holdfast")


def _flips(project: Path, count: int, seed: int) -> list[int]:
    """Places where a wrong byte is neither found nor harmless."""
    data, before = _ledger(project).read_bytes(), _everything(project)
    chance = random.Random(seed)
    unseen: list[int] = []
    for _ in range(count):
        at = chance.randrange(len(data))
        _put_back(Kept(project, _flipped(data, at, 1 << chance.randrange(8))))
        if not _checked(project) and _everything(project) != before:
            unseen.append(at)
    return unseen


def test_a_wrong_bit_anywhere_in_the_file_is_found_or_harmless(project: Path) -> None:
    assert _flips(project, 120, seed=1) == []


@pytest.mark.slow
def test_a_wrong_bit_at_five_thousand_places_is_found_or_harmless(project: Path) -> None:
    assert _flips(project, 5_000, seed=2) == []


def _spoil_head(root: Path, session: str) -> Head:
    """Make a session's head say something wrong; return what it said before."""
    with _engine(root) as db:
        ((data,),) = db.execute("select head from sessions where name = ?", (session,)).fetchall()
        assert isinstance(data, bytes)
        kept = packing.verify_checksum(data)
        assert kept is not None
        head = msgspec.msgpack.decode(kept, type=Head)
        wrong = msgspec.structs.replace(head, title="something else", model="gpt-4o")
        db.execute(
            "update sessions set head = ? where name = ?",
            (packing.add_checksum(msgspec.msgpack.encode(wrong)), session),
        )
    return head


def test_repair_rebuilds_a_wrong_head_and_touches_no_content(project: Path) -> None:
    content = _content(project)
    head = _spoil_head(project, "live")
    assert [damage.kind for damage in _checked(project)] == ["cache"]
    assert run("fsck", cwd=project).code == STALE
    ran = run("fsck", "--repair", cwd=project)
    assert ran.code == 0
    assert ran.out.startswith("repaired: live: ")
    with _open(project) as store:
        assert store.head("live") == head
    assert _checked(project) == []
    assert _content(project) == content
    assert run("fsck", "--repair", cwd=project).out.startswith("sound")


def test_repair_of_a_sound_store_changes_nothing(project: Path) -> None:
    with _engine(project) as db:
        heads = db.execute("select * from sessions order by key").fetchall()
    with _open(project) as store:
        assert repair(store) == []
    with _engine(project) as db:
        assert db.execute("select * from sessions order by key").fetchall() == heads


@pytest.mark.parametrize("back", [0, 1, 2])
def test_repair_never_hides_a_loss(back: int, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    block = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, *block]}
    (tmp_path / "two.jsonl").write_bytes(told("first") + line(thought))
    read_in(tmp_path / "two.jsonl", tmp_path)
    with _engine(tmp_path) as db:
        db.execute("delete from entries where seq = (select max(seq) from entries) - ?", (back,))
    assert _lost(tmp_path) != []
    assert run("fsck", "--repair", cwd=tmp_path).code == LOST
    assert _lost(tmp_path) != []


def test_repair_of_a_store_with_lost_content_ends_with_its_exit_code(project: Path) -> None:
    with _engine(project) as db:
        db.execute("update blobs set data = x'00'")
    content = _content(project)
    assert run("fsck", "--repair", cwd=project).code == LOST
    assert _content(project) == content


def test_content_nothing_refers_to_is_called_waste_and_is_no_error(project: Path) -> None:
    with _open(project) as store, _engine(project) as db:
        db.execute("insert into blobs select project, zeroblob(32), data, null from blobs limit 1")
        assert {damage.kind for damage in store.check()} >= {"waste"}


def test_a_project_that_was_moved_keeps_its_sessions(tmp_path: Path) -> None:
    (tmp_path / "here" / "home").mkdir(parents=True)
    (tmp_path / "a.jsonl").write_bytes(told("hello"))
    read_in(tmp_path / "a.jsonl", tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    assert _everything(tmp_path / "there") == {("a", ""): told("hello")}


def test_fsck_sees_damage_in_a_ledger_that_was_moved(tmp_path: Path) -> None:
    (tmp_path / "here" / "home").mkdir(parents=True)
    (tmp_path / "a.jsonl").write_bytes(told("hello " * 1_500))
    read_in(tmp_path / "a.jsonl", tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    with _engine(tmp_path / "there") as db:
        db.execute("update blobs set data = x'00'")
    assert run("fsck", cwd=tmp_path / "there").code == LOST


def test_reading_content_that_was_changed_is_refused_and_says_so(project: Path) -> None:
    with _engine(project) as db:
        db.execute("update blobs set data = x'00'")
    with _open(project) as store, pytest.raises(StoreDamaged) as caught:
        list(store.read("live"))
    assert caught.value.path == str(_ledger(project))
    assert run("export", "live", cwd=project).code == LOST
