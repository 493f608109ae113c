"""The floor to beat: the lines of a history that hold most for their tokens, and nothing else.

No structure, no roles, no idea of what a tool is. A name is worth more the more often it stands in
the history and the later it stood there last; a line is worth its names that no line picked before
it has. It shares nothing with the product.
"""

import re
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from math import log2

_NAME = re.compile(r"[A-Za-z_~/.][\w~/.-]{2,119}|\d{3,30}")
_TELLING = re.compile(r"[a-z][A-Z]|[\w)][_./-]\w|\d")
"""What parts a name from a plain word: a hump, a joint or a digit."""


def greedy_lines(texts: Iterable[str], budget: int, count: Callable[[str], int]) -> str:
    """As many whole lines as a budget of tokens takes, in the order in which they stood."""
    lines = list(dict.fromkeys(line for text in texts for line in text.split("\n") if line.strip()))
    names = [frozenset(filter(_TELLING.search, _NAME.findall(line))) for line in lines]
    worth = _worth(names)
    costs = [count(line) + 1 for line in lines]
    # A line is worth less once another has its names, never more: so the best of the heap, looked
    # at again, is the best of all if it still is.
    heap = [(-sum(map(worth.__getitem__, names[at])) / costs[at], at) for at in range(len(lines))]
    heapify(heap)
    picked: list[int] = []
    left = budget
    while heap:
        promised, at = heappop(heap)
        now = -sum(map(worth.__getitem__, names[at])) / costs[at]
        if now >= 0 or costs[at] > left:
            continue
        if heap and now > heap[0][0] and now > promised:
            heappush(heap, (now, at))
            continue
        picked.append(at)
        left -= costs[at]
        worth.update(dict.fromkeys(names[at], 0.0))
    return _within(lines, picked, budget, count)


def _worth(names: list[frozenset[str]]) -> dict[str, float]:
    """What each name is worth: how often it stands, and how late it did."""
    often: dict[str, int] = {}
    last: dict[str, int] = {}
    for at, held in enumerate(names):
        for name in held:
            often[name] = often.get(name, 0) + 1
            last[name] = at
    return {name: log2(1 + often[name]) * (0.2 + last[name] / len(names)) for name in often}


def _within(lines: list[str], picked: list[int], budget: int, count: Callable[[str], int]) -> str:
    """The lines as one text; the last picked go, should they come to more together than alone."""
    text = "\n".join(lines[at] for at in sorted(picked))
    while picked and count(text) > budget:
        del picked[-max(1, len(picked) // 50) :]
        text = "\n".join(lines[at] for at in sorted(picked))
    return text
