"""Follow a session while its agent writes it: read only the new lines of its transcript.

A transcript usually only grows, so reading continues where it ended. If that may be wrong (the file
was rewritten, a request does not follow the last line, a compaction preserved old lines), the whole
file is read again.
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
from holdfast.engine.never_store import NeverStoreFilter
from holdfast.errors import Erased, HoldfastError
from holdfast.project.regular_files import open_regular
from holdfast.stores.store import Store, retry_on_conflict
from holdfast.text.jsontext import Json, as_list, as_object, as_text
from holdfast.transcripts import opencode_db
from holdfast.transcripts.ingest import MARK_BYTES, FileIngestion, ingest, stamp_of, stem_of
from holdfast.transcripts.reader_state import load_reader
from holdfast.wire import claude_code
from holdfast.wire import opencode as wire_opencode
from holdfast.wire.jsonl import cut_lines
from holdfast.wire.pieces import Piece
from holdfast.wire.wire import LineReader

MAX_KNOWN_BYTES = 256 * 1024
"""Bytes before the new lines that are read to find the lines that the new ones follow."""


def follow(
    store: Store,
    session: str,
    path: str | os.PathLike[str] | None = None,
    *,
    policy: Policy | None = None,
) -> int:
    """Read the new lines of a session's transcript and of its workers; return the entries added.

    Without a path, reads the file that the session was last read from. An erased session is not
    read again.

    Raises:
        Unreadable: the transcript cannot be read.
    """
    known = (store.head(session) or Head()).documents.get("", Document())
    file = Path(path) if path else Path(known.path)
    if not path and not known.path:
        return 0
    added = 0
    for transcript in (file, *_worker_files(file)):
        with suppress(Erased, FileNotFoundError):
            added += retry_on_conflict(
                session, partial(_follow_file, store, session, transcript, policy or Policy())
            )
    return added


def _worker_files(file: Path) -> list[Path]:
    """Return the transcripts of sub-agents, in a folder beside the session's own transcript."""
    return sorted((file.with_suffix("") / "subagents").glob("*.jsonl"))


def _follow_file(store: Store, session: str, file: Path, policy: Policy) -> int:
    stamp = stamp_of(file)
    if not opencode_db.is_inside(file) and not file.stat().st_size:
        return 0
    head = store.head(session) or Head()
    source = stem_of(file) if file.parent.name == "subagents" else ""
    known = head.documents.get(source, Document())
    if stamp and (known.path, known.stamp) == (str(file.absolute()), stamp):
        return 0
    reader = _continuing_reader(store, session, source, file, head)
    pieces = _new_pieces(file, known, reader) if reader is not None else None
    if pieces is None:
        return ingest(file, store, session=session, policy=policy, counting=False).added
    if not pieces:
        return 0
    rules = NeverStoreFilter(policy.never_store)
    ingestion = FileIngestion(file, head.wire, pieces, policy, rules, source, reader)
    ingestion.counting, ingestion.stamp = False, stamp
    return ingestion.ingest_new(store, session, pieces, known).added


def _continuing_reader(
    store: Store, session: str, source: str, file: Path, head: Head
) -> LineReader | None:
    """Return a reader that continues at the known end of a file; None to read all of it."""
    known = head.documents.get(source, Document())
    if not known.offset or known.path != str(file.absolute()):
        return None
    return load_reader(store, session, source, known, head.wire)


def _new_pieces(file: Path, known: Document, reader: LineReader) -> list[Piece] | None:
    """Return the new lines; None if the whole file has to be read again."""
    before, after = _read_around_end(file, known, reader)
    line = before.rpartition(b"\n")[2]
    if sha256(line[-MARK_BYTES:]).hexdigest()[:16] != known.mark or not after.startswith(b"\n"):
        return None
    whole = after[: after.rfind(b"\n") + 1]
    if len(whole) <= 1:
        return []
    pieces = list(cut_lines(BytesIO(whole)))
    if isinstance(reader, claude_code.Reader) and not _continues_known_lines(before, pieces):
        return None
    return pieces


def _read_around_end(file: Path, known: Document, reader: LineReader) -> tuple[bytes, bytes]:
    """Return the last known bytes of a transcript, and the bytes after them."""
    if opencode_db.is_inside(file):
        seq = reader.state.seq if isinstance(reader, wire_opencode.Reader) else 0
        last, *later = opencode_db.read_events_since(file, seq) or [b""]
        return last[:-1], b"\n" + b"".join(later)
    with open_regular(file, links=True) as stream:
        start = max(known.offset - MAX_KNOWN_BYTES, 0)
        stream.seek(start)
        return stream.read(known.offset - start), stream.read()


def _continues_known_lines(before: bytes, pieces: list[Piece]) -> bool:
    """Return whether the new lines of a Claude Code transcript follow the last known lines."""
    ends, new_uuids = set(_uuids_since_last_request(before)), set[str]()
    for piece in pieces:
        line = piece.value or {}
        if _has_no_parent(line) or any(uuid not in new_uuids for uuid in _preserved_uuids(line)):
            return False
        if _is_request(line):
            parent = as_text(line.get("parentUuid"))
            if parent not in new_uuids and parent not in ends:
                return False
            # A second request with a known parent would be a rewind, so only the first is allowed.
            ends.clear()
        uuid = as_text(line.get("uuid"))
        new_uuids |= {uuid} if uuid else set()
    return True


def _has_no_parent(line: Mapping[str, Json]) -> bool:
    """Return whether a line has no parent, so that it starts again from the beginning."""
    if not as_text(line.get("uuid")) or isinstance(line.get("parentUuid"), str):
        return False
    return line.get("subtype") != "compact_boundary" and line.get("isSidechain") is not True


def _preserved_uuids(line: Mapping[str, Json]) -> list[str]:
    """Return the uuids of the lines that a compaction by the host preserves."""
    preserved = as_object(as_object(line.get("compactMetadata")).get("preservedMessages"))
    return [as_text(uuid) for uuid in as_list(preserved.get("uuids"))]


def _is_request(line: Mapping[str, Json]) -> bool:
    if line.get("type") != "user" or line.get("isSidechain") is True or line.get("isMeta") is True:
        return False
    content = as_object(line.get("message")).get("content")
    blocks = as_list(content)
    return isinstance(content, str) or any(
        as_object(block).get("type") == "text" for block in blocks
    )


def _uuids_since_last_request(before: bytes) -> list[str]:
    """Return the uuids of the last known lines back to the last request: the possible parents."""
    uuids: list[str] = []
    for raw in reversed(before.split(b"\n")):
        line = next(iter(cut_lines([raw + b"\n"])), Piece(b"")).value or {}
        uuid = as_text(line.get("uuid"))
        if uuid:
            uuids.append(uuid)
        if _is_request(line):
            break
    return uuids


def follow_if_possible(store: Store, session: str, policy: Policy) -> None:
    """Follow a session that a program may be writing; ignore errors, as a later call can retry."""
    with suppress(HoldfastError, OSError):
        follow(store, session, policy=policy)
