"""A model's answer about a span, checked like any other input, and the rows that come of it.

The record is the truth: a row must cite an entry of the span, a user's decision must be the user's
words, a path must be one the record knows. What breaks one of these rules makes the whole answer
unusable; a row that only says more than the span does is left out. Requests and constraints have
no field at all, so nothing that a model says can set or lift one.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.asking import Answer, Asking, Failed
from holdfast.core.ledger.summary import Decision, File, Next, Progress, Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.shrink.ask.evidence import (
    Grounded,
    Grounds,
    grounds_of,
    holds_quote,
    is_founded,
    names_only_known,
)
from holdfast.core.shrink.ask.prompts import (
    EXAMPLES,
    Ahead,
    Choice,
    Phase,
    Purpose,
    Question,
    Redact,
    Rows,
    as_it_is,
    ask_about,
    chunked,
    room_for,
    tell,
    token_of,
)
from holdfast.core.shrink.step import REF_LENGTH
from holdfast.text.language import is_foreign

LONGEST = 60_000
"""Characters of an answer that are looked at; a longer one is none."""
FENCE = "```"

DECLINED = (
    "i'm sorry",
    "i’m sorry",
    "i am sorry",
    "sorry,",
    "i can't help",
    "i can’t help",
    "i can't assist",
    "i can't comply",
    "i cannot help",
    "i cannot assist",
    "i cannot comply",
    "i cannot provide",
    "i'm unable",
    "i am unable",
    "i won't",
    "as an ai",
    "as a language model",
)
"""How a text begins that declines to answer."""

TURNING = frozenset(("ignore", "disregard", "forget", "override", "bypass"))
EARLIER = frozenset(
    ("previous", "prior", "above", "earlier", "all", "any", "your", "system", "these")
)
ORDERS = frozenset(("instruction", "instructions", "prompt", "prompts", "rules", "constraints"))
COMMANDING = (
    "you must",
    "you are now",
    "you will now",
    "new instructions",
    "system prompt",
    "<system",
    "</system",
    "[system",
    "system:",
    "<user",
    "<assistant",
    "<|",
)
"""Marks of a text that speaks to its reader instead of telling what happened."""

OWN = ("assistant", "thinking", "call")
"""Where an agent decides."""
WORDS = ("user", *OWN)
"""Whose words may set a step; a tool's output may not."""

STOPPED = {
    "length": "the model ran out of tokens before it was done",
    "tool": "the model called a tool instead of answering",
    "filter": "the provider held the answer back",
}


class Refused(Struct, frozen=True):
    """An answer that is not used, and why, in one sentence."""

    reason: str


class Made(Struct, frozen=True):
    """The rows that a model added to a span; none, and the reason, when it could not be used."""

    summary: Summary = Summary()
    refused: str = ""


class _Unusable(Exception):
    """Ends the check of an answer; never leaves this module."""


def summarising(
    span: Sequence[Item],
    known: Summary,
    count: CountTokens,
    budget: int,
    *,
    redact: Redact = as_it_is,
) -> Asking[Made]:
    """Ask about a span, as many times as its length needs, and keep only what can be checked.

    `budget` is what one prompt may cost. One bad answer ends it: half an account would pass for
    a whole one.
    """
    told = tell(span, redact)
    token = token_of(told)
    room = room_for(token, count, budget)
    if not room:
        return Made(refused="the budget for a prompt is too small to ask anything")
    grounds = grounds_of(span, known, redact)
    known, made = _citable(known, grounds), Summary()
    for chunk in chunked(told, token, count, room):
        so_far = _joined(known, made)
        reply = yield ask_about(chunk, so_far, token, count=count, budget=budget)
        found = _checked(reply, grounds, so_far, size=sum(len(one.text) for one in chunk))
        if isinstance(found, Refused):
            return Made(refused=found.reason)
        made = _joined(made, found)
    return Made(made if made != Summary(by=made.by) else Summary())


def checked(
    answer: Answer | Failed,
    span: Sequence[Item],
    known: Summary,
    *,
    redact: Redact = as_it_is,
) -> Summary | Refused:
    """The rows of an answer that hold against the span, or why none of it is used."""
    grounds = grounds_of(span, known, redact)
    return _checked(answer, grounds, known, size=grounds.size)


