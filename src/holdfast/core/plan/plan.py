"""Data types of a plan: its steps, their cost and gain, and what stays unchanged.

A plan is a value: it can be printed, and refused by a person or a verifier, before it is applied.
"""

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed
from holdfast.core.measure.usage import Usage, split_proportionally
from holdfast.core.observe.worth import NamesByEntry
from holdfast.core.plan.gain import Bill


class PlannedStep(Struct, frozen=True):
    """One step of a plan as it is displayed, with sizes in tokens of the window."""

    kind: str
    tier: int
    what: str
    reason: str
    before: int
    after: int
    ref: str = ""


class KeptItem(Struct, frozen=True):
    """A group of items that stays in the window, with the reason."""

    what: str
    count: int
    tokens: int
    reason: str


class Plan(Struct, frozen=True):
    """The changes that are planned for a window, with usage before and after."""

    trigger: str
    before: Usage
    after: Usage
    steps: tuple[PlannedStep, ...] = ()
    bill: Bill = Bill(0.0, 0.0)
    requests: int = 0
    """How many further requests the bill assumes."""
    verdict: str = "nothing"
    """`apply`, `postpone`, `nothing` to do, or `refused`."""
    reason: str = ""
    kept: tuple[KeptItem, ...] = ()
    """What stays, because it is protected or because it cannot be made smaller."""


def in_window_tokens(plan: Plan, raw: int) -> Plan:
    """Convert the raw token counts of a plan's steps and rows to tokens of its window.

    `raw` is the number of raw tokens in the window. After the conversion the steps, the rows, the
    items without a row and the overhead add up to the usage before and after.
    """
    kept, before = [row.tokens for row in plan.kept], [step.before for step in plan.steps]
    rest = max(raw - sum(kept) - sum(before), 0)
    after = split_proportionally(
        plan.after.messages, [*kept, rest, *(step.after for step in plan.steps)]
    )
    stays, after = after[: len(kept) + 1], after[len(kept) + 1 :]
    before = split_proportionally(plan.before.messages - sum(stays), before)
    rows = zip(plan.kept, stays[:-1], strict=True)
    steps = zip(plan.steps, before, after, strict=True)
    return replace(
        plan,
        kept=tuple(replace(row, tokens=tokens) for row, tokens in rows),
        steps=tuple(replace(step, before=old, after=new) for step, old, new in steps),
    )


class Candidate(Struct, frozen=True):
    """A compression that can be applied: its plan, and the entry body to append for it."""

    plan: Plan
    body: Compressed | None = None
    losses: tuple[str, ...] = ()
    names_by_entry: NamesByEntry = {}
    """The names in each entry of the window; passed in again the next time to save work."""
