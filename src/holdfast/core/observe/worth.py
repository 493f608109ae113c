"""Names, ids and values in a text, and who used them since: what a block is worth.

A block that the agent keeps coming back to is worth its tokens; one whose every name has been
seen elsewhere since, or that nobody ever used, is not.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, Said, Source, Thought, ToolCalled, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.observe.calls import Scene

_TOKEN = re.compile(r"(?:\.{1,2}/|\.)?[A-Za-z0-9_~@/][\w./@~-]{2,119}")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_TRAILING = "./-~@"

LONGEST_TEXT = 400_000
"""Characters looked at; a longer text is looked at from both ends."""
WORDS = 1 << 15
"""Words that are not judged twice: a session uses the same ones over and over."""


@rule(frozenset[str]())
def telling(text: str) -> frozenset[str]:
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
        else telling(text_of(item.body))
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
