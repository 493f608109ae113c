"""Findings: what the agent said it had found out, and how it ended its turns, in its own words.

Rows of files and errors tell what happened; why it did, and what it came to, only the agent says.
Only sentences that claim something count: no announcement, no question, no offer, no heading.
"""

import re
from collections.abc import Container

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, Said, ToolCalled
from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import (
    SPOKEN_AS,
    Sentence,
    is_announced,
    is_question,
    own_words,
    plain,
    sentences,
)

_SHORTEST, _LONGEST = 30, 300
_ITEMS = 4
"""Items of a report that has hardly any prose."""
_FIRST, _LAST = 2, 1
"""Sentences of a turn's last words that tell what it came to: those at its beginning and end."""
_FOUND = re.compile(
    r"\b(?:(?:issue|problem|bug|cause|culprit|reason|failure|error|mistake)s?"
    r" (?:is|was|are|were|comes? from|stems? from|lies?|happens?|occurs?)\b"
    r"|root cause\b|turns? out\b|turned out\b|caused by\b|fails? because\b|failed because\b"
    r"|i (?:have |now |just ){0,2}(?:found|discovered|confirmed|see that|see why|understand that"
    r"|understand why|realized?|realised?)\b"
    r"|i've (?:now |just )?(?:found|discovered|confirmed|reproduced)\b"
    r"|(?:this|that|which) (?:means|explains|confirms|proves|shows) )"
)
_OFFERED = re.compile(
    r"\b(?:if you(?:'d|'re|'ve| have)? (?:want|like|need|prefer|good|any)"
    r"|if there(?:'s| is) anything|once you (?:answer|confirm|decide)|let me know|want me to"
    r"|would you like|happy to help|feel free|hesitate to|i can (?:also|now|next)|thank you"
    r"|thanks for|glad (?:i|to)|please)\b"
)
"""How an agent talks to its user: asks, offers, thanks. That is no finding."""
_OPENING = re.compile(
    r"(?:(?:perfect|great|good|excellent|done|ok(?:ay)?|yes|yep|exactly|now)[,.! —–-]{1,3}){0,3}"
    r"(?:i (?:now )?have (?:a|the|all|everything|enough)\b|here(?:'s| is| are)\b"
    r"|(?:everything|all) (?:is|looks) (?:good|fine|set|done)\b|(?:this|that) (?:gives|helps)\b"
    r"|love it\b|totally agree\b|great (?:responses?|questions?|points?|calls?|ideas?)\b"
    r"|you(?:'re| are) (?:absolutely |completely )?right\b|i apologi[sz]e\b|sorry\b)"
)
"""How an answer begins that has not said anything yet."""
_POINTS_BACK = re.compile(r"(?:it|this|that|these|those|they|seems|which|here|there)\b")
"""How a sentence begins that says nothing without the one before it."""
_DONE = re.compile(
    r"(?:done|fixed|added|updated|removed|replaced|created|changed|committed|implemented)\b"
    r"|(?:i've|i have|we've) \w{2,20}ed\b"
    r"|[^.:]{1,120}\b(?:was|were|has been|have been|is now|are now|updated|added|fixed|removed"
    r"|changed|collapsed|replaced) "
)
"""How a line tells what was done although a list follows it."""
_GUESSES = re.compile(r"\b(?:i suspect|maybe|perhaps|wait,|hmm+|i wonder|not sure)\b")


@rule(())
def findings_of(scene: Scene, only: Container[EntryId]) -> tuple[Quote, ...]:
    """What the agent found and reported in some entries of a scene, oldest first."""
    ends = set(closing(scene))
    found: dict[str, Quote] = {}
    for at, item in enumerate(scene.items):
        match item.body:
            case Said(role="assistant", by="", text=text) if item.entry.id in only:
                for told in _reported(text) if at in ends else _found(text):
                    found.setdefault(told, Quote(told, item.entry.id))
            case _:
                pass
    return tuple(found.values())


@rule([])
def closing(scene: Scene) -> list[int]:
    """Where the texts stand that the agent ended its turns with: then the user speaks, or nobody.

    What a program says in the user's place, the output of a command above all, ends no turn.
    """
    found: list[int] = []
    ended = True
    for at in range(len(scene.items) - 1, -1, -1):
        match scene.items[at].body:
            case ToolCalled():
                ended = False
            case Said(role="user", by="", text=text):
                ended = bool(own_words(text))
            case Said(role="assistant", by="") if ended:
                found.append(at)
            case _:
                pass
    return found[::-1]


@rule([])
def _reported(text: str) -> list[str]:
    """What the last words of a turn tell: how they begin and end, and what they say was found."""
    told = [one for one in sentences(text) if _claims(one)]
    alone = [one for one in told if not _POINTS_BACK.match(plain(one.text))]
    prose = [one for one in alone if one.kind == "plain"]
    kept = {one.start for one in (*prose[:_FIRST], *prose[_FIRST:][-_LAST:])}
    if len(prose) < _FIRST:
        # Who reports in a list has put what counts there.
        kept |= {one.start for one in alone[:_ITEMS]}
    return [_said(one) for one in told if one.start in kept or _FOUND.search(plain(one.text))]


@rule([])
def _found(text: str) -> list[str]:
    found = (one for one in sentences(text) if _FOUND.search(plain(one.text)))
    return [_said(one) for one in found if _claims(one) and not one.text.endswith(":")]


def _said(one: Sentence) -> str:
    return SPOKEN_AS.sub("", one.text)


def _claims(one: Sentence) -> bool:
    """Whether a sentence says something by itself, of what is and not of what will be done."""
    if one.kind == "heading" or not _SHORTEST <= len(one.text) <= _LONGEST:
        return False
    words = plain(_said(one))
    leads = words.rstrip("*_`\"') ").endswith(":")
    return not (
        words.rstrip("*_`\"') ").endswith("?")
        or (leads and not _DONE.match(words))
        or is_question(words)
        or is_announced(words)
        or _OFFERED.search(words)
        or _OPENING.match(words)
        or _GUESSES.search(words)
    )
