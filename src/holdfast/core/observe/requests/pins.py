"""Read pins as constraints, lift those that were unpinned, find the one that a pin names."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from holdfast.core.faults import rule, rule_keeping
from holdfast.core.ledger.entry import Entry
from holdfast.core.ledger.notes import Pinned, Unpinned, notes_in
from holdfast.core.ledger.summary import Constraint

MIN_REF_CHARS = 6
"""Characters of an entry id that are enough to mean the entry."""


@rule(())
def pinned_constraints(ledger: Iterable[Entry]) -> tuple[Constraint, ...]:
    """Return the pinned texts as constraints of the user."""
    return tuple(Constraint(pin.text, entry.id) for entry, pin in notes_in(ledger, Pinned))


@rule_keeping(0)
def lift_unpinned(rows: Iterable[Constraint], ledger: Iterable[Entry]) -> tuple[Constraint, ...]:
    """Mark the constraints as lifted that were unpinned by reference or by exact text."""
    lifted = {note.pin: entry.id for entry, note in notes_in(ledger, Unpinned)}
    return tuple(replace(row, lifted=row.lifted or _by(row, lifted)) for row in rows)


def _by(row: Constraint, lifted: dict[str, str]) -> str:
    for pin, entry in lifted.items():
        if pin and (row.text == pin or row.entry.startswith(pin)):
            return entry
    return ""


def matching_constraints(constraints: Sequence[Constraint], pin: str) -> list[Constraint]:
    """Return the constraints in force with this text, or whose entry id starts with `pin`."""
    in_force = [constraint for constraint in constraints if not constraint.lifted]
    by_words = [constraint for constraint in in_force if constraint.text == pin]
    if by_words or len(pin) < MIN_REF_CHARS:
        return by_words
    return [constraint for constraint in in_force if constraint.entry.startswith(pin.lower())]
