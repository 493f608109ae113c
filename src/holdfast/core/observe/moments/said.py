"""Read sentences of the agent, of its reasoning and of reports by other agents as moments."""

from collections.abc import Iterator, Mapping, Sequence

from holdfast.core.faults import row_rule
from holdfast.core.ledger.entry import EntryId
from holdfast.core.observe.moments.moment import (
    BELOW_HEADING,
    MAX_MOMENT_CHARS,
    Moment,
    MomentKind,
    plain_line,
)
from holdfast.core.observe.sentences import sentences
from holdfast.text.clip import clip_and_mark
from holdfast.text.language import COMMON_WORDS
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import (
    THOUGHT_LABEL,
    Sentence,
    announces_lookup,
    is_announcement,
    is_question,
    plain_words,
)
from holdfast.text.words import TERM

MIN_SENTENCE_CHARS = 12
MAX_SENTENCES = 120
"""Sentences of one text that become moments; the last ones of a longer text."""
SAID_WEIGHT, CLOSING_WEIGHT = 1.0, 1.6
"""The weight of a sentence, and of one in a text that ended a turn."""
ANNOUNCED_SHARE = 0.2
"""The share of the weight that "I'll change the parser" and "The changes are:" have."""
ASKED_FACTOR, WONDERED_FACTOR = 0.5, 0.4
"""Factors for a question to the user, and for one that the agent asks itself.

An open question has a section of its own, and one that was answered in few words is shown before
the answer: any other says little.
"""
SHORT_SHARE, MAX_PLAIN_WORDS, MIN_CONTENT_WORDS = 0.1, 12, 4
"""The share of a sentence such as "You raise a valid point."."""
MANY_SENTENCES, LEAST_SHARE = 8, 0.5
"""A text with more sentences weighs less per sentence, down to this share."""
MAX_SHORT_ITEM, MAX_JOINED_CHARS = 90, 300
"""Items of a list up to this length are joined, up to so many characters together."""
REPORTED_WEIGHT, THOUGHT_WEIGHT = 0.8, 0.4
LEVEL_OF_TITLE, MAX_HEADING_CHARS = 7, 48
MAX_EMPTY_LEAD = 60
"""A longer line that introduces code or a list says something by itself."""
MAX_LOOKUP_CHARS = 160
"""A longer announcement of a lookup says something besides."""
# `agentId: a1b2 (for resuming …)`, `<usage>…`, `No response requested.`: lines that a host adds;
# but not `The agent is done.`.
_HOST_LINE = Pattern(
    r"(?:agentId\b|<|total_tokens\b|tool_uses\b|duration_ms\b|No response requested\."
    r"|Please continue the conversation from where)"
)
# `**Reviewing the tests**`, `**Risks:**`: a title; not `**Note**: x` and `**It is sound.**`.
_TITLE = Pattern(r"\*\*[^*\n]{1,120}[^*\n.!?]\*\*:?$")
# `load_plan`, `a.py`, `isOpen`, `#175`, backquotes; but not `The fix is sound.`.
NAMED = Pattern(r"[_/`\d#]|\w\.\w|[a-z][A-Z]")
# `Wait, is it`, `Maybe the`, `If the value is None`: a step of reasoning; but not `The parser`.
_WONDERS = Pattern(
    r"(?:(?:but|so|and|ah|oh|hmm|ok|okay|no|yes|actually),? ){0,2}"
    r"(?:wait|maybe|perhaps|possibly|hmm|if|suppose|assuming|is it|could it|i wonder|i suspect)\b"
)
# `Okay, so the user wants me to …`, `The user said to …`: the request itself is shown; but not
# `The users table …` and `The user table …`.
_REPEATS_REQUEST = Pattern(
    r"(?:(?:so|ok|okay|now|alright|right),? ){0,2}the user (?:wants|asked|asks|is asking|has asked"
    r"|said|says|told|seems to|would like)\b"
)


@row_rule
def said_moments(text: str, entry: EntryId, *, closes: bool = False) -> Iterator[Moment]:
    """Yield a moment for each sentence and list item of a message of the agent."""
    weight = CLOSING_WEIGHT if closes else SAID_WEIGHT
    return _sentence_moments("said", text, entry, weight, asks=closes)


@row_rule
def thought_moments(text: str, entry: EntryId) -> Iterator[Moment]:
    """Yield a moment for each sentence of the agent's reasoning."""
    return _sentence_moments("thought", text, entry, THOUGHT_WEIGHT)


@row_rule
def reported_moments(text: str, entry: EntryId) -> Iterator[Moment]:
    """Yield a moment for each sentence of a report that another agent wrote."""
    return _sentence_moments("reported", text, entry, REPORTED_WEIGHT)


