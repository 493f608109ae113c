"""Find the agent's steps that the drift watch judges: a few after a summary, until a new task."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Compacted,
    Derived,
    Entry,
    EntryId,
    Restored,
    Source,
    is_ours,
    role_of,
)
from holdfast.core.ledger.notes import Drifted, note_of
from holdfast.core.ledger.snapshot import hides_by_summary
from holdfast.core.ledger.window import Item
from holdfast.core.verify.drift.evidence import is_task


class WatchedStep(Struct, frozen=True):
    """A step of the agent that the watch judges."""

    summary: Entry
    """The entry that armed the watch."""
    entries: tuple[Entry, ...]
    """The entries with the agent's words and calls in this step."""

    @property
    def id(self) -> EntryId:
        """The id of the step's first entry."""
        return self.entries[0].id

    @property
    def bodies(self) -> list[Source]:
        """The agent's words and calls in this step."""
        return [entry.body for entry in self.entries if not isinstance(entry.body, Derived)]


def steps_since_summary(ledger: Sequence[Entry], steps: int) -> list[WatchedStep]:
    """Return the agent's steps since the newest summary, oldest first.

    Return none if the watch is not armed any more. Only the end of the ledger is read, at most
    `steps` steps.
    """
    groups: list[list[Entry]] = []
    in_step = False
    for entry in reversed(ledger):
        if hides_by_summary(entry):
            return [WatchedStep(entry, tuple(reversed(step))) for step in reversed(groups)]
        if isinstance(entry.body, Restored) or _is_task(entry):
            return []
        if isinstance(entry.body, Derived):
            continue
        is_agent = role_of(entry.body) == "assistant"
        if is_agent and not in_step:
            groups.append([])
            if len(groups) > steps:
                return []
        if is_agent:
            groups[-1].append(entry)
        in_step = is_agent
    return []


def watched_steps(ledger: Sequence[Entry], steps: int) -> Iterator[WatchedStep]:
    """Yield every step of a whole ledger for which the watch is armed."""
    for at, entry in enumerate(ledger):
        if hides_by_summary(entry):
            yield from _steps_after(entry, ledger[at + 1 :], steps)


def _steps_after(summary: Entry, later: Sequence[Entry], steps: int) -> Iterator[WatchedStep]:
    step: list[Entry] = []
    for entry in later:
        if hides_by_summary(entry) or isinstance(entry.body, Restored) or _is_task(entry):
            break
        if isinstance(entry.body, Derived):
            continue
        if role_of(entry.body) == "assistant":
            step.append(entry)
        elif step:
            yield WatchedStep(summary, tuple(step))
            step, steps = [], steps - 1
            if steps == 0:
                return
    if step:
        yield WatchedStep(summary, tuple(step))


def pending_drift(ledger: Sequence[Entry]) -> Drifted | None:
    """Return the note of a drift that the agent was not yet informed of, or None."""
    for entry in reversed(ledger):
        note = note_of(entry.body)
        if isinstance(note, Drifted):
            return note
        if isinstance(entry.body, Compacted | Restored) or is_ours(entry.body) or _is_task(entry):
            return None
        if not isinstance(entry.body, Derived) and role_of(entry.body) == "assistant":
            return None
    return None


def _is_task(entry: Entry) -> bool:
    return not isinstance(entry.body, Derived) and is_task(Item(entry))
