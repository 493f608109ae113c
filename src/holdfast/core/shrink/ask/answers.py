"""Ask a model for summary rows about a span, and check its answer against the record.

A row must cite an entry of the span, a user's decision must be the user's words, and a path must be
known to the record. A row that breaks one of these rules makes the whole answer unusable; a row
that only claims more than the span supports is left out. Requests and constraints have no field, so
a model can neither set nor lift one.
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
    EvidenceEntry,
    SpanEvidence,
    evidence_of,
    holds_quote,
    is_supported,
    names_only_known,
)
from holdfast.core.shrink.ask.prompts import (
    FORM_TEXTS,
    Ahead,
    Choice,
    Phase,
    Purpose,
    Question,
    Redact,
    Rows,
    ask_about,
    entry_room,
    fence_token,
    no_redaction,
    prompt_entries,
    split_into_chunks,
)
from holdfast.core.shrink.step import REF_LENGTH
from holdfast.text.clip import one_line, without_controls
from holdfast.text.language import is_foreign

MAX_ANSWER_CHARS = 60_000
"""A longer answer is not used."""
FENCE = "```"

REFUSAL_STARTS = (
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
"""Beginnings of a text that declines to answer."""

OVERRIDE_VERBS = frozenset(("ignore", "disregard", "forget", "override", "bypass"))
OVERRIDE_SCOPES = frozenset(
    ("previous", "prior", "above", "earlier", "all", "any", "your", "system", "these")
)
INSTRUCTION_NOUNS = frozenset(
    ("instruction", "instructions", "prompt", "prompts", "rules", "constraints")
)
COMMAND_MARKS = (
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
"""Parts of a text that gives commands to its reader instead of reporting what happened."""

AGENT_SPEAKERS = ("assistant", "thinking", "call")
"""Kinds of entries in which an agent decides."""
STEP_SPEAKERS = ("user", *AGENT_SPEAKERS)
"""Kinds of entries that may set a next step; a tool's output may not."""

STOP_REASONS = {
    "length": "the model ran out of tokens before it was done",
    "tool": "the model called a tool instead of answering",
    "filter": "the provider held the answer back",
}


class UnusableAnswer(Struct, frozen=True):
    """An answer that is not used, with the reason in one sentence."""

    reason: str


class ModelRows(Struct, frozen=True):
    """The rows that a model added to a span; if its answer was unusable, only the reason."""

    summary: Summary = Summary()
    refused: str = ""


class _BrokenRule(Exception):
    """Ends the check of an answer; caught in this module."""


def ask_for_rows(
    span: Sequence[Item],
    known: Summary,
    count: CountTokens,
    budget: int,
    *,
    redact: Redact = no_redaction,
) -> Asking[ModelRows]:
    """Ask about a span in as many prompts as its length needs, and return the checked rows.

    `budget` is the maximum number of tokens of one prompt. One unusable answer discards all of
    them: rows about half of the span would look like rows about all of it.
    """
    entries = prompt_entries(span, redact)
    token = fence_token(entries)
    room = entry_room(token, count, budget)
    if not room:
        return ModelRows(refused="the budget for a prompt is too small to ask anything")
    evidence = evidence_of(span, known, redact)
    known, collected = _without_uncitable(known, evidence), Summary()
    for chunk in split_into_chunks(entries, token, count, room):
        so_far = _merge_rows(known, collected)
        reply = yield ask_about(chunk, so_far, token, count=count, budget=budget)
        checked_rows = _check(reply, evidence, so_far, size=sum(len(entry.text) for entry in chunk))
        if isinstance(checked_rows, UnusableAnswer):
            return ModelRows(refused=checked_rows.reason)
        collected = _merge_rows(collected, checked_rows)
    return ModelRows(collected if collected != Summary(by=collected.by) else Summary())


def check_answer(
    answer: Answer | Failed,
    span: Sequence[Item],
    known: Summary,
    *,
    redact: Redact = no_redaction,
) -> Summary | UnusableAnswer:
    """Return the rows of an answer that the span supports, or the reason not to use the answer."""
    evidence = evidence_of(span, known, redact)
    return _check(answer, evidence, known, size=evidence.size)


