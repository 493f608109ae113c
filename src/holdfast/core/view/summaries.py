"""What a summary did to a window: what left, what stays, what it tells, and how well."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, apply
from holdfast.core.shrink.account import is_anchor
from holdfast.core.view.log import scores
from holdfast.core.view.report import Share, shares_of

SHOWN = 4
"""Kinds that a line names one by one."""


class Summarized(Struct, frozen=True):
    """A compression of tier 3, as a reader gets it."""

    leaves: tuple[Share, ...]
    """What is out of sight because of it, the largest share first."""
    stays: tuple[Share, ...]
    """What is in sight as it was."""
    tokens: int
    """Raw tokens of the summary itself."""
    rows: dict[str, int]
    """How many rows each section has; the text shows as many as there is room for."""
    quality: dict[str, float]
    mark: str = ""


def summarized(
    items: Sequence[Item], body: Compressed | None, counts: Mapping[int, int]
) -> Summarized | None:
    """What a compression does to the items in sight; nothing when it makes no summary."""
    if body is None or body.summary is None:
        return None
    shown = apply(body.steps, items)
    kept = [item for item in shown if not is_anchor(item)]
    stays = {item.entry.id for item in kept}
    left = [item for item in items if item.entry.id not in stays and not is_anchor(item)]
    sizes = {step.hides: step.after for step in body.steps}
    return Summarized(
        leaves=shares_of(left, counts),
        stays=shares_of(kept, counts, sizes),
        tokens=sum(step.after for step in body.steps if step.kind == "summary"),
        rows=rows_of(body.summary),
        quality=body.quality,
        mark=body.mark,
    )


def rows_of(summary: Summary) -> dict[str, int]:
    """How many rows each section has, in the order in which they are told."""
    changed = sum(file.action != "read" for file in summary.files)
    still = sum(not error.resolved for error in summary.errors)
    return {
        "constraints": sum(not one.lifted for one in summary.constraints),
        "files changed": changed,
        "files read": len(summary.files) - changed,
        "decisions": len(summary.decisions),
        "findings": len(summary.findings),
        "errors open": still,
        "errors resolved": len(summary.errors) - still,
        "facts": len(summary.facts),
        "next steps": len(summary.next),
        "open questions": len(summary.questions),
    }


def render_summarized(one: Summarized) -> list[str]:
    """The same in a few lines."""
    return [
        f"leaves: {in_a_line(one.leaves)}",
        f"stays: {in_a_line(one.stays)}",
        *about_summary(one),
    ]


def about_summary(one: Summarized) -> list[str]:
    """What the summary tells, and how well it does."""
    told = ", ".join(f"{what} {count:,}" for what, count in one.rows.items() if count)
    mark = [f"mark: {one.mark}; the window was made smaller all the same"] if one.mark else []
    return [
        f"summary: {one.tokens:,} tokens; {told or 'no rows'}",
        f"quality: {scores(one.quality)}",
        *mark,
    ]


def in_a_line(shares: Sequence[Share]) -> str:
    """Shares, the largest by name and the rest as one number."""
    if not shares:
        return "nothing"
    named = [f"{one.what} {one.count:,}× ({one.tokens:,})" for one in shares[:SHOWN]]
    rest = shares[SHOWN:]
    if rest:
        named.append(f"others {_count(rest):,}× ({_tokens(rest):,})")
    return f"{_count(shares):,} entries, {_tokens(shares):,} tokens: {', '.join(named)}"


def listed(shares: Iterable[Share]) -> list[str]:
    """Shares as rows, the largest first."""
    return [f"{one.tokens:>8,} tokens  {one.what:28.28}  {one.count:>5,}×" for one in shares]


def _count(shares: Iterable[Share]) -> int:
    return sum(one.count for one in shares)


def _tokens(shares: Iterable[Share]) -> int:
    return sum(one.tokens for one in shares)
