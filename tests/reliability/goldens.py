"""Stores as earlier schemas had them, kept as SQL: what they held has to stay readable for ever.

`python -m tests.reliability.goldens` writes the golden store of a schema that has none yet.
"""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct

from holdfast import Session
from holdfast.core.ledger.entry import Entry
from holdfast.stores.connection import Database, connect
from holdfast.stores.migrations import MIGRATIONS, migrate
from holdfast.stores.sqlite import SqliteStore
from tests.reliability.ledgers import SESSION, engine_at, message, plan, store_at

FOLDER = Path(__file__).parent / "golden"


class Golden(Struct, frozen=True):
    """What a store holds, read through the product."""

    entries: list[Entry]
    raw: list[str]
    """The bytes as they came, in base 64."""


def schemas() -> list[int]:
    """The schemas that have a golden store."""
    return sorted(int(path.stem.removeprefix("schema_")) for path in FOLDER.glob("schema_*.sql"))


def expected(schema: int) -> Golden:
    """What the golden store of a schema holds."""
    return msgspec.json.decode((FOLDER / f"schema_{schema}.json").read_bytes(), type=Golden)


def held(store: SqliteStore) -> Golden:
    """What a store holds now."""
    raw = [base64.b64encode(seen.raw).decode() for seen in store.sightings(SESSION)]
    return Golden(list(store.read(SESSION)), raw)


def restored(schema: int, path: str) -> None:
    """Make the golden store of a schema anew."""
    os.mkdir(os.path.dirname(path), 0o700)
    db = engine_at(path, writing=True)
    db.execute("begin")
    db.execute((FOLDER / f"schema_{schema}.sql").read_text())
    db.execute("commit")
    db.close()


TABLES = "select name from sqlite_schema where type = 'table' and name not like 'found%'"
MAKING = (
    "select sql from sqlite_schema where sql is not null and name not like 'found!_%' escape '!'"
)
"""The index of words is empty until somebody searches, and makes its own tables."""


def make(schema: int, folder: Path) -> None:
    """Write the golden store of the schema that the product makes."""
    with store_at(str(folder / "new" / "ledger.db")) as store:
        _fill(store)
        golden = held(store)
    old = str(folder / "old.db")
    Path(old).touch()
    db = connect(old)
    migrate(db, old)
    tables = [row[0] for row in db.execute(TABLES)]
    db.execute("attach ? as new", (str(folder / "new" / "ledger.db"),))
    for table in tables:
        db.execute(f"insert into main.{table} select * from new.{table}")
    db.execute("detach new")
    (FOLDER / f"schema_{schema}.sql").write_text("\n".join(_dumped(db, tables)) + "\n")
    (FOLDER / f"schema_{schema}.json").write_bytes(
        msgspec.json.format(msgspec.json.encode(golden), indent=1) + b"\n"
    )
    db.close()


def _fill(store: SqliteStore) -> None:
    session = Session(SESSION, store)
    session.extend([message(number) for number in range(9)])
    session.append({"role": "assistant", "content": "", "tool_calls": [_CALL]})
    session.append({"role": "tool", "tool_call_id": "c1", "content": "README.md\n\0 ü \u2028"})
    session.ledger.commit(plan(session.ledger.window()))
    session.report(usage={"prompt_tokens": 900, "completion_tokens": 7}, model="gpt-4o")
    session.ledger.head()


_CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}


def _dumped(db: Database, tables: list[str]) -> Iterator[str]:
    yield f"pragma application_id = {db.pragma('application_id')};"
    yield f"pragma user_version = {db.pragma('user_version')};"
    for (sql,) in db.execute(MAKING):
        yield f"{sql};"
    for table in tables:
        columns = [row[1] for row in db.execute(f"pragma table_info({table})")]
        quoted = ", ".join(f"quote({column})" for column in columns)
        for row in db.execute(f"select {quoted} from {table}"):
            yield f"insert into {table} values ({', '.join(row)});"


def main() -> None:
    newest = len(MIGRATIONS)
    if newest not in schemas():
        with TemporaryDirectory() as folder:
            make(newest, Path(folder))


if __name__ == "__main__":
    main()
