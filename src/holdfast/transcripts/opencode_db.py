"""Sessions inside the database that opencode keeps: found, and read as lines.

The database is opencode's and is only read. A session in it is named like a file in a folder:
`opencode.db/ses_1a2b.jsonl`. Its lines are the events that opencode logs, in their order and as
they are stored, less those that tell of a part that is not whole yet: so they only ever grow.
Sessions from before opencode logged events are read as the messages that it would export.
"""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.text.jsontext import encode

NAME = "opencode.db"
ENDING = ".jsonl"
WAIT_MS = 2_000
"""For opencode to finish a write."""

SESSIONS = "select id, directory, time_updated from session order by time_updated, id"
BEGAN = "select 1 from event where aggregate_id = ? and seq = 0"
EVENTS = """
select id, seq, type, data from event
where aggregate_id = ? and type not like 'session.updated%'
  and (type not like 'message.part.updated%'
       or coalesce(json_extract(data, '$.part.state.status'), 'completed')
          in ('completed', 'error'))
  and seq >= ?
order by seq
"""
"""A tool that runs is written down again with every line that it prints: only its end is read."""
MESSAGES = "select id, data from message where session_id = ? order by id"
PARTS = "select id, message_id, data from part where session_id = ? order by id"


class Kept(Struct, frozen=True):
    """A session in the database."""

    path: Path
    folder: str
    changed: float


def is_inside(path: Path) -> bool:
    """Whether a path names a session in the database."""
    return path.parent.name == NAME and path.parent.is_file()


def sessions_in(database: Path) -> list[Kept]:
    """The sessions in the database, the oldest first; none when it is not opencode's."""
    with suppress(Unreadable), closing(_opened(database)) as connection:
        rows = _rows(connection, database, SESSIONS)
        return [
            Kept(database / f"{name}{ENDING}", str(folder), cast(int, changed) / 1000)
            for name, folder, changed in rows
        ]
    return []


def lines_of(path: Path) -> BinaryIO:
    """A session in the database, as lines.

    Raises:
        Unreadable: it is not there, or the database cannot be read.
    """
    session = path.name.removesuffix(ENDING)
    with closing(_opened(path.parent)) as connection:
        logged = list(_rows(connection, path, BEGAN, session))
        lines = b"".join((_events if logged else _messages)(connection, path, session))
    if not lines:
        raise Unreadable(str(path), "no such session in it")
    return BytesIO(lines)


def lines_since(path: Path, seq: int) -> list[bytes]:
    """The lines of a session from the event of a number on, that one first.

    Raises:
        Unreadable: the database cannot be read.
    """
    session = path.name.removesuffix(ENDING)
    with closing(_opened(path.parent)) as connection:
        return list(_events(connection, path, session, seq))


def _opened(database: Path) -> Any:
    import apsw  # late: sessions of other programs are plain files

    try:
        made = apsw.Connection(os.fspath(database), flags=apsw.SQLITE_OPEN_READONLY)
        made.set_busy_timeout(WAIT_MS)
    except apsw.Error as error:
        raise Unreadable(str(database), str(error)) from None
    return made


def _rows(
    connection: Any, path: Path, query: str, *values: str | int
) -> Iterator[tuple[object, ...]]:
    import apsw

    try:
        yield from connection.execute(query, values)
    except apsw.Error as error:
        if "no such table: event" not in str(error):
            raise Unreadable(str(path), str(error)) from None


def _events(connection: Any, path: Path, session: str, since: int = 0) -> Iterator[bytes]:
    for name, seq, kind, data in _rows(connection, path, EVENTS, session, since):
        head = f'{{"id":{_json(name)},"seq":{seq},"type":{_json(kind)},"data":'
        yield head.encode() + str(data).encode("utf-8", "surrogatepass") + b"}\n"


def _messages(connection: Any, path: Path, session: str) -> Iterator[bytes]:
    """Messages as an export has them, up to the first that is still being written."""
    parts: dict[str, list[str]] = {}
    for name, message, data in _rows(connection, path, PARTS, session):
        parts.setdefault(str(message), []).append(_named(str(data), {"id": str(name)}))
    for name, data in _rows(connection, path, MESSAGES, session):
        if '"role":"assistant"' in str(data) and '"completed":' not in str(data):
            return
        info = _named(str(data), {"id": str(name), "sessionID": session})
        held = ",".join(parts.get(str(name), ()))
        yield f'{{"info":{info},"parts":[{held}]}}\n'.encode("utf-8", "surrogatepass")


def _named(data: str, names: dict[str, str]) -> str:
    """An object as it is stored, with the names that stand in columns of their own."""
    told = ",".join(f"{_json(key)}:{_json(value)}" for key, value in names.items())
    rest = data.lstrip()[1:]
    return f"{{{told}{'' if rest.lstrip()[:1] == '}' else ','}{rest}"


def _json(value: object) -> str:
    return encode(value).decode()
