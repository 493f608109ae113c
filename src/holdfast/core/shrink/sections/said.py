"""The sections of what was said: intent, constraints, words of the user, open questions."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Constraint,
    Intent,
    Quote,
    Summary,
)
from holdfast.core.shrink.sections.rows import read_quotes, read_rows, who_of, write_quotes
from holdfast.core.shrink.spelling import (
    Lines,
    head_of,
    headed,
    need,
    split_head,
    split_headed,
    told,
)

FORBIDS = "forbids"
LIFTED = "taken back by "
ORIGINAL, CURRENT, CHANGE = "- **Original:** ", "- **Current:** ", "- **Scope change:** "
ORIGINAL_REST, CURRENT_REST = "- **Original, too:** ", "- **Current, too:** "


def write_intent(summary: Summary) -> list[str]:
    """What the user wanted first, wants now, and changed in between."""
    original, current = summary.intent.original, summary.intent.current
    rows = [(ORIGINAL, original)] if original != Quote() else []
    rows += [(ORIGINAL_REST, part) for part in summary.intent.original_rest]
    rows += [(CURRENT, current)] if current != original else []
    rows += [(CURRENT_REST, part) for part in summary.intent.current_rest]
    rows += [(CHANGE, change) for change in summary.intent.changes]
    return [line for label, quote in rows for line in _labelled(label, quote)]


def _labelled(label: str, quote: Quote) -> list[str]:
    first, *others = told(quote.text)
    return [f"{label}{head_of(quote.entry)} {first}", *others]


def read_intent(lines: Lines, known: Summary) -> Summary:
    """Read the intent; with one request only, that is also the current one."""
    labels = (ORIGINAL, ORIGINAL_REST, CURRENT, CURRENT_REST, CHANGE)
    found: dict[str, list[Quote]] = {label: [] for label in labels}
    while lines.more():
        label = next((label for label in found if lines.begins(label)), "")
        need(label != "")
        head, text = split_headed(lines.take(label), "")
        found[label].append(Quote(lines.told(text), split_head(head)[0]))
    original = (found[ORIGINAL] or [Quote()])[0]
    current = (found[CURRENT] or [original])[0]
    rests = tuple(found[ORIGINAL_REST]), tuple(found[CURRENT_REST])
    return replace(known, intent=Intent(original, current, tuple(found[CHANGE]), *rests))


def write_constraints(summary: Summary) -> list[str]:
    """One row for each constraint."""
    return headed([(_bound(one), told(one.text)) for one in summary.constraints])


def _bound(one: Constraint) -> str:
    by = one.by if one.by != "user" else ""
    lifted = f"{LIFTED}{one.lifted}" if one.lifted else ""
    return head_of(one.entry, by, FORBIDS if one.negative else "", lifted)


def read_constraints(lines: Lines, known: Summary) -> Summary:
    """Read the constraints."""
    found = tuple(
        Constraint(lines.told(text), entry, who_of(tags, "user"), FORBIDS in tags, _lifted(tags))
        for entry, tags, text in read_rows(lines)
    )
    return replace(known, constraints=found)


def _lifted(tags: Iterable[str]) -> str:
    said = (tag.removeprefix(LIFTED) for tag in tags if tag.startswith(LIFTED))
    return next(said, "")


def write_words(summary: Summary) -> list[str]:
    """One row for each of the user's other words."""
    return write_quotes(summary.words)


def read_words(lines: Lines, known: Summary) -> Summary:
    """Read the user's words."""
    return replace(known, words=read_quotes(lines))


def write_questions(summary: Summary) -> list[str]:
    """One row for each open question."""
    return write_quotes(summary.questions)


def read_questions(lines: Lines, known: Summary) -> Summary:
    """Read the open questions."""
    return replace(known, questions=read_quotes(lines))
