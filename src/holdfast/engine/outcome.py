"""Outcome of a compression as callers get it: messages, usage, steps, summary, originals."""

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.apply import items_after
from holdfast.core.faults import Fault
from holdfast.core.ledger.entry import Compressed, Step, text_of
from holdfast.core.ledger.size import media_of
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, Window
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.plan import Candidate, Plan
from holdfast.core.shrink.step import ref_of
from holdfast.engine.live_window import message_dicts
from holdfast.text.jsontext import Json
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import from_bytes, to_bytes

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


ROW_REF = Pattern(r"\[([0-9a-f]{8})[0-9a-f]*\]")
"""The reference in a summary row to its entry. Matches `[0123abcd]`, not `[x]` or `[0123]`."""


class Account(Struct, frozen=True):
    """A summary in rows; `str` gives the text that a model reads."""

    rows: Summary = Summary()
    text: str = ""

    def __str__(self) -> str:
        return self.text


class Outcome(Struct, frozen=True):
    """The result of a compression."""

    messages: list[dict[str, Json]]
    before: Usage
    after: Usage
    steps: tuple[Step, ...] = ()
    """The steps that were taken; their savings add up to `before` less `after`."""
    summary: "Account" = Account()
    """The hidden part in rows; as text, the stand-in for it. Empty without tier 3."""
    losses: tuple[str, ...] = ()
    originals: dict[str, bytes] = {}
    """By reference: the whole text of hidden entries and of those that a summary row names."""
    plan: Plan | None = None
    checkpoint: str = ""
    """The checkpoint that was taken before a summary replaced old entries."""

    faults: tuple[Fault, ...] = ()
    """The rules that failed on this session so far and were skipped."""

    def read(self, ref: str) -> str:
        """Return the text that a reference names: a whole one, or its beginning as rows show it.

        Raises:
            KeyError: nothing in the outcome names it, or more than one entry begins like it.
        """
        found = [name for name in self.originals if name.startswith(ref)] if ref else []
        name = found[0] if len(found) == 1 else ref
        return from_bytes(self.originals[name])


def outcome_of(ledger: "Ledger", seen: Window, candidate: Candidate) -> Outcome:
    """Return the outcome of a candidate for a window, written or not; `seen` has its secrets."""
    steps = candidate.body.steps if candidate.body is not None else ()
    items = items_after(seen.items, steps)
    hidden = {name for step in steps for name in step.hides}
    account = _summary_account(candidate.body)
    named = set(ROW_REF.findall(account.text))
    originals = {
        ref_of(item.entry.id): _original(ledger, item)
        for item in seen.items
        if item.entry.id in hidden or item.entry.id[:8] in named
    }
    plan = candidate.plan
    return Outcome(
        messages=message_dicts(ledger.live_window.render_items(items)),
        before=plan.before,
        after=plan.after,
        steps=_in_window_tokens(steps, plan),
        summary=account,
        losses=candidate.losses,
        originals=originals,
        plan=plan,
        faults=ledger.collector.found,
    )


def _in_window_tokens(steps: tuple[Step, ...], plan: Plan) -> tuple[Step, ...]:
    """Return steps with the sizes of the plan: they add up to the saving in the window."""
    pairs = zip(steps, plan.steps if steps else (), strict=True)
    return tuple(
        replace(step, before=planned.before, after=planned.after) for step, planned in pairs
    )


def _original(ledger: "Ledger", item: Item) -> bytes:
    """Return the whole text of a hidden item; the message it came in, if it has media."""
    if not media_of(item.body):
        return to_bytes(text_of(item.body))
    first = item.entry.seq - item.entry.part
    return ledger.store.arrivals(ledger.name, {first})[first].raw


def _summary_account(body: Compressed | None) -> Account:
    """Return the summary that a compression shows."""
    if body is None or body.summary is None:
        return Account()
    shown = (step.stand_in for step in body.steps if step.kind == "summary")
    return Account(
        body.summary, "".join(text_of(body_shown) for body_shown in shown if body_shown is not None)
    )
