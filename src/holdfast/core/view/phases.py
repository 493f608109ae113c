"""The four phases and what is preserved, as a reader gets them; and the metrics over them."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Entry, Noted
from holdfast.core.ledger.phases import HALF, INTACT, RECOVERY, Check, Phase
from holdfast.core.plan.always import KIND_OF, UNUSED, Held

KINDS = (*KIND_OF.values(), "tool_inputs", "words")
"""What is counted where things leave."""


class Metrics(Struct, frozen=True):
    """How the summaries of a session did, against the protocol's targets."""

    summaries: int = 0
    before: int = 0
    """Tokens of the windows before them, in all."""
    after: int = 0
    ratio: float | None = None
    """What is left of a window on average; the target is below one half."""
    halved: int = 0
    """Summaries that met it."""
    recovery: float | None = None
    """The share of summaries all of whose hidden entries read back; the target is 1."""
    preservation: float | None = None
    """The share of checks of preserved items that held; the target is 1."""
    failures: int = 0
    """Times that something could not be brought back."""


def metrics_of(entries: Iterable[Entry]) -> Metrics:
    """The metrics of a session; what was never measured is None."""
    known = list(entries)
    made = [entry.body for entry in known if isinstance(entry.body, Compressed)]
    sums = [body for body in made if body.summary is not None and body.before]
    failed = sum(isinstance(e.body, Noted) and e.body.what == "recovery_failed" for e in known)
    before, after = sum(body.before for body in sums), sum(body.after for body in sums)
    recovered = [check.holds for body in sums for check in checks_named(body.phases, RECOVERY)]
    kept = [check.holds for body in sums for check in preserved_checks(body.phases)]
    return Metrics(
        summaries=len(sums),
        before=before,
        after=after,
        ratio=round(after / before, 4) if before else None,
        halved=sum(halves(body.before, body.after) for body in sums),
        recovery=_share([*recovered, *([False] * failed)]),
        preservation=_share(kept),
        failures=failed,
    )


def _share(held: Sequence[bool]) -> float | None:
    return round(sum(held) / len(held), 4) if held else None


def halves(before: int, after: int) -> bool:
    """Whether a window came down to less than half of what it was."""
    return after * 100 < HALF * before


def checks_named(phases: Iterable[Phase], what: str) -> list[Check]:
    """The checks of that name."""
    return [check for phase in phases for check in phase.checks if check.what == what]


def preserved_checks(phases: Sequence[Phase]) -> list[Check]:
    """The checks of preserved items: that each was there, and that they are intact after."""
    return [*(phases[0].checks if phases else ()), *checks_named(phases, INTACT)]


def render_phases(phases: Iterable[Phase]) -> list[str]:
    """The phases as lines; what does not hold says so."""
    lines: list[str] = []
    for number, phase in enumerate(phases, 1):
        lines.append(f"{number}. {phase.name}")
        lines += [f"   {_mark(one)}  {one.what:22}  {one.detail}".rstrip() for one in phase.checks]
    return lines


def _mark(check: Check) -> str:
    """Whether a check holds; what leaves is only counted."""
    if check.what in KINDS:
        return "   "
    return "yes" if check.holds else "NO "


def render_held(held: Sequence[Held]) -> list[str]:
    """Preserved items as rows: how each was found, and where."""
    wide = max((len(one.item) for one in held), default=0)
    places = [one.where if one.status != UNUSED else "-" for one in held]
    place = min(max(map(len, places), default=0), 40)
    return [
        f"{one.item:{wide}}  {one.status:7}  {where:{place}}  {one.detail}".rstrip()
        for one, where in zip(held, places, strict=True)
    ]
