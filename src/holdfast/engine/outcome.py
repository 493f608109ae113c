"""What a compression came to, as callers get it."""

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.apply import after_steps
from holdfast.core.faults import Fault
from holdfast.core.ledger.entry import Compressed, Step, text_of
from holdfast.core.ledger.size import media_of
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, Window
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.plan import Candidate, Plan
from holdfast.core.shrink.step import ref_of
from holdfast.engine.live_window import copied
from holdfast.text.jsontext import Json

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


NAMED = re.compile(r"\[([0-9a-f]{8})[0-9a-f]*\]")
"""How a row of a summary names the entry that it was read from."""


class Account(Struct, frozen=True):
    """A summary in rows; `str` gives the text that a model reads."""

    rows: Summary = Summary()
    text: str = ""

    def __str__(self) -> str:
        return self.text


class Outcome(Struct, frozen=True):
    """What a compression came to."""

    messages: list[dict[str, Json]]
    before: Usage
    after: Usage
    steps: tuple[Step, ...] = ()
    """What was done; their savings add up to `before` less `after`."""
    summary: "Account" = Account()
    """What left, in rows; as text, what stands in its place. Empty without tier 3."""
    losses: tuple[str, ...] = ()
    originals: dict[str, bytes] = {}
    """By reference: what left the window, and what a row of the summary names, whole."""
    plan: Plan | None = None
    checkpoint: str = ""
    """The checkpoint that was taken before a summary replaced what is old."""

    faults: tuple[Fault, ...] = ()
    """The rules that failed on this session so far and were left out."""

    def read(self, ref: str) -> str:
        """The text that a reference names: a whole one, or its beginning as rows show it.

        Raises:
            KeyError: nothing in the outcome names it, or more than one entry begins like it.
        """
        found = [name for name in self.originals if name.startswith(ref)] if ref else []
        name = found[0] if len(found) == 1 else ref
        return self.originals[name].decode("utf-8", "surrogatepass")


def outcome_of(ledger: "Ledger", seen: Window, candidate: Candidate) -> Outcome:
    """What a candidate for a window comes to, written or not; `seen` has its secrets."""
    steps = candidate.body.steps if candidate.body is not None else ()
    items = after_steps(seen.items, steps)
    hidden = {name for step in steps for name in step.hides}
    account = _account(candidate.body)
    named = set(NAMED.findall(account.text))
    originals = {
        ref_of(item.entry.id): _original(ledger, item)
        for item in seen.items
        if item.entry.id in hidden or item.entry.id[:8] in named
    }
    plan = candidate.plan
    return Outcome(
        messages=copied(ledger.sight.rendered(items)),
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
    """Steps with the sizes that the plan tells: they add up to what it takes out of the window."""
    pairs = zip(steps, plan.steps if steps else (), strict=True)
    return tuple(replace(step, before=told.before, after=told.after) for step, told in pairs)


def _original(ledger: "Ledger", item: Item) -> bytes:
    """What left, whole: its words, or the message it came in when it has pictures."""
    if not media_of(item.body):
        return text_of(item.body).encode("utf-8", "surrogatepass")
    first = item.entry.seq - item.entry.part
    return ledger.store.arrivals(ledger.name, {first})[first].raw


def _account(body: Compressed | None) -> Account:
    """The summary that a compression puts in sight."""
    if body is None or body.summary is None:
        return Account()
    shown = (step.stand_in for step in body.steps if step.kind == "summary")
    return Account(body.summary, "".join(text_of(one) for one in shown if one is not None))
