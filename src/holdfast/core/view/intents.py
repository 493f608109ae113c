"""What the user wants, word for word, each with where it stands."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Entry
from holdfast.core.ledger.inherited import inherited
from holdfast.core.ledger.summary import Constraint, Intent, Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.calls import read_scene
from holdfast.core.observe.intent import wanted
from holdfast.core.observe.pins import lift, pins_of
from holdfast.core.shrink.merging import merge
from holdfast.core.shrink.pasting import cut_wanted

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
