"""Forks: a summary that comes back and is not what the ledger wrote.

The ledger is believed over a summary, and a summary over the rest of the context. So a summary of
ours that someone changed on the way is not read: the rows of the ledger stand.
"""

from collections.abc import Iterable, Sequence
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule, rule_or
from holdfast.core.ledger.append import Arrival, Draft
from holdfast.core.ledger.entry import Body, Compressed, Entry, EntryId, Noted, Said, text_of
from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.summary.text import COVERED, is_summary, read

KEPT = 8_000
"""Characters that are kept of what contradicts the ledger."""


class Believed(Struct, frozen=True):
    """What the ledger has where a summary says something else."""

    compressed: EntryId
    summary: Summary
    text: str
    """The summary as it was written."""


class Fork(Struct, frozen=True):
    """A summary that came back otherwise than it was given out."""

    text: str
    believed: Believed

    @property
    def kept(self) -> str:
        """What the ledger keeps of it."""
        return self.text[:KEPT]


@rule(None)
def contradicted(body: Body, ledger: Iterable[Entry]) -> Believed | None:
    """What the ledger has in the place of words that claim to be a summary of its own.

    Nothing when they are no summary of this session, or say what was written there once.
    """
    if not isinstance(body, Said) or body.role != "user" or not is_summary(body.text):
        return None
    title, told = body.text.partition("\n")[0], read(body.text)
    same: list[Believed] = []
    for one in reversed(list(ledger)):
        written = _written(one)
        if written is None or written.text.partition("\n")[0] != title:
            continue
        if written.text.strip() == body.text.strip() or (told and told == read(written.text)):
            return None
        same.append(written)
    revision = _revision(body.text)
    fitting = (one for one in same if one.summary.revision == revision)
    return next(fitting, same[0] if same else None)


def _unchecked(
    arrivals: Sequence[Arrival], ledger: Sequence[Entry]
) -> tuple[list[Arrival], list[Fork]]:
    """A resent history as it came."""
    del ledger
    return list(arrivals), []


@rule_or(_unchecked)
def as_the_ledger_has_it(
    arrivals: Sequence[Arrival], ledger: Sequence[Entry]
) -> tuple[list[Arrival], list[Fork]]:
    """A resent history with the ledger's own summaries in the place of those that were changed."""
    forks: list[Fork] = []
    made: list[Arrival] = []
    for arrival in arrivals:
        drafts: list[Draft] = []
        for draft in arrival.drafts:
            believed = contradicted(draft.body, ledger)
            if believed is None:
                drafts.append(draft)
            else:
                forks.append(Fork(text_of(cast(Said, draft.body)), believed))
                drafts.append(replace(draft, body=Said("user", believed.text)))
        made.append(replace(arrival, drafts=tuple(drafts)))
    return made, forks


def is_noted(fork: Fork, ledger: Iterable[Entry]) -> bool:
    """Whether the same was noted before: a client sends its history again and again."""
    texts = (e.body.facts.get("text") for e in ledger if isinstance(e.body, Noted))
    return any(text == fork.kept for text in texts)


def _written(entry: Entry) -> Believed | None:
    body = entry.body
    if not isinstance(body, Compressed) or body.summary is None:
        return None
    texts = (text_of(step.stand_in) for step in body.steps if isinstance(step.stand_in, Said))
    text = next(texts, "")
    return Believed(entry.id, body.summary, text) if text else None


def _revision(text: str) -> int:
    found = COVERED.search(text[:2_000])
    return int(found[2]) if found is not None else -1
