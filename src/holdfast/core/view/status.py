"""Build and render the status report: usage, savings, advice, and the tokens of each kind."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    HOLDFAST,
    Compacted,
    Compressed,
    Entry,
    EntryId,
    Restored,
    Step,
    ToolCalled,
    Used,
)
from holdfast.core.ledger.window import Item
from holdfast.core.measure.usage import Usage, split_proportionally
from holdfast.core.observe.results.refetched import Refetches
from holdfast.core.observe.scene import name_kind
from holdfast.core.shrink.summary.rows import is_anchor
from holdfast.core.view.log import describe_refetches
from holdfast.core.view.rules import Metrics

TIER_NAMES = {1: "Tier 1 (offload)", 2: "Tier 2 (truncate)", 3: "Tier 3 (summary)"}


class Saving(Struct, frozen=True):
    """One compression as the report lists it."""

    at: str
    kind: str
    tier: int
    steps: int
    saved: int
    results: int = 0
    """Tool results that were offloaded."""
    results_saved: int = 0
    """Tokens that offloading results saved."""
    inputs: int = 0
    """Tool inputs that were truncated."""
    inputs_saved: int = 0
    """Tokens that truncating inputs saved."""


class WindowShare(Struct, frozen=True):
    """The part of the window that one kind of content takes."""

    what: str
    count: int
    tokens: int


class StatusReport(Struct, frozen=True):
    """All values that the status report shows."""

    session: str
    at: str
    usage: Usage
    turns: int
    steps: int
    savings: tuple[Saving, ...]
    shares: tuple[WindowShare, ...]
    overhead: int
    """Tokens that the provider reports and no entry explains: system prompt, tools, framing."""
    warnings: tuple[str, ...] = ()
    caused: Refetches = Refetches()
    """Fetches that the agent repeated because their results were hidden."""
    sent: int = 0
    """Input tokens of all requests that the provider reported; 0 without a report."""
    metrics: Metrics = Metrics()
    """How summaries did: size, recovery, preservation."""
    faults: int = 0
    """Rules that failed on this session and were skipped."""


def savings_of(
    entries: Iterable[Entry], sizes: Mapping[EntryId, tuple[int, int]] | None = None
) -> tuple[Saving, ...]:
    """Return the compressions of a session that are in force, oldest first.

    `sizes` gives the window before and after for compressions by the host, which store no sizes.
    """
    all_entries, windows = list(entries), sizes or {}
    lifted = {entry.body.compressed for entry in all_entries if isinstance(entry.body, Restored)}
    found: list[Saving] = []
    for entry in all_entries:
        if isinstance(entry.body, Compacted):
            before, after = windows.get(entry.id, (0, 0))
            found.append(Saving(entry.at, "Host compaction", 0, 1, before - after))
        elif isinstance(entry.body, Compressed) and entry.id not in lifted:
            found.append(_saving(entry, entry.body, windows.get(entry.id)))
    return tuple(found)


def _saving(entry: Entry, body: Compressed, window: tuple[int, int] | None) -> Saving:
    tier = max((step.tier for step in body.steps), default=0)
    saved = tokens_saved(body, window)
    sizes = split_proportionally(saved, [step.before - step.after for step in body.steps])
    parts = list(zip(body.steps, sizes, strict=True))
    inputs = [part for step, part in parts if _is_input(step)]
    results = [part for step, part in parts if _is_result(step)]
    return Saving(
        at=entry.at,
        kind=TIER_NAMES.get(tier, "Replaced by host" if body.by == "host" else "Other"),
        tier=tier,
        steps=len(body.steps),
        saved=saved,
        results=len(results),
        results_saved=sum(results),
        inputs=len(inputs),
        inputs_saved=sum(inputs),
    )


def tokens_saved(body: Compressed, window: tuple[int, int] | None = None) -> int:
    """Return the tokens that a compression saved: its own sizes, else `window`, else its steps."""
    if body.before:
        return body.before - body.after
    if window is not None and body.by != HOLDFAST:
        return window[0] - window[1]
    return sum(step.before - step.after for step in body.steps)


def _is_input(step: Step) -> bool:
    return isinstance(step.stand_in, ToolCalled) or (step.tier == 2 and not step.kind)


def _is_result(step: Step) -> bool:
    return step.tier in (1, 2) and not _is_input(step) and step.kind != "thinking"


def tokens_sent(entries: Iterable[Entry]) -> int:
    """Sum the reported input tokens of all requests; the last report of a request counts."""
    reports: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry.body, Used):
            reports[entry.body.request or entry.id] = entry.body.input
    return sum(reports.values())


def shares_of(items: Iterable[Item], tokens: Iterable[int]) -> tuple[WindowShare, ...]:
    """Return the share of each kind of content, the largest first; `tokens` has a size per item."""
    tools: dict[str, str] = {}
    sums: dict[str, tuple[int, int]] = {}
    for item, size in zip(items, tokens, strict=True):
        body = item.body
        if isinstance(body, ToolCalled):
            tools[body.call] = body.tool
        what = "summary" if is_anchor(item) else name_kind(body, tools)
        count, total = sums.get(what, (0, 0))
        sums[what] = (count + 1, total + size)
    shares = (WindowShare(what, count, total) for what, (count, total) in sums.items())
    return tuple(sorted(shares, key=lambda share: (-share.tokens, share.what)))


def render_status(report: StatusReport) -> str:
    """Render the report as Markdown in the protocol's form, then the table of shares."""
    return "\n".join(
        [
            "## Context Status Report",
            "",
            f"**Timestamp:** {report.at}",
            f"**Estimated Usage:** {report.usage.percent()}",
            f"**Level:** {report.usage.level.value}",
            f"**Session:** {report.session}",
            f"**Tokens:** {_tokens_text(report.usage)}",
            "",
            "### Current State",
            *_state_lines(report.savings),
            *_net_lines(report),
            *([f"- {describe_faults(report.faults)}"] if report.faults else []),
            "",
            "### Recommendation",
            report.usage.action,
            *(f"Note: {warning}" for warning in report.warnings),
            "",
            "### Compression History",
            *_history_table(report.savings),
            "",
            "### Where the Tokens Are",
            *_share_table(report),
        ]
    )


