"""When the watch is armed: for some steps of the agent after a summary, until a new task comes."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    Restored,
    Source,
    is_ours,
    role_of,
)
from holdfast.core.ledger.window import Item
from holdfast.core.verify.drift.ground import is_task

DRIFT = "drift"
"""What the note of a drift is called."""


class Watched(Struct, frozen=True):
    """A step of the agent that is to be judged."""

    summary: Entry
    """The entry that armed the watch."""
    entries: tuple[Entry, ...]
    """What the agent said and called in it."""

    @property
    def id(self) -> EntryId:
        """The step by its first entry."""
        return self.entries[0].id

    @property
    def bodies(self) -> list[Source]:
        """What the agent said and called in it."""
        return [entry.body for entry in self.entries if not isinstance(entry.body, Derived)]


def arms(entry: Entry) -> bool:
    """Whether an entry puts a summary in the place of what came before."""
    body = entry.body
    if isinstance(body, Compressed):
        return body.summary is not None
    return isinstance(body, Compacted)


def since_summary(ledger: Sequence[Entry], steps: int) -> list[Watched]:
    """The agent's steps since the newest summary, oldest first; none when it is no longer armed.

    Only the end of the ledger is looked at: as many steps as the watch lasts.
    """
    found: list[list[Entry]] = []
    speaking = False
    for entry in reversed(ledger):
        if arms(entry):
            return [Watched(entry, tuple(reversed(step))) for step in reversed(found)]
        if isinstance(entry.body, Restored) or _asks(entry):
            return []
        if isinstance(entry.body, Derived):
            continue
        spoken = role_of(entry.body) == "assistant"
        if spoken and not speaking:
            found.append([])
            if len(found) > steps:
                return []
        if spoken:
            found[-1].append(entry)
        speaking = spoken
    return []


def watched(ledger: Sequence[Entry], steps: int) -> Iterator[Watched]:
    """Every step that the watch is armed for, over a whole ledger."""
    for at, entry in enumerate(ledger):
        if arms(entry):
            yield from _after(entry, ledger[at + 1 :], steps)


def _after(summary: Entry, later: Sequence[Entry], steps: int) -> Iterator[Watched]:
    step: list[Entry] = []
    for entry in later:
        if arms(entry) or isinstance(entry.body, Restored) or _asks(entry):
            break
        if isinstance(entry.body, Derived):
            continue
        if role_of(entry.body) == "assistant":
            step.append(entry)
        elif step:
            yield Watched(summary, tuple(step))
            step, steps = [], steps - 1
            if steps == 0:
                return
    if step:
        yield Watched(summary, tuple(step))


def pending(ledger: Sequence[Entry]) -> Entry | None:
    """The note of a drift that the agent was not told of, and has not answered, yet."""
    for entry in reversed(ledger):
        if isinstance(entry.body, Noted) and entry.body.what == DRIFT:
            return entry
        if isinstance(entry.body, Compacted | Restored) or is_ours(entry.body) or _asks(entry):
            return None
        if not isinstance(entry.body, Derived) and role_of(entry.body) == "assistant":
            return None
    return None


def _asks(entry: Entry) -> bool:
    return not isinstance(entry.body, Derived) and is_task(Item(entry))
