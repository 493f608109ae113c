"""Quote the agent's findings and the reports with which it ended its turns.

Rows of files and errors state what happened; only the agent states why, and the result. Only
sentences that claim something count: no announcements, questions, offers or headings.
"""

from collections.abc import Container

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, Said, ToolCalled
from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import (
    THOUGHT_LABEL,
    Sentence,
    is_announcement,
    is_question,
    plain_words,
)

_SHORTEST, _LONGEST = 30, 300
_ITEMS = 4
"""Items of a report that has hardly any prose."""
_FIRST, _LAST = 2, 1
"""Sentences of a turn's last words that tell what it came to: those at its beginning and end."""
_FOUND = Pattern(
    r"\b(?:(?:issue|problem|bug|cause|culprit|reason|failure|error|mistake)s?"
    r" (?:is|was|are|were|comes? from|stems? from|lies?|happens?|occurs?)\b"
    r"|root cause\b|turns? out\b|turned out\b|caused by\b|fails? because\b|failed because\b"
    r"|i (?:have |now |just ){0,2}(?:found|discovered|confirmed|see that|see why|understand that"
    r"|understand why|realized?|realised?)\b"
    r"|i've (?:now |just )?(?:found|discovered|confirmed|reproduced)\b"
    r"|(?:this|that|which) (?:means|explains|confirms|proves|shows) )"
)
_OFFERED = Pattern(
    r"\b(?:if you(?:'d|'re|'ve| have)? (?:want|like|need|prefer|good|any)"
    r"|if there(?:'s| is) anything|once you (?:answer|confirm|decide)|let me know|want me to"
    r"|would you like|happy to help|feel free|hesitate to|i can (?:also|now|next)|thank you"
    r"|thanks for|glad (?:i|to)|please)\b"
)
"""How an agent talks to its user: asks, offers, thanks. That is no finding."""
_OPENING = Pattern(
    r"(?:(?:perfect|great|good|excellent|done|ok(?:ay)?|yes|yep|exactly|now)[,.! —–-]{1,3}){0,3}"
    r"(?:i (?:now )?have (?:a|the|all|everything|enough)\b|here(?:'s| is| are)\b"
    r"|(?:everything|all) (?:is|looks) (?:good|fine|set|done)\b|(?:this|that) (?:gives|helps)\b"
    r"|love it\b|totally agree\b|great (?:responses?|questions?|points?|calls?|ideas?)\b"
    r"|you(?:'re| are) (?:absolutely |completely )?right\b|i apologi[sz]e\b|sorry\b)"
)
"""How an answer begins that has not said anything yet."""
_POINTS_BACK = Pattern(r"(?:it|this|that|these|those|they|seems|which|here|there)\b")
"""How a sentence begins that says nothing without the one before it."""
_DONE = Pattern(
    r"(?:done|fixed|added|updated|removed|replaced|created|changed|committed|implemented)\b"
    r"|(?:i've|i have|we've) \w{2,20}ed\b"
    r"|[^.:]{1,120}\b(?:was|were|has been|have been|is now|are now|updated|added|fixed|removed"
    r"|changed|collapsed|replaced) "
)
"""How a line tells what was done although a list follows it."""
_GUESSES = Pattern(r"\b(?:i suspect|maybe|perhaps|wait,|hmm+|i wonder|not sure)\b")


@rule(())
def findings_of(scene: Scene, only: Container[EntryId]) -> tuple[Quote, ...]:
    """Return the findings and reports of the agent in the entries `only`, oldest first."""
    ends = set(closing_texts(scene))
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
def closing_texts(scene: Scene) -> list[int]:
    """Return the indexes of the agent texts that ended a turn: the user spoke next, or no one did.

    Text that a program inserted as a user message, such as command output, does not end a turn.
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
    alone = [one for one in told if not _POINTS_BACK.match(plain_words(one.text))]
    prose = [one for one in alone if one.kind == "plain"]
    kept = {one.start for one in (*prose[:_FIRST], *prose[_FIRST:][-_LAST:])}
    if len(prose) < _FIRST:
        # Who reports in a list has put what counts there.
        kept |= {one.start for one in alone[:_ITEMS]}
    return [_said(one) for one in told if one.start in kept or _FOUND.search(plain_words(one.text))]


@rule([])
def _found(text: str) -> list[str]:
    found = (one for one in sentences(text) if _FOUND.search(plain_words(one.text)))
    return [_said(one) for one in found if _claims(one) and not one.text.endswith(":")]


def _said(one: Sentence) -> str:
    return THOUGHT_LABEL.sub("", one.text)


def _claims(one: Sentence) -> bool:
    """Whether a sentence says something by itself, of what is and not of what will be done."""
    if one.kind == "heading" or not _SHORTEST <= len(one.text) <= _LONGEST:
        return False
    words = plain_words(_said(one))
    leads = words.rstrip("*_`\"') ").endswith(":")
    return not (
        words.rstrip("*_`\"') ").endswith("?")
        or (leads and not _DONE.match(words))
        or is_question(words)
        or is_announcement(words)
        or _OFFERED.search(words)
        or _OPENING.match(words)
        or _GUESSES.search(words)
    )