def _tokens_text(usage: Usage) -> str:
    return f"{usage.tokens:,} of {usage.limit:,} ({usage.how})"


def _state_lines(savings: Sequence[Saving]) -> list[str]:
    results, inputs = (
        sum(saving.results for saving in savings),
        sum(saving.inputs for saving in savings),
    )
    saved = sum(saving.results_saved for saving in savings)
    cut = sum(saving.inputs_saved for saving in savings)
    return [
        f"- Tool results offloaded: {results} ({saved:,} tokens saved)",
        f"- Tool inputs truncated: {inputs} ({cut:,} tokens saved)",
        f"- Summarisations performed: {sum(saving.tier == 3 for saving in savings)}",
    ]


def _net_lines(report: StatusReport) -> list[str]:
    """Render the savings minus the tokens of repeated fetches."""
    rows: list[str] = []
    if report.caused.fetches:
        net = sum(saving.saved for saving in report.savings) - report.caused.tokens
        rows.append(
            f"- Fetched again: {describe_refetches(report.caused)}; net {net:,} tokens saved"
        )
    if report.sent and report.turns:
        rows.append(f"- Tokens per task: {report.sent // report.turns:,} sent for each request")
    return rows


def describe_faults(count: int) -> str:
    """Render how many rules failed, and which command lists them."""
    rules = "rule" if count == 1 else "rules"
    return f"Faults: {count} {rules} failed and left out (`holdfast log` lists them)"


def _history_table(savings: Sequence[Saving]) -> list[str]:
    rows = [
        f"| {saving.at or 'unknown'} | {saving.kind} | {saving.saved:,} |" for saving in savings
    ]
    return ["| Time | Type | Tokens Saved |", "|---|---|---|", *(rows or ["| None | | |"])]


def _share_table(report: StatusReport) -> list[str]:
    rows = [f"| {share.what} | {share.count:,} | {share.tokens:,} |" for share in report.shares]
    if report.overhead > 0:
        rows.append(f"| not in the session (system prompt, tools) | | {report.overhead:,} |")
    return ["| What | Count | Tokens |", "|---|---|---|", *rows]
