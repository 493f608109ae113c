"""Judge the protocol's gates: find those that a planned compression triggers, and check them."""

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, EntryId, Step, ToolCalled, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.rules import Gate, gates_for

TIER_3_NOT_NEEDED = "Skip Tier 3: Tiers 1 and 2 are enough"
MIN_TRAIL_SCORE = 3.5
"""Score on `artifact_trail` from which the touched files count as documented."""


class GateFacts(Struct, frozen=True):
    """Facts for judging gates: a compression that was built but not written, and the window."""

    percent: float = 0.0
    """How full the window is, in percent."""
    results: int = 0
    """Tool results that would leave."""
    previews: int = 0
    """How many of these have a stand-in that describes their content."""
    losses: tuple[str, ...] = ()
    """The losses that the compression would cause."""
    inputs: int = 0
    """Large inputs of writes and edits in the window."""
    persisted: int = 0
    """How many of these have content that was seen on disk."""
    summary: bool = False
    """Whether a summary would replace the old part."""
    batch_is_enough: bool = False
    """Whether tiers 1 and 2 alone make the window small enough; then tier 3 is skipped."""
    intent: bool = False
    """Whether the summary quotes the first request."""
    trail: float = 0.0
    """Score of the summary on `artifact_trail`, from 0 to 5."""


class Verdict(Struct, frozen=True):
    """The result of judging one gate."""

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
) -> GateFacts:
    """Collect the facts of a built compression; `inputs` and `persisted` are entry ids of calls."""
    results = [step for step in (body.steps if body else ()) if _is_result(step)]
    summary = body.summary if body is not None else None
    return GateFacts(
        percent=percent,
        results=len(results),
        previews=sum(bool(_preview_text(step)) for step in results),
        losses=losses,
        inputs=len(inputs),
        persisted=sum(entry in persisted for entry in inputs),
        summary=summary is not None,
        batch_is_enough=body is not None and summary is None,
        intent=summary is not None and bool(summary.intent.original.text),
        trail=body.quality.get("artifact_trail", 0.0) if body is not None else 0.0,
    )


def _is_result(step: Step) -> bool:
    return isinstance(step.stand_in, ToolReturned)


def _preview_text(step: Step) -> str:
    """Return the description in a stand-in: its outline, or the text after its first bracket."""
    assert isinstance(step.stand_in, ToolReturned)
    text = step.stand_in.output
    return (text.partition("**Outline:** ")[2] or text.partition("] ")[2]).strip()


def large_inputs(
    items: Iterable[Item], tokens: Mapping[int, int], policy: Policy
) -> tuple[EntryId, ...]:
    """Return the entry ids of writes and edits in the window that have a large input."""
    return tuple(
        item.entry.id
        for item in items
        if isinstance(item.body, ToolCalled)
        and item.stand_in is None
        and tokens.get(item.entry.seq, 0) > policy.truncate.above
        and touch_of(item.body).verb in ("write", "edit")
    )


def triggered_gates(policy: Policy, facts: GateFacts) -> tuple[Gate, ...]:
    """Return the gates whose trigger condition is met."""
    bounds = policy.at
    reached = {
        "HOOK-CTX-001": facts.results > 0,
        "HOOK-CTX-002": facts.percent >= bounds.batch,
        "HOOK-CTX-003": facts.percent >= bounds.summary,
        "HOOK-CTX-005": facts.percent >= bounds.critical,
    }
    return tuple(gate for gate in gates_for(policy) if reached.get(gate.id))


def judge_gate(gate: Gate, facts: GateFacts) -> Verdict:
    """Judge one of the triggered gates, check by check.

    The fourth gate comes after a summary, when the agent continues; the drift watch judges it.
    """
    if not gate.checks:
        return Verdict(gate.id, True, (), gate.action)
    checks = tuple(zip(gate.checks, CHECKS_BY_GATE[gate.id](facts), strict=True))
    passed = all(holds for _, holds in checks)
    return Verdict(
        gate.id, passed, checks, gate.on_pass if passed else _failure_outcome(gate, facts)
    )


def _failure_outcome(gate: Gate, facts: GateFacts) -> str:
    """Return the outcome of a gate that did not pass."""
    if gate.id == "HOOK-CTX-003" and facts.batch_is_enough:
        return TIER_3_NOT_NEEDED
    return gate.on_fail


def _check_offload(facts: GateFacts) -> tuple[bool, ...]:
    return not facts.losses, facts.previews == facts.results


def _check_truncation(facts: GateFacts) -> tuple[bool, ...]:
    return facts.inputs > 0, facts.persisted > 0


def _check_summary(facts: GateFacts) -> tuple[bool, ...]:
    return facts.summary, facts.intent, facts.trail >= MIN_TRAIL_SCORE


CHECKS_BY_GATE: dict[str, Callable[[GateFacts], tuple[bool, ...]]] = {
    "HOOK-CTX-001": _check_offload,
    "HOOK-CTX-002": _check_truncation,
    "HOOK-CTX-003": _check_summary,
}
"""For each gate, the function that answers its checks in their order."""
