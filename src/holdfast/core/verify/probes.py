"""Questions that a reader must still be able to answer once a span is out of sight.

They are drawn by rule from what is about to be hidden; `answering` looks for the answers in the
text that the model will see instead.
"""

import re
from collections.abc import Iterator, Sequence
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
from holdfast.core.observe.results.choices import still_held
from holdfast.core.observe.worth import telling_names
from holdfast.core.verify.phrases import (
    OPENING,
    PHRASE,
    is_alone,
    opening_of,
    phrase_of,
    plain_line,
)

Kind: TypeAlias = Literal["recall", "artifact", "continuation", "decision"]
MOST_FILES = 200
MOST_READ = 40
MOST_DECISIONS = 60
MOST_OPEN = 40
MOST_RESOLVED = 5
MOST_FACTS = 40
MOST_SAID = 200
"""Constraints, and changes of scope, that are asked for."""
MOST_WORDS = 12
MOST_STEPS = 20
STRETCHES = 10
"""Parts of the span that facts are taken from in turn, so that no part goes unasked."""
_FAILS = re.compile(r"Error\b|Exception\b|[Ee]rror:|FAIL|[Ff]ailed|fatal:|panic|not found|denied")


class Probe(Struct, frozen=True):
    """A question, and what has to stand in a text for it to be answered there."""

    kind: Kind
    section: str
    """The section of the summary that should answer it."""
    question: str
    answer: str
    entry: str
    must: tuple[str, ...]
    """What has to stand there, in lines next to each other."""
    verbatim: bool = False
    """Whether these are the lines of one text, which have to follow each other."""


def draw(seen: Summary, needed: frozenset[str] = frozenset()) -> tuple[Probe, ...]:
    """The questions to ask about what is to be hidden.

    Rows that hold one of the `needed` names, or come from one of the `needed` entries, go first.
    """
    drawn = (
        *_about_intent(seen.intent),
        *_about_constraints(seen.constraints),
        *_about_files(seen.files, needed),
        *_about_decisions(seen.decisions),
        *_about_errors(seen.errors),
        *_about_progress(seen.progress),
        *(
            _telling("continuation", "next", "What should be done next?", row.step, row.entry)
            for row in seen.next[:MOST_STEPS]
        ),
        *(
            _telling("continuation", "questions", "What is still to be answered?", q.text, q.entry)
            for q in seen.questions[-MOST_STEPS:]
        ),
        *_about_facts(seen.facts, needed),
        *_about_words(seen.words),
    )
    asked: dict[tuple[str, ...], Probe] = {}
    for probe in drawn:
        if probe.must:
            asked.setdefault((probe.section, *probe.must), probe)
    return tuple(asked.values())


@row_rule
def _about_intent(intent: Intent) -> Iterator[Probe]:
    asked = "What did the user ask for, word for word?"
    yield _whole("recall", "intent", asked, intent.original)
    asked = "What did the user ask for last, word for word?"
    yield _whole("continuation", "intent", asked, intent.current)
    for change in intent.changes[-MOST_SAID:]:
        yield _whole("recall", "intent", "How did the user change the task?", change)


@row_rule
def _about_constraints(rows: Sequence[Constraint]) -> Iterator[Probe]:
    for row in [row for row in rows if not row.lifted][-MOST_SAID:]:
        asked = "What must not be done?" if row.negative else "What must be kept to?"
        yield _whole("recall", "constraints", asked, Quote(row.text, row.entry))


@row_rule
def _about_files(rows: Sequence[File], needed: frozenset[str]) -> Iterator[Probe]:
    latest = {row.path: row for row in rows}
    changed = [row for row in latest.values() if row.action != "read"]
    read = [row for row in latest.values() if row.action == "read"]
    read.sort(key=lambda row: row.path in needed or row.entry in needed)
    for row in (*changed[-MOST_FILES:], *read[-MOST_READ:]):
        asked = f"Was {row.path} created, modified, deleted, renamed or only read?"
        must = (plain_line(row.path), row.action, *([plain_line(row.was)] if row.was else []))
        yield Probe("artifact", "files", asked, row.action, row.entry, must if must[0] else ())


@row_rule
def _about_decisions(rows: Sequence[Decision]) -> Iterator[Probe]:
    for row in _standing(rows):
        choice, reason = _ends(row.choice), phrase_of(row.reason)
        asked = f"Why was this chosen: {' … '.join(choice)}?" if reason else "What was decided?"
        must = (*choice, reason) if reason else choice
        # Two words that stand near each other are no decision yet.
        told = choice and not all(map(is_alone, must))
        answer = row.reason or row.choice
        yield Probe("decision", "decisions", asked, answer, row.entry, must if told else ())