def _checked(
    answer: Answer | Failed, grounds: Grounds, known: Summary, *, size: int
) -> Summary | Refused:
    if isinstance(answer, Failed):
        return Refused(answer.reason or "no answer came")
    reason = _unreadable(answer, size)
    if reason:
        return Refused(reason)
    try:
        rows = msgspec.json.decode(_bare(answer.text), type=Rows)
    except ValueError as error:
        return Refused(_shape(error))
    try:
        return _summary(rows, grounds, known, answer.model or "an unnamed model")
    except _Unusable as error:
        return Refused(str(error))


def _unreadable(answer: Answer, size: int) -> str:
    """Why an answer needs no reading; empty when it does."""
    text = answer.text.strip()
    if answer.stop != "end":
        return STOPPED.get(answer.stop, "the model stopped for a reason nobody knows")
    if not text:
        return "the answer is empty"
    if len(text) > min(size, LONGEST):
        return "the answer is longer than what it is about"
    if text.startswith("<"):
        return "the answer is a web page or markup, not JSON"
    return "the model declined to answer" if _declines(text) else ""


def _declines(text: str) -> bool:
    return text[:40].casefold().startswith(DECLINED)


def _bare(text: str) -> str:
    """The document inside the one code fence that many models cannot do without."""
    text = text.strip()
    if text.startswith(FENCE) and text.endswith(FENCE) and "\n" in text:
        return text[text.index("\n") : -len(FENCE)]
    return text


def _shape(error: ValueError) -> str:
    if "trailing characters" in str(error):
        return "the answer holds more than one document"
    if isinstance(error, msgspec.ValidationError):
        said = "".join(char for char in str(error)[:120] if char.isprintable())
        return f"the answer is not of the shape that was asked for: {said}"
    return "the answer is not JSON"


def _summary(rows: Rows, grounds: Grounds, known: Summary, model: str) -> Summary:
    """The rows as a summary of nothing else.

    Raises:
        _Unusable: one of them breaks a rule.
    """
    _plain(rows, grounds)
    return Summary(
        files=_files(rows.files, grounds, known),
        decisions=_decisions(rows.decisions, grounds, known),
        progress=_progress(rows.phase, grounds),
        next=_steps(rows.next, grounds),
        questions=_questions(rows.questions, grounds),
        by=model,
    )


def _plain(rows: Rows, grounds: Grounds) -> None:
    """Refuse texts that decline, that command, or that are of another language."""
    texts = [text for text in _prose(rows) if text]
    if any(_declines(text) for text in texts):
        raise _Unusable("the model declined to answer")
    if any(_same(text).strip(".") in EXAMPLES for text in texts):
        raise _Unusable("the answer repeats the form that it should fill in")
    if any(_commands(text) for text in texts):
        raise _Unusable("the answer speaks to its reader instead of telling what happened")
    if is_foreign("\n".join(texts), grounds.spoken):
        raise _Unusable("the answer is in another language than the work")


def _prose(rows: Rows) -> Iterable[str]:
    for one in rows.decisions:
        yield from (one.choice, one.reason)
    yield from (one.why for one in rows.files)
    yield from (one.step for one in rows.next)
    if rows.phase:
        yield rows.phase.name


def _commands(text: str) -> bool:
    lowered = text.casefold()
    if any(mark in lowered for mark in COMMANDING):
        return True
    words = {word.strip(".,;:!?\"'()") for word in lowered.split()}
    return bool(words & TURNING and words & EARLIER and words & ORDERS)


def _cited(ref: str, grounds: Grounds) -> Grounded:
    found = grounds.entries.get(ref[:REF_LENGTH])
    if found is None or not found.id.startswith(ref):
        raise _Unusable(f"the answer cites an entry that is not there: {ref[:REF_LENGTH]}")
    return found


