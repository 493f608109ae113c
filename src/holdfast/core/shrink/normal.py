"""What the window form carries of a summary."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from holdfast.core.faults import rule_keeping
from holdfast.core.ledger.summary import (
    Error,
    Fact,
    File,
    Intent,
    Quote,
    Summary,
)
from holdfast.core.shrink.sections.rows import PENDING, WHO
from holdfast.core.shrink.spelling import (
    name_of,
)

STATUS = re.compile(r"[^0-9A-Za-z_ -]")


@rule_keeping(0)
def normal(summary: Summary) -> Summary:
    """What the window form carries of a summary.

    Entries are named by 8 letters and digits. The worth of facts and their line numbers are gone.
    Files come without their entry, those that were changed first and without what they were read
    for, those that were only read without a change.
    Open errors come first; a resolved one is told in one line. A session that has had one request
    only wants that one. The status of a step is a few plain words.
    """
    return replace(
        summary,
        intent=_normal_intent(summary.intent),
        constraints=tuple(
            replace(one, entry=name_of(one.entry), lifted=name_of(one.lifted))
            for one in summary.constraints
        ),
        words=_normal_quotes(summary.words),
        files=(*_changed(summary), *_only_read(summary)),
        decisions=tuple(
            replace(one, entry=name_of(one.entry), overrules=name_of(one.overrules))
            for one in summary.decisions
        ),
        findings=_normal_quotes(summary.findings),
        facts=tuple(Fact(one.text, name_of(one.entry), one.source) for one in summary.facts),
        errors=_normal_errors(summary.errors),
        progress=replace(summary.progress, entry=name_of(summary.progress.entry)),
        next=tuple(
            replace(one, entry=name_of(one.entry), status=_normal_status(one.status))
            for one in summary.next
        ),
        questions=_normal_quotes(summary.questions),
        refs=tuple(replace(one, entry=name_of(one.entry)) for one in summary.refs),
    )


def _normal_quotes(quotes: tuple[Quote, ...]) -> tuple[Quote, ...]:
    return tuple(Quote(quote.text, name_of(quote.entry)) for quote in quotes)


def _normal_intent(intent: Intent) -> Intent:
    original, current = _normal_quotes((intent.original, intent.current))
    changes = _normal_quotes(intent.changes)
    rests = (_normal_quotes(intent.original_rest), _normal_quotes(intent.current_rest))
    return Intent(original, original if current == Quote() else current, changes, *rests)


def _changed(summary: Summary) -> Iterator[File]:
    for file in summary.files:
        if file.action != "read":
            yield replace(file, entry="", lines=(), why="")


def _only_read(summary: Summary) -> Iterator[File]:
    for file in summary.files:
        if file.action == "read":
            yield File(file.path, "read", lines=file.lines, why=file.why)


def _normal_errors(errors: tuple[Error, ...]) -> tuple[Error, ...]:
    named = [
        replace(error, entry=name_of(error.entry), resolved=name_of(error.resolved))
        for error in errors
    ]
    gone = [replace(error, text=gist_of(error.text)) for error in named if error.resolved]
    return (*(error for error in named if not error.resolved), *gone)


def gist_of(text: str) -> str:
    """The line that tells an error: the last of a traceback, else the first that says something."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return ""
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def _normal_status(status: str) -> str:
    plain = STATUS.sub("", status).strip()
    return PENDING if not plain or plain in WHO else plain
