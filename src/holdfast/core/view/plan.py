"""Render a plan: the steps and their reasons, the costs and gains, and what stays in the window."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import asdict

from holdfast.core.measure.usage import Usage
from holdfast.core.plan.gates import Verdict
from holdfast.core.plan.plan import KeptItem, Plan, PlannedStep
from holdfast.core.view.summary import (
    SummaryEffect,
    describe_summary,
    render_summary_effect,
    share_rows,
)
from holdfast.text.clip import clip_line

MAX_STEPS_SHOWN = 20
MAX_KEPT_SHOWN = 12
MIN_WIDTH = 78

PROTECTING_REASONS = (
    "the user's words",
    "words are not cut",
    "recent",
    "the provider wants it as it was sent",
    "an error that is still open",
    "exempt",
)
"""Reasons why content must stay; content with other reasons could leave, but without a gain."""

VERDICT_TEXTS = {
    "apply": "it pays, and nothing would be lost",
    "postpone": "not now",
    "nothing": "there is nothing to do",
    "refused": "something would be lost",
}


def render_plan(
    plan: Plan,
    verdicts: Sequence[Verdict] = (),
    *,
    summary: SummaryEffect | None = None,
    width: int = 100,
) -> str:
    """Render a plan as text; the steps that save most come first."""
    width_used = max(width, MIN_WIDTH)
    return "\n".join(
        [
            f"## Compression Plan: {plan.verdict}",
            f"{plan.reason or VERDICT_TEXTS[plan.verdict]}",
            "",
            f"trigger   {plan.trigger}",
            f"window    {render_sizes(plan.before, plan.after)}",
            *_bill_lines(plan),
            "",
            "### Steps",
            *(_step_lines(plan.steps, width_used) or ["None"]),
            "",
            *(_unchanged_lines(plan) if summary is None else _summary_lines(summary)),
            *_gate_lines(verdicts),
        ]
    )


def _unchanged_lines(plan: Plan) -> list[str]:
    """Render the content that the steps leave unchanged."""
    return [
        "### Protected",
        *(_kept_lines(row for row in plan.kept if is_protected(row)) or ["None"]),
        "",
        "### Stays",
        *(_kept_lines(row for row in plan.kept if not is_protected(row)) or ["None"]),
        *_overhead_lines(plan.before.overhead),
    ]


def _overhead_lines(overhead: int) -> list[str]:
    """Render the tokens that belong to no message."""
    return [f"{overhead:>8,} tokens  not in the session (system prompt, tools)"] if overhead else []


def _summary_lines(effect: SummaryEffect) -> list[str]:
    """Render what a summary hides and what stays, and its scores."""
    return [
        "### Leaves",
        *(share_rows(effect.leaves) or ["None"]),
        "",
        "### Stays",
        f"{effect.tokens:>8,} tokens  summary",
        *share_rows(effect.stays),
        *_overhead_lines(effect.overhead),
        "",
        "### In Its Place",
        *describe_summary(effect),
    ]


def render_sizes(before: Usage, after: Usage) -> str:
    """Render how full the window is and how full it would be."""
    return (
        f"{before.tokens:,} → {after.tokens:,} of {before.limit:,} tokens ({before.percent()} → "
        f"{after.percent()}, {before.how})"
    )


def _bill_lines(plan: Plan) -> list[str]:
    if not plan.steps:
        return []
    cost, gain = round(plan.bill.cost), round(plan.bill.gain)
    at_once = f"{cost:,} more" if cost > 0 else f"{-cost:,} less"
    in_all = f"{gain:,} less" if gain > 0 else f"{-gain:,} more"
    return [
        f"next      {at_once} than without it, in tokens of fresh input, cache writes included",
        f"in all    {in_all} over {plan.requests:,} further requests expected",
    ]


def _step_lines(steps: Sequence[PlannedStep], width: int) -> list[str]:
    ordered = sorted(steps, key=lambda step: (step.after - step.before, step.ref))
    rest = ordered[MAX_STEPS_SHOWN:]
    if not ordered:
        return []
    lines = [f"{'kind':12}  {'ref':12}  {'before':>7}  {'after':>6}  what"]
    for step in ordered[:MAX_STEPS_SHOWN]:
        what = _step_text(step, width - 45)
        lines.append(f"{step.kind:12}  {step.ref:12}  {step.before:>7,}  {step.after:>6,}  {what}")
    if rest:
        saved = sum(step.before - step.after for step in rest)
        lines.append(f"and {len(rest):,} smaller ones that save {saved:,} tokens")
    return lines


def _step_text(step: PlannedStep, room: int) -> str:
    """Render the target and reason of a step; a long path loses its beginning, not its end."""
    what = step.what
    longest = max(room - len(step.reason) - 2, room // 2)
    if len(what) > longest:
        tool, _, rest = what.partition(" ")
        what = f"{tool} …{rest[-max(longest - len(tool) - 2, 8) :]}"
    return clip_line(f"{what}: {step.reason}", room)


def is_protected(row: KeptItem) -> bool:
    """Return whether content stays because it must."""
    return row.reason in PROTECTING_REASONS


def _kept_lines(rows: Iterable[KeptItem]) -> list[str]:
    listed = list(rows)
    rest = listed[MAX_KEPT_SHOWN:]
    lines = [
        f"{row.tokens:>8,} tokens  {clip_line(row.what, 28):28}  {row.count:>5,}×  {row.reason}"
        for row in listed[:MAX_KEPT_SHOWN]
    ]
    if rest:
        tokens, count = sum(row.tokens for row in rest), sum(row.count for row in rest)
        lines.append(f"{tokens:>8,} tokens  {f'{len(rest)} more kinds':28}  {count:>5,}×")
    return lines


def _gate_lines(verdicts: Sequence[Verdict]) -> list[str]:
    if not verdicts:
        return []
    lines = ["", "### Gates"]
    for verdict in verdicts:
        word = "pass" if verdict.passed else "fail" if verdict.checks else "skip"
        lines.append(f"{verdict.gate}  {word}  {verdict.outcome}")
        lines += [f"  {'yes' if holds else 'no ':3}  {text}" for text, holds in verdict.checks]
    return lines


def render_outcome(
    session: str, plan: Plan, *, applied: bool, summary: SummaryEffect | None = None
) -> str:
    """Render the result of a compression in a few lines."""
    if not applied:
        why = plan.reason or VERDICT_TEXTS[plan.verdict]
        return f"nothing was changed in {session}: {why} ({plan.trigger})"
    return "\n".join(
        [
            f"compressed {session}: {render_sizes(plan.before, plan.after)}",
            f"trigger: {plan.trigger}",
            render_steps_by_kind(plan.steps),
            *(render_summary_effect(summary) if summary is not None else []),
        ]
    )


def render_steps_by_kind(steps: Iterable[PlannedStep]) -> str:
    """Render the number of steps and the tokens saved for each kind of step."""
    sums: dict[str, tuple[int, int]] = {}
    for step in steps:
        count, saved = sums.get(step.kind, (0, 0))
        sums[step.kind] = (count + 1, saved + step.before - step.after)
    ordered = sorted(sums.items(), key=lambda pair: -pair[1][1])
    return "steps: " + ", ".join(f"{count} {kind} (−{saved:,})" for kind, (count, saved) in ordered)


def plan_document(plan: Plan) -> Mapping[str, object]:
    """Return a plan as a JSON document."""
    return {
        "verdict": plan.verdict,
        "reason": plan.reason,
        "trigger": plan.trigger,
        "before": usage_document(plan.before),
        "after": usage_document(plan.after),
        "cost": round(plan.bill.cost),
        "gain": round(plan.bill.gain),
        "requests": plan.requests,
        "steps": [asdict(step) for step in plan.steps],
        "kept": [{**asdict(row), "protected": is_protected(row)} for row in plan.kept],
    }


def usage_document(usage: Usage) -> Mapping[str, object]:
    """Return the usage of a window as a JSON document."""
    return {
        "tokens": usage.tokens,
        "limit": usage.limit,
        "fraction": round(usage.fraction, 4),
        "level": usage.level.value,
        "method": usage.method,
        "overhead": usage.overhead,
        "limit_from": usage.limit_from,
    }
