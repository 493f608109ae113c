"""The sections of the work: decisions, findings, progress, next steps."""

import re

from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Decision,
    Next,
    Progress,
    Summary,
)
from holdfast.core.shrink.sections.rows import (
    PENDING,
    WHO,
    each_row,
    none_or,
    or_none,
    read_quotes,
    read_rows,
    take_numbered,
    who_of,
    write_quotes,
)
from holdfast.core.shrink.spelling import (
    NONE,
    Lines,
    entry_of,
    field,
    head_of,
    headed,
    need,
    split_field,
    split_head,
    told,
    whole_field,
)

REASON = ": "
CHOSEN = re.compile(
    r" \((user|system|agent)(?:, instead of ([0-9A-Za-z]{1,12}))?\) \[([0-9A-Za-z]{1,12}|-)\]\Z"
)


def write_decisions(summary: Summary) -> list[str]:
    """A numbered list of the decisions."""
    return [f"{number}. {_chosen(one)}" for number, one in enumerate(summary.decisions, 1)]


def _chosen(one: Decision) -> str:
    reason = f"{REASON}{field(one.reason)}" if one.reason else ""
    instead = f", instead of {one.overrules}" if one.overrules else ""
    return f"{field(one.choice, REASON)}{reason} ({one.by}{instead}) {head_of(one.entry)}"


def read_decisions(lines: Lines, known: Summary) -> Summary:
    """Read the decisions."""
    return replace(
        known, decisions=tuple(_read_decision(take_numbered(lines)) for _ in each_row(lines))
    )


def _read_decision(line: str) -> Decision:
    end = CHOSEN.search(line)
    need(end is not None)
    assert end is not None
    choice, rest = split_field(line[: end.start()], REASON)
    need(rest == "" or rest.startswith(REASON))
    reason = whole_field(rest.removeprefix(REASON))
    return Decision(choice, entry_of(end[3]), reason, WHO[end[1]], end[2] or "")


def write_findings(summary: Summary) -> list[str]:
    """One row for each thing that the agent found or reported."""
    return write_quotes(summary.findings)


def read_findings(lines: Lines, known: Summary) -> Summary:
    """Read the findings."""
    return replace(known, findings=read_quotes(lines))


PHASE, COMPLETED = "- **Phase:** ", "- **Completed:**"
REMAINING, TESTS, SEEN = "- **Remaining:**", "- **Tests:** ", "- **Seen in:** "
ITEM = "  - "


def write_progress(summary: Summary) -> list[str]:
    """Where the work stands; nothing when that is not known."""
    progress = summary.progress
    if progress == Progress():
        return []
    return [
        f"{PHASE}{or_none(progress.phase)}",
        *_listed(COMPLETED, progress.completed),
        *_listed(REMAINING, progress.remaining),
        f"{TESTS}{or_none(progress.tests)}",
        *([f"{SEEN}{head_of(progress.entry)}"] if progress.entry else []),
    ]


def _listed(label: str, items: tuple[str, ...]) -> list[str]:
    if not items:
        return [f"{label} {NONE}"]
    return [label, *(f"{ITEM}{field(item)}" for item in items)]


def read_progress(lines: Lines, known: Summary) -> Summary:
    """Read where the work stands."""
    progress = Progress(
        phase=none_or(lines.take(PHASE)),
        completed=_read_list(lines, COMPLETED),
        remaining=_read_list(lines, REMAINING),
        tests=none_or(lines.take(TESTS)),
        entry=split_head(lines.take(SEEN))[0] if lines.begins(SEEN) else "",
    )
    return replace(known, progress=progress)


def _read_list(lines: Lines, label: str) -> tuple[str, ...]:
    need(lines.take(label) in {"", f" {NONE}"})
    items = list[str]()
    while lines.begins(ITEM):
        items.append(whole_field(lines.take(ITEM)))
    return tuple(items)


def write_next(summary: Summary) -> list[str]:
    """A numbered list of the steps to come."""
    return headed([(_due(one), told(one.step)) for one in summary.next], numbered=True)


def _due(one: Next) -> str:
    owner = one.owner if one.owner != "agent" else ""
    return head_of(one.entry, owner, one.status if one.status != PENDING else "")


def read_next(lines: Lines, known: Summary) -> Summary:
    """Read the steps to come."""
    found = list[Next]()
    for entry, tags, text in read_rows(lines, numbered=True):
        owner = who_of(tags[:1], "agent")
        status = [tag for tag in tags if tag != owner]
        found.append(Next(lines.told(text), entry, owner, status[0] if status else PENDING))
    return replace(known, next=tuple(found))
