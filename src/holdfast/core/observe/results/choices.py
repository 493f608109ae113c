"""Link each decision with the older one that it overrules, by shared words or question."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule, rule_keeping
from holdfast.core.ledger.summary import Decision, Who
from holdfast.core.observe.scene import Scene
from holdfast.text.clip import clip_words
from holdfast.text.patterns import Pattern
from holdfast.text.words import TERM, TERM_EDGES, content_words, lower_words

MAX_CHOICE_CHARS = 200
"""Maximum characters of a choice, and of a reason."""
_CHANGES_MIND = Pattern(
    r"(?i)\b(?:switch(?:ed|ing)? (?:to|from|back)|on second thought|change of plan"
    r"|changed (?:my|our) mind|scrap|abandon|no longer|drop|revert)\b"
    # "I want it actually tested" takes nothing back.
    r"|^(?:(?:no|wait|hmm|ok|oh|well|sorry)[,.]? ){0,2}actually\b"
)
_AFTER = Pattern(r"(?i)\b(?:instead of|rather than|switch(?:ed|ing)? from|abandon|scrap|drop)\b")
_SWITCHED = Pattern(r"(?i)\bswitch (?:the|our|all) ((?:[\w-]{1,30} ){1,6})to\b")
"""What is done in another way from now on: what was decided on that is over."""
REJECTED_BY_USER = Pattern(
    r"(?i), not (?!only|just|yet|even|because|to\b|that\b|sure|now)([^,;:—–(.]{2,60})"
)
"""What the user rejects beside a choice: `use this, not that`."""
_STOP_WORDS = """
the and for with that this then than from into not but are was were will use used using let lets
instead rather because since our your their its have has had all any one two new old should would
could make made keep just also now only what when which who how why there here them they you can
may does did done per via over under out off approach option going decided chose choose switch
switched switching prefer please add added change changed of to in on we it is be as at by or an no
so if do go my me us actually back ll ve re mind longer abandon scrap drop revert second thought ok
yes
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words of a choice that do not say what it is about."""
_MOST_TERMS = 24


class StatedChoice(Struct, frozen=True):
    """A choice as read from a text, before it is linked with others."""

    at: int
    choice: str
    reason: str = ""
    by: Who = "agent"
    about: str = ""
    """The question that it answers, if any."""


def clip_choice(text: str) -> str:
    """Cut a text at a word to `MAX_CHOICE_CHARS`."""
    return clip_words(text, MAX_CHOICE_CHARS)


@row_rule
def link_decisions(scene: Scene, found: list[StatedChoice]) -> Iterator[Decision]:
    """Yield the decisions, each with the newest older stated that it overrules."""
    last_with: dict[str, int] = {}
    of_question: dict[str, int] = {}
    terms: list[frozenset[str]] = []
    for number, stated in enumerate(found):
        old = (
            of_question.get(stated.about)
            if stated.about
            else _index_overruled(stated, last_with, terms)
        )
        entry = scene.items[stated.at].entry.id
        made = Decision(stated.choice, entry, stated.reason, stated.by)
        yield made if old is None else replace(made, overrules=scene.items[found[old].at].entry.id)
        turned = _AFTER.search(stated.choice)
        held = terms_of(
            stated.choice[: turned.start()] if turned and turned.start() else stated.choice
        )
        terms.append(held)
        last_with.update(dict.fromkeys(held, number))
        if stated.about:
            of_question[stated.about] = number


class RejectedSubject(Struct, frozen=True):
    """What a choice rejects."""

    against: frozenset[str] = frozenset()
    named: bool = False
    """Whether the rejected thing is named; else the choice only says that something changed."""
    whole: bool = False
    """Whether the older decision must share all of the terms."""


@rule(RejectedSubject())
def rejected_subject(choice: str) -> RejectedSubject:
    """Return the terms of what a choice rejects; usually none."""
    turned = _AFTER.search(choice)
    if turned:
        return RejectedSubject(terms_of(choice[turned.end() :]), named=True)
    switched = _SWITCHED.search(choice)
    if switched:
        return RejectedSubject(terms_of(switched[1]), named=True, whole=True)
    return RejectedSubject(terms_of(choice)) if _CHANGES_MIND.search(choice) else RejectedSubject()


def _against(choice: str, by: Who) -> RejectedSubject:
    """What a choice turns from: the user also says `use this, not that`."""
    turned = rejected_subject(choice)
    denied = REJECTED_BY_USER.search(choice) if by == "user" and not turned.named else None
    return RejectedSubject(terms_of(denied[1]), named=True) if denied else turned


def _index_overruled(
    stated: StatedChoice, last_with: Mapping[str, int], terms: list[frozenset[str]]
) -> int | None:
    turned = _against(stated.choice, stated.by)
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


def overruled_decisions(decisions: Sequence[Decision]) -> dict[int, int]:
    """Return, by index of each overruled decision, the index of the one that overrules it.

    A decision names the entry of the one that it overrules. If that entry has several decisions,
    the overruled one answers the same question or shares terms with what is rejected; if none does,
    all of them are overruled.
    """
    of_entry: dict[str, list[int]] = {}
    for number, decision in enumerate(decisions):
        of_entry.setdefault(decision.entry, []).append(number)
    gone: dict[int, int] = {}
    for number, decision in enumerate(decisions):
        if decision.overrules and decision.overrules != decision.entry:
            older = of_entry.get(decision.overrules, [])
            gone |= dict.fromkeys(_meant(decision, decisions, older), number)
    return gone


@rule_keeping(0)
def not_overruled(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """Return the decisions that no other one overrules."""
    gone = overruled_decisions(decisions)
    return tuple(decision for number, decision in enumerate(decisions) if number not in gone)


def _meant(decision: Decision, decisions: Sequence[Decision], older: list[int]) -> list[int]:
    if len(older) < 2:
        return older
    question, asked, _ = decision.choice.partition("? ")
    same = [at for at in older if asked and decisions[at].choice.startswith(f"{question}? ")]
    against = _against(decision.choice, decision.by).against
    return same or [at for at in older if terms_of(decisions[at].choice) & against] or older


def terms_of(text: str) -> frozenset[str]:
    """Return the content words of a text."""
    words = lower_words(text, TERM, edges=TERM_EDGES)
    return frozenset(content_words(words, STOP_WORDS, min_chars=2)[:_MOST_TERMS])
