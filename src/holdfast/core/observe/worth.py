"""Names, ids and values in a text, and who used them since: what a block is worth.

A block that the agent keeps coming back to is worth its tokens; one whose every name has been
seen elsewhere since, or that nobody ever used, is not.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import exp, fsum, log, log1p

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, Said, Source, Thought, ToolCalled, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import Scene

_TOKEN = re.compile(r"(?:\.{1,2}/|\.)?[A-Za-z0-9_~@/][\w./@~-]{2,119}")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_TRAILING = "./-~@"

LONGEST_TEXT = 400_000
"""Characters looked at; a longer text is looked at from both ends."""
WORDS = 1 << 15
"""Words that are not judged twice: a session uses the same ones over and over."""


@rule(frozenset[str]())
def telling_names(text: str) -> frozenset[str]:
    """The paths, identifiers, ids and numbers of a text: what an agent would have to look up."""
    if len(text) > LONGEST_TEXT:
        half = LONGEST_TEXT // 2
        text = f"{text[:half]}\n{text[-half:]}"
    return frozenset(chain.from_iterable(map(_names_in, set(_TOKEN.findall(text)))))


@lru_cache(maxsize=WORDS)
def _names_in(word: str) -> tuple[str, ...]:
    """A word as a name, and the file that a path ends with; nothing if it tells nothing."""
    plain = word.rstrip(_TRAILING)
    if not _tells(plain):
        return ()
    return (plain, plain.rsplit("/", 1)[-1]) if "/" in plain else (plain,)


def _tells(word: str) -> bool:
    if len(word) < 3:
        return False
    if word.isdigit():
        return True
    if word.isalpha():
        return _HUMP.search(word) is not None
    return True


class Worth(Struct, frozen=True):
    """What is known of how much a block will be needed."""

    holds: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    """Of what it holds: what the agent itself wrote after it."""
    since: int = 0
    """Steps of the agent since one of them was last written; its age when none ever was."""
    age: int = 0
    """Steps of the agent since the block came."""


class Uses(Struct, frozen=True):
    """At which steps the agent wrote which names."""

    steps: Mapping[str, Sequence[int]]

    def after(self, name: str, step: int) -> int:
        """The last step after `step` at which a name was written; 0 when it never was."""
        known = self.steps.get(name)
        return known[-1] if known and known[-1] > step else 0


Telling = Mapping[EntryId, frozenset[str]]
"""What the entries hold, by their name."""


def uses_of(scene: Scene, held: Telling) -> Uses:
    """What the agent wrote, step by step."""
    steps: dict[str, list[int]] = {}
    for item, step in zip(scene.items, scene.steps, strict=True):
        if is_own(item.body):
            for name in held[item.entry.id]:
                steps.setdefault(name, []).append(step)
    return Uses(steps)


def is_own(body: Source) -> bool:
    """Whether the agent itself wrote this."""
    return isinstance(body, ToolCalled | Thought) or (
        isinstance(body, Said) and body.role == "assistant"
    )


def hold(items: Sequence[Item], known: Telling) -> dict[EntryId, frozenset[str]]:
    """What the items hold; what is known already is not looked at again."""
    return {
        item.entry.id: known[item.entry.id]
        if item.entry.id in known and item.stand_in is None
        else telling_names(text_of(item.body))
        for item in items
    }


@rule(Worth())
def worth_of(at: int, scene: Scene, held: Telling, uses: Uses) -> Worth:
    """What the block at a place is worth."""
    step, now = scene.steps[at], scene.step_count
    holds = held[scene.items[at].entry.id]
    last = {name: seen for name in holds if (seen := uses.after(name, step))}
    newest = max(last.values(), default=step)
    return Worth(holds, frozenset(last), since=now - newest, age=now - step)


# How likely a name will be needed again, from who used it, when, and what it is made of.
#
# The agent comes back to what it wrote itself, sooner or later; to what it has only seen it comes
# back when the words in the name are words that it uses. The numbers are log-odds, fitted to real
# sessions (`docs/performance.md`): which names of its past an agent wrote again.


_WORD = re.compile(r"[A-Za-z]{3,80}")
_PART = re.compile(r"[A-Z]{1,40}(?![a-z])|[A-Z]?[a-z]{1,40}")
MAX_LIKELY_CHARS = 200_000
"""Characters of an entry in which words are looked for."""

WRITTEN, WRITTEN_OFTEN, WRITTEN_SINCE = 2.2, 0.43, -0.22
SEEN, SEEN_ONCE, KIN = -0.75, -0.5, 1.9
SINCE, OFTEN = -0.43, 0.13


class Known(Struct, frozen=True):
    """What a window tells of a name."""

    entries: int = 0
    """In how many entries it stands."""
    written: int = 0
    """In how many of them it was the agent who wrote it."""
    seen_at: int = 0
    written_at: int = 0
    """The last step at which it was seen, and written."""


class Likely:
    """Says how likely each name will be needed again."""

    def __init__(self, scene: Scene, held: Telling) -> None:
        self._now = scene.step_count
        self._names = _names(scene, held)
        self._rare, self._own = _words(scene.items)
        self._found: dict[str, float] = {}

    def __call__(self, name: str) -> float:
        """A weight above 0; only how two of them compare means anything."""
        if name not in self._found:
            self._found[name] = self.weighed(name)
        return self._found[name]

    def weighed(self, name: str) -> float:
        """The weight of a name, reckoned anew."""
        known = self._names.get(name, Known(entries=1, seen_at=0))
        odds = kind_of_name(name) + OFTEN * log(max(known.entries, 1))
        odds += SINCE * log1p(self._now - known.seen_at)
        if known.written:
            odds += WRITTEN + WRITTEN_OFTEN * log1p(known.written)
            odds += WRITTEN_SINCE * log1p(self._now - known.written_at)
        else:
            odds += SEEN + KIN * self._kin(name) + (SEEN_ONCE if known.entries < 2 else 0.0)
        return exp(odds)

    def _kin(self, name: str) -> float:
        """Which share of a name's words are words that the agent uses, the rare ones first."""
        parts = parts_of(name.rsplit("/", 1)[-1])
        whole = fsum(self._rare.get(part, 0.0) for part in parts)
        own = fsum(self._rare.get(part, 0.0) for part in parts if part in self._own)
        return own / whole if whole else 0.0


