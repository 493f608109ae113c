"""What the user made stay, and what the user lifted again."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.faults import rule, rule_keeping
from holdfast.core.ledger.entry import Entry, Noted
from holdfast.core.ledger.summary import Constraint

PINNED, UNPINNED = "pinned", "unpinned"


@rule(())
def pins_of(ledger: Iterable[Entry]) -> tuple[Constraint, ...]:
    """Words that were pinned, as constraints of the user."""
    return tuple(
        Constraint(entry.body.facts.get("text", ""), entry.id)
        for entry in ledger
        if isinstance(entry.body, Noted) and entry.body.what == PINNED
    )


@rule_keeping(0)
def lift(rows: Iterable[Constraint], ledger: Iterable[Entry]) -> tuple[Constraint, ...]:
    """Constraints, with those lifted that the user unpinned by reference or word for word."""
    lifted = {
        entry.body.facts.get("pin", ""): entry.id
        for entry in ledger
        if isinstance(entry.body, Noted) and entry.body.what == UNPINNED
    }
    return tuple(replace(row, lifted=row.lifted or _by(row, lifted)) for row in rows)


def _by(row: Constraint, lifted: dict[str, str]) -> str:
    for pin, entry in lifted.items():
        if pin and (row.text == pin or row.entry.startswith(pin)):
            return entry
    return ""
