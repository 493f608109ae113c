"""Rules from (before, after) to complaints: a compression that breaks one is not made.

Each rule knows one promise. They look at windows, not at plans, so they hold whoever made the
compression and whatever it was meant to do.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TypeAlias

from holdfast.core.faults import attempt, name_of
from holdfast.core.ledger.entry import (
    Attached,
    Opaque,
    Said,
    Thought,
    ToolCalled,
    ToolReturned,
    is_request,
    role_of,
    text_of,
)
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.shrink.clip_pastes import says_the_same
from holdfast.core.shrink.summary.quoting import field
from holdfast.text.jsontext import NotJson, parse

Rule: TypeAlias = "Callable[[Sequence[Item], Sequence[Item]], list[str]]"


def losses(before: Sequence[Item], after: Sequence[Item], *, saved: int) -> tuple[str, ...]:
    """What a compression would break, one sentence each; nothing when it may be made."""
    found = [complaint for rule in RULES for complaint in _complaints(rule, before, after)]
    if saved <= 0:
        found.append("the window would not be smaller")
    return tuple(found)


def summary_losses(
    before: Sequence[Item], after: Sequence[Item], *, saved: int, summary: Summary
) -> tuple[str, ...]:
    """What putting a summary in the place of what is old would break, one sentence each."""
    found = [complaint for rule in SUMMARY_RULES for complaint in _complaints(rule, before, after)]
    if saved <= 0:
        found.append("the window would not be smaller")
    return (*found, *_unsaid(after, summary))


def _complaints(rule: Rule, before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """What one rule complains of; a rule that cannot check a compression refuses it."""
    name = name_of(rule)
    return attempt(name, lambda: rule(before, after), lambda: [f"{name} could not be checked"])


def _parts_no_pair(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """What stays is the end of what was: no result without its call that had one before."""

    def alone(items: Sequence[Item]) -> set[str]:
        calls = set(_calls(items, ToolCalled))
        return {call for call in _calls(items, ToolReturned) if call not in calls}

    parted = alone(after) - alone(before)
    return [f"the result of call {call} would stand without it" for call in sorted(parted)]


def _keeps_system(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """What the system says before anyone speaks stays where it is."""
    lead = list(takewhile(lambda item: role_of(item.body) in ("system", "developer"), before))
    return [] if list(after[: len(lead)]) == lead else ["system messages would leave"]


def _unsaid(after: Sequence[Item], summary: Summary) -> list[str]:
    """Requests, corrections, constraints and what is always preserved stand word for word."""
    text = "\n".join(_text(item) for item in after)
    intent = summary.intent
    pinned = [*intent.requests, *intent.changes]
    rows = [(quote.text, quote.entry) for quote in pinned]
    rows += [(row.text, row.entry) for row in summary.constraints if not row.lifted]
    return [
        *(
            f"words of the user in entry {entry[:12]} would be missing"
            for words, entry in rows
            if words not in text
        ),
        *(
            f"the preserved line {ref.what!r} would be missing"
            for ref in summary.refs
            if not ref.entry and field(ref.what) not in text
        ),
    ]


def _calls(items: Sequence[Item], kind: type[ToolCalled] | type[ToolReturned]) -> list[str]:
    return [item.body.call for item in items if isinstance(item.body, kind)]


def _keeps_pairs(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Every call and every result is still there, in the same order."""
    for kind, name in ((ToolCalled, "calls"), (ToolReturned, "results")):
        if _calls(before, kind) != _calls(after, kind):
            return [f"the {name} in sight would not be the same"]
    return []


def _keeps_words(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """What was said, by whomever, stands as it was; of a user's message, the user's own words."""

    def said(items: Sequence[Item]) -> list[Item]:
        return [item for item in items if isinstance(item.body, Said | Attached | Opaque)]

    was, now = said(before), said(after)
    same = [item.entry.id for item in was] == [item.entry.id for item in now]
    kept = same and all(map(_says_the_same, was, now))
    return [] if kept else ["words that were said would change"]


def _says_request(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """What stays in sight of the user's messages beside a summary says what it said."""
    was = {item.entry.id: item for item in before}
    return [
        f"words of the user in entry {item.entry.id[:12]} would change"
        for item in after
        if is_request(item.body) and not _says_the_same(was.get(item.entry.id, item), item)
    ]


def _says_the_same(old: Item, new: Item) -> bool:
    """Whether words are as they were, or are the user's message with its pastes cut."""
    if repr(old.body) == repr(new.body):
        return True
    whole = Item(new.entry).body
    if not is_request(whole) or not is_request(new.body) or role_of(whole) != role_of(new.body):
        return False
    return says_the_same(text_of(whole), text_of(new.body))


def _keeps_seals(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Sealed thinking is as it was or gone, and gone only from the front."""

    def sealed(items: Sequence[Item]) -> list[tuple[str, str]]:
        return [
            (item.body.text, item.body.seal)
            for item in items
            if isinstance(item.body, Thought) and item.body.seal
        ]

    was, now = sealed(before), sealed(after)
    kept = was[len(was) - len(now) :] if now else []
    return [] if now == kept else ["sealed thinking would change in the middle"]


def _keeps_json(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Arguments that were JSON are JSON, with the same keys."""
    was = {item.entry.id: item.body for item in before}
    found: list[str] = []
    for item in after:
        old = was.get(item.entry.id)
        if not isinstance(item.body, ToolCalled) or item.body is old:
            continue
        assert isinstance(old, ToolCalled)
        if _keys(old.arguments) != _keys(item.body.arguments):
            found.append(f"the arguments of call {old.call} would lose their shape")
    return found


def _keys(arguments: str) -> list[str] | str:
    try:
        value, _ = parse(arguments.encode("utf-8", "surrogatepass"))
    except NotJson:
        return "no JSON"
    return list(value) if isinstance(value, dict) else type(value).__name__


def _hides_no_stand_in(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Nothing stands in for a stand-in, ours or one that a client sent back."""
    standing = {item.entry.id: item for item in after}
    return [
        f"a stand-in for {item.entry.id[:12]} would be stood in for"
        for item in before
        if isinstance(item.body, ToolReturned)
        and (item.covers or is_stand_in(item.body.output))
        and standing.get(item.entry.id, item).body != item.body
    ]


SUMMARY_RULES: tuple[Rule, ...] = (_parts_no_pair, _keeps_system, _keeps_seals, _says_request)

RULES: tuple[Rule, ...] = (
    _keeps_pairs,
    _keeps_words,
    _keeps_seals,
    _keeps_json,
    _hides_no_stand_in,
)


def _text(item: Item) -> str:
    return item.body.text if isinstance(item.body, Said | Thought) else ""
