"""A later release, with a schema of one step more: how stores are upgraded is tested with it."""

from collections.abc import Generator
from contextlib import contextmanager

from holdfast.stores import migrations
from holdfast.stores.connection import Database


def a_later_step(db: Database) -> None:
    """Add a table with rows, and a column, as a release might."""
    db.execute(
        """
        create table later(key integer primary key, name text not null);
        insert into later select key, name from sessions;
        alter table sessions add column later text not null default 'x'
        """
    )


@contextmanager
def later_release() -> Generator[None]:
    """Work as a release that knows one step more."""
    known = migrations.MIGRATIONS
    migrations.MIGRATIONS = (*known, a_later_step)
    try:
        yield
    finally:
        migrations.MIGRATIONS = known
