"""Estimate how much a block of the window will be needed, from the names that it contains.

A block is worth its tokens if the agent keeps using its names. It is not if all of its names
occurred elsewhere since, or were never used.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, fsum, log, log1p

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, Said, Source, Thought, ToolCalled, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import Scene
from holdfast.text.names import names_in
from holdfast.text.words import name_parts, name_parts_in

MAX_TEXT_CHARS = 400_000
"""Characters of a text that are searched for names; of a longer one both ends are."""


@rule(frozenset[str]())
def find_names(text: str) -> frozenset[str]:
    """Return the paths, identifiers, ids and numbers that a text contains."""
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


# How likely a name will be needed again: from who used it, when, and its form.
#
# An agent returns to names that it wrote itself. It returns to names that it only saw if it uses
# the words in them. The numbers are log-odds, fitted to the names that agents wrote again in real
# sessions (`docs/performance.md`).


MAX_WORD_SEARCH_CHARS = 200_000
"""Characters of an entry that are searched for words."""

WRITTEN_ODDS, WRITTEN_COUNT_ODDS, WRITTEN_AGE_ODDS = 2.2, 0.43, -0.22
SEEN_ODDS, SEEN_ONCE_ODDS, SHARED_WORDS_ODDS = -0.75, -0.5, 1.9
SEEN_AGE_ODDS, ENTRY_COUNT_ODDS = -0.43, 0.13


class NameStats(Struct, frozen=True):
    """How often and when a name occurs in a window."""

    entries: int = 0
    """Number of entries that contain it."""
    written: int = 0
    """Number of those entries that the agent wrote."""
    seen_at: int = 0
    written_at: int = 0
    """The last steps at which it was seen and written."""


class NeedEstimator:
    """Weighs how likely each name will be needed again."""

    def __init__(self, scene: Scene, held: NamesByEntry) -> None:
        self._now = scene.step_count
        self._names = _names(scene, held)
        self._rare, self._own = _words(scene.items)
        self._found: dict[str, float] = {}

    def __call__(self, name: str) -> float:
        """Return a weight above 0; only comparisons between weights are meaningful."""
        if name not in self._found:
            self._found[name] = self.weight_of(name)
        return self._found[name]

    def weight_of(self, name: str) -> float:
        """Compute the weight of a name without the cache."""
        known = self._names.get(name, NameStats(entries=1, seen_at=0))
        odds = shape_odds(name) + ENTRY_COUNT_ODDS * log(max(known.entries, 1))
        odds += SEEN_AGE_ODDS * log1p(self._now - known.seen_at)
        if known.written:
            odds += WRITTEN_ODDS + WRITTEN_COUNT_ODDS * log1p(known.written)
            odds += WRITTEN_AGE_ODDS * log1p(self._now - known.written_at)
        else:
            odds += (
                SEEN_ODDS
                + SHARED_WORDS_ODDS * self._kin(name)
                + (SEEN_ONCE_ODDS if known.entries < 2 else 0.0)
            )
        return exp(odds)

    def _kin(self, name: str) -> float:
        """Which share of a name's words are words that the agent uses, the rare ones first."""
        parts = name_parts(name.rsplit("/", 1)[-1])
        whole = fsum(self._rare.get(part, 0.0) for part in parts)
        own = fsum(self._rare.get(part, 0.0) for part in parts if part in self._own)
        return own / whole if whole else 0.0


def shape_odds(name: str) -> float:
    """Return the log-odds that follow from the form of a name alone."""
    if "/" in name or "_" in name:
        return 0.7
    if name.isdigit():
        return -0.3 if len(name) < 5 else 0.7
    if "." in name:
        return 0.75
    if "-" in name:
        return -0.7
    return 0.65 if name.isalpha() else 0.1


def _names(scene: Scene, held: NamesByEntry) -> dict[str, NameStats]:
    entries, written = Counter[str](), Counter[str]()
    seen_at: dict[str, int] = {}
    written_at: dict[str, int] = {}
    for item, step in zip(scene.items, scene.steps, strict=True):
        names = held[item.entry.id]
        entries.update(names)
        seen_at.update(dict.fromkeys(names, step))
        if is_by_agent(item.body):
            written.update(names)
            written_at.update(dict.fromkeys(names, step))
    return {
        name: NameStats(count, written[name], seen_at[name], written_at.get(name, 0))
        for name, count in entries.items()
    }


def _words(items: Sequence[Item]) -> tuple[Mapping[str, float], frozenset[str]]:
    """How rare each word is, and which the agent uses."""
    spread, own = Counter[str](), set[str]()
    for item in items:
        words = name_parts_in(text_of(item.body)[:MAX_WORD_SEARCH_CHARS])
        spread.update(words)
        if is_by_agent(item.body):
            own |= words
    count = len(items)
    return {word: log(count / seen) + 0.01 for word, seen in spread.items()}, frozenset(own)
