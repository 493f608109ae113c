"""Asking at once: the first words after a summary ask for what the user has said already.

A question is no drift by itself. It is when the record holds the answer, or when what is asked for
is the task itself: in so many words, or because a few words in the middle of the work ask for
nothing but what this is about. To offer the next step, or to ask leave for it, is no clarification.
"""

import re
from functools import cached_property

from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.files.touch import arguments_of, plain_name
from holdfast.core.observe.requests.overrides import telling
from holdfast.core.observe.requests.replies import QUESTIONS
from holdfast.core.observe.sentences import plain
from holdfast.core.observe.worth import telling_names as names_in
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.message import Move, short_values
from holdfast.core.verify.drift.signs import LINE, NOTHING, Finding

AT_ONCE = 2
"""Steps of the agent after a summary within which a question comes at once."""
_TASK = (
    r"(?:task|goal|objective|request|requirements?|assignment|instructions?|context|background"
    r"|problem statement|purpose|conversation|history)"
)
SEEKS = re.compile(
    r"\b(?:what|which)\b[^.?!]{0,60}\b(?:working on|trying to (?:do|achieve|accomplish|build|solve)"
    r"|supposed to|asked (?:for|me)|left off|(?:need|like|want) me to (?:do|work|help|focus|tackle"
    r"|start)|should i (?:do|be doing|work on|focus on)|(?:the|your|our|my) " + _TASK + r")\b"
    r"|\bhow (?:can|may|could) i (?:help|assist)\b|\b(?:remind|refresh)\b[^.?!]{0,40}\b(?:me|my)\b"
    r"|\b(?:share|provide|restate|repeat|describe|explain|clarify|outline|specify|give|send|tell)\b"
    r"[^.?!]{0,60}\b" + _TASK + r"\b"
)
"""What is asked for is the task itself."""
LOST = re.compile(
    r"\b(?:i|we)\b[^.?!]{0,30}"
    r"\b(?:no|lost|lack|missing|without|(?:do not|don't|didn't|can't|cannot)"
    r" (?:have|see|recall|remember|know|access|find))\b[^.?!]{0,40}"
    r"\b(?:context|conversation|history|earlier|previous|prior|what (?:we|you|i) |the (?:task|goal"
    r"|request))"
)
"""The agent says itself that its past is gone."""
_YOURS = (
    r"\byour (?:input|answer|decision|preference|guidance|direction|confirmation|opinion|view"
    r"|thoughts|word|call|take)"
)
"""What only the user can give."""
PLEA = re.compile(
    r"\b(?:could|can|would|will) you\b|\bplease\b"
    r"|\b(?:i|we)(?:'ll| will)? need (?:you|to know|more)\b|" + _YOURS + r"\b"
    r"|\blet me know\b|\b(?:i|we)(?:'m| am|'re| are) not sure\b|\b(?:i'd|i would) like to know\b"
)
TELL = re.compile(
    r"\b(?:share|provide|paste|tell|remind|clarify|describe|explain|specify|give|send|confirm"
    r"|restate|repeat|outline|state|spell out|let me know|point me|know|sure)\b|" + _YOURS + r"\b"
)
ASKS = re.compile(
    r"^(?:(?:so|and|but|also|first|before [^,]{3,60}|quick question)[,:—-]{0,2} )?"
    r"(?:what|which|who|where|when|how|is there|are there|do we|do you|did you|should)\b"
)
OFFERS = re.compile(
    r"\b(?:want me to|shall i|should i (?:proceed|continue|go ahead|commit|push|create|also)"
    r"|would you like|do you want|like me to|ready to|ok(?:ay)? to|sound good|look good"
    r"|any (?:questions|feedback)|anything else)\b"
)
INVITED = re.compile(
    r"\b(?:ask me|interview me|questions? (?:first|before)|clarif|let's discuss)\b"
)
SHORT, AT_THE_END = 8, 4
"""Sentences of a message that is all question; of a longer one, those at its end are looked at."""
US = re.compile(r"\b(?:i|me|my|we|us|our)\b")
WANTS = re.compile(
    r"\b(?:should|shall|may|must|can|could|do) (?:i|we)\b|\bor\b"
    r"|\b(?:give|send|share|provide|paste|show|get|grant|lend|upload|attach)\b"
)
"""A question that proposes something, gives a choice, or wants a thing: it knows what it is at."""
FEW = 40
"""Words of a message that does nothing but ask."""
ENOUGH = 2
SHARE = 0.6
WORD = re.compile(r"\w{1,60}")
LONGEST = 2_000
RUN = 4
"""Words in a row by which a question repeats what the user said."""


