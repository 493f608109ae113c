"""Layer 1: what is to be done, when it is done, and what binds whoever does it.

Constraints stand word for word and are never left out. The goal is the task in its own words; of a
task that is a document, its beginning, and where the rest is.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.packet import Packet
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.sentences import (
    is_question,
    own_words,
    plain,
    sentences,
    without_remarks,
)
from holdfast.core.view.forms.parts import in_force
from holdfast.core.view.packet.select import telling_words
from holdfast.text.jsontext import SURROGATE

TASK, FRAME = 0.18, 0.06
"""Parts of a budget that the task may take, and what it is a part of."""
NEW = 5
"""Telling words that a request has to add to the task to be told with it."""
LEAST = 40
"""Tokens of a task that are shown however small the budget is."""
LOOKED_AT = 40_000
"""Characters of a task in which its beginning is looked for."""
WHOLE = 4_000
"""Characters of a task that a packet carries; of a longer one, the beginning."""
MOST, LONGEST_CRITERION = 4, 240
"""Criteria that are told, and characters of one."""
_END = re.compile(r"(?<![\s\n(]\d)(?<!\s\d\d)[.!?](?=\s)|\n|[。！？]")
"""Where a sentence ends; the number of a list entry is no sentence."""
_TAG = re.compile(r"^(?:</?[\w-]{1,40}>\s{0,4}){1,4}")
_TAG_LINE = re.compile(r"(?m)^[ \t]{0,8}</?[\w-]{1,40}>[ \t]{0,8}$")
_BLANK_LINES = re.compile(r"\n[ \t]{0,8}\n\s{1,200}(?=\n)")
_NO_CRITERION = re.compile(r"^(?:#|run\b|```|\||<)|:$")
_CRITERION = re.compile(
    r"\b(?:done when|success(?: criteria| means)|acceptance|make sure|ensure|verify that"
    r"|so that|should (?:receive|return|show|see|get|be able|pass|work|print|exit)"
    r"|(?:all )?tests? (?:must|should|need to|have to|still) pass|expected)\b"
)


class Goal(Struct, frozen=True):
    """What a worker is to do."""

    text: str = ""
    criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    left: int = 0
    """Tokens of the task that are not in the text."""


def goal_of(task: str, rows: Summary, budget: int, count: CountTokens) -> Goal:
    """The goal of a task that is part of what the rows tell, in its share of a budget."""
    task = said(task)
    begun = beginning(task, max(int(budget * TASK), LEAST), count)
    constraints = constraints_of(rows)
    # Of a task that is a document already, its own words say what it is about.
    frame = _frame(task, rows, int(budget * FRAME), count) if begun == task else ""
    criteria = [one for one in criteria_in(task, rows) if one not in constraints]
    return Goal(
        "\n".join(part for part in (begun, frame) if part),
        tuple(one for one in criteria if one not in begun)[:MOST],
        constraints,
        _left(task, begun, count),
    )


def said(task: str) -> str:
    """A task in the words of whoever set it, without what a program put around them."""
    whole = SURROGATE.sub("\ufffd", task).strip()
    words = "\n".join(part.strip() for part in own_words(whole))
    shown = _BLANK_LINES.sub("\n\n", _TAG_LINE.sub("", without_remarks(words))).strip()
    return shown or words.strip() or whole


def _left(task: str, begun: str, count: CountTokens) -> int:
    if begun == task:
        return 0
    # Nobody waits for the exact size of a document.
    return count(task) - count(begun) if len(task) <= LOOKED_AT else len(task) // 4


def beginning(text: str, room: int, count: CountTokens) -> str:
    """As many whole sentences or lines from the beginning of a text as fit; at least some words."""
    if len(text) <= room * 8 and count(text) <= room:
        return text
    text = text[: min(LOOKED_AT, room * 12)]
    ends = [found.end() for found in _END.finditer(text)]
    for end in reversed(ends):
        if count(text[:end]) < room:
            return f"{text[:end].strip()} …"
    while len(text) > 8 and count(text) >= room:
        cut = text[: max(len(text) * 3 // 4, 8)]
        text = cut.rpartition(" ")[0] or cut
    return f"{text} …"


def _frame(task: str, rows: Summary, room: int, count: CountTokens) -> str:
    """What the task is a part of: the newest request that says more than the task does."""
    if room < 10 or not task:
        return ""
    known = set(telling_words(task))
    bound = [" ".join(one.text.split()) for one in rows.constraints]
    for quote in (rows.intent.current, rows.intent.original):
        words = _TAG.sub("", " ".join(quote.text[:LOOKED_AT].split()))
        for text in bound:
            words = " ".join(words.replace(text, " ").split())
        if words in " ".join(task.split()):
            continue
        if len(set(telling_words(words)) - known) >= NEW:
            return f"Part of: {beginning(words, room, count)}"
    return ""


def constraints_of(rows: Summary) -> tuple[str, ...]:
    """Every constraint that holds, word for word."""
    return tuple(dict.fromkeys(one.text for one in in_force(rows)))


@rule([])
def criteria_in(task: str, rows: Summary) -> list[str]:
    """Sentences of the task and of the user's requests that say when it is done."""
    requests: Iterable[Quote] = (rows.intent.current, rows.intent.original)
    texts = [task, *(quote.text for quote in requests)]
    found: dict[str, None] = {}
    for text in texts:
        for part in own_words(text[:LOOKED_AT]):
            for one in sentences(part):
                if _is_criterion(one.text):
                    found[" ".join(one.text.split())] = None
    return list(found)


def _is_criterion(text: str) -> bool:
    words = plain(text).strip()
    if len(text) > LONGEST_CRITERION or is_question(text) or _NO_CRITERION.search(words):
        return False
    return _CRITERION.search(words) is not None


def carried(task: str) -> str:
    """The task as a packet carries it."""
    task = SURROGATE.sub("\ufffd", task).strip()
    return task if len(task) <= WHOLE else f"{task[:WHOLE].rstrip()} …"


def is_shortened(packet: Packet) -> bool:
    """Whether the packet has only the beginning of its task."""
    return packet.target_task.endswith(" …") and len(packet.target_task) > WHOLE - 40
