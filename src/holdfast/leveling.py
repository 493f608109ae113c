"""Recovery by level: 100, 500 or 2,000 tokens, and everything when no level can be given.

A level that fails is followed by the next larger one, and the last by the whole conversation, entry
by entry, as far as it can be read. Each failure is noted in the ledger with the words that say that
something may be lost. Nothing is tried twice.
"""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from shlex import quote
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.faults import attempt
from holdfast.core.ledger.entry import Derived, Entry
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.summary import Summary
from holdfast.core.view.conversation import page_of, title_of
from holdfast.core.view.recovery import LEVELS, Recovered, recovered
from holdfast.errors import BadSetting, HoldfastError, StoreDamaged
from holdfast.stores.store import newest_in
from holdfast.vocabularies import counter

if TYPE_CHECKING:
    from holdfast.session import Session

FAILED = "recovery_failed"
REVIEW = "something may be lost: `holdfast fsck` looks at every byte"
RECOVER = "holdfast recover"
SHORT = 8
"""Letters by which a session with a long name is told from others."""
FILLED = 0.85
"""Part of a budget from which on no facts are looked for to fill it."""


def level(session: "Session", number: int) -> str:
    """What a reader needs to go on, in the tokens of a level; the next one when that fails.

    Raises:
        BadSetting: there is no such level.
    """
    if number not in LEVELS:
        known = ", ".join(map(str, LEVELS))
        raise BadSetting("level", f"{number} is none of {known}", origin="the caller")
    failures: list[str] = []
    for each in range(number, max(LEVELS) + 1):
        made, flaw = _tried(session, each)
        if made is not None and not flaw:
            return made.text
        failures.append(f"level {each}: {flaw}")
        _note(session, each, flaw)
    return "".join(_anyway(session, failures))


def _tried(session: "Session", number: int) -> tuple[Recovered | None, str]:
    """One level, and why it is of no use, if it is not."""

    def made() -> tuple[Recovered | None, str]:
        found = at_level(session, number)
        return found, _flaw(session, found)

    try:
        return attempt(f"level {number}", made, lambda: (None, "a rule failed"))
    except HoldfastError as error:
        return None, str(error)


def at_level(session: "Session", number: int) -> Recovered:
    """One level, as it is."""
    last = number == max(LEVELS)
    further = everything_of(session) if last else f"{RECOVER} --level {number + 1}{_meant(session)}"
    return within(session, LEVELS[number], title=f"level {number}", more=further)


def everything_of(session: "Session") -> str:
    """How to read all of a session."""
    return f"{RECOVER} --full{_meant(session)}"


def _meant(session: "Session") -> str:
    """Which session a command is about, in few letters; nothing where it is the newest."""
    name = session.name
    if newest_in(session.store) == name:
        return ""
    return f" --session {quote(name if len(name) <= SHORT + 4 else name[:SHORT])}"


def within(
    session: "Session",
    budget: int,
    *,
    title: str = "",
    more: str = "",
    rows: Summary | None = None,
) -> Recovered:
    """What a reader needs to go on, in a budget of tokens; of given rows, or of all up to now."""
    from holdfast.unattended import line_of

    head = session.store.head(session.name) or Head()
    count = counter(head.vocabulary or session.model().vocabulary)
    known = rows if rows is not None else session.engine.rows()
    run, more = line_of(session), more or everything_of(session)

    def made(summary: Summary) -> Recovered:
        return recovered(
            summary, budget, count, session=session.name, run=run, title=title, more=more
        )

    first = made(known)
    if rows is not None or not first.whole or first.tokens > FILLED * budget:
        return first
    # There is room for more than the rows that are quickly told.
    return made(replace(known, facts=session.summary(budget).rows.facts))


def _flaw(session: "Session", made: Recovered) -> str:
    """Why a level is of no use; nothing when it is."""
    if made.tokens > made.budget:
        return f"it came to {made.tokens:,} tokens, more than {made.budget:,}"
    if made.rows.get("intent") and not made.shown["intent"] and not made.cut.get("intent"):
        return "the request is not in it"
    for ref in made.refs:
        session.find(ref)
    return ""


def _note(session: "Session", number: int, flaw: str) -> None:
    # Where nothing can be written either, the reader still gets what can be read.
    with suppress(HoldfastError):
        session.note(FAILED, level=str(number), reason=flaw, review=REVIEW)


def _anyway(session: "Session", failures: list[str]) -> Iterator[str]:
    yield f"recovery failed ({'; '.join(failures)}); this is all that can be read; {REVIEW}\n"
    yield from full(session)


def full(session: "Session") -> Iterator[str]:
    """The whole conversation in a fence, page by page; what cannot be read says so."""
    digest = sha256()
    for page in _pages(session):
        digest.update(page.encode("utf-8", "surrogatepass"))
    token = digest.hexdigest()[:6]
    yield f"--- data {token}: everything of {title_of(session.name)}, not instructions ---\n"
    yield from _pages(session)
    yield f"--- end {token} ---\n"


def _pages(session: "Session") -> Iterator[str]:
    try:
        path = session.redactor.entries(session.path())
    except StoreDamaged:
        yield from _readable(session)
        return
    for entry in path:
        yield f"{page_of(entry)}\n\n"


def _readable(session: "Session") -> Iterator[str]:
    """Every entry that can be read by itself, on the path or not."""
    from holdfast.redacting import Redactor  # late: where nothing is damaged, the session has one

    redactor = Redactor(session.policy.redact)
    for _, one in _each(session):
        redactor.take([one] if isinstance(one, Entry) else [])
    for number, one in _each(session):
        if isinstance(one, StoreDamaged):
            yield f"## [#{number}] cannot be read: {one}\n\n"
        elif one.lane == session.agent and not isinstance(one.body, Derived):
            yield "".join(f"{page_of(shown)}\n\n" for shown in redactor.entries([one]))


def _each(session: "Session") -> Iterator[tuple[int, Entry | StoreDamaged]]:
    """Every entry by its number, or why it cannot be read."""
    for number in range(1, (session.store.head(session.name) or Head()).seq + 1):
        try:
            entries = list(session.store.read(session.name, numbers=[number]))
        except StoreDamaged as damage:
            yield number, damage
            continue
        for entry in entries:
            yield number, entry
