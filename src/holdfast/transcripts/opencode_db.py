"""Find the sessions in opencode's database and read them as lines.

The database is opened read-only. A session in it is named like a file in a folder:
`opencode.db/ses_1a2b.jsonl`. Its lines are the logged events, in order and as stored, without the
events of incomplete parts: so lines are only ever added. Sessions from before opencode logged
events are read as the messages that it would export.
"""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

from holdfast.errors import Unreadable
from holdfast.text.jsontext import encode
from holdfast.text.utf8 import to_bytes

DATABASE_NAME = "opencode.db"
SESSION_ENDING = ".jsonl"
WAIT_MS = 2_000
"""Longest wait for a write of opencode to finish."""

SESSIONS = "select id, directory, time_updated from session order by time_updated, id"
HAS_EVENTS = "select 1 from event where aggregate_id = ? and seq = 0"
EVENTS = """
select id, seq, type, data from event
where aggregate_id = ? and type not like 'session.updated%'
  and (type not like 'message.part.updated%'
       or coalesce(json_extract(data, '$.part.state.status'), 'completed')
          in ('completed', 'error'))
  and seq >= ?
order by seq
"""
"""A running tool is logged again with every line it prints: only its final state is read."""
MESSAGES = "select id, data from message where session_id = ? order by id"
PARTS = "select id, message_id, data from part where session_id = ? order by id"


def is_inside(path: Path) -> bool:
    """Return whether a path names a session in the database."""
    return path.parent.name == DATABASE_NAME and path.parent.is_file()


def sessions_in(database: Path) -> list[tuple[Path, str, float]]:
    """Return path, folder and last change of each session, oldest first; none if not opencode's."""
    with suppress(Unreadable), closing(_open_database(database)) as connection:
        return [
            (database / f"{name}{SESSION_ENDING}", str(folder), cast(int, changed) / 1000)
            for name, folder, changed in _query(connection, database, SESSIONS)
        ]
    return []


def read_session(path: Path) -> BinaryIO:
    """Return the lines of a session in the database as a stream.

    Raises:
        Unreadable: there is no such session, or the database cannot be read.
    """
    session = path.name.removesuffix(SESSION_ENDING)
    with closing(_open_database(path.parent)) as connection:
        logged = list(_query(connection, path, HAS_EVENTS, session))
        lines = b"".join((_event_lines if logged else _message_lines)(connection, path, session))
    if not lines:
        raise Unreadable(str(path), "the database has no such session")
    return BytesIO(lines)


def read_events_since(path: Path, seq: int) -> list[bytes]:
    """Return the lines of a session from the event with the number `seq` on.

    Raises:
        Unreadable: the database cannot be read.
    """
    session = path.name.removesuffix(SESSION_ENDING)
    with closing(_open_database(path.parent)) as connection:
        return list(_event_lines(connection, path, session, seq))


def _open_database(database: Path) -> Any:
    import apsw  # late: sessions of other programs are plain files

    try:
        connection = apsw.Connection(os.fspath(database), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(WAIT_MS)
    except apsw.Error as error:
        raise Unreadable(str(database), str(error)) from None
    return connection


def _query(
    connection: Any, path: Path, query: str, *values: str | int
) -> Iterator[tuple[object, ...]]:
    import apsw

    try:
        yield from connection.execute(query, values)
    except apsw.Error as error:
        if "no such table: event" not in str(error):
            raise Unreadable(str(path), str(error)) from None


def _event_lines(connection: Any, path: Path, session: str, since: int = 0) -> Iterator[bytes]:
    for name, seq, kind, data in _query(connection, path, EVENTS, session, since):
        head = f'{{"id":{_json(name)},"seq":{seq},"type":{_json(kind)},"data":'
        yield head.encode() + to_bytes(str(data)) + b"}\n"


def _message_lines(connection: Any, path: Path, session: str) -> Iterator[bytes]:
    """Yield the messages in the form of an export, up to the first incomplete one."""
    parts: dict[str, list[str]] = {}
    for name, message, data in _query(connection, path, PARTS, session):
        parts.setdefault(str(message), []).append(_with_ids(str(data), {"id": str(name)}))
    for name, data in _query(connection, path, MESSAGES, session):
        if '"role":"assistant"' in str(data) and '"completed":' not in str(data):
            return
        info = _with_ids(str(data), {"id": str(name), "sessionID": session})
        joined = ",".join(parts.get(str(name), ()))
        yield to_bytes(f'{{"info":{info},"parts":[{joined}]}}\n')


def _with_ids(data: str, names: dict[str, str]) -> str:
    """Return a stored JSON object with the ids from separate columns added to it."""
    ids = ",".join(f"{_json(key)}:{_json(value)}" for key, value in names.items())
    rest = data.lstrip()[1:]
    return f"{{{ids}{'' if rest.lstrip()[:1] == '}' else ','}{rest}"


def _json(value: object) -> str:
    return encode(value).decode()