def _ends(choice: str) -> tuple[str, ...]:
    """What tells most of a choice, and how it ends: a choice often stands behind its question."""
    phrase, line = phrase_of(choice), plain_line(choice)
    if not PHRASE < len(line) <= 2 * OPENING or "\n" in choice:
        return (phrase,) if phrase else ()
    return phrase, line[line.rfind(" ", 0, len(line) - PHRASE // 3) + 1 :]


def _standing(rows: Sequence[Decision]) -> list[Decision]:
    """Decisions that no later one overruled: the user's before others, the newest before older."""
    standing = still_held(rows)
    kept = sorted(range(len(standing)), key=lambda at: (standing[at].by != "user", -at))
    return [standing[at] for at in sorted(kept[:MOST_DECISIONS])]


@row_rule
def _about_errors(rows: Sequence[Error]) -> Iterator[Probe]:
    still = [row for row in rows if not row.resolved][-MOST_OPEN:]
    gone = [row for row in rows if row.resolved][-MOST_RESOLVED:]
    for row in (*still, *gone):
        met = f"of `{opening_of(plain_line(row.what), PHRASE)}`" if row.what else "message"
        asked = f"What {'is' if not row.resolved else 'was'} the error {met}?"
        must = _in_context(phrase_of(_failure(row)), row.what)
        yield Probe("recall", "errors", asked, row.text, row.entry, must)


def _failure(row: Error) -> str:
    """The line of an error that tells it; of a resolved one, the line that it is told in."""
    lines = [line for line in row.text.splitlines() if plain_line(line)] or [""]
    told = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return told if row.resolved else next(filter(_FAILS.search, reversed(lines)), told)


@row_rule
def _about_progress(row: Progress) -> Iterator[Probe]:
    for asked, texts in (
        ("Which phase is the work in?", (row.phase,)),
        ("How did the tests go?", (row.tests,)),
        ("What is done?", row.completed[-MOST_STEPS:]),
        ("What remains to be done?", row.remaining[:MOST_STEPS]),
    ):
        for text in texts:
            yield _telling("continuation", "progress", asked, text, row.entry)


@row_rule
def _about_facts(rows: Sequence[Fact], needed: frozenset[str]) -> Iterator[Probe]:
    for row in _worthy(rows, needed):
        asked = f"What did {opening_of(plain_line(row.source), PHRASE) or 'the record'} say?"
        must = _in_context(phrase_of(row.text), row.source)
        yield Probe("recall", "facts", asked, row.text, row.entry, must)


@row_rule
def _about_words(rows: Sequence[Quote]) -> Iterator[Probe]:
    # A single word, a yes or a number, is found anywhere.
    said = [row for row in rows if not is_alone(phrase_of(row.text))]
    for row in said[-MOST_WORDS:]:
        yield _telling("recall", "words", "What else did the user say?", row.text, row.entry)


def _worthy(rows: Sequence[Fact], needed: frozenset[str]) -> list[Fact]:
    """Half are the worthiest of all, half the worthiest of each stretch of the span."""
    rank = {
        at: (row.entry in needed or bool(needed and telling_names(row.text) & needed), row.worth)
        for at, row in enumerate(rows)
    }
    best = sorted(rank, key=lambda at: rank[at], reverse=True)
    # Where none is worth more than the others, being first in line is no merit.
    least = min(rank.values(), default=None)
    kept = {at for at in best[: MOST_FACTS // 2] if rank[at] != least}
    stretches: list[list[int]] = [[] for _ in range(STRETCHES)]
    for at in best:
        stretches[at * STRETCHES // len(rows)].append(at)
    for turn in range(max(map(len, stretches))):
        for stretch in stretches:
            if turn < len(stretch) and len(kept) < MOST_FACTS:
                kept.add(stretch[turn])
    return [rows[at] for at in sorted(kept)]


def _whole(kind: Kind, section: str, question: str, quote: Quote) -> Probe:
    lines = tuple(line for raw in quote.text.splitlines() if (line := plain_line(raw)))
    return Probe(kind, section, question, quote.text, quote.entry, lines, verbatim=True)


def _telling(kind: Kind, section: str, question: str, text: str, entry: str) -> Probe:
    phrase = phrase_of(text)
    return Probe(kind, section, question, text, entry, (phrase,) if phrase else ())


def _in_context(phrase: str, source: str) -> tuple[str, ...]:
    """A single word tells nothing without what brought it, so it is not asked for alone."""
    if not is_alone(phrase):
        return (phrase,)
    brought = max(plain_line(source).split(), key=len, default="")
    return (phrase, brought) if phrase and brought else ()
