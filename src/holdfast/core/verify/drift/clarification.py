"""Detect a message that asks, directly after a summary, for something the user has already said.

A question alone is not drift. It is drift if the record contains the answer, or if the question is
about the task itself: explicitly, or because a short message in the middle of the work asks only
what the work is about. Offering the next step, or asking for permission, is not drift.
"""

from functools import cached_property

from holdfast.core.ledger.notes import Finding
from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.files.touch import arguments_of, bare_tool_name
from holdfast.core.observe.requests.overrides import subject_of
from holdfast.core.observe.requests.replies import QUESTION_TOOLS
from holdfast.core.observe.worth import find_names
from holdfast.core.verify.drift.evidence import Evidence
from holdfast.core.verify.drift.message import AgentMessage, short_values
from holdfast.core.verify.drift.signs import NO_FINDING, SIGN_THRESHOLD
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import plain_words

MAX_STEPS_SINCE_SUMMARY = 2
"""Only this many steps of the agent after a summary are judged by this rule."""
_TASK = (
    r"(?:task|goal|objective|request|requirements?|assignment|instructions?|context|background"
    r"|problem statement|purpose|conversation|history)"
)
ASKS_FOR_TASK = Pattern(
    r"\b(?:what|which)\b[^.?!]{0,60}\b(?:working on|trying to (?:do|achieve|accomplish|build|solve)"
    r"|supposed to|asked (?:for|me)|left off|(?:need|like|want) me to (?:do|work|help|focus|tackle"
    r"|start)|should i (?:do|be doing|work on|focus on)|(?:the|your|our|my) " + _TASK + r")\b"
    r"|\bhow (?:can|may|could) i (?:help|assist)\b|\b(?:remind|refresh)\b[^.?!]{0,40}\b(?:me|my)\b"
    r"|\b(?:share|provide|restate|repeat|describe|explain|clarify|outline|specify|give|send|tell)\b"
    r"[^.?!]{0,60}\b" + _TASK + r"\b"
)
"""The question is about the task itself. Matches "what are we working on?"; not "which port?"."""
SAYS_PAST_IS_GONE = Pattern(
    r"\b(?:i|we)\b[^.?!]{0,30}"
    r"\b(?:no|lost|lack|missing|without|(?:do not|don't|didn't|can't|cannot)"
    r" (?:have|see|recall|remember|know|access|find))\b[^.?!]{0,40}"
    r"\b(?:context|conversation|history|earlier|previous|prior|what (?:we|you|i) |the (?:task|goal"
    r"|request))"
)
"""The agent says that its history is gone. Matches "I don't have the earlier context"."""
_USER_INPUT = (
    r"\byour (?:input|answer|decision|preference|guidance|direction|confirmation|opinion|view"
    r"|thoughts|word|call|take)"
)
"""Something that only the user can give: "your decision"."""
# A plea to the user. Matches in "could you share the file"; not in "I share the file".
PLEA = Pattern(
    r"\b(?:could|can|would|will) you\b|\bplease\b"
    r"|\b(?:i|we)(?:'ll| will)? need (?:you|to know|more)\b|" + _USER_INPUT + r"\b"
    r"|\blet me know\b|\b(?:i|we)(?:'m| am|'re| are) not sure\b|\b(?:i'd|i would) like to know\b"
)
# Verbs with which the user is asked for information: "please confirm"; not "please wait".
INFORM = Pattern(
    r"\b(?:share|provide|paste|tell|remind|clarify|describe|explain|specify|give|send|confirm"
    r"|restate|repeat|outline|state|spell out|let me know|point me|know|sure)\b|"
    + _USER_INPUT
    + r"\b"
)
# The start of a question: "so, which port ..."; not "the port which ...".
OPENS_QUESTION = Pattern(
    r"^(?:(?:so|and|but|also|first|before [^,]{3,60}|quick question)[,:—-]{0,2} )?"
    r"(?:what|which|who|where|when|how|is there|are there|do we|do you|did you|should)\b"
)
# An offer or a request for permission: "shall I commit?"; not "what is the goal?".
OFFERS = Pattern(
    r"\b(?:want me to|shall i|should i (?:proceed|continue|go ahead|commit|push|create|also)"
    r"|would you like|do you want|like me to|ready to|ok(?:ay)? to|sound good|look good"
    r"|any (?:questions|feedback)|anything else)\b"
)
# The user invited questions: "ask me anything first".
INVITED = Pattern(r"\b(?:ask me|interview me|questions? (?:first|before)|clarif|let's discuss)\b")
SHORT_MESSAGE_SENTENCES, LAST_SENTENCES = 8, 4
"""A message of up to 8 sentences is read whole; of a longer one, only the last 4."""
FIRST_PERSON = Pattern(r"\b(?:i|me|my|we|us|our)\b")
WANTS_SOMETHING = Pattern(
    r"\b(?:should|shall|may|must|can|could|do) (?:i|we)\b|\bor\b"
    r"|\b(?:give|send|share|provide|paste|show|get|grant|lend|upload|attach)\b"
)
"""A question that proposes something, offers a choice, or asks for a thing: such an agent knows its
task."""
MAX_QUESTION_WORDS = 40
"""Words up to which a message can be nothing but a question."""
MIN_SHARED_TERMS = 2
MIN_SHARE = 0.6
WORD = Pattern(r"\w{1,60}")
MAX_RUN_CHARS = 2_000
RUN_WORDS = 4
"""A question that shares this many consecutive words with the user's words repeats them."""


