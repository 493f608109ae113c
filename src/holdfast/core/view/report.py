"""The status report: how full, what was saved, what to do, and where the tokens are."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Attached,
    Compacted,
    Compressed,
    Entry,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.ledger.window import Item
from holdfast.core.measure.usage import Usage

TIERS = {1: "Tier 1 (offload)", 2: "Tier 2 (truncate)", 3: "Tier 3 (summary)"}


class Saving(Struct, frozen=True):
    """One compression, as the report lists it."""

    at: str
    kind: str
    tier: int
    steps: int
    saved: int


class Share(Struct, frozen=True):
    """How much of the window one kind of content takes."""

    what: str
    count: int
    tokens: int


class Report(Struct, frozen=True):
    """Everything a status says."""

    session: str
    at: str
    usage: Usage
    turns: int
    steps: int
    savings: tuple[Saving, ...]
    shares: tuple[Share, ...]
    overhead: int
    """Tokens that the provider reports and no entry explains: system prompt, tools, framing."""
    warnings: tuple[str, ...] = ()


def savings_of(entries: Iterable[Entry]) -> tuple[Saving, ...]:
    """The compressions of a session, oldest first."""
    found: list[Saving] = []
    for entry in entries:
        if isinstance(entry.body, Compacted):
            found.append(Saving(entry.at, "Host compaction", 0, 1, 0))
        elif isinstance(entry.body, Compressed):
            steps = entry.body.steps
            tier = max(step.tier for step in steps)
            saved = sum(step.before - step.after for step in steps)
            kind = TIERS.get(tier, "Replaced by host" if entry.body.by == "host" else "Other")
            found.append(Saving(entry.at, kind, tier, len(steps), saved))
    return tuple(found)


def shares_of(items: Iterable[Item], tokens: Mapping[int, int]) -> tuple[Share, ...]:
    """Where the tokens in sight are, the largest share first."""
    tools: dict[str, str] = {}
    sums: dict[str, tuple[int, int]] = {}
    for item in items:
        body = item.body
        if isinstance(body, ToolCalled):
            tools[body.call] = body.tool
        what = kind_of(body, tools)
        count, total = sums.get(what, (0, 0))
        sums[what] = (count + 1, total + tokens.get(item.entry.seq, 0))
    shares = (Share(what, count, total) for what, (count, total) in sums.items())
    return tuple(sorted(shares, key=lambda share: (-share.tokens, share.what)))


def kind_of(body: Source, tools: Mapping[str, str]) -> str:
    """What a person would call this: whose words, or which tool's."""
    match body:
        case Said():
            return {"host": "injected text", "summary": "summary"}.get(body.by, body.role)
        case Thought():
            return "thinking"
        case ToolCalled():
            return f"{body.tool} calls"
        case ToolReturned():
            return f"{tools.get(body.call, 'unknown tool')} results"
        case Attached():
            return body.media.kind
        case Opaque():
            return body.kind or "opaque"


def render(report: Report) -> str:
    """The report as Markdown, in the protocol's own form, with where the tokens are below it."""
    return "\n".join(
        [
            "## Context Status Report",
            "",
            f"**Timestamp:** {report.at}",
            f"**Estimated Usage:** {report.usage.fraction:.1%}",
            f"**Level:** {report.usage.level.value}",
            f"**Session:** {report.session}",
            f"**Tokens:** {_tokens(report.usage)}",
            "",
            "### Current State",
            *_state(report.savings),
            "",
            "### Recommendation",
            report.usage.action,
            *(f"Note: {warning}" for warning in report.warnings),
            "",
            "### Compression History",
            *_history(report.savings),
            "",
            "### Where the Tokens Are",
            *_where(report),
        ]
    )


def _tokens(usage: Usage) -> str:
    return f"{usage.tokens:,} of {usage.limit:,} ({usage.method})"


def _state(savings: Sequence[Saving]) -> list[str]:
    def line(what: str, tier: int) -> str:
        steps = sum(one.steps for one in savings if one.tier == tier)
        saved = sum(one.saved for one in savings if one.tier == tier)
        return f"- {what}: {steps} ({saved:,} tokens saved)"

    summaries = sum(one.tier == 3 for one in savings)
    return [
        line("Tool results offloaded", 1),
        line("Tool inputs truncated", 2),
        f"- Summarisations performed: {summaries}",
    ]


def _history(savings: Sequence[Saving]) -> list[str]:
    rows = [f"| {one.at or 'unknown'} | {one.kind} | {one.saved:,} |" for one in savings]
    return ["| Time | Type | Tokens Saved |", "|---|---|---|", *(rows or ["| None | | |"])]


def _where(report: Report) -> list[str]:
    rows = [f"| {share.what} | {share.count:,} | {share.tokens:,} |" for share in report.shares]
    if report.overhead > 0:
        rows.append(f"| not in the session (system prompt, tools) | | {report.overhead:,} |")
    return ["| What | Count | Tokens |", "|---|---|---|", *rows]