@row_rule
def inherited_moments(text: str, entry: EntryId) -> Iterator[Moment]:
    """Yield a moment for each sentence of a summary that the record begins with.

    Nothing else says what happened before, so its sentences weigh like those of the agent.
    """
    return _sentence_moments("reported", text, entry, SAID_WEIGHT, asks=True)


def _sentence_moments(
    kind: MomentKind, text: str, entry: EntryId, weight: float, *, asks: bool = False
) -> Iterator[Moment]:
    parts = _sections(sentences(text)[-MAX_SENTENCES:])
    lines = [(line, heading) for heading, part in parts for line in _joined(part)]
    if not asks and len(lines) > MANY_SENTENCES:
        # A long text in the middle of the work is reasoning: each step of it says little.
        weight *= max((MANY_SENTENCES / len(lines)) ** 0.5, LEAST_SHARE)
    for line, heading in lines:
        factor = _factor_of(line, asks=asks)
        if factor:
            shown = clip_and_mark(plain_line(line.replace("**", "")), MAX_MOMENT_CHARS)
            yield Moment(kind, shown, entry, weight * factor, under=heading)


def _sections(found: Sequence[Sentence]) -> Iterator[tuple[str, list[Sentence]]]:
    """Yield the sentences under each heading, with the headings above it."""
    path, part = dict[int, str](), list[Sentence]()
    for sentence in found:
        level = _heading_level(sentence)
        # A bold line is the title of one list: the text after the list is not below it.
        ends_list = sentence.kind == "plain" and part[-1:] and part[-1].kind == "item"
        if level or (ends_list and LEVEL_OF_TITLE in path):
            yield _heading_of(path), part
            last = level or LEVEL_OF_TITLE
            path, part = {above: text for above, text in path.items() if above < last}, []
        if level:
            title = plain_line(sentence.text).replace("**", "").strip("#: ")
            path[level] = clip_and_mark(title, MAX_HEADING_CHARS)
        else:
            part.append(sentence)
    yield _heading_of(path), part


def _heading_level(sentence: Sentence) -> int:
    """Return the number of signs before a heading, one more than any for a bold line; else 0."""
    text = sentence.text
    if sentence.kind == "heading":
        return len(text) - len(text.lstrip("#")) or 1
    return LEVEL_OF_TITLE if sentence.kind == "plain" and _TITLE.match(text) else 0


def _heading_of(path: Mapping[int, str]) -> str:
    """Return the last two headings of a path: a subtitle such as "Risks" says little alone."""
    return BELOW_HEADING.join(path[level] for level in sorted(path)[-2:])


def _joined(found: Sequence[Sentence]) -> Iterator[str]:
    """Yield sentences; short items of a list are one text, with the line that introduces them."""
    items, lead = list[str](), ""
    for sentence in found:
        text = THOUGHT_LABEL.sub("", sentence.text)
        if sentence.kind == "item" and len(text) <= MAX_SHORT_ITEM:
            opens = text.rstrip("* ").endswith(":")
            if items and (opens or sum(map(len, items)) + len(text) > MAX_JOINED_CHARS):
                yield " · ".join(items)
                items = []
            items.append(f"{lead} {text}" if lead else text)
            lead = ""
            continue
        if items:
            yield " · ".join(items)
        if len(lead) > MAX_EMPTY_LEAD:
            yield lead
        items, lead = [], text if text.rstrip("* ").endswith(":") else ""
        if not lead:
            yield text
    if items:
        yield " · ".join(items)
    if len(lead) > MAX_EMPTY_LEAD:
        yield lead


def _says_little(text: str) -> bool:
    """Return whether a sentence has a few plain words only: no name, number or path."""
    words = TERM.findall(text)
    if len(words) > MAX_PLAIN_WORDS or not text.isascii() or NAMED.search(text):
        return False
    return sum(word.lower() not in COMMON_WORDS for word in words) < MIN_CONTENT_WORDS


def _factor_of(text: str, *, asks: bool) -> float:
    """Return the share of the weight that a sentence has; 0 if it says nothing."""
    if len(text) < MIN_SENTENCE_CHARS or _TITLE.match(text) or _HOST_LINE.match(text):
        return 0.0
    words = plain_words(text)
    if " " not in words and words.isascii():
        return 0.0
    if _REPEATS_REQUEST.match(words):
        return 0.0
    if is_announcement(words):
        is_empty = len(words) <= MAX_LOOKUP_CHARS and announces_lookup(words)
        return 0.0 if is_empty else ANNOUNCED_SHARE
    # `The steps are:1.` has lost its list.
    if words.rstrip("0123456789.").endswith(":"):
        return ANNOUNCED_SHARE
    if is_question(words):
        return ASKED_FACTOR if asks else WONDERED_FACTOR
    factor = WONDERED_FACTOR if _WONDERS.match(words) else 1.0
    return factor * SHORT_SHARE if not asks and _says_little(text) else factor