def find_known_question(message: AgentMessage, evidence: Evidence) -> Finding:
    """Return a finding if a message asks, directly after a summary, for something known."""
    if not 0 < evidence.steps_since <= MAX_STEPS_SINCE_SUMMARY or evidence.has_new_task:
        return NO_FINDING
    if message.acts and not _asks_by_tool(message):
        return NO_FINDING
    best, rows = NO_FINDING, _UserRows(evidence)
    for text in _possible_questions(message):
        finding = _judge_sentence(text, evidence, rows)
        best = finding if finding.strength > best.strength else best
    if best.strength < SIGN_THRESHOLD and _asks_what_this_is(message, evidence):
        why = "it stops in the middle of the work to ask what this is about"
        return _finding(0.6, why, message.text, evidence.intent.current)
    return best


def _asks_what_this_is(message: AgentMessage, evidence: Evidence) -> bool:
    """Whether a message is only a question that could be asked in any session."""
    sentences = [plain_words(sentence.text) for sentence in message.prose]
    if (
        message.calls
        or evidence.follows_user
        or not sentences
        or len(message.text.split()) > MAX_QUESTION_WORDS
    ):
        return False
    if not _is_question(sentences[-1]) or any(OFFERS.search(text) for text in sentences):
        return False
    about_us = (
        FIRST_PERSON.search(sentences[-1]) is not None
        and WANTS_SOMETHING.search(sentences[-1]) is None
    )
    return about_us and evidence.names.isdisjoint(find_names(message.text))


def _asks_by_tool(message: AgentMessage) -> bool:
    return any(bare_tool_name(call.tool) in QUESTION_TOOLS for call in message.calls)


def _possible_questions(message: AgentMessage) -> list[str]:
    """Return the texts that may be questions to the user: the message's end, and its calls."""
    sentences = [sentence.text for sentence in message.prose if sentence.kind != "heading"]
    questions = (
        sentences if len(sentences) <= SHORT_MESSAGE_SENTENCES else sentences[-LAST_SENTENCES:]
    )
    for call in message.calls:
        if bare_tool_name(call.tool) in QUESTION_TOOLS:
            questions += [text for text in short_values(arguments_of(call)) if text.endswith("?")]
    return questions


def _judge_sentence(text: str, evidence: Evidence, rows: "_UserRows") -> Finding:
    words = plain_words(text)
    question = _is_question(words)
    pleads = PLEA.search(words) is not None and INFORM.search(words) is not None
    if (question or pleads) and ASKS_FOR_TASK.search(words):
        return _finding(0.9, "it asks what it is to do", text, evidence.intent.current)
    if SAYS_PAST_IS_GONE.search(words):
        return _finding(0.85, "it says that its past is gone", text, evidence.intent.current)
    if not (question or pleads):
        return NO_FINDING
    known, cover = rows.answering(words)
    if known.text and not INVITED.search(plain_words(evidence.intent.current.text[:2_000])):
        return _finding(min(0.45 + 0.4 * cover, 0.9), "the user has said it already", text, known)
    if OFFERS.search(words) or not (pleads or OPENS_QUESTION.match(words)):
        return NO_FINDING
    return _finding(0.25, "it asks the user something", text, Quote())


def _is_question(words: str) -> bool:
    return words.rstrip("\"')*_` ").endswith("?")


class _UserRows:
    """The user's words and decisions, parsed when the first question is judged."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    @cached_property
    def _rows_with_terms(self) -> list[tuple[Quote, frozenset[str]]]:
        evidence = self._evidence
        rows = (
            *(Quote(rule.text, rule.entry) for rule in evidence.constraints if rule.by == "user"),
            *(
                Quote(decision.choice, decision.entry)
                for decision in evidence.decisions
                if decision.by == "user"
            ),
            *evidence.user_sentences,
        )
        return [(row, subject_of(row.text).terms) for row in rows]

    def answering(self, words: str) -> tuple[Quote, float]:
        """Return the row that answers a question, and the share of shared terms."""
        about, runs = subject_of(words).terms, _word_runs(words)
        best, cover = Quote(), 0.0
        for row, terms in self._rows_with_terms if len(about) >= MIN_SHARED_TERMS else ():
            shared = len(about & terms)
            share = shared / len(about)
            if (
                shared >= MIN_SHARED_TERMS
                and share < MIN_SHARE
                and not runs.isdisjoint(_word_runs(plain_words(row.text)))
            ):
                share = MIN_SHARE
            if shared >= MIN_SHARED_TERMS and share >= MIN_SHARE and share > cover:
                best, cover = row, share
        return best, cover


def _word_runs(words: str) -> frozenset[tuple[str, ...]]:
    """Return all runs of `RUN_WORDS` consecutive words of a text."""
    tokens = WORD.findall(words[:MAX_RUN_CHARS])
    return frozenset(
        tuple(tokens[at : at + RUN_WORDS]) for at in range(len(tokens) - RUN_WORDS + 1)
    )


def _finding(strength: float, why: str, text: str, row: Quote) -> Finding:
    return Finding(strength, why, text, row.text, row.entry)
