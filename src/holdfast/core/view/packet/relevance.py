"""Strategy 1, relevance: only what is about the task goes in.

How alike two texts are is the share of the telling words of the shorter one that the other has
too, in the same form or a like one. It is no cosine of vectors, so the bound is not the 0.7 of the
document: it was set where it parts a request and what the agent said to it from a request and what
was said in another project (`benchmarks/packets.py` prints both). Constraints, decisions of the
user and failures are never asked whether they are relevant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from holdfast.core.observe.common import COMMON
from holdfast.core.view.search.words import words_in

Like: TypeAlias = Callable[[str], Iterable[tuple[str, float]]]
"""Words that mean nearly the same as a word, and how nearly."""
Similar: TypeAlias = Callable[[str, str], float]
"""How alike two texts are, from 0 to 1."""
T = TypeVar("T")

BOUND = 0.1
STEM = 5
"""Letters by which two long words are forms of one."""
FORM = 0.9
MOST = 400
"""Words of a text that are compared."""


def none_like(word: str) -> Iterable[tuple[str, float]]:
    """No word is like another: only the same words count."""
    del word
    return ()


def similar_by(like: Like = none_like) -> Similar:
    """A measure of how alike texts are; what a text is made of is worked out once."""
    known: dict[str, Mapping[str, float]] = {}

    def reach(text: str) -> Mapping[str, float]:
        if text not in known:
            known[text] = _reach(telling_words(text), like)
        return known[text]

    def similar(one: str, other: str) -> float:
        return _alike(telling_words(one), reach(one), telling_words(other), reach(other))

    return similar


def telling_words(text: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, each once."""
    found = dict.fromkeys(word for word in words_in(text[:20_000]) if _tells(word))
    return tuple(found)[:MOST]


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in COMMON and not word.isdigit()


def _reach(words: Iterable[str], like: Like) -> dict[str, float]:
    """Every word that a text has or comes near to, and how near."""
    near: dict[str, float] = {}
    for word in words:
        near[word] = 1.0
        if len(word) > STEM:
            near.setdefault(word[:STEM], FORM)
        for other, degree in like(word):
            near[other] = max(near.get(other, 0.0), degree * degree)
    return near


def _alike(
    one: Sequence[str], reach: Mapping[str, float], other: Sequence[str], far: Mapping[str, float]
) -> float:
    if not one or not other:
        return 0.0
    few, wide = (one, far) if len(one) <= len(other) else (other, reach)
    return sum(_met(word, wide) for word in few) / (len(few) + 1)


def _met(word: str, reach: Mapping[str, float]) -> float:
    exact = reach.get(word, 0.0)
    return max(exact, reach.get(word[:STEM], 0.0)) if len(word) > STEM else exact


def relevant(
    items: Iterable[T],
    task: str,
    text: Callable[[T], str],
    similar: Similar,
    *,
    bound: float = BOUND,
    pinned: Callable[[T], bool] = lambda _: False,
) -> list[T]:
    """The items that are about the task, in their order; what is pinned is kept unasked."""
    return [one for one in items if pinned(one) or similar(text(one), task) >= bound]
