"""Measure a ledger's window: how full it is, the size of every part, what compressions changed."""

from typing import TYPE_CHECKING

from holdfast.core.measure.usage import Usage, measure, measure_at_most, scale_tokens
from holdfast.engine.fault_log import notes_faults
from holdfast.engine.ledger import Ledger

if TYPE_CHECKING:
    from holdfast.core.ledger.entry import EntryId
    from holdfast.core.measure.sizes import SizedWindow
    from holdfast.core.view.log import Event


def usage_of(ledger: Ledger, *, quick: bool = False) -> Usage:
    """Return how full the window is; `quick` loads no tokenizer if the bytes decide the level."""
    head = ledger.raw_head()
    model, limit = ledger.model_of(head), ledger.limit_with_origin()
    lane = head.lane(ledger.agent)
    if quick and not head.stale:
        guessed = measure(lane, model, limit.tokens, limit.origin)
        if guessed.level == measure_at_most(lane, model, limit.tokens).level:
            return guessed
    return measure(ledger.head().lane(ledger.agent), model, limit.tokens, limit.origin)


def sized_window(ledger: Ledger) -> "SizedWindow":
    """Return the current window with the size of every part."""
    from holdfast.core.measure import sizes  # late: hooks measure nothing
    from holdfast.models.tokenizers import counter

    usage, head = usage_of(ledger), ledger.head()
    counts = ledger.store.counts(ledger.name, head.vocabulary)
    return sizes.size_window(ledger.window().items, usage, counts, counter(head.vocabulary))


def window_changes(ledger: Ledger) -> "dict[EntryId, tuple[int, int]]":
    """Return the window's tokens before and after each compression, undo and compaction."""
    from holdfast.core.ledger import replay  # late: only reports ask

    head, model = ledger.head(), ledger.model()
    counts = ledger.store.counts(ledger.name, head.vocabulary)
    windows = replay.lane_changes(ledger.store.read(ledger.name), counts, head)
    return {
        name: (measure(before, model, 0).tokens, measure(after, model, 0).tokens)
        for name, (before, after) in windows.items()
    }


def scaled_counts(ledger: Ledger) -> dict[int, int]:
    """Return the tokens of each entry by its number, scaled to the session's model."""
    head, model = ledger.head(), ledger.model()
    known = head.lane(ledger.agent).calibration
    counts = ledger.store.counts(ledger.name, head.vocabulary)
    return {number: scale_tokens(raw, model, known) for number, raw in counts.items()}


@notes_faults
def log_of(ledger: Ledger) -> "tuple[Event, ...]":
    """Return every compression, undo and postponement of this agent, oldest first."""
    from holdfast.core.view.log import events_of

    mine = [entry for entry in ledger.store.read(ledger.name) if entry.lane == ledger.agent]
    return events_of(mine, scaled_counts(ledger), window_changes(ledger))