def _check(
    answer: Answer | Failed, evidence: SpanEvidence, known: Summary, *, size: int
) -> Summary | UnusableAnswer:
    if isinstance(answer, Failed):
        return UnusableAnswer(answer.reason or "no answer came")
    reason = _why_unreadable(answer, size)
    if reason:
        return UnusableAnswer(reason)
    try:
        rows = msgspec.json.decode(_without_fence(answer.text), type=Rows)
    except ValueError as error:
        return UnusableAnswer(_why_not_decoded(error))
    try:
        return _to_summary(rows, evidence, known, answer.model or "an unnamed model")
    except _BrokenRule as error:
        return UnusableAnswer(str(error))


def _why_unreadable(answer: Answer, size: int) -> str:
    """Return the reason not to decode an answer; empty if there is none."""
    text = answer.text.strip()
    if answer.stop != "end":
        return STOP_REASONS.get(answer.stop, "the model stopped for a reason nobody knows")
    if not text:
        return "the answer is empty"
    if len(text) > min(size, MAX_ANSWER_CHARS):
        return "the answer is longer than what it is about"
    if text.startswith("<"):
        return "the answer is a web page or markup, not JSON"
    return "the model declined to answer" if _declines(text) else ""


def _declines(text: str) -> bool:
    return text[:40].casefold().startswith(REFUSAL_STARTS)


def _without_fence(text: str) -> str:
    """Remove the code fence that many models put around their JSON."""
    text = text.strip()
    if text.startswith(FENCE) and text.endswith(FENCE) and "\n" in text:
        return text[text.index("\n") : -len(FENCE)]
    return text


def _why_not_decoded(error: ValueError) -> str:
    if "trailing characters" in str(error):
        return "the answer holds more than one document"
    if isinstance(error, msgspec.ValidationError):
        detail = "".join(char for char in str(error)[:120] if char.isprintable())
        return f"the answer is not of the shape that was asked for: {detail}"
    return "the answer is not JSON"


def _to_summary(rows: Rows, evidence: SpanEvidence, known: Summary, model: str) -> Summary:
    """Return a summary of only these rows.

    Raises:
        _BrokenRule: a row breaks a rule.
    """
    _check_prose(rows, evidence)
    return Summary(
        files=_files(rows.files, evidence, known),
        decisions=_decisions(rows.decisions, evidence, known),
        progress=_progress(rows.phase, evidence),
        next=_steps(rows.next, evidence),
        questions=_questions(rows.questions, evidence),
        by=model,
    )


def _check_prose(rows: Rows, evidence: SpanEvidence) -> None:
    """Raise `_BrokenRule` for texts that decline, give commands, or are in another language."""
    texts = [text for text in _texts_of(rows) if text]
    if any(_declines(text) for text in texts):
        raise _BrokenRule("the model declined to answer")
    if any(_normalized(text).strip(".") in FORM_TEXTS for text in texts):
        raise _BrokenRule("the answer repeats the form that it should fill in")
    if any(_commands(text) for text in texts):
        raise _BrokenRule("the answer speaks to its reader instead of telling what happened")
    if is_foreign("\n".join(texts), evidence.prose_sample):
        raise _BrokenRule("the answer is in another language than the work")


def _texts_of(rows: Rows) -> Iterable[str]:
    for row in rows.decisions:
        yield from (row.choice, row.reason)
    yield from (row.why for row in rows.files)
    yield from (row.step for row in rows.next)
    if rows.phase:
        yield rows.phase.name


def _commands(text: str) -> bool:
    lowered = text.casefold()
    if any(mark in lowered for mark in COMMAND_MARKS):
        return True
    words = {word.strip(".,;:!?\"'()") for word in lowered.split()}
    return bool(words & OVERRIDE_VERBS and words & OVERRIDE_SCOPES and words & INSTRUCTION_NOUNS)


def _cited_entry(ref: str, evidence: SpanEvidence) -> EvidenceEntry:
    entry = evidence.entries.get(ref[:REF_LENGTH])
    if entry is None or not entry.id.startswith(ref):
        raise _BrokenRule(f"the answer cites an entry that is not there: {ref[:REF_LENGTH]}")
    return entry


