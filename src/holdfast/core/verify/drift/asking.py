"""Asking at once: the first words after a summary ask for what the user has said already.

A question is no drift by itself. It is when the record holds the answer, or when what is asked for
is the task itself. To offer the next step, or to ask leave for it, is no clarification.
"""

import re

from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.answered import QUESTIONS
from holdfast.core.observe.artifacts import arguments_of, plain_name
from holdfast.core.observe.overrides import telling
from holdfast.core.observe.sentences import plain
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.move import Move, _short
from holdfast.core.verify.drift.signs import NOTHING, Finding

AT_ONCE = 2
"""Steps of the agent after a summary within which a question comes at once."""
_TASK = (
    r"(?:task|goal|objective|request|requirements?|assignment|instructions?|context|background"
    r"|problem|issue|scope|purpose|project|conversation|history|specifics?|details?)"
)
LOST = re.compile(
    r"\b(?:what|which)\b[^.?!]{0,60}\b(?:working on|trying to|supposed to|asked (?:for|me)|left off"
    r"|need me to|like me to (?:do|work|help|focus|tackle|start)|want me to (?:do|work|help|focus"
    r"|tackle|start)|should i (?:do|be doing|work on|focus on)|(?:the|your|our|my) "
    + _TASK
    + r")\b"
    r"|\bhow (?:can|may|could|should) i (?:help|assist|proceed)\b"
    r"|\b(?:remind|refresh)\b[^.?!]{0,40}\b(?:me|my)\b"
    r"|\b(?:no|lost|lack|missing|without|(?:don't|do not|didn't) (?:have|see|recall|remember|know))\b"
    r"[^.?!]{0,40}\b(?:context|conversation|history|earlier|previous|prior|what (?:we|you|i)|"
    r"the (?:task|goal|request))\b"
)
"""The agent does not know any more what it is about."""
PLEA = re.compile(
    r"\b(?:could|can|would|will) you\b|\bplease\b|\b(?:i|we)(?:'ll| will)? need (?:you|to know|more)\b"
    r"|\blet me know\b|\b(?:i|we)(?:'m| am|'re| are) not sure\b|\b(?:i'd|i would) like to know\b"
)
TELL = re.compile(
    r"\b(?:share|provide|paste|tell|remind|clarify|describe|explain|specify|give|send|confirm"
    r"|restate|repeat|outline|state|spell out|let me know|point me|know|sure)\b"
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
ENOUGH = 2
SHARE = 0.6


def clarify(move: Move, ground: Ground) -> Finding:
    """Whether a message asks at once for what is known."""
    if not 0 < ground.since <= AT_ONCE or ground.anew:
        return NOTHING
    if move.calls and not _asks_by_tool(move):
        return NOTHING
    best = NOTHING
    for text in _asked(move):
        found = _judged(text, ground)
        best = found if found.strength > best.strength else best
    return best


def _asks_by_tool(move: Move) -> bool:
    return any(plain_name(call.tool) in QUESTIONS for call in move.calls)


def _asked(move: Move) -> list[str]:
    asked = [one.text for one in move.prose if one.kind != "heading"]
    for call in move.calls:
        if plain_name(call.tool) in QUESTIONS:
            asked += [text for text in _short(arguments_of(call)) if text.endswith("?")]
    return asked


def _judged(text: str, ground: Ground) -> Finding:
    words = plain(text)
    question = words.rstrip("\"')*_` ").endswith("?")
    pleads = PLEA.search(words) is not None and TELL.search(words) is not None
    if LOST.search(words) and (question or pleads or "i " in words):
        if OFFERS.search(words) and not question:
            return NOTHING
        return _found(0.9, "it asks what it is to do", text, ground.intent.current)
    if not (question or pleads):
        return NOTHING
    known, cover = _answered(words, ground)
    if known.text and not INVITED.search(plain(ground.intent.current.text[:2_000])):
        return _found(min(0.45 + 0.4 * cover, 0.9), "the user has said it already", text, known)
    if OFFERS.search(words) or not (pleads or ASKS.match(words)):
        return NOTHING
    return _found(0.25, "it asks the user something", text, Quote())


def _answered(words: str, ground: Ground) -> tuple[Quote, float]:
    """The words of the user, or the decision, that answer a question, and how well they fit."""
    about = telling(words).terms
    if len(about) < ENOUGH:
        return Quote(), 0.0
    best, cover = Quote(), 0.0
    rows = [
        *(Quote(rule.text, rule.entry) for rule in ground.constraints if rule.by == "user"),
        *(Quote(one.choice, one.entry) for one in ground.decisions if one.by == "user"),
        *ground.told,
    ]
    for row in rows:
        shared = about & telling(row.text).terms
        share = len(shared) / len(about)
        if len(shared) >= ENOUGH and share >= SHARE and share > cover:
            best, cover = row, share
    return best, cover


def _found(strength: float, why: str, text: str, row: Quote) -> Finding:
    return Finding(strength, why, text, row.text, row.entry)
