"""Following a session as its agent writes it: what is new in its transcript is read, and no more.

A transcript only grows, so reading goes on where it ended, in a session of any length. Where that
cannot be told to be right (the file was rewritten, a request hangs somewhere else than at the end,
a compaction kept lines from long ago), all of it is read again, which always is.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from holdfast.core.ledger.head import Document, Head
from holdfast.core.plan.policy import Policy
from holdfast.engine.never_store import Withholder
from holdfast.errors import Erased, HoldfastError
from holdfast.project.regular_files import open_regular
from holdfast.stores.store import Store, retried
from holdfast.text.jsontext import Json, as_list, as_object, as_text
from holdfast.transcripts import opencode_db
from holdfast.transcripts.ingest import MARKED, Reading, ingest, stamp_of, stem_of
from holdfast.transcripts.reader_state import reader_of
from holdfast.wire import claude_code
from holdfast.wire import opencode as wire_opencode
from holdfast.wire.jsonl import cut_lines
from holdfast.wire.pieces import Piece
from holdfast.wire.wire import LineReader

BEHIND = 256 * 1024
"""Bytes of what is known already that are looked at for what the new lines hang on."""


def follow(
    store: Store,
    session: str,
    path: str | os.PathLike[str] | None = None,
    *,
    policy: Policy | None = None,
) -> int:
    """Read what is new in a session's transcript and in those of its workers; how many entries.

    Without a path, in the file that it was last read from. A session that was erased stays so.

    Raises:
        Unreadable: the transcript cannot be read.
    """
    known = (store.head(session) or Head()).documents.get("", Document())
    file = Path(path) if path else Path(known.path)
    if not path and not known.path:
        return 0
    added = 0
    for one in (file, *_workers(file)):
        with suppress(Erased, FileNotFoundError):
            added += retried(session, partial(_followed, store, session, one, policy or Policy()))
    return added


def _workers(file: Path) -> list[Path]:
    """The transcripts of sub-agents, which lie in a folder beside the session's own."""
    return sorted((file.with_suffix("") / "subagents").glob("*.jsonl"))


def _followed(store: Store, session: str, file: Path, policy: Policy) -> int:
    stamp = stamp_of(file)
    if not opencode_db.is_inside(file) and not file.stat().st_size:
        return 0
    head = store.head(session) or Head()
    source = stem_of(file) if file.parent.name == "subagents" else ""
    known = head.documents.get(source, Document())
    if stamp and (known.path, known.stamp) == (str(file.absolute()), stamp):
        return 0
    reader = _goes_on(store, session, source, file, head)
    pieces = _new(file, known, reader) if reader is not None else None
    if pieces is None:
        return ingest(file, store, session=session, policy=policy, counting=False).added
    if not pieces:
        return 0
    rules = Withholder(policy.never_store)
    reading = Reading(file, head.wire, pieces, policy, rules, source, reader)
    reading.counts, reading.stamp = False, stamp
    return reading.on(store, session, pieces, known).added


def _goes_on(store: Store, session: str, source: str, file: Path, head: Head) -> LineReader | None:
    """The reader of what is new in a file; None when all of it has to be read."""
    known = head.documents.get(source, Document())
    if not known.offset or known.path != str(file.absolute()):
        return None
    return reader_of(store, session, source, known, head.wire)


def _new(file: Path, known: Document, reader: LineReader) -> list[Piece] | None:
    """The lines that are new; None when all has to be read again."""
    before, fresh = _behind_and_ahead(file, known, reader)
    line = before.rpartition(b"\n")[2]
    if sha256(line[-MARKED:]).hexdigest()[:16] != known.mark or not fresh.startswith(b"\n"):
        return None
    whole = fresh[: fresh.rfind(b"\n") + 1]
    if len(whole) <= 1:
        return []
    pieces = list(cut_lines(BytesIO(whole)))
    if isinstance(reader, claude_code.Reader) and not _hangs_on(before, pieces):
        return None
    return pieces


def _behind_and_ahead(file: Path, known: Document, reader: LineReader) -> tuple[bytes, bytes]:
    """The end of what is known of a transcript, and what stands behind it."""
    if opencode_db.is_inside(file):
        seq = reader.state.seq if isinstance(reader, wire_opencode.Reader) else 0
        last, *more = opencode_db.lines_since(file, seq) or [b""]
        return last[:-1], b"\n" + b"".join(more)
    with open_regular(file, links=True) as stream:
        start = max(known.offset - BEHIND, 0)
        stream.seek(start)
        return stream.read(known.offset - start), stream.read()


def _hangs_on(before: bytes, pieces: list[Piece]) -> bool:
    """Whether the new lines of a Claude Code transcript go on from the end of what is known."""
    ends, new = set(_since_the_last_request(before)), set[str]()
    for piece in pieces:
        line = piece.value or {}
        if _begins_anew(line) or any(uuid not in new for uuid in _kept(line)):
            return False
        if _is_request(line):
            parent = as_text(line.get("parentUuid"))
            if parent not in new and parent not in ends:
                return False
            # Two requests at one place are a rewind: the first one is the only one at the end.
            ends.clear()
        uuid = as_text(line.get("uuid"))
        new |= {uuid} if uuid else set()
    return True


def _begins_anew(line: Mapping[str, Json]) -> bool:
    """Whether a line follows nothing: what hangs on it goes back to the very beginning."""
    if not as_text(line.get("uuid")) or isinstance(line.get("parentUuid"), str):
        return False
    return line.get("subtype") != "compact_boundary" and line.get("isSidechain") is not True


def _kept(line: Mapping[str, Json]) -> list[str]:
    """The lines that stay in sight where the host compacted."""
    kept = as_object(as_object(line.get("compactMetadata")).get("preservedMessages"))
    return [as_text(uuid) for uuid in as_list(kept.get("uuids"))]


def _is_request(line: Mapping[str, Json]) -> bool:
    if line.get("type") != "user" or line.get("isSidechain") is True or line.get("isMeta") is True:
        return False
    content = as_object(line.get("message")).get("content")
    blocks = as_list(content)
    return isinstance(content, str) or any(as_object(one).get("type") == "text" for one in blocks)


def _since_the_last_request(before: bytes) -> list[str]:
    """The names of the last known lines, back to the last request: where new ones may hang."""
    names: list[str] = []
    for raw in reversed(before.split(b"\n")):
        line = next(iter(cut_lines([raw + b"\n"])), Piece(b"")).value or {}
        uuid = as_text(line.get("uuid"))
        if uuid:
            names.append(uuid)
        if _is_request(line):
            break
    return names


def followed_quietly(store: Store, session: str, policy: Policy) -> None:
    """Bring a session up to date that some program may be writing; what fails can wait."""
    with suppress(HoldfastError, OSError):
        follow(store, session, policy=policy)


def transcript_of(head: Head) -> str:
    """The file that a session is followed from; nothing when there is none."""
    return head.documents.get("", Document()).path
