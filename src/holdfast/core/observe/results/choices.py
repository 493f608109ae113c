"""Choices as they are read, and which older one each takes the place of."""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule, rule_keeping
from holdfast.core.ledger.summary import Decision, Who
from holdfast.core.observe.scene import Scene

LONGEST = 200
"""Characters of a choice, and of a reason."""
_CHANGES_MIND = re.compile(
    r"(?i)\b(?:switch(?:ed|ing)? (?:to|from|back)|on second thought|change of plan"
    r"|changed (?:my|our) mind|scrap|abandon|no longer|drop|revert)\b"
    # "I want it actually tested" takes nothing back.
    r"|^(?:(?:no|wait|hmm|ok|oh|well|sorry)[,.]? ){0,2}actually\b"
)
_AFTER = re.compile(r"(?i)\b(?:instead of|rather than|switch(?:ed|ing)? from|abandon|scrap|drop)\b")
_SWITCHED = re.compile(r"(?i)\bswitch (?:the|our|all) ((?:[\w-]{1,30} ){1,6})to\b")
"""What is done in another way from now on: what was decided on that is over."""
NOT_THAT = re.compile(
    r"(?i), not (?!only|just|yet|even|because|to\b|that\b|sure|now)([^,;:—–(.]{2,60})"
)
"""What the user turns down beside what is wanted: `use this, not that`."""
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


@row_rule
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


@rule(Turned())
def turned_from(choice: str) -> Turned:
    """What a choice turns from, in the terms that say what that is about; mostly nothing."""
    turned = _AFTER.search(choice)
    if turned:
        return Turned(terms_of(choice[turned.end() :]), named=True)
    switched = _SWITCHED.search(choice)
    if switched:
        return Turned(terms_of(switched[1]), named=True, whole=True)
    return Turned(terms_of(choice)) if _CHANGES_MIND.search(choice) else Turned()


def _against(choice: str, by: Who) -> Turned:
    """What a choice turns from: the user also says `use this, not that`."""
    turned = turned_from(choice)
    denied = NOT_THAT.search(choice) if by == "user" and not turned.named else None
    return Turned(terms_of(denied[1]), named=True) if denied else turned


def _overruled(
    one: Choice, last_with: Mapping[str, int], terms: list[frozenset[str]]
) -> int | None:
    turned = _against(one.choice, one.by)
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


def overruled(decisions: Sequence[Decision]) -> dict[int, int]:
    """Which decisions are over, by their place, and the one that takes the place of each.

    A decision names the entry of the one that it overrules. Where several were made in that entry,
    the one that is meant answers the same question, or is about what is turned from; if none is,
    all of them are.
    """
    of_entry: dict[str, list[int]] = {}
    for number, one in enumerate(decisions):
        of_entry.setdefault(one.entry, []).append(number)
    gone: dict[int, int] = {}
    for number, one in enumerate(decisions):
        if one.overrules and one.overrules != one.entry:
            older = of_entry.get(one.overrules, [])
            gone |= dict.fromkeys(_meant(one, decisions, older), number)
    return gone


@rule_keeping(0)
def still_held(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """The decisions that no other one overrules."""
    gone = overruled(decisions)
    return tuple(one for number, one in enumerate(decisions) if number not in gone)


def _meant(one: Decision, decisions: Sequence[Decision], older: list[int]) -> list[int]:
    if len(older) < 2:
        return older
    question, asked, _ = one.choice.partition("? ")
    same = [at for at in older if asked and decisions[at].choice.startswith(f"{question}? ")]
    against = _against(one.choice, one.by).against
    return same or [at for at in older if terms_of(decisions[at].choice) & against] or older


def terms_of(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    words = (found[0].lower().strip("./-") for found in _TERM.finditer(text))
    told = dict.fromkeys(word for word in words if len(word) > 1 and not _STOP.fullmatch(word))
    return frozenset(list(told)[:_MOST_TERMS])
