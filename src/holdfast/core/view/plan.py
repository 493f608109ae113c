"""A plan as a reader gets it: what would change and why, what it costs and wins, what stays."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import asdict

from holdfast.core.measure.usage import Usage
from holdfast.core.plan.gates import Verdict
from holdfast.core.plan.plan import Kept, Plan, Planned
from holdfast.core.view.conversation import opening
from holdfast.core.view.summary import Summarized, about_summary, listed, render_summarized

SHOWN_STEPS = 20
SHOWN_KEPT = 12
NARROWEST = 78

PROTECTED = (
    "the user's words",
    "words are not cut",
    "recent",
    "the provider wants it as it was sent",
    "an error that is still open",
    "exempt",
)
"""Why something has to stay; the rest could leave and would not be worth it."""

VERDICTS = {
    "apply": "it pays, and nothing would be lost",
    "postpone": "not now",
    "nothing": "there is nothing to do",
    "refused": "something would be lost",
}


def render_plan(
    plan: Plan,
    verdicts: Sequence[Verdict] = (),
    *,
    summary: Summarized | None = None,
    width: int = 100,
) -> str:
    """A plan as text; the steps that save most come first."""
    wide = max(width, NARROWEST)
    return "\n".join(
        [
            f"## Compression Plan: {plan.verdict}",
            f"{plan.reason or VERDICTS[plan.verdict]}",
            "",
            f"trigger   {plan.trigger}",
            f"window    {sizes(plan.before, plan.after)}",
            *_bill(plan),
            "",
            "### Steps",
            *(_steps(plan.steps, wide) or ["None"]),
            "",
            *(_around(plan) if summary is None else _summary(summary)),
            *_gates(verdicts),
        ]
    )


def _around(plan: Plan) -> list[str]:
    """What the steps leave as it is."""
    return [
        "### Protected",
        *(_kept(row for row in plan.kept if is_protected(row)) or ["None"]),
        "",
        "### Stays",
        *(_kept(row for row in plan.kept if not is_protected(row)) or ["None"]),
        *_outside(plan.before.overhead),
    ]


def _outside(overhead: int) -> list[str]:
    """What stays because it is in no message."""
    return [f"{overhead:>8,} tokens  not in the session (system prompt, tools)"] if overhead else []


def _summary(one: Summarized) -> list[str]:
    """What a summary takes out of sight and what it leaves, and how it did on its probes."""
    return [
        "### Leaves",
        *(listed(one.leaves) or ["None"]),
        "",
        "### Stays",
        f"{one.tokens:>8,} tokens  summary",
        *listed(one.stays),
        *_outside(one.overhead),
        "",
        "### In Its Place",
        *about_summary(one),
    ]


def sizes(before: Usage, after: Usage) -> str:
    """How full the window is, and how full it would be."""
    return (
        f"{before.tokens:,} → {after.tokens:,} of {before.limit:,} tokens "
        f"({before.percent()} → {after.percent()}, {before.how})"
    )


def _bill(plan: Plan) -> list[str]:
    if not plan.steps:
        return []
    cost, gain = round(plan.bill.cost), round(plan.bill.gain)
    at_once = f"{cost:,} more" if cost > 0 else f"{-cost:,} less"
    in_all = f"{gain:,} less" if gain > 0 else f"{-gain:,} more"
    return [
        f"next      {at_once} than without it, in tokens of fresh input, cache writes included",
        f"in all    {in_all} over {plan.requests:,} further requests expected",
    ]


def _steps(steps: Sequence[Planned], width: int) -> list[str]:
    ordered = sorted(steps, key=lambda step: (step.after - step.before, step.ref))
    rest = ordered[SHOWN_STEPS:]
    if not ordered:
        return []
    lines = [f"{'kind':12}  {'ref':12}  {'before':>7}  {'after':>6}  what"]
    for step in ordered[:SHOWN_STEPS]:
        what = _told(step, width - 45)
        lines.append(f"{step.kind:12}  {step.ref:12}  {step.before:>7,}  {step.after:>6,}  {what}")
    if rest:
        saved = sum(step.before - step.after for step in rest)
        lines.append(f"and {len(rest):,} smaller ones that save {saved:,} tokens")
    return lines


def _told(step: Planned, room: int) -> str:
    """What a step is about and why; of a long path the end tells more than the beginning."""
    what = step.what
    longest = max(room - len(step.reason) - 2, room // 2)
    if len(what) > longest:
        tool, _, rest = what.partition(" ")
        what = f"{tool} …{rest[-max(longest - len(tool) - 2, 8) :]}"
    return opening(f"{what}: {step.reason}", room)


def is_protected(row: Kept) -> bool:
    """Whether something stays because it must."""
    return row.reason in PROTECTED


def _kept(rows: Iterable[Kept]) -> list[str]:
    listed = list(rows)
    rest = listed[SHOWN_KEPT:]
    lines = [
        f"{row.tokens:>8,} tokens  {opening(row.what, 28):28}  {row.count:>5,}×  {row.reason}"
        for row in listed[:SHOWN_KEPT]
    ]
    if rest:
        tokens, count = sum(row.tokens for row in rest), sum(row.count for row in rest)
        lines.append(f"{tokens:>8,} tokens  {f'{len(rest)} more kinds':28}  {count:>5,}×")
    return lines


def _gates(verdicts: Sequence[Verdict]) -> list[str]:
    if not verdicts:
        return []
    lines = ["", "### Gates"]
    for verdict in verdicts:
        word = "pass" if verdict.passed else "fail" if verdict.checks else "skip"
        lines.append(f"{verdict.gate}  {word}  {verdict.outcome}")
        lines += [f"  {'yes' if holds else 'no ':3}  {text}" for text, holds in verdict.checks]
    return lines


def render_outcome(
    session: str, plan: Plan, *, applied: bool, summary: Summarized | None = None
) -> str:
    """What a compression came to, in a few lines."""
    if not applied:
        why = plan.reason or VERDICTS[plan.verdict]
        return f"nothing was changed in {session}: {why} ({plan.trigger})"
    return "\n".join(
        [
            f"compressed {session}: {sizes(plan.before, plan.after)}",
            f"trigger: {plan.trigger}",
            by_kind(plan.steps),
            *(render_summarized(summary) if summary is not None else []),
        ]
    )


def by_kind(steps: Iterable[Planned]) -> str:
    """Steps, counted and summed by what they do."""
    sums: dict[str, tuple[int, int]] = {}
    for step in steps:
        count, saved = sums.get(step.kind, (0, 0))
        sums[step.kind] = (count + 1, saved + step.before - step.after)
    ordered = sorted(sums.items(), key=lambda pair: -pair[1][1])
    return "steps: " + ", ".join(f"{count} {kind} (−{saved:,})" for kind, (count, saved) in ordered)


def plan_document(plan: Plan) -> Mapping[str, object]:
    """A plan for a program."""
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
    """How full a window is, for a program."""
    return {
        "tokens": usage.tokens,
        "limit": usage.limit,
        "fraction": round(usage.fraction, 4),
        "level": usage.level.value,
        "method": usage.method,
        "overhead": usage.overhead,
        "limit_from": usage.limit_from,
    }
