"""Readers that go on where another ended, in another process.

What a line of a transcript means may be told by all those before it. What a reader remembers of
them is kept beside the session, for as long as the file goes on from where it was read.
"""

from typing import TypeAlias

import msgspec
from msgspec import Struct

from holdfast.core.ledger.head import Document, Head
from holdfast.engine.cache import recalled, remember, rules_of
from holdfast.stores.store import Store
from holdfast.wire import claude_code, codex, gemini, opencode
from holdfast.wire.wire import LineReader

Remembering: TypeAlias = gemini.Reader | opencode.Reader


class _Ended(Struct, frozen=True, array_like=True):
    """Where a reader ended, and what it remembered."""

    offset: int
    mark: str
    state: msgspec.Raw


def keep_reader(store: Store, session: str, source: str, head: Head, reader: Remembering) -> None:
    """Keep what a reader remembers of a document that was read to its end."""
    known = head.documents.get(source, Document())
    if known.offset:
        state = msgspec.Raw(msgspec.msgpack.encode(reader.state))
        ended = _Ended(known.offset, known.mark, state)
        remember(store, session, _name(source), rules_of(head.wire), head, ended)


def reader_of(
    store: Store, session: str, source: str, known: Document, wire: str
) -> LineReader | None:
    """The reader that goes on from the end of what is known; None when none remembers it."""
    match wire:
        # The end of what is known tells enough: see `following`.
        case claude_code.NAME:
            return claude_code.Reader()
        case codex.NAME:
            return codex.Reader()
        case gemini.NAME | opencode.NAME:
            kept = recalled(store, session, _name(source), rules_of(wire), _Ended)
            if kept is None or (kept[1].offset, kept[1].mark) != (known.offset, known.mark):
                return None
            return _restored(wire, kept[1].state)
        case _:
            return None


def _restored(wire: str, state: msgspec.Raw) -> Remembering:
    if wire == gemini.NAME:
        return gemini.Reader(msgspec.msgpack.decode(state, type=gemini.State))
    return opencode.Reader(msgspec.msgpack.decode(state, type=opencode.State))


def _name(source: str) -> str:
    return f"reader {source}".rstrip()
