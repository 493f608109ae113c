"""Lines of one entry, as many as a budget takes: what a reference leads to, on any surface."""

from holdfast.core.view.excerpts import Hit, fitted, part_of
from holdfast.errors import NotRecorded, Unreadable
from holdfast.searching import in_sight
from holdfast.session import Session
from holdfast.vocabularies import counter

LAST = 10**9
WHOLE = (1, LAST)


def span_of(text: str) -> tuple[int, int]:
    """The first line and the last of `40-80`, `40-` or `40`.

    Raises:
        Unreadable: it is no span of lines.
    """
    first, dash, last = text.strip().partition("-")
    digits = f"{first}{last or '1'}"
    if first and digits.isascii() and digits.isdigit() and len(digits) < 20:
        end = int(last) if last else LAST if dash else int(first)
        if 1 <= int(first) <= end:
            return int(first), end
    raise Unreadable("lines", f"{text[:40]!r} is no span of lines such as 40-80")


def lines_of(session: Session, ref: str, lines: tuple[int, int], budget: int) -> Hit:
    """Some lines of an entry, as many as the budget takes.

    Raises:
        NotRecorded: there is no such entry, or no such line in it.
        Ambiguous: several entries begin like this.
    """
    session = session.holding(ref)
    entry = session.find(ref)
    hidden = entry.id not in in_sight(session.store, session.name)
    entries = session.store.read(session.name)
    part = part_of(entry, entries, first=lines[0], last=lines[1], hidden=hidden)
    if part is None or part.last < part.first:
        what = "words" if part is None else f"lines {lines[0]} and on"
        raise NotRecorded(what, "", where=f"entry {ref!r}")
    fitting = fitted([part], counter(session.head().vocabulary), budget)
    if not fitting:
        where = f"entry {ref!r} that a budget of {budget:,} tokens takes; `holdfast show --ref`"
        raise NotRecorded("line", "", where=where)
    return fitting[0]


def left_of(found: Hit, lines: tuple[int, int] | None) -> str:
    """The lines that were cut off, as they are asked for; nothing when all are there."""
    last = min(lines[1] if lines else LAST, found.lines)
    return f"{found.last + 1}-{last}" if found.last < last else ""
