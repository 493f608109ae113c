"""Plan: what would change, what that costs and wins, and what stays as it is.

A plan is a value: it can be printed, refused by a person or a verifier, and only then carried out.
"""

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed
from holdfast.core.measure.usage import Usage, split
from holdfast.core.observe.worth import Telling
from holdfast.core.plan.gain import Bill


class Planned(Struct, frozen=True):
    """One step of a plan, as a reader sees it, in tokens of the window."""

    kind: str
    tier: int
    what: str
    reason: str
    before: int
    after: int
    ref: str = ""


class Kept(Struct, frozen=True):
    """Something that stays in sight, and why."""

    what: str
    count: int
    tokens: int
    reason: str


class Plan(Struct, frozen=True):
    """What should change in a window, and what follows from it."""

    trigger: str
    before: Usage
    after: Usage
    steps: tuple[Planned, ...] = ()
    bill: Bill = Bill(0.0, 0.0)
    requests: int = 0
    """Further requests that the bill counts on."""
    verdict: str = "nothing"
    """`apply`, `postpone`, `nothing` to do, or `refused`."""
    reason: str = ""
    kept: tuple[Kept, ...] = ()
    """What stays, protected or because nothing smaller could stand there."""


def in_window_tokens(plan: Plan, raw: int) -> Plan:
    """A plan whose steps and rows were counted raw, in the tokens of its window.

    `raw` are the raw tokens in sight. Afterwards the steps, the rows, what no row names and the
    overhead add up to the usage before and after.
    """
    kept, before = [row.tokens for row in plan.kept], [step.before for step in plan.steps]
    rest = max(raw - sum(kept) - sum(before), 0)
    after = split(plan.after.messages, [*kept, rest, *(step.after for step in plan.steps)])
    stays, after = after[: len(kept) + 1], after[len(kept) + 1 :]
    before = split(plan.before.messages - sum(stays), before)
    rows = zip(plan.kept, stays[:-1], strict=True)
    steps = zip(plan.steps, before, after, strict=True)
    return replace(
        plan,
        kept=tuple(replace(row, tokens=tokens) for row, tokens in rows),
        steps=tuple(replace(step, before=old, after=new) for step, old, new in steps),
    )


class Candidate(Struct, frozen=True):
    """What a compression would be: its plan, and the entry that makes it so."""

    plan: Plan
    body: Compressed | None = None
    losses: tuple[str, ...] = ()
    held: Telling = {}
    """What the entries in sight hold; handed back in the next time."""
