"""Ask a model for summary rows about a span, and check its answer against what it was shown.

A row must name entries that the model was shown, and most of its words must be in them. A user's
decision must be the user's words, and a path must be known to the record. A row that breaks one of
these rules is left out and counted. Requests and constraints have no field, so a model can neither
set nor lift one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.asking import Answer, Asking, Failed
from holdfast.core.ledger.summary import Decision, File, Next, Progress, Quote, Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.shrink.ask.evidence import (
    MIN_SUPPORT,
    Evidence,
    evidence_of,
    holds_quote,
    is_supported,
)
from holdfast.core.shrink.ask.prompts import (
    FORM_TEXTS,
    Ahead,
    Choice,
    Phase,
    PromptEntry,
    Purpose,
    Question,
    Redact,
    References,
    Span,
    no_redaction,
    prompt_about,
)
from holdfast.core.shrink.summary.merge import unique_rows
from holdfast.text.clip import clip_words, one_line, without_controls
from holdfast.text.language import is_foreign

Row = TypeVar("Row", bound=Struct)
Made = TypeVar("Made")
_Check: TypeAlias = Callable[[Row, Evidence, Summary], Made | None]
"""Returns the row of a summary for a row of an answer; None if the summary has it already."""

MAX_ANSWER_CHARS = 60_000
"""A longer answer is not used."""
MIN_ANSWER_CHARS = 4_000
"""An answer of this length is not too long, also if it is longer than what it is about."""
MAX_ROWS = {"decisions": 30, "files": 60, "questions": 15, "next": 15, "phase": 1}
"""The rows of each section that are used."""
PROSE = ("choice", "reason", "why", "step", "name")
"""The keys of sentences that a model writes itself; other texts are quotes."""
MAX_TEXT_CHARS, MAX_WHY_CHARS, MAX_QUOTE_CHARS, MAX_PHASE_CHARS = 300, 200, 500, 100
"""A longer text is clipped."""

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

UNSUPPORTED = "says what the entries that it names do not say"
BY_TOOL = "rests on the words of a tool alone"
MISQUOTED = "quotes words that the entry does not have"


class ModelRows(Struct, frozen=True):
    """The rows that a model added to a span; if its answer was unusable, only the reason."""

    summary: Summary = Summary()
    refused: str = ""
    left_out: tuple[str, ...] = ()
    """For each row that was left out, the reason."""
    by: str = ""
    """The model that answered; empty if no answer came."""


class _LeftOut(Exception):
    """Ends the check of a row; caught in this module."""


def ask_for_rows(
    span: Span,
    known: Summary,
    count: CountTokens,
    budget: int,
    *,
    redact: Redact = no_redaction,
) -> Asking[ModelRows]:
    """Ask about a span in one prompt of at most `budget` tokens, and return the checked rows."""
    prompt = prompt_about(span, known, count, budget, redact)
    if prompt is None:
        too_small = "the budget for a prompt is too small to ask anything"
        return ModelRows(refused=too_small if span.moments else "")
    reply = yield prompt.ask
    return check_answer(reply, evidence_of(prompt, span.stays), known)


def check_answer(answer: Answer | Failed, evidence: Evidence, known: Summary) -> ModelRows:
    """Return the rows of an answer that the evidence supports, or why the answer is not used."""
    if isinstance(answer, Failed):
        return ModelRows(refused=answer.reason or "no answer came")
    model = answer.model or "an unnamed model"
    found = _object_in(answer, evidence.size)
    if isinstance(found, str):
        return ModelRows(refused=found, by=model)
    if is_foreign("\n".join(_prose_of(found)), evidence.prose_sample):
        return ModelRows(refused="the answer is in another language than the work", by=model)
    summary, left_out = _to_summary(found, evidence, known)
    if summary != Summary():
        return ModelRows(replace(summary, by=model), left_out=left_out, by=model)
    refused = f"no row can be used: {count_reasons(left_out)}" if left_out else ""
    return ModelRows(refused=refused, left_out=left_out, by=model)


def count_reasons(reasons: Iterable[str]) -> str:
    """Return the different reasons in one line, with the number of rows for each."""
    return "; ".join(f"{times} × {reason}" for reason, times in Counter(reasons).most_common())


def _object_in(answer: Answer, size: int) -> dict[str, Any] | str:
    """Return the JSON object of an answer, or the reason why it has none."""
    text = answer.text.strip()
    if answer.stop != "end":
        return STOP_REASONS.get(answer.stop, "the model stopped for a reason nobody knows")
    if not text:
        return "the answer is empty"
    if len(text) > min(max(size, MIN_ANSWER_CHARS), MAX_ANSWER_CHARS):
        return "the answer is longer than what it is about"
    try:
        return msgspec.json.decode(text[text.find("{") : text.rfind("}") + 1], type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        if _declines(text):
            return "the model declined to answer"
        several = "trailing characters" in str(error)
        return "the answer holds more than one document" if several else "the answer is not JSON"


def _declines(text: str) -> bool:
    return text[:40].casefold().startswith(REFUSAL_STARTS)


def _to_summary(
    found: dict[str, Any], evidence: Evidence, known: Summary
) -> tuple[Summary, tuple[str, ...]]:
    """Return a summary of only these rows, and the reasons why others were left out."""
    left_out = ["has a key that was not asked for" for key in found if key not in MAX_ROWS]

    def rows(section: str, kind: type[Row], check: _Check[Row, Made]) -> Iterator[Made]:
        values = _listed(found.get(section))
        left_out.extend("is one too many" for _ in values[MAX_ROWS[section] :])
        for value in values[: MAX_ROWS[section]]:
            try:
                row = check(_as_row(value, kind), evidence, known)
            except _LeftOut as error:
                left_out.append(str(error))
            else:
                yield from () if row is None else (row,)

    summary = Summary(
        files=unique_rows(rows("files", Purpose, _file), lambda row: row.path),
        decisions=unique_rows(
            rows("decisions", Choice, _decision), lambda row: _normalized(row.choice)
        ),
        progress=next(rows("phase", Phase, _progress), Progress()),
        next=unique_rows(rows("next", Ahead, _step), lambda row: _normalized(row.step)),
        questions=unique_rows(rows("questions", Question, _question), lambda row: row),
    )
    return summary, tuple(left_out)


def _listed(value: object) -> Sequence[object]:
    """Return the rows of a section; a section that is missing has none."""
    if isinstance(value, list):
        return cast("list[object]", value)
    return () if value is None else (value,)


def _prose_of(found: dict[str, Any]) -> Iterator[str]:
    """Yield the sentences that the model wrote itself."""
    for value in (value for section in MAX_ROWS for value in _listed(found.get(section))):
        texts = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        yield from (text for key in PROSE if isinstance(text := texts.get(key), str))


def _as_row(value: object, kind: type[Row]) -> Row:
    try:
        row = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise _LeftOut("has another shape than was asked for") from None
    _check_prose([text for text in msgspec.structs.astuple(row) if isinstance(text, str)])
    return row


def _check_prose(texts: Sequence[str]) -> None:
    """Raise `_LeftOut` for texts that decline, give commands or come from the form."""
    if any(_declines(text) for text in texts):
        raise _LeftOut("declines to answer")
    if any(_normalized(text).strip(".") in FORM_TEXTS for text in texts):
        raise _LeftOut("repeats the form that it should fill in")
    if any(_commands(text) for text in texts):
        raise _LeftOut("speaks to its reader instead of telling what happened")


def _commands(text: str) -> bool:
    lowered = text.casefold()
    if any(mark in lowered for mark in COMMAND_MARKS):
        return True
    words = {word.strip(".,;:!?\"'()") for word in lowered.split()}
    return bool(words & OVERRIDE_VERBS and words & OVERRIDE_SCOPES and words & INSTRUCTION_NOUNS)


def _cited(refs: References, evidence: Evidence, speakers: Sequence[str] = ()) -> list[PromptEntry]:
    """Return the entries that a row names; only those of `speakers`, of which there must be one."""
    names = (refs,) if isinstance(refs, str) else refs
    entries = [entry for name in names if (entry := evidence.find(name)) is not None]
    if len(entries) < len(names):
        raise _LeftOut("cites an entry that is not there")
    spoken = [entry for entry in entries if not speakers or entry.who in speakers]
    if not spoken:
        raise _LeftOut(BY_TOOL)
    return spoken


def _supported_line(text: str, cited: Sequence[PromptEntry], evidence: Evidence, most: int) -> str:
    """Return a text as one line of at most `most` characters, if the cited entries support it."""
    line = unmarked_line(text)
    if not is_supported(line, cited, evidence):
        raise _LeftOut(UNSUPPORTED)
    return clip_words(line, most, "…")


def _decision(row: Choice, evidence: Evidence, known: Summary) -> Decision | None:
    decision = _user_decision if row.by == "user" else _agent_decision
    made = decision(row, evidence)
    known_choices = {_normalized(decision.choice) for decision in known.decisions}
    return None if _normalized(made.choice) in known_choices else made


def _user_decision(row: Choice, evidence: Evidence) -> Decision:
    """Return a user's decision in the user's own words; the model's wording is not used."""
    cited = [entry for entry in _cited(row.entry, evidence) if entry.who == "user"]
    said = next((entry for entry in cited if holds_quote(entry, row.quote)), None)
    if said is None:
        raise _LeftOut("puts words into the user's mouth")
    choice = clip_words(one_line(row.quote), MAX_QUOTE_CHARS)
    return Decision(choice, said.id, _reason(row, [said], evidence, least=1.0), "user")


