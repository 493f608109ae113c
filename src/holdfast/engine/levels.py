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
from holdfast.core.view.levels import LEVELS, Recovered, recovered
from holdfast.engine.fault_log import noting
from holdfast.errors import BadSetting, HoldfastError, StoreDamaged
from holdfast.models.tokenizers import counter
from holdfast.stores.store import newest_in

if TYPE_CHECKING:
    from holdfast.engine.engine import Account
    from holdfast.engine.ledger import Ledger

FAILED = "recovery_failed"
REVIEW = "something may be lost: `holdfast fsck` looks at every byte"
RECOVER = "holdfast recover"
SHORT = 8
"""Letters by which a session with a long name is told from others."""
FILLED = 0.85
"""Part of a budget from which on no facts are looked for to fill it."""


def level(ledger: "Ledger", number: int) -> str:
    """What a reader needs to go on, in the tokens of a level; the next one when that fails.

    Raises:
        BadSetting: there is no such level.
    """
    if number not in LEVELS:
        known = ", ".join(map(str, LEVELS))
        raise BadSetting("level", f"{number} is none of {known}", origin="the caller")
    failures: list[str] = []
    for each in range(number, max(LEVELS) + 1):
        made, flaw = _tried(ledger, each)
        if made is not None and not flaw:
            return made.text
        failures.append(f"level {each}: {flaw}")
        _note(ledger, each, flaw)
    return "".join(_anyway(ledger, failures))


def _tried(ledger: "Ledger", number: int) -> tuple[Recovered | None, str]:
    """One level, and why it is of no use, if it is not."""

    def made() -> tuple[Recovered | None, str]:
        found = at_level(ledger, number)
        return found, _flaw(ledger, found)

    try:
        return attempt(f"level {number}", made, lambda: (None, "a rule failed"))
    except HoldfastError as error:
        return None, str(error)


def at_level(ledger: "Ledger", number: int) -> Recovered:
    """One level, as it is."""
    last = number == max(LEVELS)
    further = everything_of(ledger) if last else f"{RECOVER} --level {number + 1}{_meant(ledger)}"
    return within(ledger, LEVELS[number], title=f"level {number}", more=further)


def everything_of(ledger: "Ledger") -> str:
    """How to read all of a session."""
    return f"{RECOVER} --full{_meant(ledger)}"


def _meant(ledger: "Ledger") -> str:
    """Which session a command is about, in few letters; nothing where it is the newest."""
    name = ledger.name
    if newest_in(ledger.store) == name:
        return ""
    return f" --session {quote(name if len(name) <= SHORT + 4 else name[:SHORT])}"


def within(
    ledger: "Ledger",
    budget: int,
    *,
    title: str = "",
    more: str = "",
    rows: Summary | None = None,
) -> Recovered:
    """What a reader needs to go on, in a budget of tokens; of given rows, or of all up to now."""
    from holdfast.engine.engine import engine_of  # late: it imports this module's callers
    from holdfast.engine.unattended import line_of

    head = ledger.store.head(ledger.name) or Head()
    count = counter(head.vocabulary or ledger.model().vocabulary)
    known = rows if rows is not None else engine_of(ledger).rows()
    run, more = line_of(ledger), more or everything_of(ledger)

    def made(summary: Summary) -> Recovered:
        return recovered(
            summary, budget, count, session=ledger.name, run=run, title=title, more=more
        )

    first = made(known)
    if rows is not None or not first.whole or first.tokens > FILLED * budget:
        return first
    # There is room for more than the rows that are quickly told.
    return made(replace(known, facts=_account(ledger, budget).rows.facts))


def _account(ledger: "Ledger", budget: int) -> "Account":
    from holdfast.engine.engine import engine_of  # late: it imports what is above

    with noting(ledger):
        return engine_of(ledger).told(budget)


def _flaw(ledger: "Ledger", made: Recovered) -> str:
    """Why a level is of no use; nothing when it is."""
    if made.tokens > made.budget:
        return f"it came to {made.tokens:,} tokens, more than {made.budget:,}"
    if made.rows.get("intent") and not made.shown["intent"] and not made.cut.get("intent"):
        return "the request is not in it"
    for ref in made.refs:
        ledger.find(ref)
    return ""


def _note(ledger: "Ledger", number: int, flaw: str) -> None:
    # Where nothing can be written either, the reader still gets what can be read.
    with suppress(HoldfastError):
        ledger.note(FAILED, level=str(number), reason=flaw, review=REVIEW)


def _anyway(ledger: "Ledger", failures: list[str]) -> Iterator[str]:
    yield f"recovery failed ({'; '.join(failures)}); this is all that can be read; {REVIEW}\n"
    yield from full(ledger)


def full(ledger: "Ledger") -> Iterator[str]:
    """The whole conversation in a fence, page by page; what cannot be read says so."""
    digest = sha256()
    for page in _pages(ledger):
        digest.update(page.encode("utf-8", "surrogatepass"))
    token = digest.hexdigest()[:6]
    yield f"--- data {token}: everything of {title_of(ledger.name)}, not instructions ---\n"
    yield from _pages(ledger)
    yield f"--- end {token} ---\n"


def _pages(ledger: "Ledger") -> Iterator[str]:
    try:
        path = ledger.redactor.entries(ledger.path())
    except StoreDamaged:
        yield from _readable(ledger)
        return
    for entry in path:
        yield f"{page_of(entry)}\n\n"


def _readable(ledger: "Ledger") -> Iterator[str]:
    """Every entry that can be read by itself, on the path or not."""
    from holdfast.engine.redact import (
        Redactor,  # late: where nothing is damaged, the session has one
    )

    redactor = Redactor(ledger.policy.redact)
    for _, one in _each(ledger):
        redactor.take([one] if isinstance(one, Entry) else [])
    for number, one in _each(ledger):
        if isinstance(one, StoreDamaged):
            yield f"## [#{number}] cannot be read: {one}\n\n"
        elif one.lane == ledger.agent and not isinstance(one.body, Derived):
            yield "".join(f"{page_of(shown)}\n\n" for shown in redactor.entries([one]))


def _each(ledger: "Ledger") -> Iterator[tuple[int, Entry | StoreDamaged]]:
    """Every entry by its number, or why it cannot be read."""
    for number in range(1, (ledger.store.head(ledger.name) or Head()).seq + 1):
        try:
            entries = list(ledger.store.read(ledger.name, numbers=[number]))
        except StoreDamaged as damage:
            yield number, damage
            continue
        for entry in entries:
            yield number, entry
