"""Report what a summary did to a window, and show the user's intent word for word."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Entry
from holdfast.core.ledger.summary import Constraint, Intent, Quote, Summary
from holdfast.core.ledger.window import Item, apply_steps
from holdfast.core.measure.sizes import SizedWindow
from holdfast.core.measure.usage import Usage, split_proportionally
from holdfast.core.observe.requests.pins import lift_unpinned, pinned_constraints
from holdfast.core.shrink.summary.rows import is_anchor
from holdfast.core.view.log import render_scores
from holdfast.core.view.status import WindowShare, shares_of

MAX_KINDS_NAMED = 4
"""Kinds of content that a line names; the others are one number."""


class SummaryEffect(Struct, frozen=True):
    """The effect of a tier 3 compression on the window."""

    leaves: tuple[WindowShare, ...]
    """Content that it hides, the largest share first."""
    stays: tuple[WindowShare, ...]
    """Content that stays in the window unchanged."""
    tokens: int
    """Tokens of the summary itself; together with `stays` and `overhead`, those of the window."""
    rows: dict[str, int]
    """Number of rows of each section; the text shows as many as fit."""
    quality: dict[str, float]
    mark: str = ""
    older: int = 0
    """Tokens of the earlier summary that it replaces."""
    overhead: int = 0
    """Tokens of the window that belong to no message."""


def summary_effect(now: SizedWindow, body: Compressed | None, after: Usage) -> SummaryEffect | None:
    """Compute the effect of a compression on a window; None when it makes no summary.

    `after` is the usage of the window after the compression.
    """
    if body is None or body.summary is None:
        return None
    staying = [item for item in apply_steps(body.steps, now.items) if not is_anchor(item)]
    stand_in_sizes = {step.hides: step.after for step in body.steps}
    raws = {item.entry.id: raw for item, raw in zip(now.items, now.raws, strict=True)}
    sizes_before = [stand_in_sizes.get(item.covers, raws[item.entry.id]) for item in staying]
    summary = sum(step.after for step in body.steps if step.kind == "summary")
    *sizes, tokens = split_proportionally(after.messages, [*sizes_before, summary])
    left = _removed_items(now, staying)
    return SummaryEffect(
        leaves=shares_of(*_unzip([pair for pair in left if not is_anchor(pair[0])])),
        stays=shares_of(staying, sizes),
        tokens=tokens,
        rows=count_rows(body.summary),
        quality=body.quality,
        mark=body.mark,
        older=sum(size for item, size in left if is_anchor(item)),
        overhead=after.overhead,
    )


def _removed_items(now: SizedWindow, staying: Sequence[Item]) -> list[tuple[Item, int]]:
    """Return the items that the compression removes from the window, with their sizes."""
    stays = {item.entry.id for item in staying}
    pairs = zip(now.items, now.tokens, strict=True)
    return [(item, size) for item, size in pairs if item.entry.id not in stays]


def _unzip(pairs: Sequence[tuple[Item, int]]) -> tuple[list[Item], list[int]]:
    return [item for item, _ in pairs], [size for _, size in pairs]


def count_rows(summary: Summary) -> dict[str, int]:
    """Count the rows of each section of a summary, in the order in which they are rendered."""
    changed = sum(file.action != "read" for file in summary.files)
    open_errors = sum(not error.resolved for error in summary.errors)
    return {
        "constraints": sum(not constraint.lifted for constraint in summary.constraints),
        "files changed": changed,
        "files read": len(summary.files) - changed,
        "decisions": len(summary.decisions),
        "errors open": open_errors,
        "errors resolved": len(summary.errors) - open_errors,
        "facts": len(summary.facts),
        "next steps": len(summary.next),
        "open questions": len(summary.questions),
    }


def render_summary_effect(effect: SummaryEffect) -> list[str]:
    """Render the effect of a summary in a few lines."""
    return [
        f"leaves: {shares_in_a_line(effect.leaves)}",
        f"stays: {shares_in_a_line(effect.stays)}",
        *([f"outside of the messages: {effect.overhead:,} tokens"] if effect.overhead else []),
        *describe_summary(effect),
    ]


def describe_summary(effect: SummaryEffect) -> list[str]:
    """Render the size of a summary, its rows by section, and its scores."""
    sections = ", ".join(f"{what} {count:,}" for what, count in effect.rows.items() if count)
    older = f" in place of {effect.older:,}" if effect.older else ""
    mark = [f"mark: {effect.mark}; the window was made smaller all the same"] if effect.mark else []
    return [
        f"summary: {effect.tokens:,} tokens{older}; {sections or 'no rows'}",
        f"quality: {render_scores(effect.quality)}",
        *mark,
    ]


def shares_in_a_line(shares: Sequence[WindowShare]) -> str:
    """Render shares in one line: the largest by name, the others as one number."""
    if not shares:
        return "nothing"
    named = [
        f"{share.what} {share.count:,}× ({share.tokens:,})" for share in shares[:MAX_KINDS_NAMED]
    ]
    rest = shares[MAX_KINDS_NAMED:]
    if rest:
        named.append(f"others {_sum_counts(rest):,}× ({_sum_tokens(rest):,})")
    return f"{_sum_counts(shares):,} entries, {_sum_tokens(shares):,} tokens: {', '.join(named)}"


def share_rows(shares: Iterable[WindowShare]) -> list[str]:
    """Render shares as rows, in the order given."""
    return [
        f"{share.tokens:>8,} tokens  {share.what:28.28}  {share.count:>5,}×" for share in shares
    ]


def _sum_counts(shares: Iterable[WindowShare]) -> int:
    return sum(share.count for share in shares)


def _sum_tokens(shares: Iterable[WindowShare]) -> int:
    return sum(share.tokens for share in shares)


# The user's intent, word for word, with the entries that contain it.


class SessionIntent(Struct, frozen=True):
    """What the user asked for, and the constraints on the agent."""

    intent: Intent = Intent()
    constraints: tuple[Constraint, ...] = ()
    """All constraints, including lifted ones and pins."""
    times: dict[str, str] = {}
    """When each entry arrived, by entry id."""


def session_intent_of(
    rows: Summary, path: Iterable[Entry], ledger: Iterable[Entry]
) -> SessionIntent:
    """Return the user's intent as the rows of a path have it, with every pin."""
    notes = list(ledger)
    pins = tuple(pin for pin in pinned_constraints(notes) if pin.text)
    return SessionIntent(
        intent=rows.intent,
        constraints=lift_unpinned((*rows.constraints, *pins), notes),
        times={entry.id: entry.at for entry in (*path, *notes) if entry.at},
    )


