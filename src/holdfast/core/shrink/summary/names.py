"""Choose names that no chosen moment has: later work may need one of them.

A name takes few tokens. Those that were read last come first, and those that came back.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from math import log

from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.moments.contents import HAS_NAMES, NEXT_NAME, names_in
from holdfast.core.observe.moments.moment import Moment
from holdfast.text.patterns import Pattern

BETWEEN_NAMES, LABEL_TOKENS = 1, 6
"""Tokens after a name, and of a line besides its names."""
OTHER_NAMES = "the session"
# The number of a line: `a.py:104: x`; but not `10:30` and `localhost:8443`.
_LINE_NUMBER = Pattern(r"(\.[A-Za-z]{1,5}):\d{1,7}\b")


class NameIndex:
    """The names in moments, those that later work may need most first."""

    def __init__(self, moments: Sequence[Moment]) -> None:
        self.moments = moments
        times: Counter[str] = Counter()
        self.last: dict[str, int] = {}
        """The place of the newest moment that has a name."""
        for at, moment in enumerate(moments):
            names = names_in(_LINE_NUMBER.sub(r"\1", moment.text))
            times.update(frozenset(names))
            self.last.update(dict.fromkeys(names, at))
        worth = {
            name: -log(1 + times[name]) * (at + 1)
            for name, at in self.last.items()
            # A number that did not come back says nothing without its line.
            if times[name] > 1 or not name.isdecimal()
        }
        self.ranked = sorted(worth, key=lambda name: (worth[name], name))


def choose_names(
    index: NameIndex, room: int, *, seen: Container[str], count: CountTokens
) -> tuple[Moment, ...]:
    """Return as many names as fit, each line with the newest text that has them."""
    moments, last = index.moments, index.last
    taken: dict[str, list[str]] = {}
    newest: dict[str, int] = {}
    for name in index.ranked:
        if room <= BETWEEN_NAMES:
            break
        if name in seen:
            continue
        label = _label_of(moments[last[name]])
        cost = count(name) + BETWEEN_NAMES + (0 if label in taken else LABEL_TOKENS)
        if cost <= room:
            room -= cost
            taken.setdefault(label, []).append(name)
            newest[label] = max(newest.get(label, 0), last[name])
    return tuple(
        _with_names(label, moments[newest[label]], taken[label])
        for label in sorted(taken, key=newest.__getitem__)
    )


def _label_of(moment: Moment) -> str:
    return moment.text.partition(HAS_NAMES)[0] if moment.kind == "named" else OTHER_NAMES


def _with_names(label: str, moment: Moment, names: Iterable[str]) -> Moment:
    text = f"{label}{HAS_NAMES}{NEXT_NAME.join(sorted(names))}"
    return Moment("content", text, moment.entry, turn=moment.turn)
