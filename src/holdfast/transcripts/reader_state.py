"""Save the state of transcript readers and restore it in another process.

The meaning of a line may depend on all earlier lines. The state of a reader is cached with the
session, and is valid as long as the file continues from where it was read.
"""

from typing import TypeAlias

import msgspec
from msgspec import Struct

from holdfast.core.ledger.head import Document, Head
from holdfast.engine.cache import read_cached, rules_digest, write_cached
from holdfast.stores.store import Store
from holdfast.wire import claude_code, codex, gemini, opencode
from holdfast.wire.wire import LineReader

StatefulReader: TypeAlias = gemini.Reader | opencode.Reader


class _SavedReader(Struct, frozen=True, array_like=True):
    """The end position and the state of a reader."""

    offset: int
    mark: str
    state: msgspec.Raw


def save_reader(
    store: Store, session: str, source: str, head: Head, reader: StatefulReader
) -> None:
    """Save the state of the reader of a document that was read to its end."""
    known = head.documents.get(source, Document())
    if known.offset:
        state = msgspec.Raw(msgspec.msgpack.encode(reader.state))
        saved = _SavedReader(known.offset, known.mark, state)
        write_cached(store, session, _cache_name(source), rules_digest(head.wire), head, saved)


def load_reader(
    store: Store, session: str, source: str, known: Document, wire: str
) -> LineReader | None:
    """Return a reader that continues at the known end of a document; None if there is no state."""
    match wire:
        # These need no state: `follow.py` checks the last known lines.
        case claude_code.NAME:
            return claude_code.Reader()
        case codex.NAME:
            return codex.Reader()
        case gemini.NAME | opencode.NAME:
            cached = read_cached(
                store, session, _cache_name(source), rules_digest(wire), _SavedReader
            )
            if cached is None or (cached[1].offset, cached[1].mark) != (known.offset, known.mark):
                return None
            return _decode_reader(wire, cached[1].state)
        case _:
            return None


def _decode_reader(wire: str, state: msgspec.Raw) -> StatefulReader:
    if wire == gemini.NAME:
        return gemini.Reader(msgspec.msgpack.decode(state, type=gemini.GeminiState))
    return opencode.Reader(msgspec.msgpack.decode(state, type=opencode.OpencodeState))


def _cache_name(source: str) -> str:
    return f"reader {source}".rstrip()