def render_intent(session_intent: SessionIntent) -> str:
    """Render the user's intent in the user's own words."""
    intent = session_intent.intent
    if not intent.original.text and not session_intent.constraints:
        return "## Session Intent\n\nNone"
    parts = [
        "## Session Intent",
        "",
        *_request_lines("Original request", intent.original, session_intent.times),
    ]
    parts += [quote.text for quote in intent.original_rest]
    if intent.current.text and intent.current.entry != intent.original.entry:
        parts += ["", *_request_lines("Current request", intent.current, session_intent.times)]
        parts += [quote.text for quote in intent.current_rest]
    if intent.changes:
        parts += [
            "",
            "### Scope Changes",
            *(_list_row(change.entry, change.text) for change in intent.changes),
        ]
    if session_intent.constraints:
        parts += ["", "### Constraints", *map(_constraint_row, session_intent.constraints)]
    return "\n".join(parts)


def _request_lines(title: str, quote: Quote, times: Mapping[str, str]) -> list[str]:
    if not quote.text:
        return [f"**{title}**", "None"]
    when = f", {times[quote.entry]}" if quote.entry in times else ""
    return [f"**{title}** (ref {quote.entry[:12]}{when})", quote.text]


def _constraint_row(constraint: Constraint) -> str:
    who = "" if constraint.by == "user" else f" ({constraint.by})"
    lifted = f" (lifted by {constraint.lifted[:12]})" if constraint.lifted else ""
    return _list_row(constraint.entry, f"{constraint.text}{who}{lifted}")


def _list_row(entry: str, text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([f"- [{entry[:12]}] {first}", *(f"  {line}" for line in others)])


def intent_document(session_intent: SessionIntent) -> dict[str, object]:
    """Return the user's intent as a JSON document."""
    intent = session_intent.intent
    return {
        "original": _quote_document(intent.original, session_intent.times),
        "current": _quote_document(intent.current, session_intent.times),
        "scope_changes": [_quote_document(quote, session_intent.times) for quote in intent.changes],
        "constraints": [
            {
                "text": constraint.text,
                "ref": constraint.entry[:12],
                "by": constraint.by,
                "negative": constraint.negative,
                "lifted": constraint.lifted[:12] or None,
            }
            for constraint in session_intent.constraints
        ],
    }


def _quote_document(quote: Quote, times: Mapping[str, str]) -> dict[str, str] | None:
    if not quote.text:
        return None
    return {"text": quote.text, "ref": quote.entry[:12], "at": times.get(quote.entry, "")}