def _decisions(
    rows: Iterable[Choice], evidence: SpanEvidence, known: Summary
) -> tuple[Decision, ...]:
    by_choice: dict[str, Decision] = {}
    known_choices = {_normalized(decision.choice) for decision in known.decisions}
    for row in rows:
        cited = _cited_entry(row.entry, evidence)
        decision = (
            _user_decision(row, cited)
            if row.by == "user"
            else _agent_decision(row, cited, evidence)
        )
        if decision is None or _normalized(decision.choice) in known_choices:
            continue
        reason = unmarked_line(decision.reason)
        supported = is_supported(reason, evidence)
        by_choice.setdefault(
            _normalized(decision.choice), replace(decision, reason=reason if supported else "")
        )
    return tuple(by_choice.values())


def _user_decision(row: Choice, cited: EvidenceEntry) -> Decision:
    """Return a user's decision in the user's own words; the model's wording is not used."""
    if cited.who != "user" or not holds_quote(cited, row.quote):
        raise _BrokenRule("the answer puts words into the user's mouth")
    return Decision(row.quote.strip(), cited.id, row.reason, "user")


def _agent_decision(row: Choice, cited: EvidenceEntry, evidence: SpanEvidence) -> Decision | None:
    if row.quote and row.quote.strip() not in cited.text:
        raise _BrokenRule("the answer quotes words that the entry does not have")
    choice = unmarked_line(row.choice)
    if cited.who not in AGENT_SPEAKERS or not choice or not is_supported(choice, evidence):
        return None
    return Decision(choice, cited.id, row.reason)


def _files(rows: Iterable[Purpose], evidence: SpanEvidence, known: Summary) -> tuple[File, ...]:
    files = {file.path: file for file in known.files}
    by_path: dict[str, File] = {}
    for row in rows:
        _cited_entry(row.entry, evidence)
        file = files.get(row.path)
        if file is None:
            raise _BrokenRule("the answer names a file that the record does not know")
        why = unmarked_line(row.why)
        # A purpose that the agent itself stated is not replaced.
        if not file.why and why and is_supported(why, evidence):
            by_path.setdefault(row.path, replace(file, why=why))
    return tuple(by_path.values())


def _questions(rows: Iterable[Question], evidence: SpanEvidence) -> tuple[Quote, ...]:
    quotes: dict[Quote, None] = {}
    for row in rows:
        cited = _cited_entry(row.entry, evidence)
        if not holds_quote(cited, row.text):
            raise _BrokenRule("the answer quotes words that the entry does not have")
        if cited.who in ("user", "assistant"):
            quotes[Quote(row.text.strip(), cited.id)] = None
    return tuple(quotes)


def _steps(rows: Iterable[Ahead], evidence: SpanEvidence) -> tuple[Next, ...]:
    by_step: dict[str, Next] = {}
    for row in rows:
        cited = _cited_entry(row.entry, evidence)
        step = unmarked_line(row.step)
        if cited.who in STEP_SPEAKERS and step and is_supported(step, evidence):
            by_step.setdefault(_normalized(step), Next(step, cited.id, row.owner))
    return tuple(by_step.values())


def _progress(row: Phase | None, evidence: SpanEvidence) -> Progress:
    if row is None:
        return Progress()
    cited = _cited_entry(row.entry, evidence)
    name = unmarked_line(row.name)
    if cited.who not in STEP_SPEAKERS or not name or not names_only_known(name, evidence):
        return Progress()
    return Progress(phase=name, entry=cited.id)


def _without_uncitable(known: Summary, evidence: SpanEvidence) -> Summary:
    """Remove open rows of earlier spans: the model cannot cite their entries."""
    ids = {row.id for row in evidence.entries.values()}
    return replace(
        known,
        questions=tuple(row for row in known.questions if row.entry in ids),
        next=tuple(row for row in known.next if row.entry in ids),
    )


def _merge_rows(known: Summary, found: Summary) -> Summary:
    """Merge newer rows: append decisions and purposes; replace progress, steps and questions."""
    if not found.by:
        return known
    purposes = {file.path: file for file in found.files}
    known_files = tuple(purposes.pop(file.path, file) for file in known.files)
    return replace(
        known,
        files=(*known_files, *purposes.values()),
        decisions=tuple(dict.fromkeys((*known.decisions, *found.decisions))),
        progress=found.progress if found.progress.phase else known.progress,
        next=found.next,
        questions=found.questions,
        by=found.by,
    )


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split())


def unmarked_line(text: str) -> str:
    """Return a text as one line without control characters and leading Markdown marks."""
    return without_controls(one_line(text)).lstrip("#>-*=|` ")
