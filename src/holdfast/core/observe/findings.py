"""Findings: what the agent said it had found out, and how it ended its turns, in its own words.

Rows of files and errors tell what happened; why it did, and what it came to, only the agent says.
Only sentences that claim something count: no announcement, no question, no offer, no heading.
"""

import re
from collections.abc import Container

from holdfast.core.ledger.entry import EntryId, Said, ToolCalled
from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.sentences import Sentence, is_announced, is_question, plain, sentences

_SHORTEST, _LONGEST = 30, 300
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


def findings_of(scene: Scene, only: Container[EntryId]) -> tuple[Quote, ...]:
    """What the agent found and reported in some entries of a scene, oldest first."""
    ends = set(closing(scene))
    found: dict[str, Quote] = {}
    for at, item in enumerate(scene.items):
        match item.body:
            case Said(role="assistant", by="", text=text) if item.entry.id in only:
                told = _reported(text) if at in ends else _found(text)
                for one in told:
                    found.setdefault(one.text, Quote(one.text, item.entry.id))
            case _:
                pass
    return tuple(found.values())


def closing(scene: Scene) -> list[int]:
    """Where the texts stand that the agent ended its turns with: no call follows in the turn."""
    found: list[int] = []
    called = -1
    for at in range(len(scene.items) - 1, -1, -1):
        match scene.items[at].body:
            case ToolCalled():
                called = scene.turns[at]
            case Said(role="assistant", by="") if scene.turns[at] != called:
                found.append(at)
            case _:
                pass
    return found[::-1]


def _reported(text: str) -> list[Sentence]:
    """What the last words of a turn tell: how they begin and end, and what they say was found."""
    told = [one for one in sentences(text) if _claims(one)]
    prose = [one for one in told if one.kind == "plain"]
    ends = {one.start for one in (*prose[:_FIRST], *prose[_FIRST:][-_LAST:])}
    return [one for one in told if one.start in ends or _FOUND.search(plain(one.text))]


def _found(text: str) -> list[Sentence]:
    return [one for one in sentences(text) if _FOUND.search(plain(one.text)) and _claims(one)]


def _claims(one: Sentence) -> bool:
    """Whether a sentence says something by itself, of what is and not of what will be done."""
    if one.kind == "heading" or not _SHORTEST <= len(one.text) <= _LONGEST:
        return False
    words = plain(one.text)
    return not (
        words.rstrip("*_`\"') ").endswith((":", "?"))
        or is_question(one.text)
        or is_announced(words)
        or _OFFERED.search(words)
        or _OPENING.match(words)
    )
