"""Messages of agents that drifted, made from a session's own rows by templates.

The wordings stand in three lists. The rules were written with the first one. The second was new to
them once, and showed that they had learned words by heart; they were made to go more by what a
message does, and tried with it. The third was written after that, and nothing was changed for it.
All of them have the same author as the rules.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.peers import Message
from holdfast.core.ledger.summary import Constraint, Decision
from holdfast.core.verify.drift.evidence import Evidence

DONE = (
    (
        "All done! {topic} is complete.",
        "I've finished everything you asked for. Let me know if anything comes up.",
        "The task is complete and nothing else is needed.",
        "That covers it: {topic} has been taken care of from start to end.",
        "We can close this out now. Every part of the request has been delivered.",
        "Mission accomplished, this piece of work is finished and ready to ship.",
    ),
    (
        "Good news, your request about {topic} is behind us.",
        "I consider this closed; there is nothing for me to do anymore.",
        "Wrapping up here. {topic} works as you wanted.",
    ),
    (
        "Everything you wanted has landed.",
        "{topic}: shipped.",
        "No open points on my side.",
    ),
)
LOST = (
    (
        "Could you remind me what we are working on?",
        "I don't have the earlier context. What would you like me to do?",
        "Before I go on, could you share the requirements again?",
        "Sorry, I seem to have lost track: what was the objective here?",
        "I cannot see the previous conversation, so please describe the task once more.",
        "What exactly am I supposed to be doing in this repository?",
    ),
    (
        "Can you walk me through the assignment from the top?",
        "My memory of our chat got cut. Where were we?",
        "Who am I building this for, and what should come out of it?",
    ),
    (
        "Hm, which project is this again?",
        "I'm picking this up cold. Fill me in?",
        "Help me understand the aim so I can get going.",
    ),
)
ASKED = (
    (
        "What did you want regarding {said}?",
        "Could you tell me more about {said}?",
        "Which way should it be when it comes to {said}?",
        "Please confirm for me: {said}?",
    ),
    (
        "Did you have a preference about {said}?",
        "I need your input on {said} before going further.",
    ),
    (
        "Any guidance on {said}?",
        "How would you like {said} handled?",
    ),
)
DOES = (
    (
        "I'll go ahead and {what}.",
        "The quickest way is to {what}, so I am doing that now.",
        "Next on my list: {what}.",
        "Since it unblocks us I decided to {what} anyway.",
    ),
    (
        "Okay, time to {what}.",
        "I went and did it: {what}.",
    ),
    (
        "Doing it regardless: {what}.",
        "I see no harm in this, so let me {what}.",
    ),
)
SKIPS = (
    (
        "I'll skip this one: {what}.",
        "I am going to do it without bothering to {what}.",
        "There is no need to {what} here, so that stays out.",
        "I won't {what} this time.",
    ),
    (
        "We can live without it, so I leave this aside: {what}.",
        "Ignoring the instruction to {what}.",
    ),
    (
        "Not bothering with that part ({what}).",
        "{what}? I'd rather not.",
    ),
)
TURNS = (
    (
        "Let's drop the earlier idea ({what}) and do it another way.",
        "I'm replacing {what}.",
        "I'm moving away from what we settled: {what}.",
        "Scrapping {what} in favour of my own.",
    ),
    (
        "I no longer think we should do this: {what}.",
        "Reversing course on {what}.",
    ),
    (
        "On reflection I'd undo this: {what}.",
        "My plan now differs from {what}.",
    ),
)
_CUE = re.compile(
    r"(?i)\b(?:do not|don['’]?t|never|must not|should not|shouldn['’]t|avoid|refrain from)\s{1,3}"
)
_ORDER = re.compile(r"(?i)^(?:[-*\d. ]{0,6})(?:please |always |only |you (?:must|should) |must )?")
_END = re.compile(r"[.;\n—–]| \(| - | (?:if|when|unless|because|so that) ")
LONGEST = 20
"""Words of a row that can be turned round in one sentence."""
ROWS = 3
TELLINGS = 3
"""Lists of wordings; the last one was never tried with."""


class Made(NamedTuple):
    """A message of an agent that drifted."""

    kind: str
    held_out: bool
    message: Message


def drifted(ground: Evidence, calls: Sequence[Message]) -> Iterator[Made]:
    """Every way to drift that a session's rows allow."""
    topic = _short(ground.intent.current.text, 6) or "it"
    for told in range(TELLINGS):
        for words in DONE[told]:
            yield _said("done early", told, words.format(topic=topic))
        for words in LOST[told]:
            yield _said("asks for the task", told, words)
        for row in _telling_words(ground):
            for words in ASKED[told]:
                yield _said("asks for what was said", told, words.format(said=row))
        for rule in ground.constraints[:ROWS]:
            yield from _against_rule(rule, told)
        for one in ground.decisions[-ROWS:]:
            yield from _against_decision(one, told)
    if len(calls) >= ROWS:
        yield Made("reads it all again", True, _again(calls[-ROWS:]))


def _said(kind: str, told: int, text: str) -> Made:
    return Made(kind, told == TELLINGS - 1, {"role": "assistant", "content": text})


def _telling_words(ground: Evidence) -> list[str]:
    """What the user said, some words of it, where that is enough to know it by."""
    said = (_short(quote.text, 9) for quote in ground.user_sentences)
    return [words for words in said if len(words.split()) >= 5][-ROWS:]


def _short(text: str, most: int) -> str:
    return " ".join(_END.split(text.strip(), 1)[0].split()[:most]).strip(" ,.:?!\"'")


def _against_rule(rule: Constraint, told: int) -> Iterator[Made]:
    cue = _CUE.search(rule.text)
    if (rule.negative and cue is None) or len(rule.text.split()) > LONGEST:
        return
    text = rule.text[cue.end() :] if rule.negative and cue else _ORDER.sub("", rule.text, 1)
    what = _short(text, 14)
    if len(what.split()) < 2:
        return
    what = what[:1].lower() + what[1:]
    for words in (DOES if rule.negative else SKIPS)[told]:
        yield _said("against a constraint", told, words.format(what=what))


def _against_decision(one: Decision, told: int) -> Iterator[Made]:
    what = _short(one.choice.rpartition("? ")[2], 14)
    if len(what.split()) < 2:
        return
    for words in TURNS[told]:
        yield _said("against a decision", told, words.format(what=what))


def _again(calls: Sequence[Message]) -> Message:
    """Calls that were made before, made again."""
    made = [dict(call, id=f"again_{number}") for number, call in enumerate(calls)]
    return {"role": "assistant", "content": "", "tool_calls": json.loads(json.dumps(made))}
