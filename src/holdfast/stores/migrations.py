"""The schema, as the steps that lead to it: numbered functions, one reason each.

Each runs in a transaction of its own together with the new version number, so a process that is
killed half-way leaves the store as it was before the step.
"""

from collections.abc import Callable

from holdfast.errors import StoreRefused
from holdfast.stores.connection import Database

APPLICATION_ID = 0x484F4C44
"""'HOLD': tells our file from any other SQLite file."""


def m001_the_ledger(db: Database) -> None:
    """Sessions, their entries, the bytes they came in, and what those count."""
    db.execute(
        """
        create table sessions(
            key integer primary key,
            project text not null,
            name text not null,
            touched integer not null,
            head blob not null,
            unique (project, name));
        create table entries(
            session integer not null,
            seq integer not null,
            id blob not null,
            parent blob,
            lane text not null,
            message integer not null,
            part integer not null,
            fork integer not null,
            grouped text not null,
            at text not null,
            derived integer not null,
            stored integer not null,
            body blob not null,
            sum blob not null,
            unique (session, seq));
        create table sightings(
            session integer not null,
            source text not null,
            pos integer not null,
            version integer not null,
            first integer not null,
            parts integer not null,
            lead blob not null,
            stored integer not null,
            raw blob not null,
            sum blob not null,
            unique (session, source, pos, version));
        create table blobs(
            project text not null,
            hash blob not null,
            data blob not null,
            unique (project, hash));
        create table counts(
            session integer not null,
            vocabulary text not null,
            last integer not null,
            data blob not null,
            primary key (session, vocabulary, last)) without rowid;
        """
    )
    # A resent history and a reference are looked up by name.
    db.execute("create index entries_by_id on entries(session, id)")
    # The newest bytes of an arrival are looked up by the first entry they hold.
    db.execute(
        "create index sightings_by_first on sightings(session, first, version) where first > 0"
    )
    # The newest session of a project is what a command means when none is named.
    db.execute("create index sessions_by_touch on sessions(project, touched)")


def m002_kept_windows(db: Database) -> None:
    """The folded window, so that a fresh process need not fold a long session again."""
    db.execute(
        """
        create table windows(
            session integer not null,
            lane text not null,
            data blob not null,
            primary key (session, lane)) without rowid
        """
    )


def m003_spans(_: Database) -> None:
    """What a summary hides may be told as spans; older code would take them for names."""


def m004_tombstones(db: Database) -> None:
    """What was erased, so that whoever asks for it is told; and how long the ledger has lived."""
    db.execute(
        """
        create table tombstones(
            project text not null,
            session text not null,
            seq integer not null,
            id blob not null,
            size integer not null,
            reason text not null,
            at text not null,
            again text not null,
            primary key (project, session, id)) without rowid;
        create table looks(
            project text not null,
            touched integer not null,
            lived integer not null,
            clock integer not null)
        """
    )


def m005_the_index(db: Database) -> None:
    """Words by the passage they stand in; filled when somebody searches, never when appending."""
    # No text is kept a second time: what a row says is read from the ledger.
    db.execute(
        """
        create virtual table found using fts5(
            words, parts, content = '', contentless_delete = 1,
            tokenize = "porter unicode61 remove_diacritics 2");
        create table spots(
            id integer primary key,
            seq integer not null,
            step integer not null);
        create table indexed(
            session integer primary key,
            version integer not null,
            seq integer not null,
            spots integer not null,
            passages integer not null,
            steps blob not null)
        """
    )


def m006_content_told_after(db: Database) -> None:
    """Content may be told against an older version of it, and squeezed where it stands in a row."""
    db.execute("alter table blobs add column base blob")
    # Whatever is told against what is dropped is looked up by it.
    db.execute("create index blobs_by_base on blobs(project, base) where base is not null")


def m007_kept_readings(db: Database) -> None:
    """What was read off a session, so that a fresh process need not read all of it again."""
    db.execute(
        """
        create table readings(
            session integer not null,
            name text not null,
            data blob not null,
            primary key (session, name)) without rowid
        """
    )


MIGRATIONS: tuple[Callable[[Database], None], ...] = (
    m001_the_ledger,
    m002_kept_windows,
    m003_spans,
    m004_tombstones,
    m005_the_index,
    m006_content_told_after,
    m007_kept_readings,
)


def refuse_foreign(db: Database, path: str) -> None:
    """Look at a file before anything of it is changed.

    Raises:
        StoreRefused: the store is of a newer version, or no store of ours.
    """
    # One look: another process may be making the store just now.
    db.execute("begin")
    version, owner = _number(db, "user_version"), _number(db, "application_id")
    foreign = owner != APPLICATION_ID and (version > 0 or _has_tables(db))
    db.execute("rollback")
    if foreign:
        raise StoreRefused(path, "it is not a Holdfast ledger")
    if version > len(MIGRATIONS):
        known = len(MIGRATIONS)
        reason = f"a newer Holdfast wrote it (schema {version}, this one knows {known})"
        raise StoreRefused(path, reason)


def migrate(db: Database, path: str, *, upto: int = len(MIGRATIONS)) -> None:
    """Bring a store to the schema this code knows.

    Raises:
        StoreRefused: the store is of a newer version, or no store of ours.
    """
    refuse_foreign(db, path)
    version = _number(db, "user_version")
    while version < upto:
        version = _step(db)


def _step(db: Database) -> int:
    db.execute("begin immediate")
    try:
        # Another process may have taken this step while we waited for the lock.
        version = _number(db, "user_version")
        if version < len(MIGRATIONS):
            MIGRATIONS[version](db)
            version += 1
            db.execute(f"pragma application_id = {APPLICATION_ID}")
            db.execute(f"pragma user_version = {version}")
    except BaseException:
        db.execute("rollback")
        raise
    db.execute("commit")
    return version


def _number(db: Database, pragma: str) -> int:
    value = db.pragma(pragma)
    assert isinstance(value, int)
    return value


def _has_tables(db: Database) -> bool:
    return db.execute("select count(*) from sqlite_schema").fetchone() != (0,)
