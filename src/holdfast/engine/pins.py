"""Find the text that a reference pins, and the id of the newest pin of a session."""

from contextlib import suppress

from holdfast.core.ledger.entry import Derived, text_of
from holdfast.core.ledger.notes import Pinned, notes_in
from holdfast.engine.ledger import Ledger
from holdfast.errors import NotRecorded


def text_to_pin(ledger: Ledger, text_or_ref: str) -> str:
    """Return the text of the source entry that a reference names; any other text as it is."""
    with suppress(NotRecorded):
        body = ledger.find(text_or_ref).body
        return text_of(body) if not isinstance(body, Derived) else text_or_ref
    return text_or_ref


def newest_pin(ledger: Ledger) -> str:
    """Return the id of the pin that was noted last."""
    return next(notes_in(reversed(ledger.notes()), Pinned))[0].id
