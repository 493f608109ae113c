"""Refuse compressions that lose something: compare the window before and after by rule.

Each rule checks one promise and returns complaints; a compression with a complaint is not applied.
The rules compare windows, not plans, so they hold for every way to build a compression.
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
from holdfast.core.shrink.clip_pastes import keeps_users_words
from holdfast.core.shrink.summary.quoting import quote_field
from holdfast.text.jsontext import NotJson, parse
from holdfast.text.utf8 import to_bytes

Rule: TypeAlias = "Callable[[Sequence[Item], Sequence[Item]], list[str]]"


def losses(before: Sequence[Item], after: Sequence[Item], *, saved: int) -> tuple[str, ...]:
    """Return what a compression would break, one sentence each; empty if it may be applied."""
    complaints = [complaint for rule in RULES for complaint in _complaints(rule, before, after)]
    if saved <= 0:
        complaints.append("the window would not be smaller")
    return tuple(complaints)


def summary_losses(
    before: Sequence[Item], after: Sequence[Item], *, saved: int, summary: Summary
) -> tuple[str, ...]:
    """Return what replacing old history by a summary would break, one sentence each."""
    complaints = [
        complaint for rule in SUMMARY_RULES for complaint in _complaints(rule, before, after)
    ]
    if saved <= 0:
        complaints.append("the window would not be smaller")
    return (*complaints, *_missing_words(after, summary))


def _complaints(rule: Rule, before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Return the complaints of one rule; a rule that fails with an error counts as a complaint."""
    name = name_of(rule)
    return attempt(name, lambda: rule(before, after), lambda: [f"{name} could not be checked"])


def _separates_no_pair(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that no result loses its call."""

    def alone(items: Sequence[Item]) -> set[str]:
        calls = set(_call_ids(items, ToolCalled))
        return {call for call in _call_ids(items, ToolReturned) if call not in calls}

    parted = alone(after) - alone(before)
    return [f"the result of call {call} would stand without it" for call in sorted(parted)]


def _keeps_system(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that the system messages at the front stay in place."""
    lead = list(takewhile(lambda item: role_of(item.body) in ("system", "developer"), before))
    return [] if list(after[: len(lead)]) == lead else ["system messages would leave"]


def _missing_words(after: Sequence[Item], summary: Summary) -> list[str]:
    """Return complaints about requests, constraints and preserved lines that are not quoted."""
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
            if not ref.entry and quote_field(ref.what) not in text
        ),
    ]


def _call_ids(items: Sequence[Item], kind: type[ToolCalled] | type[ToolReturned]) -> list[str]:
    return [item.body.call for item in items if isinstance(item.body, kind)]


def _keeps_pairs(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that all calls and results are still there, in the same order."""
    for kind, name in ((ToolCalled, "calls"), (ToolReturned, "results")):
        if _call_ids(before, kind) != _call_ids(after, kind):
            return [f"the {name} in sight would not be the same"]
    return []


def _keeps_words(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that all words are unchanged; pastes in a message of the user may be cut."""

    def said(items: Sequence[Item]) -> list[Item]:
        return [item for item in items if isinstance(item.body, Said | Attached | Opaque)]

    old, new = said(before), said(after)
    same = [item.entry.id for item in old] == [item.entry.id for item in new]
    kept = same and all(map(_says_the_same, old, new))
    return [] if kept else ["words that were said would change"]


def _keeps_requests(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that the user's messages that stay next to a summary keep the user's own words."""
    old_items = {item.entry.id: item for item in before}
    return [
        f"words of the user in entry {item.entry.id[:12]} would change"
        for item in after
        if is_request(item.body) and not _says_the_same(old_items.get(item.entry.id, item), item)
    ]


def _says_the_same(old: Item, new: Item) -> bool:
    """Whether words are unchanged, or are the user's message with only its pastes cut."""
    if repr(old.body) == repr(new.body):
        return True
    whole = Item(new.entry).body
    if not is_request(whole) or not is_request(new.body) or role_of(whole) != role_of(new.body):
        return False
    return keeps_users_words(text_of(whole), text_of(new.body))


def _keeps_seals(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that sealed thinking is unchanged, or removed from the front only."""

    def sealed(items: Sequence[Item]) -> list[tuple[str, str]]:
        return [
            (item.body.text, item.body.seal)
            for item in items
            if isinstance(item.body, Thought) and item.body.seal
        ]

    old, new = sealed(before), sealed(after)
    kept = old[len(old) - len(new) :] if new else []
    return [] if new == kept else ["sealed thinking would change in the middle"]


def _keeps_json(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that JSON arguments are still JSON with the same keys."""
    old_bodies = {item.entry.id: item.body for item in before}
    complaints: list[str] = []
    for item in after:
        old = old_bodies.get(item.entry.id)
        if not isinstance(item.body, ToolCalled) or item.body is old:
            continue
        assert isinstance(old, ToolCalled)
        if _argument_keys(old.arguments) != _argument_keys(item.body.arguments):
            complaints.append(f"the arguments of call {old.call} would lose their shape")
    return complaints


def _argument_keys(arguments: str) -> list[str] | str:
    try:
        value, _ = parse(to_bytes(arguments))
    except NotJson:
        return "no JSON"
    return list(value) if isinstance(value, dict) else type(value).__name__


def _hides_no_stand_in(before: Sequence[Item], after: Sequence[Item]) -> list[str]:
    """Check that no stand-in is replaced, neither ours nor one that a client sent back."""
    standing = {item.entry.id: item for item in after}
    return [
        f"a stand-in for {item.entry.id[:12]} would be stood in for"
        for item in before
        if isinstance(item.body, ToolReturned)
        and (item.covers or is_stand_in(item.body.output))
        and standing.get(item.entry.id, item).body != item.body
    ]


SUMMARY_RULES: tuple[Rule, ...] = (_separates_no_pair, _keeps_system, _keeps_seals, _keeps_requests)

RULES: tuple[Rule, ...] = (
    _keeps_pairs,
    _keeps_words,
    _keeps_seals,
    _keeps_json,
    _hides_no_stand_in,
)


def _text(item: Item) -> str:
    return item.body.text if isinstance(item.body, Said | Thought) else ""
