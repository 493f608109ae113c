"""The status report: how full, what was saved, what to do, and where the tokens are."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    OURS,
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
from holdfast.core.measure.usage import Usage, split
from holdfast.core.observe.results.refetched import Caused
from holdfast.core.observe.scene import kind_of
from holdfast.core.shrink.summary.rows import is_anchor
from holdfast.core.view.log import fetched
from holdfast.core.view.rules import Metrics

TIERS = {1: "Tier 1 (offload)", 2: "Tier 2 (truncate)", 3: "Tier 3 (summary)"}


class Saving(Struct, frozen=True):
    """One compression, as the report lists it."""

    at: str
    kind: str
    tier: int
    steps: int
    saved: int
    results: int = 0
    """Tool results that left, and the tokens that saved."""
    results_saved: int = 0
    inputs: int = 0
    """Tool inputs that were cut short, and the tokens that saved."""
    inputs_saved: int = 0


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
    caused: Caused = Caused()
    """What was fetched again because it had left."""
    sent: int = 0
    """Tokens of all requests that the provider reported; 0 when it reported none."""
    metrics: Metrics = Metrics()
    """How summaries did: size, recovery, preservation."""
    faults: int = 0
    """Rules that failed on this session and were left out."""


def savings_of(
    entries: Iterable[Entry], sizes: Mapping[EntryId, tuple[int, int]] | None = None
) -> tuple[Saving, ...]:
    """The compressions of a session that hold, oldest first.

    `sizes` tells the window before and after those that do not tell it themselves: the host's.
    """
    known, told = list(entries), sizes or {}
    lifted = {entry.body.compressed for entry in known if isinstance(entry.body, Restored)}
    found: list[Saving] = []
    for entry in known:
        if isinstance(entry.body, Compacted):
            before, after = told.get(entry.id, (0, 0))
            found.append(Saving(entry.at, "Host compaction", 0, 1, before - after))
        elif isinstance(entry.body, Compressed) and entry.id not in lifted:
            found.append(_saving(entry, entry.body, told.get(entry.id)))
    return tuple(found)


def _saving(entry: Entry, body: Compressed, told: tuple[int, int] | None) -> Saving:
    tier = max((step.tier for step in body.steps), default=0)
    saved = saved_by(body, told)
    sizes = split(saved, [step.before - step.after for step in body.steps])
    parts = list(zip(body.steps, sizes, strict=True))
    inputs = [part for step, part in parts if _is_input(step)]
    results = [part for step, part in parts if _is_result(step)]
    return Saving(
        at=entry.at,
        kind=TIERS.get(tier, "Replaced by host" if body.by == "host" else "Other"),
        tier=tier,
        steps=len(body.steps),
        saved=saved,
        results=len(results),
        results_saved=sum(results),
        inputs=len(inputs),
        inputs_saved=sum(inputs),
    )


def saved_by(body: Compressed, told: tuple[int, int] | None = None) -> int:
    """Tokens that a compression took out of the window, as it tells itself or as is known of it."""
    if body.before:
        return body.before - body.after
    if told is not None and body.by != OURS:
        return told[0] - told[1]
    return sum(step.before - step.after for step in body.steps)


def _is_input(step: Step) -> bool:
    return isinstance(step.stand_in, ToolCalled) or (step.tier == 2 and not step.kind)


def _is_result(step: Step) -> bool:
    return step.tier in (1, 2) and not _is_input(step) and step.kind != "thinking"


def sent_in(entries: Iterable[Entry]) -> int:
    """Tokens of all requests that a provider reported; of two reports of one, the later counts."""
    reports: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry.body, Used):
            reports[entry.body.request or entry.id] = entry.body.input
    return sum(reports.values())


def shares_of(items: Iterable[Item], tokens: Iterable[int]) -> tuple[Share, ...]:
    """Where the tokens in sight are, the largest share first; `tokens` are those of each item."""
    tools: dict[str, str] = {}
    sums: dict[str, tuple[int, int]] = {}
    for item, size in zip(items, tokens, strict=True):
        body = item.body
        if isinstance(body, ToolCalled):
            tools[body.call] = body.tool
        what = "summary" if is_anchor(item) else kind_of(body, tools)
        count, total = sums.get(what, (0, 0))
        sums[what] = (count + 1, total + size)
    shares = (Share(what, count, total) for what, (count, total) in sums.items())
    return tuple(sorted(shares, key=lambda share: (-share.tokens, share.what)))


def render(report: Report) -> str:
    """The report as Markdown, in the protocol's own form, with where the tokens are below it."""
    return "\n".join(
        [
            "## Context Status Report",
            "",
            f"**Timestamp:** {report.at}",
            f"**Estimated Usage:** {report.usage.percent()}",
            f"**Level:** {report.usage.level.value}",
            f"**Session:** {report.session}",
            f"**Tokens:** {_tokens(report.usage)}",
            "",
            "### Current State",
            *_state(report.savings),
            *_net(report),
            *([f"- {faults_noted(report.faults)}"] if report.faults else []),
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
    return f"{usage.tokens:,} of {usage.limit:,} ({usage.how})"


def _state(savings: Sequence[Saving]) -> list[str]:
    results, inputs = sum(one.results for one in savings), sum(one.inputs for one in savings)
    saved = sum(one.results_saved for one in savings)
    cut = sum(one.inputs_saved for one in savings)
    return [
        f"- Tool results offloaded: {results} ({saved:,} tokens saved)",
        f"- Tool inputs truncated: {inputs} ({cut:,} tokens saved)",
        f"- Summarisations performed: {sum(one.tier == 3 for one in savings)}",
    ]


def _net(report: Report) -> list[str]:
    """What the savings come to once what they caused is taken off."""
    rows: list[str] = []
    if report.caused.fetches:
        net = sum(one.saved for one in report.savings) - report.caused.tokens
        rows.append(f"- Fetched again: {fetched(report.caused)}; net {net:,} tokens saved")
    if report.sent and report.turns:
        rows.append(f"- Tokens per task: {report.sent // report.turns:,} sent for each request")
    return rows


def faults_noted(count: int) -> str:
    """How many rules failed, and where to read which."""
    rules = "rule" if count == 1 else "rules"
    return f"Faults: {count} {rules} failed and left out (`holdfast log` lists them)"


def _history(savings: Sequence[Saving]) -> list[str]:
    rows = [f"| {one.at or 'unknown'} | {one.kind} | {one.saved:,} |" for one in savings]
    return ["| Time | Type | Tokens Saved |", "|---|---|---|", *(rows or ["| None | | |"])]


def _where(report: Report) -> list[str]:
    rows = [f"| {share.what} | {share.count:,} | {share.tokens:,} |" for share in report.shares]
    if report.overhead > 0:
        rows.append(f"| not in the session (system prompt, tools) | | {report.overhead:,} |")
    return ["| What | Count | Tokens |", "|---|---|---|", *rows]
