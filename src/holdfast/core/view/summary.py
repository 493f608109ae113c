"""What a summary did to a window: what left, what stays, what it tells, and how well."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Entry
from holdfast.core.ledger.inherited import inherited
from holdfast.core.ledger.summary import Constraint, Intent, Quote, Summary
from holdfast.core.ledger.window import Item, apply
from holdfast.core.measure.sizes import Sized
from holdfast.core.measure.usage import Usage, split
from holdfast.core.observe.requests.intent import wanted
from holdfast.core.observe.requests.pins import lift, pins_of
from holdfast.core.observe.scene import read_scene
from holdfast.core.shrink.clip_pastes import cut_wanted
from holdfast.core.shrink.summary.merge import merge
from holdfast.core.shrink.summary.rows import is_anchor
from holdfast.core.view.log import scores
from holdfast.core.view.status import Share, shares_of

SHOWN = 4
"""Kinds that a line names one by one."""


class Summarized(Struct, frozen=True):
    """A compression of tier 3, as a reader gets it."""

    leaves: tuple[Share, ...]
    """What is out of sight because of it, the largest share first."""
    stays: tuple[Share, ...]
    """What is in sight as it was."""
    tokens: int
    """Tokens of the summary itself; with what stays and the overhead, those of the window."""
    rows: dict[str, int]
    """How many rows each section has; the text shows as many as there is room for."""
    quality: dict[str, float]
    mark: str = ""
    older: int = 0
    """Tokens of the summary that it replaces."""
    overhead: int = 0
    """Tokens of the window that are in no message."""


def summarized(now: Sized, body: Compressed | None, after: Usage) -> Summarized | None:
    """What a compression does to a window; nothing when it makes no summary.

    `after` is how full the window is once it is made.
    """
    if body is None or body.summary is None:
        return None
    kept = [item for item in apply(body.steps, now.items) if not is_anchor(item)]
    made = {step.hides: step.after for step in body.steps}
    raws = {item.entry.id: raw for item, raw in zip(now.items, now.raws, strict=True)}
    stays = [made.get(item.covers, raws[item.entry.id]) for item in kept]
    summary = sum(step.after for step in body.steps if step.kind == "summary")
    *sizes, tokens = split(after.messages, [*stays, summary])
    left = _left(now, kept)
    return Summarized(
        leaves=shares_of(*_columns([pair for pair in left if not is_anchor(pair[0])])),
        stays=shares_of(kept, sizes),
        tokens=tokens,
        rows=rows_of(body.summary),
        quality=body.quality,
        mark=body.mark,
        older=sum(size for item, size in left if is_anchor(item)),
        overhead=after.overhead,
    )


def _left(now: Sized, kept: Sequence[Item]) -> list[tuple[Item, int]]:
    """What is out of sight afterwards, with its size."""
    stays = {item.entry.id for item in kept}
    pairs = zip(now.items, now.tokens, strict=True)
    return [(item, size) for item, size in pairs if item.entry.id not in stays]


def _columns(pairs: Sequence[tuple[Item, int]]) -> tuple[list[Item], list[int]]:
    return [item for item, _ in pairs], [size for _, size in pairs]


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
        *([f"outside of the messages: {one.overhead:,} tokens"] if one.overhead else []),
        *about_summary(one),
    ]


def about_summary(one: Summarized) -> list[str]:
    """What the summary tells, and how well it does."""
    told = ", ".join(f"{what} {count:,}" for what, count in one.rows.items() if count)
    older = f" in place of {one.older:,}" if one.older else ""
    mark = [f"mark: {one.mark}; the window was made smaller all the same"] if one.mark else []
    return [
        f"summary: {one.tokens:,} tokens{older}; {told or 'no rows'}",
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


# What the user wants, word for word, each with where it stands.


SHORTEST = 6
"""Letters of the name of an entry from which they mean it."""


class Asked(Struct, frozen=True):
    """What was asked for, and what binds the agent."""

    intent: Intent = Intent()
    constraints: tuple[Constraint, ...] = ()
    """Those that were lifted included; pins are among them."""
    times: dict[str, str] = {}
    """By entry: when it came."""


def asked_of(path: Iterable[Entry], ledger: Iterable[Entry]) -> Asked:
    """What the user wants, from everything that was said, in sight or not, and every pin."""
    said, noted = list(path), list(ledger)
    own = cut_wanted(wanted(read_scene([Item(entry) for entry in said])))
    want = merge(inherited(noted), Summary(intent=own.intent, constraints=own.constraints))
    pins = tuple(pin for pin in pins_of(noted) if pin.text)
    return Asked(
        intent=want.intent,
        constraints=lift((*want.constraints, *pins), noted),
        times={entry.id: entry.at for entry in (*said, *noted) if entry.at},
    )


def render_intent(asked: Asked) -> str:
    """The user's own words."""
    intent = asked.intent
    if not intent.original.text and not asked.constraints:
        return "## Session Intent\n\nNone"
    parts = ["## Session Intent", "", *_said("Original request", intent.original, asked.times)]
    parts += [quote.text for quote in intent.original_rest]
    if intent.current.text and intent.current.entry != intent.original.entry:
        parts += ["", *_said("Current request", intent.current, asked.times)]
        parts += [quote.text for quote in intent.current_rest]
    if intent.changes:
        parts += ["", "### Scope Changes", *(_row(one.entry, one.text) for one in intent.changes)]
    if asked.constraints:
        parts += ["", "### Constraints", *map(_constraint, asked.constraints)]
    return "\n".join(parts)


def _said(title: str, quote: Quote, times: Mapping[str, str]) -> list[str]:
    if not quote.text:
        return [f"**{title}**", "None"]
    when = f", {times[quote.entry]}" if quote.entry in times else ""
    return [f"**{title}** (ref {quote.entry[:12]}{when})", quote.text]


def _constraint(one: Constraint) -> str:
    who = "" if one.by == "user" else f" ({one.by})"
    lifted = f" (lifted by {one.lifted[:12]})" if one.lifted else ""
    return _row(one.entry, f"{one.text}{who}{lifted}")


def _row(entry: str, text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([f"- [{entry[:12]}] {first}", *(f"  {line}" for line in others)])


def intent_document(asked: Asked) -> dict[str, object]:
    """The same for a program."""
    intent = asked.intent
    return {
        "original": _quote(intent.original, asked.times),
        "current": _quote(intent.current, asked.times),
        "scope_changes": [_quote(quote, asked.times) for quote in intent.changes],
        "constraints": [
            {
                "text": one.text,
                "ref": one.entry[:12],
                "by": one.by,
                "negative": one.negative,
                "lifted": one.lifted[:12] or None,
            }
            for one in asked.constraints
        ],
    }


def _quote(quote: Quote, times: Mapping[str, str]) -> dict[str, str] | None:
    if not quote.text:
        return None
    return {"text": quote.text, "ref": quote.entry[:12], "at": times.get(quote.entry, "")}


def meant(constraints: Sequence[Constraint], pin: str) -> list[Constraint]:
    """The constraints in force that a name, the beginning of one, or their own words mean."""
    standing = [one for one in constraints if not one.lifted]
    by_words = [one for one in standing if one.text == pin]
    if by_words or len(pin) < SHORTEST:
        return by_words
    return [one for one in standing if one.entry.startswith(pin.lower())]
