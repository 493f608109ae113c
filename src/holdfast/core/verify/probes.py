"""Make probes: questions that must still be answerable after a part of the window is hidden.

They are made by rule from the rows of that part. `answers` searches their answers in the text that
the model will see instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.faults import row_rule
from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Progress,
    Quote,
    Summary,
)
from holdfast.core.observe.files.trail import MADE_AND_DELETED, RESTORED
from holdfast.core.observe.results.choices import not_overruled
from holdfast.core.shrink.summary.root import relative_path
from holdfast.core.verify.phrases import (
    OPENING_CHARS,
    PHRASE_CHARS,
    is_single_word,
    opening_of,
    phrase_of,
    plain_line,
)
from holdfast.text.patterns import Pattern

Kind: TypeAlias = Literal["recall", "artifact", "continuation", "decision"]
MAX_FILES = 200
MAX_READ_FILES = 40
MAX_DECISIONS = 60
MAX_OPEN_ERRORS = 40
MAX_RESOLVED_ERRORS = 2
MAX_FACTS = 40
MAX_CONSTRAINTS = 200
"""Probes for constraints, and also for changes of scope."""
MAX_WORDS = 12
MAX_STEPS, MAX_STATE = 20, 16
FACT_STRETCHES = 10
"""Parts of the span from which facts are taken in turn, so that each part has probes."""
KIND_QUESTIONS: Mapping[str, str] = {
    "said": "What did the agent say?",
    "thought": "What did the agent conclude?",
    "reported": "What was reported?",
    "answered": "What did the user answer?",
    "ran": "What was run, and what came of it?",
    "changed": "What was changed?",
    "looked": "What was found?",
    "content": "What does a file say?",
}
"""Questions about moments, by their kind."""
# Words of a failure: "ValueError: x", "3 failed"; not "no errors found".
_FAILS = Pattern(r"Error\b|Exception\b|[Ee]rror:|FAIL|[Ff]ailed|fatal:|panic|not found|denied")


class Probe(Struct, frozen=True):
    """A question, and the phrases that a text must contain to answer it."""

    kind: Kind
    section: str
    """The section of the summary that should answer it."""
    question: str
    answer: str
    entry: str
    must: tuple[str, ...]
    """The phrases that must be in adjacent lines."""
    verbatim: bool = False
    """Whether these are the lines of one text, which must follow each other."""


def make_probes(source: Summary) -> tuple[Probe, ...]:
    """Return the probes for the rows of a part that will be hidden."""
    probes = (
        *_about_intent(source.intent),
        *_about_constraints(source.constraints),
        *_about_files(source.files, source.root),
        *_about_decisions(source.decisions),
        *_about_errors(source.errors),
        *_about_progress(source.progress),
        *_about_state(source.state),
        *(
            _phrase_probe("continuation", "next", "What should be done next?", row.step, row.entry)
            for row in source.next[:MAX_STEPS]
        ),
        *(
            _phrase_probe(
                "continuation", "questions", "What is still to be answered?", q.text, q.entry
            )
            for q in source.questions[-MAX_STEPS:]
        ),
        *_about_facts(source.facts),
        *_about_words(source.words),
    )
    asked: dict[tuple[str, ...], Probe] = {}
    for probe in probes:
        if probe.must:
            asked.setdefault((probe.section, *probe.must), probe)
    return tuple(asked.values())


@row_rule
def _about_intent(intent: Intent) -> Iterator[Probe]:
    asked = "What did the user ask for, word for word?"
    yield _verbatim_probe("recall", "intent", asked, intent.original)
    asked = "What did the user ask for last, word for word?"
    yield _verbatim_probe("continuation", "intent", asked, intent.current)
    for change in intent.changes[-MAX_CONSTRAINTS:]:
        yield _verbatim_probe("recall", "intent", "How did the user change the task?", change)


@row_rule
def _about_constraints(rows: Sequence[Constraint]) -> Iterator[Probe]:
    for row in [row for row in rows if not row.lifted][-MAX_CONSTRAINTS:]:
        asked = "What must not be done?" if row.negative else "What must be kept to?"
        yield _verbatim_probe("recall", "constraints", asked, Quote(row.text, row.entry))


@row_rule
def _about_files(rows: Sequence[File], root: str) -> Iterator[Probe]:
    latest = {row.path: row for row in rows}
    # Of a file that is as it was before nobody needs to know.
    unchanged = (MADE_AND_DELETED, RESTORED)
    changed = [
        row
        for row in latest.values()
        if row.action != "read" and not row.change.startswith(unchanged)
    ]
    read = [row for row in latest.values() if row.action == "read"]
    for row in (*changed[-MAX_FILES:], *read[-MAX_READ_FILES:]):
        path, was = (plain_line(relative_path(name, root)) for name in (row.path, row.was))
        asked = f"Was {path} created, modified, deleted, renamed or only read?"
        must = (path, row.action, *([was] if was else []))
        yield Probe("artifact", "files", asked, row.action, row.entry, must if must[0] else ())


@row_rule
def _about_decisions(rows: Sequence[Decision]) -> Iterator[Probe]:
    for row in _valid_decisions(rows):
        choice, reason = _choice_phrases(row.choice), phrase_of(row.reason)
        asked = f"Why was this chosen: {' … '.join(choice)}?" if reason else "What was decided?"
        must = (*choice, reason) if reason else choice
        # Two single words near each other are too weak an answer for a decision.
        is_specific = choice and not all(map(is_single_word, must))
        answer = row.reason or row.choice
        yield Probe("decision", "decisions", asked, answer, row.entry, must if is_specific else ())


def _choice_phrases(choice: str) -> tuple[str, ...]:
    """Return the most specific phrase of a choice, and its end, as it often follows a question."""
    phrase, line = phrase_of(choice), plain_line(choice)
    if not PHRASE_CHARS < len(line) <= 2 * OPENING_CHARS or "\n" in choice:
        return (phrase,) if phrase else ()
    return phrase, line[line.rfind(" ", 0, len(line) - PHRASE_CHARS // 3) + 1 :]


def _valid_decisions(rows: Sequence[Decision]) -> list[Decision]:
    """Return decisions that no later one overrules, preferring the user's, then the newest."""
    decisions = not_overruled(rows)
    order = sorted(range(len(decisions)), key=lambda at: (decisions[at].by != "user", -at))
    return [decisions[at] for at in sorted(order[:MAX_DECISIONS])]


