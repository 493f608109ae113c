"""Layer 1 of a packet: the goal, the success criteria and the constraints of a task.

Constraints are copied word for word and never left out. The goal is the task in its own words; a
task that is a long document is cut to its beginning, with a note on the rest.
"""

from collections.abc import Iterable

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.marks import PASTE_MARK
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.core.view.forms.parts import constraints_in_force
from holdfast.core.view.packet.select import telling_words
from holdfast.text.clip import clip_and_mark
from holdfast.text.jsontext import SURROGATE
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import is_question, plain_words, without_html_comments

TASK, FRAME = 0.18, 0.06
"""Shares of a budget for the task, and for the larger request that it is part of."""
NEW = 5
"""Telling words that the larger request must add to be shown with the task."""
LEAST = 40
"""Tokens of a task that are shown even in a small budget."""
LOOKED_AT = 40_000
"""Characters of a task that are searched for its beginning."""
WHOLE = 4_000
"""Characters of a task that a packet stores; a longer one is cut."""
MOST, LONGEST_CRITERION = 4, 240
"""Maximum number of criteria, and of characters in each."""
_END = Pattern(r"(?<![\s\n(]\d)(?<!\s\d\d)[.!?](?=\s)|\n|[。！？]")
"""Where a sentence ends; the number of a list entry is no sentence."""
_TAG = Pattern(r"^(?:</?[\w-]{1,40}>\s{0,4}){1,4}")
_TAG_LINE = Pattern(r"(?m)^[ \t]{0,8}</?[\w-]{1,40}>[ \t]{0,8}$")
_BLANK_LINES = Pattern(r"\n[ \t]{0,8}\n\s{1,200}(?=\n)")
_NO_CRITERION = Pattern(r"^(?:#|run\b|```|\||<)|:$")
_CRITERION = Pattern(
    r"\b(?:done when|success(?: criteria| means)|acceptance|make sure|ensure|verify that"
    r"|so that|should (?:receive|return|show|see|get|be able|pass|work|print|exit)"
    r"|(?:all )?tests? (?:must|should|need to|have to|still) pass|expected)\b"
)


class Goal(Struct, frozen=True):
    """The goal of a worker, with criteria and constraints."""

    text: str = ""
    criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    left: int = 0
    """Tokens of the task that the text leaves out."""


def goal_of(task: str, rows: Summary, budget: int, count: CountTokens) -> Goal:
    """Return the goal of a task within its share of a budget."""
    task = own_task_words(task)
    begun = beginning_of_text(task, max(int(budget * TASK), LEAST), count)
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


def own_task_words(task: str) -> str:
    """Return a task in its author's words, without what a program added around them."""
    whole = SURROGATE.sub("\ufffd", task).strip()
    words = "\n".join(part.strip() for part in own_words(whole))
    shown = _BLANK_LINES.sub("\n\n", _TAG_LINE.sub("", without_html_comments(words))).strip()
    return shown or words.strip() or whole


def _left(task: str, begun: str, count: CountTokens) -> int:
    if begun == task:
        return 0
    # Nobody waits for the exact size of a document.
    return count(task) - count(begun) if len(task) <= LOOKED_AT else len(task) // 4


def beginning_of_text(text: str, room: int, count: CountTokens) -> str:
    """Return as many whole sentences or lines as fit, at least some words."""
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
        if words.startswith(PASTE_MARK) or words in " ".join(task.split()):
            continue
        if len(set(telling_words(words)) - known) >= NEW:
            return f"Part of: {beginning_of_text(words, room, count)}"
    return ""


def constraints_of(rows: Summary) -> tuple[str, ...]:
    """Return every constraint in force, word for word."""
    return tuple(dict.fromkeys(one.text for one in constraints_in_force(rows)))


@rule([])
def criteria_in(task: str, rows: Summary) -> list[str]:
    """Return the sentences of the task and the requests that say when it is done."""
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
    words = plain_words(text).strip()
    if len(text) > LONGEST_CRITERION or is_question(text) or _NO_CRITERION.search(words):
        return False
    return _CRITERION.search(words) is not None


def task_to_carry(task: str) -> str:
    """Return the task as a packet stores it: cut to its beginning when it is long."""
    task = SURROGATE.sub("\ufffd", task).strip()
    return clip_and_mark(task, WHOLE, " …")