def _decisions(rows: Iterable[Choice], grounds: Grounds, known: Summary) -> tuple[Decision, ...]:
    made: dict[str, Decision] = {}
    told = {_same(one.choice) for one in known.decisions}
    for row in rows:
        cited = _cited(row.entry, grounds)
        one = _of_user(row, cited) if row.by == "user" else _of_agent(row, cited, grounds)
        if one is None or _same(one.choice) in told:
            continue
        reason = one_line(one.reason)
        founded = is_founded(reason, grounds)
        made.setdefault(_same(one.choice), replace(one, reason=reason if founded else ""))
    return tuple(made.values())


def _of_user(row: Choice, cited: Grounded) -> Decision:
    """A user's decision is the user's own words, whatever the model calls it."""
    if cited.who != "user" or not holds_quote(cited, row.quote):
        raise _Unusable("the answer puts words into the user's mouth")
    return Decision(row.quote.strip(), cited.id, row.reason, "user")


def _of_agent(row: Choice, cited: Grounded, grounds: Grounds) -> Decision | None:
    if row.quote and row.quote.strip() not in cited.text:
        raise _Unusable("the answer quotes words that the entry does not have")
    choice = one_line(row.choice)
    if cited.who not in OWN or not choice or not is_founded(choice, grounds):
        return None
    return Decision(choice, cited.id, row.reason)


def _files(rows: Iterable[Purpose], grounds: Grounds, known: Summary) -> tuple[File, ...]:
    files = {one.path: one for one in known.files}
    made: dict[str, File] = {}
    for row in rows:
        _cited(row.entry, grounds)
        file = files.get(row.path)
        if file is None:
            raise _Unusable("the answer names a file that the record does not know")
        why = one_line(row.why)
        # What the agent itself said it was for stands.
        if not file.why and why and is_founded(why, grounds):
            made.setdefault(row.path, replace(file, why=why))
    return tuple(made.values())


def _questions(rows: Iterable[Question], grounds: Grounds) -> tuple[Quote, ...]:
    made: dict[Quote, None] = {}
    for row in rows:
        cited = _cited(row.entry, grounds)
        if not holds_quote(cited, row.text):
            raise _Unusable("the answer quotes words that the entry does not have")
        if cited.who in ("user", "assistant"):
            made[Quote(row.text.strip(), cited.id)] = None
    return tuple(made)


def _steps(rows: Iterable[Ahead], grounds: Grounds) -> tuple[Next, ...]:
    made: dict[str, Next] = {}
    for row in rows:
        cited = _cited(row.entry, grounds)
        step = one_line(row.step)
        if cited.who in WORDS and step and is_founded(step, grounds):
            made.setdefault(_same(step), Next(step, cited.id, row.owner))
    return tuple(made.values())


def _progress(row: Phase | None, grounds: Grounds) -> Progress:
    if row is None:
        return Progress()
    cited = _cited(row.entry, grounds)
    name = one_line(row.name)
    if cited.who not in WORDS or not name or not names_only_known(name, grounds):
        return Progress()
    return Progress(phase=name, entry=cited.id)


def _citable(known: Summary, grounds: Grounds) -> Summary:
    """What is known without open rows of earlier spans: the model could not cite their entries."""
    here = {one.id for one in grounds.entries.values()}
    return replace(
        known,
        questions=tuple(one for one in known.questions if one.entry in here),
        next=tuple(one for one in known.next if one.entry in here),
    )


def _joined(known: Summary, found: Summary) -> Summary:
    """What is known, with newer rows: decisions and purposes add up, the state is replaced."""
    if not found.by:
        return known
    purposes = {one.path: one for one in found.files}
    kept = tuple(purposes.pop(one.path, one) for one in known.files)
    return replace(
        known,
        files=(*kept, *purposes.values()),
        decisions=tuple(dict.fromkeys((*known.decisions, *found.decisions))),
        progress=found.progress if found.progress.phase else known.progress,
        next=found.next,
        questions=found.questions,
        by=found.by,
    )


def _same(text: str) -> str:
    return " ".join(text.casefold().split())


def one_line(text: str) -> str:
    """A text as one line without marks that a terminal or a reader could take for structure."""
    line = " ".join(text.split())
    return "".join(char for char in line if char.isprintable()).lstrip("#>-*=|` ")