@row_rule
def _about_errors(rows: Sequence[Error]) -> Iterator[Probe]:
    unresolved = [row for row in rows if not row.resolved][-MAX_OPEN_ERRORS:]
    resolved = [row for row in rows if row.resolved][-MAX_RESOLVED_ERRORS:]
    for row in (*unresolved, *resolved):
        subject = (
            f"of `{opening_of(plain_line(row.what), PHRASE_CHARS)}`" if row.what else "message"
        )
        asked = f"What {'is' if not row.resolved else 'was'} the error {subject}?"
        must = _in_context(phrase_of(_error_line(row)), row.what)
        yield Probe("recall", "errors", asked, row.text, row.entry, must)


def _error_line(row: Error) -> str:
    """Return the line that names an error; for a resolved one, the line that a summary shows."""
    lines = [line for line in row.text.splitlines() if plain_line(line)] or [""]
    headline = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return headline if row.resolved else next(filter(_FAILS.search, reversed(lines)), headline)


@row_rule
def _about_progress(row: Progress) -> Iterator[Probe]:
    for asked, texts in (
        ("Which phase is the work in?", (row.phase,)),
        ("How did the tests go?", (row.tests,)),
        ("What is done?", row.completed[-MAX_STEPS:]),
        ("What remains to be done?", row.remaining[:MAX_STEPS]),
    ):
        for text in texts:
            yield _phrase_probe("continuation", "progress", asked, text, row.entry)


@row_rule
def _about_state(rows: Sequence[Quote]) -> Iterator[Probe]:
    for row in rows[-MAX_STATE:]:
        what, colon, value = row.text.partition(": ")
        asked = f"What is the state of {opening_of(plain_line(what), PHRASE_CHARS)}?"
        must = (plain_line(what), phrase_of(value)) if colon and phrase_of(value) else ()
        yield Probe("continuation", "state", asked, row.text, row.entry, must)


@row_rule
def _about_facts(rows: Sequence[Fact]) -> Iterator[Probe]:
    for row in _choose_facts(rows):
        asked, source = KIND_QUESTIONS.get(row.source, ""), row.source
        if asked:
            source = ""  # a kind of moment is no word that stands near the fact
        asked = asked or f"What did {opening_of(plain_line(source), PHRASE_CHARS) or 'it'} say?"
        must = _in_context(phrase_of(row.text), source)
        yield Probe("recall", "facts", asked, row.text, row.entry, must)


@row_rule
def _about_words(rows: Sequence[Quote]) -> Iterator[Probe]:
    # A single word, such as a yes or a number, can be found in any text.
    said = (row for row in reversed(rows) if not is_single_word(phrase_of(row.text)))
    for row in reversed(list(islice(said, MAX_WORDS))):
        yield _phrase_probe("recall", "words", "What else did the user say?", row.text, row.entry)


def _choose_facts(rows: Sequence[Fact]) -> list[Fact]:
    """Choose facts: half are the best of all, half the best of each stretch of the span."""
    best = sorted(range(len(rows)), key=lambda at: rows[at].worth, reverse=True)
    # If all facts have the same worth, the first ones are not better than the others.
    least = min((row.worth for row in rows), default=0.0)
    chosen = {at for at in best[: MAX_FACTS // 2] if rows[at].worth != least}
    stretches: list[list[int]] = [[] for _ in range(FACT_STRETCHES)]
    for at in best:
        stretches[at * FACT_STRETCHES // len(rows)].append(at)
    for turn in range(max(map(len, stretches))):
        for stretch in stretches:
            if turn < len(stretch) and len(chosen) < MAX_FACTS:
                chosen.add(stretch[turn])
    return [rows[at] for at in sorted(chosen)]


def _verbatim_probe(kind: Kind, section: str, question: str, quote: Quote) -> Probe:
    lines = tuple(line for raw in quote.text.splitlines() if (line := plain_line(raw)))
    return Probe(kind, section, question, quote.text, quote.entry, lines, verbatim=True)


def _phrase_probe(kind: Kind, section: str, question: str, text: str, entry: str) -> Probe:
    phrase = phrase_of(text)
    return Probe(kind, section, question, text, entry, (phrase,) if phrase else ())


def _in_context(phrase: str, source: str) -> tuple[str, ...]:
    """Return the phrase; for a single word, add a word of its source, as it is too weak alone."""
    if not is_single_word(phrase):
        return (phrase,)
    context = max(plain_line(source).split(), key=len, default="")
    return (phrase, context) if phrase and context else ()
