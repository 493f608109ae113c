"""Detect a message that declares the work done although there is no result.

The expected result depends on the request. A request for work needs a changed file or a passed
check; a question needs an answer that is about it.
"""

from holdfast.core.ledger.notes import Finding
from holdfast.core.observe.files.touch import bare_tool_name
from holdfast.core.observe.requests.overrides import subject_of
from holdfast.core.verify.drift.evidence import Evidence
from holdfast.core.verify.drift.message import AgentMessage
from holdfast.core.verify.drift.signs import NO_FINDING
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import is_question, plain_words

FINISH_TOOLS = frozenset(
    ("attempt_completion", "finish", "submit", "task_complete", "complete_task", "done")
)
"""Tools with which an agent declares that it is done."""
_DONE = (
    r"(?:done|complete|completed|finished|ready|in place|resolved|wrapped up|implemented"
    r"|finali[sz]ed|delivered|accomplished|concluded|fulfilled|taken care of|good to go|all set)"
)
DECLARES = Pattern(
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
"""Something is declared done. Matches "the task is now complete"; not "complete the task"."""
# Checks are said to pass. Matches "all tests pass"; not "run the tests".
PASSES = Pattern(
    r"\b(?:tests?|checks?|suite|build|everything)\b[^.!?]{0,40}"
    r"\b(?:pass(?:es|ed|ing)?|green|succeed)"
)
# Before a declaration, limits it. Matches in "once the build is done"; not in "the build is done".
PARTLY = Pattern(
    r"\b(?:once|when|after|until|before|if|next|first|not|isn't|aren't|step \d|phase \d|part \d"
    r"|remaining|still|will be|to be)\b|n't\b"
)
# A request for an explanation, not for work: "please explain the cache"; not "fix the cache".
ASKS_FOR_WORDS = Pattern(
    r"^(?:(?:please|can you|could you|would you|i want you to|i need you to|help me|first|then|hey"
    r"|hi|ok|okay|so|now)[, ]{1,2}){0,3}(?:explain|review|why|how|what|which|who|where|when|is|are"
    r"|does|do|did|find|look|check|analy[sz]e|investigate|summari[sz]e|describe|compare|list|tell"
    r"|research|show|assess|evaluate|read|think|plan|discuss|understand|verify|inspect|audit"
    r"|deep)\b"
)
# The agent announces its next step: "let me look"; not "I looked".
INTENDS = Pattern(r"\b(?:let me|let's|i'll|i will|i'm going to|i am going to|next|now)\b")
HANDS_OVER = Pattern(
    r"\b(?:please|kindly|let me know|you (?:can|could|may|need|should|will|have)|if you"
    r"|(?:wait|waiting|need|needs|until|once|when|after) (?:for )?(?:you|your)"
    r"|cannot|unable|lost|missing|not (?:sure|have|know|able))\b|n't\b"
)
"""The message leaves the next step to the user, or says why there is none; then it does not declare
the work done. Matches "let me know"; not "fixed"."""
SILENT_FACTOR = 0.4
"""Factor for a message that declares nothing done but ends the turn."""
CURT_FACTOR = 0.85
"""The same factor for a short message in the middle of the work, which is clearer."""
MAX_CURT_WORDS = 40
"""Words up to which a message that ends a turn explains nothing."""
MIN_ANSWER_WORDS = 25
"""Words from which a message can be an answer."""


def find_false_completion(message: AgentMessage, evidence: Evidence) -> Finding:
    """Return a finding if a message declares work done that is not.

    A message without a call ends the agent's turn, which declares the same less clearly.
    """
    tools = {bare_tool_name(call.tool) for call in message.calls}
    if message.acts and not (tools and tools <= FINISH_TOOLS):
        return NO_FINDING
    sentences = [sentence.text for sentence in message.prose]
    if not sentences and not tools:
        return NO_FINDING
    claim = next((text for text in sentences if _declares(plain_words(text))), "")
    if (
        not claim
        and not tools
        and (_ends_with_question(sentences) or INTENDS.search(plain_words(sentences[-1])))
    ):
        return NO_FINDING
    strength, why = _missing_result(message, evidence, sentences)
    request = evidence.intent.current
    factor = 1.0 if claim or tools else _ending_factor(message, evidence, sentences)
    return Finding(strength * factor, why, claim or message.text, request.text, request.entry)


def _ending_factor(message: AgentMessage, evidence: Evidence, sentences: list[str]) -> float:
    """Return how surely a message without a declaration means that the work is done."""
    curt = len(message.text.split()) <= MAX_CURT_WORDS and not evidence.follows_user
    over = not any(HANDS_OVER.search(plain_words(text)) for text in sentences)
    return CURT_FACTOR if curt and over else SILENT_FACTOR


def _ends_with_question(sentences: list[str]) -> bool:
    """Whether a message ends with a question: then the user is asked, and nothing is declared."""
    return any(text.rstrip("\"')*_` ").endswith("?") for text in sentences[-3:])


def _declares(words: str) -> bool:
    match = DECLARES.search(words)
    if match is None or words.rstrip().endswith("?"):
        return False
    return PARTLY.search(words[: match.start()]) is None


def _missing_result(
    message: AgentMessage, evidence: Evidence, sentences: list[str]
) -> tuple[float, str]:
    """Return how surely a result is missing, and which one."""
    delivered, request = evidence.delivered, evidence.intent.current.text
    if _wants_words(request):
        if _is_answer(message, request):
            return 0.05, "an answer was given"
        if not (delivered.made or delivered.answered):
            return 0.75, "the request asks for an answer, and none was given"
    elif not delivered.made and not delivered.passed:
        explained = _is_answer(message, request, min_words=4 * MIN_ANSWER_WORDS)
        return (
            0.4 if explained else 0.9
        ), "nothing was written, changed or checked for this request"
    return _unfinished_part(evidence, sentences)


def _unfinished_part(evidence: Evidence, sentences: list[str]) -> tuple[float, str]:
    """Return how surely a part is still missing although there is a result, and which one."""
    delivered, remaining = evidence.delivered, evidence.remaining
    if delivered.failing:
        return 0.7, f"the last check failed: {delivered.failing}"
    if remaining:
        return 0.6, f"{len(remaining)} steps of its own list are open: {remaining[0]}"
    if any(PASSES.search(plain_words(text)) for text in sentences) and not delivered.passed:
        return 0.55, "it speaks of checks that pass, and none did for this request"
    if evidence.steps_since != 1 or evidence.has_new_task:
        return 0.05, "there is something to show"
    if delivered.looking:
        return 0.4, "it was still looking around when it was last seen"
    return 0.3, "it was in the middle of its work when it was last seen"


def _wants_words(request: str) -> bool:
    """Whether a request asks for words: an explanation, a review, a plan."""
    words = plain_words(request[:400]).strip()
    return ASKS_FOR_WORDS.match(words) is not None or is_question(request[:400])


def _is_answer(message: AgentMessage, request: str, *, min_words: int = MIN_ANSWER_WORDS) -> bool:
    """Whether a message is long enough and shares a term with the request."""
    shared = subject_of(message.text[:8_000]).terms & subject_of(request[:4_000]).terms
    return len(message.text.split()) >= min_words and bool(shared)
