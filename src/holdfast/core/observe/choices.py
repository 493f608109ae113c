"""Choices as they are read, and which older one each takes the place of."""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.summary import Decision, Who
from holdfast.core.observe.calls import Scene

LONGEST = 200
"""Characters of a choice, and of a reason."""
_CHANGES_MIND = re.compile(
    r"(?i)\b(?:switch(?:ed|ing)? (?:to|from|back)|actually|on second thought|change of plan"
    r"|changed (?:my|our) mind|scrap|abandon|no longer|drop|revert)\b"
)
_AFTER = re.compile(r"(?i)\b(?:instead of|rather than|switch(?:ed|ing)? from|abandon|scrap|drop)\b")
_SWITCHED = re.compile(r"(?i)\bswitch (?:the|our|all) ((?:[\w-]{1,30} ){1,6})to\b")
"""What is done in another way from now on: what was decided on that is over."""
_TERM = re.compile(r"[A-Za-z0-9_][\w./-]{1,40}")
_STOP = re.compile(
    r"the|and|for|with|that|this|then|than|from|into|not|but|are|was|were|will|use|used"
    r"|using|let|lets|instead|rather|because|since|our|your|their|its|have|has|had|all|any"
    r"|one|two|new|old|should|would|could|make|made|keep|just|also|now|only|what|when"
    r"|which|who|how|why|there|here|them|they|you|can|may|does|did|done|per|via|over|under"
    r"|out|off|approach|option|going|decided|chose|choose|switch|switched|switching|prefer"
    r"|please|add|added|change|changed|of|to|in|on|we|it|is|be|as|at|by|or|an|no|so|if|do"
    r"|go|my|me|us"
    r"|actually|back|ll|ve|re|mind|longer|abandon|scrap|drop|revert|second|thought|ok|yes"
)
_MOST_TERMS = 24


class Choice(Struct, frozen=True):
    """A choice as it was read, before it is set beside the others."""

    at: int
    choice: str
    reason: str = ""
    by: Who = "agent"
    about: str = ""
    """The question it answers, when it answers one."""


def cut(text: str) -> str:
    """A text within the limit, ended at a word."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST + 1].rpartition(" ")[0] or text[:LONGEST]


def linked(scene: Scene, found: list[Choice]) -> Iterator[Decision]:
    """The decisions, each with the newest one before it that it takes the place of."""
    last_with: dict[str, int] = {}
    of_question: dict[str, int] = {}
    terms: list[frozenset[str]] = []
    for number, one in enumerate(found):
        old = of_question.get(one.about) if one.about else _overruled(one, last_with, terms)
        entry = scene.items[one.at].entry.id
        made = Decision(one.choice, entry, one.reason, one.by)
        yield made if old is None else replace(made, overrules=scene.items[found[old].at].entry.id)
        turned = _AFTER.search(one.choice)
        held = terms_of(one.choice[: turned.start()] if turned and turned.start() else one.choice)
        terms.append(held)
        last_with.update(dict.fromkeys(held, number))
        if one.about:
            of_question[one.about] = number


class Turned(Struct, frozen=True):
    """What a choice turns from."""

    against: frozenset[str] = frozenset()
    named: bool = False
    """Whether it says what; else it only says that something is over."""
    whole: bool = False
    """Whether all of that has to be what the other was about."""


def turned_from(choice: str) -> Turned:
    """What a choice turns from, in the terms that say what that is about; mostly nothing."""
    turned = _AFTER.search(choice)
    if turned:
        return Turned(terms_of(choice[turned.end() :]), named=True)
    switched = _SWITCHED.search(choice)
    if switched:
        return Turned(terms_of(switched[1]), named=True, whole=True)
    return Turned(terms_of(choice)) if _CHANGES_MIND.search(choice) else Turned()


def _overruled(
    one: Choice, last_with: Mapping[str, int], terms: list[frozenset[str]]
) -> int | None:
    turned = turned_from(one.choice)
    against = turned.against
    if not against:
        return None
    candidates = {last_with[term] for term in against if term in last_with}
    needed = max(1, min(2, (len(against) + 1) // 2)) if turned.named else 1
    needed = len(against) if turned.whole else needed
    # To come back to the same thing overrules nothing.
    shared = [
        number
        for number in candidates
        if len(terms[number] & against) >= needed and (turned.named or against - terms[number])
    ]
    return max(shared, default=None)


def terms_of(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    words = (found[0].lower().strip("./-") for found in _TERM.finditer(text))
    told = dict.fromkeys(word for word in words if len(word) > 1 and not _STOP.fullmatch(word))
    return frozenset(list(told)[:_MOST_TERMS])
