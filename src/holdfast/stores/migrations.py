"""Create and upgrade the schema of a SQLite store, by numbered migrations.

Each migration runs in its own transaction together with the new version number, so a process that
is killed half-way leaves the store as it was before the migration.
"""

from collections.abc import Callable

from holdfast.errors import StoreRefused
from holdfast.stores.connection import Database

APPLICATION_ID = 0x484F4C44
"""'HOLD': identifies a SQLite file as a Holdfast store."""


def m001_schema(db: Database) -> None:
    """Create all tables of the first release."""
    _create_ledger(db)
    _create_ledger_indexes(db)
    _create_caches(db)
    _create_tombstones(db)
    create_index(db)


def _create_ledger(db: Database) -> None:
    """Create the tables of sessions, entries, received bytes, blobs and token counts."""
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
            base blob,
            unique (project, hash));
        create table counts(
            session integer not null,
            vocabulary text not null,
            last integer not null,
            data blob not null,
            primary key (session, vocabulary, last)) without rowid;
        """
    )


def _create_ledger_indexes(db: Database) -> None:
    # Entries of a resent history and of a reference are looked up by name.
    db.execute("create index entries_by_id on entries(session, id)")
    # The newest bytes of an arrival are looked up by the number of its first entry.
    db.execute(
        "create index sightings_by_first on sightings(session, first, version) where first > 0"
    )
    # A command without a session name uses the newest session of the project.
    db.execute("create index sessions_by_touch on sessions(project, touched)")
    # Content that is stored as a difference from older content is looked up by that.
    db.execute("create index blobs_by_base on blobs(project, base) where base is not null")


def _create_caches(db: Database) -> None:
    """Create the tables of values computed from a session, which a new process need not repeat."""
    db.execute(
        """
        create table windows(
            session integer not null,
            lane text not null,
            data blob not null,
            primary key (session, lane)) without rowid;
        create table readings(
            session integer not null,
            name text not null,
            data blob not null,
            primary key (session, name)) without rowid
        """
    )


def _create_tombstones(db: Database) -> None:
    """Names of erased entries, so that a reference to one can say so; and the ledger's age."""
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


def create_index(db: Database) -> None:
    """Words by the passage that holds them; filled by a search, never by an append."""
    # No text is stored a second time: a row's text is read from the ledger.
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


MIGRATIONS: tuple[Callable[[Database], None], ...] = (m001_schema,)


def refuse_foreign(db: Database, path: str) -> None:
    """Check that a file is a Holdfast store of a known version, before changing it.

    Raises:
        StoreRefused: the file is not a Holdfast store, or has a newer version.
    """
    # One transaction: another process may be creating the store at the same time.
    db.execute("begin")
    version, owner = _read_number(db, "user_version"), _read_number(db, "application_id")
    foreign = owner != APPLICATION_ID and (version > 0 or _has_tables(db))
    db.execute("rollback")
    if foreign:
        raise StoreRefused(path, "it is not a Holdfast ledger")
    if version > len(MIGRATIONS):
        known = len(MIGRATIONS)
        reason = f"a newer Holdfast wrote it (schema {version}, this version knows {known})"
        raise StoreRefused(path, reason)


def migrate(db: Database, path: str) -> None:
    """Upgrade a store to the newest schema.

    Raises:
        StoreRefused: the file is not a Holdfast store, or has a newer version.
    """
    refuse_foreign(db, path)
    version = _read_number(db, "user_version")
    while version < len(MIGRATIONS):
        version = _run_next(db)


def _run_next(db: Database) -> int:
    db.execute("begin immediate")
    try:
        # Another process may have run this migration while this one waited for the lock.
        version = _read_number(db, "user_version")
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


def _read_number(db: Database, pragma: str) -> int:
    value = db.pragma(pragma)
    assert isinstance(value, int)
    return value


def _has_tables(db: Database) -> bool:
    return db.execute("select count(*) from sqlite_schema").fetchone() != (0,)
