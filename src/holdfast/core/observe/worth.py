"""Estimate how much a block of the window will be needed, from the names that it contains.

A block is worth its tokens if the agent keeps using its names. It is not if all of its names
occurred elsewhere since, or were never used.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, Said, Source, Thought, ToolCalled, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import Scene
from holdfast.text.names import names_in

MAX_TEXT_CHARS = 400_000
"""Characters of a text that are searched for names; of a longer one both ends are."""


MAX_CACHED_CHARS, MAX_CACHED_TEXTS = 20_000, 256
"""Texts up to this length are cached: planning and the drift watch ask for the same ones."""


@rule(frozenset[str]())
def find_names(text: str) -> frozenset[str]:
    """Return the paths, identifiers, ids and numbers that a text contains."""
    return _cached_names(text) if len(text) <= MAX_CACHED_CHARS else _read_names(text)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _cached_names(text: str) -> frozenset[str]:
    return _read_names(text)


def _read_names(text: str) -> frozenset[str]:
    if len(text) > MAX_TEXT_CHARS:
        half = MAX_TEXT_CHARS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    return frozenset(names_in(text))


class Worth(Struct, frozen=True):
    """How much a block of the window will probably be needed."""

    holds: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    """Those of its names that the agent wrote afterwards."""
    since: int = 0
    """Agent steps since one of them was last written; the age if none was."""
    age: int = 0
    """Agent steps since the block was added."""


class NameUses(Struct, frozen=True):
    """The steps at which the agent wrote each name."""

    steps: Mapping[str, Sequence[int]]

    def last_use_after(self, name: str, step: int) -> int:
        """Return the last step after `step` at which a name was written; 0 if there is none."""
        known = self.steps.get(name)
        return known[-1] if known and known[-1] > step else 0


NamesByEntry = Mapping[EntryId, frozenset[str]]
"""The names that each entry contains, by entry id."""


def name_uses_of(scene: Scene, held: NamesByEntry) -> NameUses:
    """Return the steps at which the agent wrote each name."""
    steps: dict[str, list[int]] = {}
    for item, step in zip(scene.items, scene.steps, strict=True):
        if is_by_agent(item.body):
            for name in held[item.entry.id]:
                steps.setdefault(name, []).append(step)
    return NameUses(steps)


def is_by_agent(body: Source) -> bool:
    """Return whether the agent wrote this body."""
    return isinstance(body, ToolCalled | Thought) or (
        isinstance(body, Said) and body.role == "assistant"
    )


def names_by_entry(items: Sequence[Item], known: NamesByEntry) -> dict[EntryId, frozenset[str]]:
    """Return the names in each item; those in `known` are reused."""
    return {
        item.entry.id: known[item.entry.id]
        if item.entry.id in known and item.stand_in is None
        else find_names(text_of(item.body))
        for item in items
    }


@rule(Worth())
def worth_of(at: int, scene: Scene, held: NamesByEntry, uses: NameUses) -> Worth:
    """Return the worth of the item at an index."""
    step, now = scene.steps[at], scene.step_count
    holds = held[scene.items[at].entry.id]
    last = {name: seen for name in holds if (seen := uses.last_use_after(name, step))}
    newest = max(last.values(), default=step)
    return Worth(holds, frozenset(last), since=now - newest, age=now - step)