def kind_of_name(name: str) -> float:
    """How much the look of a name alone says for it."""
    if "/" in name or "_" in name:
        return 0.7
    if name.isdigit():
        return -0.3 if len(name) < 5 else 0.7
    if "." in name:
        return 0.75
    if "-" in name:
        return -0.7
    return 0.65 if name.isalpha() else 0.1


@lru_cache(maxsize=WORDS)
def parts_of(name: str) -> frozenset[str]:
    """The words that a name is made of."""
    return frozenset(part.lower() for part in _PART.findall(name[:200]) if len(part) > 2)


def _names(scene: Scene, held: Telling) -> dict[str, Known]:
    entries, written = Counter[str](), Counter[str]()
    seen_at: dict[str, int] = {}
    written_at: dict[str, int] = {}
    for item, step in zip(scene.items, scene.steps, strict=True):
        names = held[item.entry.id]
        entries.update(names)
        seen_at.update(dict.fromkeys(names, step))
        if is_own(item.body):
            written.update(names)
            written_at.update(dict.fromkeys(names, step))
    return {
        name: Known(count, written[name], seen_at[name], written_at.get(name, 0))
        for name, count in entries.items()
    }


def _words(items: Sequence[Item]) -> tuple[Mapping[str, float], frozenset[str]]:
    """How rare each word is, and which the agent uses."""
    spread, own = Counter[str](), set[str]()
    for item in items:
        words = _words_of(text_of(item.body))
        spread.update(words)
        if is_own(item.body):
            own |= words
    count = len(items)
    return {word: log(count / seen) + 0.01 for word, seen in spread.items()}, frozenset(own)


def _words_of(text: str) -> frozenset[str]:
    return frozenset[str]().union(*map(parts_of, set(_WORD.findall(text[:MAX_LIKELY_CHARS]))))
