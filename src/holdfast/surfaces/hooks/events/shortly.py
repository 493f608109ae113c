"""What is answered when there is no time for more: the user's own words, off a transcript's ends.

A session may be too large to be read before its program gives up waiting. What was read of it is
stored, and the next one goes on from there; one that is larger still is read when it ends, where
nobody waits. But a summary is written now, and a session begins now.
"""

from collections.abc import Callable, Iterable

from holdfast.core.ledger.summary import Quote
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.events.before_compaction import WORDS
from holdfast.surfaces.hooks.events.session_start import WHERE
from holdfast.surfaces.hooks.session import LONGEST, policy_of, words_within
from holdfast.surfaces.hooks.transcript_ends import wanted_at_ends

SAYS_WHY = "There was no time to read all of it: this is from its beginning and its end.\n"
STARTED = ("compact", "resume", "fork")
"""Why sessions start that something was said in."""


def _steer_summary(happened: Happened, told: str) -> Reply:
    del happened
    return Reply(instructions=f"{WORDS}\n{told}") if told else NOTHING


def _give_context(happened: Happened, told: str) -> Reply:
    if happened.source not in STARTED:
        return NOTHING
    return Reply(context=f"{WHERE}\n\n{told}".strip())


ANSWERS: dict[str, Callable[[Happened, str], Reply]] = {
    "before_compaction": _steer_summary,
    "session_start": _give_context,
    "full": _give_context,
}
"""By kind of event, of those that an answer is needed to."""


def answer(happened: Happened) -> Reply:
    """The user's words at both ends, where somebody is about to go on without the rest."""
    made = ANSWERS.get(happened.kind)
    return made(happened, _told(happened)) if made is not None else NOTHING


def _told(happened: Happened) -> str:
    if not happened.transcript:
        return ""
    found = wanted_at_ends(happened.transcript, policy_of(happened), lane=happened.lane)
    intent = found.intent
    first = _joined((intent.original, *intent.original_rest))
    latest = _joined((intent.current, *intent.current_rest))
    held = (f"Constraint: {one.text}" for one in found.constraints if not one.lifted)
    besides = (f"Also said: {quote.text}" for quote in reversed(found.words))
    room = LONGEST - max(len(WORDS), len(WHERE)) - len(SAYS_WHY)
    asked = [text for text in dict.fromkeys((first, latest)) if text]
    words = words_within(asked, room, more=(*held, *besides))
    return f"{SAYS_WHY}{words}" if words else ""


def _joined(parts: Iterable[Quote]) -> str:
    return "\n".join(part.text for part in parts if part.text)
