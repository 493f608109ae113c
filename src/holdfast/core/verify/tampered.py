"""Detect summaries that a client sent back changed, and restore them from the ledger.

The ledger is trusted more than a summary, and a summary more than the rest of the context. So a
changed summary is not read; the rows of the ledger stay valid.
"""

from collections.abc import Iterable, Sequence
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule, rule_or
from holdfast.core.ledger.append import Arrival, Draft
from holdfast.core.ledger.entry import Body, Compressed, Entry, EntryId, Said, text_of
from holdfast.core.ledger.notes import Forked, notes_in
from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.summary.text import COVERS_VALUE, is_summary, read_summary

MAX_KEPT_CHARS = 8_000
"""Characters of a changed summary that are stored."""


class LedgerSummary(Struct, frozen=True):
    """The ledger's own version of a summary."""

    compressed: EntryId
    summary: Summary
    text: str
    """The summary as it was written."""


class Fork(Struct, frozen=True):
    """A summary that came back changed, with the ledger's own version."""

    text: str
    believed: LedgerSummary

    @property
    def stored_text(self) -> str:
        """The part of the changed text that is stored."""
        return self.text[:MAX_KEPT_CHARS]


@rule(None)
def contradicted_summary(body: Body, ledger: Iterable[Entry]) -> LedgerSummary | None:
    """Return the ledger's version of a summary that was changed, or None.

    None if the body is not a summary of this session, or is equal to one that was written.
    """
    if not isinstance(body, Said) or body.role != "user" or not is_summary(body.text):
        return None
    title, rows = body.text.partition("\n")[0], read_summary(body.text)
    candidates: list[LedgerSummary] = []
    for entry in reversed(list(ledger)):
        written = _summary_in(entry)
        if written is None or written.text.partition("\n")[0] != title:
            continue
        if written.text.strip() == body.text.strip() or (
            rows and rows == read_summary(written.text)
        ):
            return None
        candidates.append(written)
    revision = _revision(body.text)
    fitting = (summary for summary in candidates if summary.summary.revision == revision)
    return next(fitting, candidates[0] if candidates else None)


def _unchecked(
    arrivals: Sequence[Arrival], ledger: Sequence[Entry]
) -> tuple[list[Arrival], list[Fork]]:
    """Return a resent history unchanged; used if the check fails with an error."""
    del ledger
    return list(arrivals), []


@rule_or(_unchecked)
def restore_ledger_summaries(
    arrivals: Sequence[Arrival], ledger: Sequence[Entry]
) -> tuple[list[Arrival], list[Fork]]:
    """Return a resent history with changed summaries replaced by the ledger's own."""
    forks: list[Fork] = []
    restored: list[Arrival] = []
    for arrival in arrivals:
        drafts: list[Draft] = []
        for draft in arrival.drafts:
            believed = contradicted_summary(draft.body, ledger)
            if believed is None:
                drafts.append(draft)
            else:
                forks.append(Fork(text_of(cast(Said, draft.body)), believed))
                drafts.append(replace(draft, body=Said("user", believed.text)))
        restored.append(replace(arrival, drafts=tuple(drafts)))
    return restored, forks


def is_noted(fork: Fork, ledger: Iterable[Entry]) -> bool:
    """Whether the same change was noted before; clients send their history with every request."""
    return any(note.text == fork.stored_text for _, note in notes_in(ledger, Forked))


def _summary_in(entry: Entry) -> LedgerSummary | None:
    body = entry.body
    if not isinstance(body, Compressed) or body.summary is None:
        return None
    texts = (text_of(step.stand_in) for step in body.steps if isinstance(step.stand_in, Said))
    text = next(texts, "")
    return LedgerSummary(entry.id, body.summary, text) if text else None


def _revision(text: str) -> int:
    found = COVERS_VALUE.search(text[:2_000])
    return int(found[2]) if found is not None else -1