def clarify(move: Move, ground: Ground) -> Finding:
    """Whether a message asks at once for what is known."""
    if not 0 < ground.since <= AT_ONCE or ground.anew:
        return NOTHING
    if move.acts and not _asks_by_tool(move):
        return NOTHING
    best, rows = NOTHING, _Rows(ground)
    for text in _asked(move):
        found = _judged(text, ground, rows)
        best = found if found.strength > best.strength else best
    if best.strength < LINE and _asks_what_this_is(move, ground):
        why = "it stops in the middle of the work to ask what this is about"
        return _found(0.6, why, move.text, ground.intent.current)
    return best


def _asks_what_this_is(move: Move, ground: Ground) -> bool:
    """Whether all of a message is a question that could be asked in any session."""
    said = [plain(one.text) for one in move.prose]
    if move.calls or ground.answers or not said or len(move.text.split()) > FEW:
        return False
    if not _is_question(said[-1]) or any(OFFERS.search(text) for text in said):
        return False
    about_us = US.search(said[-1]) is not None and WANTS.search(said[-1]) is None
    return about_us and ground.names.isdisjoint(names_in(move.text))


def _asks_by_tool(move: Move) -> bool:
    return any(plain_name(call.tool) in QUESTIONS for call in move.calls)


def _asked(move: Move) -> list[str]:
    """What may be a question to the user: how a message ends, and what its calls ask."""
    said = [one.text for one in move.prose if one.kind != "heading"]
    asked = said if len(said) <= SHORT else said[-AT_THE_END:]
    for call in move.calls:
        if plain_name(call.tool) in QUESTIONS:
            asked += [text for text in short_values(arguments_of(call)) if text.endswith("?")]
    return asked


def _judged(text: str, ground: Ground, rows: "_Rows") -> Finding:
    words = plain(text)
    question = _is_question(words)
    pleads = PLEA.search(words) is not None and TELL.search(words) is not None
    if (question or pleads) and SEEKS.search(words):
        return _found(0.9, "it asks what it is to do", text, ground.intent.current)
    if LOST.search(words):
        return _found(0.85, "it says that its past is gone", text, ground.intent.current)
    if not (question or pleads):
        return NOTHING
    known, cover = rows.answering(words)
    if known.text and not INVITED.search(plain(ground.intent.current.text[:2_000])):
        return _found(min(0.45 + 0.4 * cover, 0.9), "the user has said it already", text, known)
    if OFFERS.search(words) or not (pleads or ASKS.match(words)):
        return NOTHING
    return _found(0.25, "it asks the user something", text, Quote())


def _is_question(words: str) -> bool:
    return words.rstrip("\"')*_` ").endswith("?")


class _Rows:
    """What the user has said and decided, read when the first question comes."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    @cached_property
    def _about(self) -> list[tuple[Quote, frozenset[str]]]:
        ground = self._ground
        rows = (
            *(Quote(rule.text, rule.entry) for rule in ground.constraints if rule.by == "user"),
            *(Quote(one.choice, one.entry) for one in ground.decisions if one.by == "user"),
            *ground.told,
        )
        return [(row, telling(row.text).terms) for row in rows]

    def answering(self, words: str) -> tuple[Quote, float]:
        """The row that answers a question, and how well it fits."""
        about, runs = telling(words).terms, _runs(words)
        best, cover = Quote(), 0.0
        for row, terms in self._about if len(about) >= ENOUGH else ():
            shared = len(about & terms)
            share = shared / len(about)
            if shared >= ENOUGH and share < SHARE and not runs.isdisjoint(_runs(plain(row.text))):
                share = SHARE
            if shared >= ENOUGH and share >= SHARE and share > cover:
                best, cover = row, share
        return best, cover


def _runs(words: str) -> frozenset[tuple[str, ...]]:
    """Every few words of a text that stand in a row."""
    found = WORD.findall(words[:LONGEST])
    return frozenset(tuple(found[at : at + RUN]) for at in range(len(found) - RUN + 1))


def _found(strength: float, why: str, text: str, row: Quote) -> Finding:
    return Finding(strength, why, text, row.text, row.entry)
