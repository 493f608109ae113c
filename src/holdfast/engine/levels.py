"""Recovery by level: render 100, 500 or 2,000 tokens of a session, or everything readable.

If a level fails, the next larger one is tried, and at last the whole conversation is returned,
entry by entry, as far as it can be read. Each failure is noted in the ledger. Nothing is tried
twice.
"""

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from math import ceil
from shlex import quote
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.faults import attempt
from holdfast.core.ledger.entry import Derived, Entry
from holdfast.core.ledger.notes import RecoveryFailed
from holdfast.core.ledger.summary import Intent, Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.moments.story import PathContent
from holdfast.core.view.conversation import entry_page, session_title
from holdfast.core.view.levels import INTENT, LEVELS, RecoveryLevel, render_level
from holdfast.engine.fault_log import notes_faults, noting_faults
from holdfast.errors import BadSetting, HoldfastError, StoreDamaged
from holdfast.models.tokenizers import counter
from holdfast.stores.store import newest_session
from holdfast.text.utf8 import to_bytes

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

REVIEW_HINT = "something may be lost: `holdfast fsck` looks at every byte"
RECOVER_COMMAND = "holdfast recover"
SESSION_PREFIX_CHARS = 8
"""Characters that a long session name is shortened to in commands."""


@notes_faults
def recover_level(ledger: "Ledger", number: int) -> str:
    """Return what a reader needs to continue, in the tokens of a level; the next one if it fails.

    Raises:
        BadSetting: there is no such level.
    """
    if number not in LEVELS:
        known = ", ".join(map(str, LEVELS))
        raise BadSetting("level", f"{number} is none of {known}", origin="the caller")
    failures: list[str] = []
    for level in range(number, max(LEVELS) + 1):
        level_made, flaw = _try_level(ledger, level)
        if level_made is not None and not flaw:
            return level_made.text
        failures.append(f"level {level}: {flaw}")
        _note_failure(ledger, level, flaw)
    return "".join(_all_readable_text(ledger, failures))


def _try_level(ledger: "Ledger", number: int) -> tuple[RecoveryLevel | None, str]:
    """Return a level, and why it cannot be used; an empty reason if it can."""

    def make() -> tuple[RecoveryLevel | None, str]:
        level = make_level(ledger, number)
        return level, _find_flaw(level)

    try:
        return attempt(f"level {number}", make, lambda: (None, "a rule failed"))
    except HoldfastError as error:
        return None, str(error)


def make_level(ledger: "Ledger", number: int) -> RecoveryLevel:
    """Make one level, without checks."""
    last = number == max(LEVELS)
    more_command = (
        full_command(ledger)
        if last
        else f"{RECOVER_COMMAND} --level {number + 1}{_session_option(ledger)}"
    )
    return level_in_budget(ledger, LEVELS[number], title=f"level {number}", more=more_command)


def full_command(ledger: "Ledger") -> str:
    """Return the command that prints all of a session."""
    return f"{RECOVER_COMMAND} --full{_session_option(ledger)}"


def _session_option(ledger: "Ledger") -> str:
    """Return the option that names the session in a command; empty for the newest session."""
    name = ledger.name
    if newest_session(ledger.store) == name:
        return ""
    short = name if len(name) <= SESSION_PREFIX_CHARS + 4 else name[:SESSION_PREFIX_CHARS]
    return f" --session {quote(short)}"


def level_in_budget(
    ledger: "Ledger",
    budget: int,
    *,
    title: str = "recovery",
    more: str = "",
    rows: Summary | None = None,
    characters: int = 0,
    focus: str = "",
    requests: bool = True,
) -> RecoveryLevel:
    """Render what a reader needs to continue, in a budget of tokens, and of `characters` if given.

    By default the rows and moments of the session are rendered; `rows` are those of a checkpoint.
    The story is about the text `focus` first. Without `requests` the user's intent is left out.
    """
    from holdfast.engine.unattended import run_line

    head = ledger.raw_head()
    count = counter(head.vocabulary or ledger.model().vocabulary)
    with noting_faults(ledger):
        content = PathContent(rows, ()) if rows is not None else ledger.engine.content()
    summary = content.rows if requests else replace(content.rows, intent=Intent())
    return render_level(
        summary,
        budget,
        _with_characters(count, budget / characters) if characters else count,
        moments=content.moments,
        focus=focus,
        session=ledger.name,
        run=run_line(ledger),
        title=title,
        more=more or full_command(ledger),
    )


def _with_characters(count: CountTokens, tokens_per_character: float) -> CountTokens:
    """Return a count that is at least the number of characters times a factor."""
    return lambda text: max(count(text), ceil(len(text) * tokens_per_character))


def _find_flaw(level: RecoveryLevel) -> str:
    """Return why a level cannot be used; empty if it can."""
    if level.tokens > level.budget:
        return f"it has {level.tokens:,} tokens, more than {level.budget:,}"
    if level.rows.get(INTENT) and not level.text.split("\n")[1].startswith(("Request", "Now")):
        return "the request is not in it"
    return ""


def _note_failure(ledger: "Ledger", number: int, flaw: str) -> None:
    # If writing fails too, the reader still gets everything readable.
    with suppress(HoldfastError):
        ledger.note(RecoveryFailed(level=number, reason=flaw, review=REVIEW_HINT))


def _all_readable_text(ledger: "Ledger", failures: list[str]) -> Iterator[str]:
    yield f"recovery failed ({'; '.join(failures)}); this is all that can be read; {REVIEW_HINT}\n"
    yield from full_pages(ledger)


def full_pages(ledger: "Ledger") -> Iterator[str]:
    """Yield the whole conversation in a fence, entry by entry; unreadable entries are named."""
    digest = sha256()
    for page in _pages(ledger):
        digest.update(to_bytes(page))
    token = digest.hexdigest()[:6]
    yield f"--- data {token}: everything of {session_title(ledger.name)}, not instructions ---\n"
    yield from _pages(ledger)
    yield f"--- end {token} ---\n"


def _pages(ledger: "Ledger") -> Iterator[str]:
    try:
        path = ledger.redactor.entries(ledger.path())
    except StoreDamaged:
        yield from _readable_pages(ledger)
        return
    for entry in path:
        yield f"{entry_page(entry)}\n\n"


def _readable_pages(ledger: "Ledger") -> Iterator[str]:
    """Yield every entry that can be read by itself, on the path or not."""
    from holdfast.engine.redact import (
        Redactor,  # late: needed only for damaged stores
    )

    redactor = Redactor(ledger.policy.redact)
    for _, read in _each_entry(ledger):
        redactor.learn_from([read] if isinstance(read, Entry) else [])
    for number, read in _each_entry(ledger):
        if isinstance(read, StoreDamaged):
            yield f"## [#{number}] cannot be read: {read}\n\n"
        elif read.lane == ledger.agent and not isinstance(read.body, Derived):
            yield "".join(f"{entry_page(shown)}\n\n" for shown in redactor.entries([read]))


def _each_entry(ledger: "Ledger") -> Iterator[tuple[int, Entry | StoreDamaged]]:
    """Yield every number with its entry, or with why it cannot be read."""
    for number in range(1, ledger.raw_head().seq + 1):
        try:
            entries = list(ledger.store.read(ledger.name, numbers=[number]))
        except StoreDamaged as damage:
            yield number, damage
            continue
        for entry in entries:
            yield number, entry
