"""Models whose thinking is bound to everything before it: replaying it after an edit is a 400.

What does not count is what the provider ignores: `cache_control`, key order, a string or one text
block, outer white space of texts, the order of tools. Earlier thinking may leave from the front,
never from the middle, and never comes back.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from tests.provider.anthropic import THINKING, blocks_of, role_of
from tests.provider.rules import Fields, canonical, elements, fields, name


class Prefix(NamedTuple):
    """What stands before a thinking block, in one spelling, thinking apart from the rest."""

    said: tuple[str, ...]
    thought: tuple[str, ...]


class Bound:
    """One conversation, request after request."""

    def __init__(self) -> None:
        self._made: dict[str, Prefix] = {}
        self._asked = Prefix((), ())

    def feed(
        self, messages: Sequence[object], *, system: object = None, tools: object = None
    ) -> list[str]:
        """What the provider answers to a request: nothing, or why it is a 400.

        A block that was not `answered` before is bound to what it is first seen after.
        """
        found: list[str] = []
        start = _start(system, tools)
        for where, signature, prefix in _signed(messages, start):
            made = self._made.setdefault(signature, prefix)
            why = _differs(made, prefix, where)
            if why is None:
                self._made[signature] = prefix
            else:
                found.append(why)
        self._asked = _all(messages, start)
        return found

    def answered(self, message: object) -> None:
        """The model answered the last request with this: its thinking is bound to that request."""
        for _, signature, prefix in _signed([message], self._asked):
            self._made.setdefault(signature, prefix)


def _start(system: object, tools: object) -> Prefix:
    named = sorted(canonical(_plain(tool)) for tool in elements(tools))
    given = blocks_of({"content": system})
    return Prefix((canonical([_plain(block) for block in given]), canonical(named)), ())


def _all(messages: Sequence[object], start: Prefix) -> Prefix:
    """A whole request as what stands before the answer to it."""
    said, thought = list(start.said), list(start.thought)
    for message in messages:
        said += _said(message, blocks_of(message))
        thought += _thought(blocks_of(message))
    return Prefix(tuple(said), tuple(thought))


def _signed(messages: Sequence[object], start: Prefix) -> Iterator[tuple[str, str, Prefix]]:
    said, thought = list(start.said), list(start.thought)
    for at, message in enumerate(messages):
        blocks = blocks_of(message)
        for number, block in enumerate(blocks):
            signature = _signature(block)
            if signature:
                earlier = blocks[:number]
                yield (
                    f"messages.{at}.content.{number}",
                    signature,
                    Prefix((*said, *_said(message, earlier)), (*thought, *_thought(earlier))),
                )
        said += _said(message, blocks)
        thought += _thought(blocks)


def _signature(block: Fields) -> str:
    """What tells a thinking block from all others; nothing for other blocks."""
    signed = name(block.get("signature")) or name(block.get("data"))
    return signed if block.get("type") in THINKING else ""


def _said(message: object, blocks: list[Fields]) -> list[str]:
    """A message without its thinking; nothing when that was all it had."""
    rest = [_plain(block) for block in blocks if block.get("type") not in THINKING]
    return [canonical([role_of(message), rest])] if rest else []


def _thought(blocks: list[Fields]) -> list[str]:
    return [canonical(block) for block in blocks if block.get("type") in THINKING]


def _plain(block: Fields) -> Fields:
    """A block without what the provider ignores; the arguments of a call count as they are."""
    kept = {key: value for key, value in fields(block).items() if key != "cache_control"}
    if kept.get("type") == "text":
        kept["text"] = name(kept.get("text")).strip()
    if kept.get("type") == "tool_result" and "content" in kept:
        kept["content"] = [_plain(inner) for inner in blocks_of(kept)]
    return kept


def _differs(made: Prefix, now: Prefix, where: str) -> str | None:
    says = f"{where}: Invalid `signature` in `thinking` block. "
    for number, (old, new) in enumerate(zip_longest(made.said, now.said)):
        if old != new:
            return f"{says}It was made after {_short(old)} as part {number}, not {_short(new)}"
    left = len(made.thought) - len(now.thought)
    if left < 0 or made.thought[left:] != now.thought:
        return f"{says}Earlier thinking left from the middle, changed or came back"
    return None


def _short(part: str | None) -> str:
    return "nothing" if part is None else part if len(part) < 200 else f"{part[:199]}…"