def _agent_decision(row: Choice, evidence: Evidence) -> Decision:
    cited = _cited(row.entry, evidence, AGENT_SPEAKERS)
    if not any(one_line(row.quote) in entry.said for entry in cited):
        raise _LeftOut(MISQUOTED)
    choice = _supported_line(row.choice, cited, evidence, MAX_TEXT_CHARS)
    reason = _reason(row, _cited(row.entry, evidence), evidence)
    return Decision(choice, cited[0].id, reason)


def _reason(
    row: Choice, cited: Sequence[PromptEntry], evidence: Evidence, least: float = MIN_SUPPORT
) -> str:
    """Return the reason of a decision; empty if the cited entries do not support it."""
    reason = unmarked_line(row.reason)
    supported = is_supported(reason, cited, evidence, least)
    return clip_words(reason, MAX_TEXT_CHARS, "…") if supported else ""


def _file(row: Purpose, evidence: Evidence, known: Summary) -> File | None:
    cited = _cited(row.entry, evidence)
    file = next((file for file in known.files if file.path == row.path), None)
    if file is None:
        raise _LeftOut("names a file that the record does not know")
    # A purpose that the agent itself stated is not replaced.
    if file.why:
        return None
    return replace(file, why=_supported_line(row.why, cited, evidence, MAX_WHY_CHARS))


