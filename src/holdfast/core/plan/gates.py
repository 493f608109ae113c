"""The gates, judged: which are concerned by what is planned, and whether their checks hold."""

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, EntryId, Step, ToolCalled, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.rules import Gate, gates_for

ENOUGH = "Skip Tier 3: Tiers 1 and 2 are enough"
TRAIL = 3.5
"""What a summary has to reach on which files were touched for them to be documented."""


class Facts(Struct, frozen=True):
    """What gates are judged by: a compression that was made on paper, and what is in sight."""

    percent: float = 0.0
    """How full the window is."""
    results: int = 0
    """Tool results that would leave."""
    previews: int = 0
    """Of these, those whose stand-in says what they held."""
    losses: tuple[str, ...] = ()
    """What the compression would break."""
    inputs: int = 0
    """Large inputs of writes and edits that are in sight."""
    persisted: int = 0
    """Of these, those whose content was seen on disk."""
    summary: bool = False
    """Whether a summary would stand for what is old."""
    enough: bool = False
    """Whether tiers 1 and 2 alone make the window small enough."""
    intent: bool = False
    """Whether the summary has the first request, word for word."""
    trail: float = 0.0
    """How the summary does on which files were touched, from 0 to 5."""


class Verdict(Struct, frozen=True):
    """How a gate was judged."""

    gate: str
    passed: bool
    checks: tuple[tuple[str, bool], ...]
    """Each check, and whether it holds."""
    outcome: str


def facts_of(
    percent: float,
    body: Compressed | None,
    losses: tuple[str, ...],
    inputs: Collection[EntryId] = (),
    persisted: Collection[EntryId] = (),
) -> Facts:
    """The facts of a compression made on paper; `inputs` and `persisted` name entries of calls."""
    results = [step for step in (body.steps if body else ()) if _is_result(step)]
    summary = body.summary if body is not None else None
    return Facts(
        percent=percent,
        results=len(results),
        previews=sum(bool(_said(step)) for step in results),
        losses=losses,
        inputs=len(inputs),
        persisted=sum(name in persisted for name in inputs),
        summary=summary is not None,
        enough=body is not None and summary is None,
        intent=summary is not None and bool(summary.intent.original.text),
        trail=body.quality.get("artifact_trail", 0.0) if body is not None else 0.0,
    )


def _is_result(step: Step) -> bool:
    return isinstance(step.stand_in, ToolReturned)


def _said(step: Step) -> str:
    """What a stand-in says of what it hides, below or behind its own first words."""
    assert isinstance(step.stand_in, ToolReturned)
    text = step.stand_in.output
    return (text.partition("**Outline:** ")[2] or text.partition("] ")[2]).strip()


def large_inputs(
    items: Iterable[Item], tokens: Mapping[int, int], policy: Policy
) -> tuple[EntryId, ...]:
    """The writes and edits in sight whose input is large."""
    return tuple(
        item.entry.id
        for item in items
        if isinstance(item.body, ToolCalled)
        and item.stand_in is None
        and tokens.get(item.entry.seq, 0) > policy.truncate.above
        and touch_of(item.body).verb in ("write", "edit")
    )


def concerned(policy: Policy, facts: Facts) -> tuple[Gate, ...]:
    """The gates whose trigger has come."""
    at = policy.at
    reached = {
        "HOOK-CTX-001": facts.results > 0,
        "HOOK-CTX-002": facts.percent >= at.batch,
        "HOOK-CTX-003": facts.percent >= at.summary,
        "HOOK-CTX-005": facts.percent >= at.critical,
    }
    return tuple(gate for gate in gates_for(policy) if reached.get(gate.id))


def judge(gate: Gate, facts: Facts) -> Verdict:
    """Whether one of the `concerned` gates is passed, check by check, and what follows.

    The fourth comes after a summary, when the agent goes on: the drift watch judges it.
    """
    if not gate.checks:
        return Verdict(gate.id, True, (), gate.action)
    checks = tuple(zip(gate.checks, JUDGES[gate.id](facts), strict=True))
    passed = all(holds for _, holds in checks)
    return Verdict(gate.id, passed, checks, gate.on_pass if passed else _failed(gate, facts))


def _failed(gate: Gate, facts: Facts) -> str:
    """What follows when a gate is not passed."""
    if gate.id == "HOOK-CTX-003" and facts.enough:
        return ENOUGH
    return gate.on_fail


def _offloads(facts: Facts) -> tuple[bool, ...]:
    return not facts.losses, facts.previews == facts.results


def _truncates(facts: Facts) -> tuple[bool, ...]:
    return facts.inputs > 0, facts.persisted > 0


def _summarizes(facts: Facts) -> tuple[bool, ...]:
    return facts.summary, facts.intent, facts.trail >= TRAIL


JUDGES: dict[str, Callable[[Facts], tuple[bool, ...]]] = {
    "HOOK-CTX-001": _offloads,
    "HOOK-CTX-002": _truncates,
    "HOOK-CTX-003": _summarizes,
}
"""How the checks of each gate are answered, in their order."""
