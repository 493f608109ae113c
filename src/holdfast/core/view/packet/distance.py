"""Strategy 2, hierarchy: the farther something lies back, the less is said of it.

Recent decisions are told in full, older ones in a line, ancient ones by a word in what is not
included. What the user decided is never less than a line.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.packet import Choice
from holdfast.core.view.packet.relevance import telling_words

RECENT, OLDER = 40, 200
"""Steps of the agent since a decision: told in full up to the first, in a line up to the second."""
LINE = 110
"""Characters of a decision in a line."""
USER = "user"


class Told(Struct, frozen=True):
    """What is said of decisions, and of those of which nothing more is said than a word."""

    shown: tuple[Choice, ...] = ()
    tags: tuple[str, ...] = ()
    """A word for each that was left out."""


def by_distance(
    decisions: Iterable[Choice],
    age: Callable[[Choice], int],
    *,
    recent: int = RECENT,
    older: int = OLDER,
) -> Told:
    """Each decision as fully as its distance allows, in their order."""
    shown: list[Choice] = []
    tags: list[str] = []
    for one in decisions:
        steps = age(one)
        if steps <= recent:
            shown.append(one)
        elif steps <= older or one.made_by == USER:
            shown.append(in_brief(one))
        else:
            tags.append(tag_of(one.choice))
    return Told(tuple(shown), tuple(dict.fromkeys(tag for tag in tags if tag)))


def in_brief(one: Choice) -> Choice:
    """A decision in a line, without its reason."""
    words = " ".join(one.choice.split())
    if len(words) > LINE:
        words = f"{words[:LINE].rpartition(' ')[0] or words[:LINE]}…"
    return replace(one, choice=words, reason="", superseded="")


def tag_of(text: str) -> str:
    """The one word that says most of what a text is about: its longest."""
    return max(telling_words(text), key=len, default="")


def ages(steps: Mapping[str, int], now: int) -> Callable[[Choice], int]:
    """How many steps ago a decision was made, by the entries it names; 0 when nobody knows."""
    return lambda one: min((now - steps[ref] for ref in one.refs if ref in steps), default=0)