def _question(row: Question, evidence: Evidence, _: Summary) -> Quote:
    cited = _current(_cited(row.entry, evidence, ("user", "assistant")), evidence)
    asked = next((entry for entry in cited if holds_quote(entry, row.text)), None)
    if asked is None:
        raise _LeftOut(MISQUOTED)
    return Quote(clip_words(one_line(row.text), MAX_QUOTE_CHARS), asked.id)


def _step(row: Ahead, evidence: Evidence, _: Summary) -> Next:
    cited = _current(_cited(row.entry, evidence, STEP_SPEAKERS), evidence)
    step = _supported_line(row.step, cited, evidence, MAX_WHY_CHARS)
    return Next(step, cited[0].id, row.owner)


def _progress(row: Phase, evidence: Evidence, _: Summary) -> Progress:
    cited = _current(_cited(row.entry, evidence, STEP_SPEAKERS), evidence)
    return Progress(
        phase=_supported_line(row.name, cited, evidence, MAX_PHASE_CHARS), entry=cited[0].id
    )


def _current(cited: Sequence[PromptEntry], evidence: Evidence) -> Sequence[PromptEntry]:
    if evidence.is_stale(cited):
        raise _LeftOut("is older than the newest request of the user")
    return cited


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split())


def unmarked_line(text: str) -> str:
    """Return a text as one line without control characters and leading Markdown marks."""
    return without_controls(one_line(text)).lstrip("#>-*=|` ")
