"""Declaring the work done: is there anything to show for it?

What counts depends on what was asked for. Work to be made has to have left something behind, a file
or a check that passed; a question has to be answered in words that are about it.
"""

import re

from holdfast.core.observe.files.touch import plain_name
from holdfast.core.observe.requests.overrides import telling
from holdfast.core.observe.sentences import is_question, plain
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.message import Move
from holdfast.core.verify.drift.signs import NOTHING, Finding

FINISHES = frozenset(
    ("attempt_completion", "finish", "submit", "task_complete", "complete_task", "done")
)
"""Tools with which an agent says that it is done."""
_DONE = (
    r"(?:done|complete|completed|finished|ready|in place|resolved|wrapped up|implemented"
    r"|finali[sz]ed|delivered|accomplished|concluded|fulfilled|taken care of|good to go|all set)"
)
DECLARES = re.compile(
    r"(?:'s|'re|'m|\b(?:is|are|am|was|were|been|be))(?: (?:now|all|fully|successfully|also)){0,2} "
    + _DONE
    + r"\b|^(?:(?:ok|okay|great|perfect)[,.!] )?(?:all )?(?:done|finished|completed?)(?:[.!:]|$)"
    r"|\b(?:i|we)(?:'ve| have)?(?: now| just| successfully){0,2} (?:completed|finished"
    r"|finali[sz]ed|delivered|wrapped up|accomplished|fulfilled|concluded)\b"
    r"|\b(?:task|work|job|implementation|request) "
    r"(?:complete|completed|done|finished|accomplished)\b"
    r"|\bnothing (?:more|else|further|left|remains)\b"
    r"|\bno (?:further|more|remaining) (?:work|steps|changes|action)\b"
    r"|\bthat (?:completes|concludes|finishes|wraps)\b|\bwraps? (?:this|it|things) up\b"
)
"""Whatever it is that is called done: words without a call end the turn."""
PASSES = re.compile(
    r"\b(?:tests?|checks?|suite|build|everything)\b[^.!?]{0,40}"
    r"\b(?:pass(?:es|ed|ing)?|green|succeed)"
)
PARTLY = re.compile(
    r"\b(?:once|when|after|until|before|if|next|first|not|isn't|aren't|step \d|phase \d|part \d"
    r"|remaining|still|will be|to be)\b|n't\b"
)
LOOKS_FOR_WORDS = re.compile(
    r"^(?:(?:please|can you|could you|would you|i want you to|i need you to|help me|first|then|hey"
    r"|hi|ok|okay|so|now)[, ]{1,2}){0,3}(?:explain|review|why|how|what|which|who|where|when|is|are"
    r"|does|do|did|find|look|check|analy[sz]e|investigate|summari[sz]e|describe|compare|list|tell"
    r"|research|show|assess|evaluate|read|think|plan|discuss|understand|verify|inspect|audit"
    r"|deep)\b"
)
INTENDS = re.compile(r"\b(?:let me|let's|i'll|i will|i'm going to|i am going to|next|now)\b")
HANDS_OVER = re.compile(
    r"\b(?:please|kindly|let me know|you (?:can|could|may|need|should|will|have)|if you"
    r"|(?:wait|waiting|need|needs|until|once|when|after) (?:for )?(?:you|your)"
    r"|cannot|unable|lost|missing|not (?:sure|have|know|able))\b|n't\b"
)
"""What leaves the next step to the user, or says why there is none: nothing is over then."""
SILENT = 0.4
"""What is left of it when nothing is said to be done, and the turn merely ends."""
CURT = 0.85
"""The same for a few words in the middle of the work: they can hardly mean anything else."""
FEW = 40
"""Words of a message that ends a turn and explains nothing."""
SHORT_ANSWER = 25
"""Words with which a question can be answered."""


def finish(move: Move, ground: Ground) -> Finding:
    """Whether a message calls the work done that is not.

    Words without a call end the agent's turn: that says the same, only less clearly.
    """
    tools = {plain_name(call.tool) for call in move.calls}
    if move.acts and not (tools and tools <= FINISHES):
        return NOTHING
    said = [one.text for one in move.prose]
    if not said and not tools:
        return NOTHING
    claim = next((text for text in said if _declares(plain(text))), "")
    if not claim and not tools and (_waits(said) or INTENDS.search(plain(said[-1]))):
        return NOTHING
    strength, why = _without(move, ground, said)
    request = ground.intent.current
    clear = 1.0 if claim or tools else _clear(move, ground, said)
    return Finding(strength * clear, why, claim or move.text, request.text, request.entry)


def _clear(move: Move, ground: Ground, said: list[str]) -> float:
    """How surely a message that calls nothing done means just that, by ending the turn."""
    curt = len(move.text.split()) <= FEW and not ground.answers
    over = not any(HANDS_OVER.search(plain(text)) for text in said)
    return CURT if curt and over else SILENT


def _waits(said: list[str]) -> bool:
    """Whether a message ends with a question: then it is the user's turn, and nothing is over."""
    return any(text.rstrip("\"')*_` ").endswith("?") for text in said[-3:])


def _declares(words: str) -> bool:
    found = DECLARES.search(words)
    if found is None or words.rstrip().endswith("?"):
        return False
    return PARTLY.search(words[: found.start()]) is None


def _without(move: Move, ground: Ground, said: list[str]) -> tuple[float, str]:
    """How surely there is nothing to show, and what is missing."""
    delivered, request = ground.delivered, ground.intent.current.text
    if _wants_words(request):
        if _answers(move, request):
            return 0.05, "an answer was given"
        if not (delivered.made or delivered.answered):
            return 0.75, "the request asks for an answer, and none was given"
    elif not delivered.made and not delivered.passed:
        told = _answers(move, request, least=4 * SHORT_ANSWER)
        return (0.4 if told else 0.9), "nothing was written, changed or checked for this request"
    return _half_done(ground, said)


def _half_done(ground: Ground, said: list[str]) -> tuple[float, str]:
    """How surely something is still missing although there is something to show."""
    delivered, remaining = ground.delivered, ground.progress.remaining
    if delivered.failing:
        return 0.7, f"the last check failed: {delivered.failing}"
    if remaining:
        return 0.6, f"{len(remaining)} steps of its own list are open: {remaining[0]}"
    if any(PASSES.search(plain(text)) for text in said) and not delivered.passed:
        return 0.55, "it speaks of checks that pass, and none did for this request"
    if ground.since != 1 or ground.anew:
        return 0.05, "there is something to show"
    if delivered.looking:
        return 0.4, "it was still looking around when it was last seen"
    return 0.3, "it was in the middle of its work when it was last seen"


def _wants_words(request: str) -> bool:
    """Whether a request asks for words: an explanation, a review, a plan."""
    words = plain(request[:400]).strip()
    return LOOKS_FOR_WORDS.match(words) is not None or is_question(request[:400])


def _answers(move: Move, request: str, *, least: int = SHORT_ANSWER) -> bool:
    """Whether a message says enough to be an answer to a request."""
    shared = telling(move.text[:8_000]).terms & telling(request[:4_000]).terms
    return len(move.text.split()) >= least and bool(shared)
