"""The sections of the work: decisions, findings, progress, next steps."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import cast

from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Action,
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Next,
    Progress,
    Quote,
    Ref,
    Summary,
    Who,
)
from holdfast.core.shrink.summary.quoting import (
    NONE,
    Lines,
    cells_of,
    entry_of,
    field,
    head_of,
    headed,
    need,
    row_of,
    split_field,
    split_head,
    split_headed,
    told,
    whole_field,
)

# The sections of files: those that were changed, and those that were only read.


FILES = ["Path", "Action", "What changed", "Status"]
RULE = f"|{'---|' * len(FILES)}"
COMPLETE, PARTIAL = "Complete", "Partial"
WHY, SPAN = " — ", " lines "
CHANGED: tuple[Action, ...] = ("created", "modified", "deleted", "renamed")


def write_artifacts(summary: Summary) -> list[str]:
    """A table of the files that were changed; nothing when none was."""
    rows = [
        row_of([file.path, _done(file), file.change, PARTIAL if file.partial else COMPLETE])
        for file in summary.files
        if file.action != "read"
    ]
    return [row_of(FILES), RULE, *rows] if rows else []


def _done(file: File) -> str:
    return f"{file.action} from {file.was}" if file.was else file.action


def read_artifacts(lines: Lines, known: Summary) -> Summary:
    """Read the table of changed files."""
    need(lines.take() == row_of(FILES) and lines.take() == RULE)
    files = list[File]()
    while lines.more():
        path, done, change, status = cells_of(lines.take(), len(FILES))
        action, _, was = done.partition(" from ")
        need(action in CHANGED and status in {COMPLETE, PARTIAL})
        partial = status == PARTIAL
        files.append(File(path, cast(Action, action), change=change, partial=partial, was=was))
    return replace(known, files=tuple(files))


def write_files_read(summary: Summary) -> list[str]:
    """One row for each file that was only read."""
    return [f"- {_looked_at(file)}" for file in summary.files if file.action == "read"]


def _looked_at(file: File) -> str:
    path = field(file.path, SPAN.rstrip(), WHY.rstrip())
    span = ", ".join(f"{first}–{last}" for first, last in file.lines)
    why = f"{WHY}{field(file.why)}" if file.why else ""
    return f"{path}{SPAN}{span}{why}" if span else f"{path}{why}"


def read_files_read(lines: Lines, known: Summary) -> Summary:
    """Read the files that were only read; they come after the changed ones."""
    files = list(known.files)
    while lines.more():
        path, rest = split_field(lines.take("- "), SPAN, WHY)
        spans, rest = (
            split_field(rest.removeprefix(SPAN), WHY) if rest.startswith(SPAN) else ("", rest)
        )
        need(rest == "" or rest.startswith(WHY))
        why = whole_field(rest.removeprefix(WHY))
        files.append(File(path, "read", lines=_spans(spans), why=why))
    return replace(known, files=tuple(files))


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    pairs = (span.split("–") for span in text.split(", ")) if text else ()
    return tuple((int(first), int(last)) for first, last in pairs)


# What the sections of a summary share: rows under the names of their entries.


PENDING = "pending"
WHO: Mapping[str, Who] = {"user": "user", "system": "system", "agent": "agent"}


def or_none(text: str) -> str:
    """A text as a field, or the word for nothing."""
    return field(text) if text else NONE


def none_or(text: str) -> str:
    """The text of a field that may hold the word for nothing."""
    return "" if text == NONE else whole_field(text)


def number_of(text: str) -> int:
    """A number as it is written for people."""
    return int(text.replace(",", ""))


def write_quotes(quotes: tuple[Quote, ...]) -> list[str]:
    """One row for each quotation."""
    return headed([(head_of(quote.entry), told(quote.text)) for quote in quotes])


def read_rows(lines: Lines, *, numbered: bool = False) -> Iterator[tuple[str, list[str], str]]:
    """The entry, the tags and the text of each row; its further lines are the caller's."""
    said = head_of("")
    while lines.more():
        line = take_numbered(lines) if numbered else lines.take("- ")
        said, rest = split_headed(line, said)
        yield (*split_head(said), rest)


def take_numbered(lines: Lines) -> str:
    """The next row of a numbered list, without its number."""
    number, dot, line = lines.take().partition(". ")
    need(dot != "" and number.isdecimal())
    return line


def read_quotes(lines: Lines) -> tuple[Quote, ...]:
    """Read rows that are quotations."""
    return tuple(Quote(lines.told(text), entry) for entry, _, text in read_rows(lines))


def who_of(tags: list[str], otherwise: Who) -> Who:
    """Who is named among the tags of a row."""
    for tag in tags:
        if tag in WHO:
            return WHO[tag]
    return otherwise


def each_row(lines: Lines) -> Iterator[None]:
    """Once for each row that is still to be read."""
    while lines.more():
        yield None


REASON = ": "
CHOSEN = re.compile(
    r" \((user|system|agent)(?:, instead of ([0-9A-Za-z]{1,12}))?\) \[([0-9A-Za-z]{1,12}|-)\]\Z"
)


def write_decisions(summary: Summary) -> list[str]:
    """A numbered list of the decisions."""
    return [f"{number}. {_chosen(one)}" for number, one in enumerate(summary.decisions, 1)]


def _chosen(one: Decision) -> str:
    reason = f"{REASON}{field(one.reason)}" if one.reason else ""
    instead = f", instead of {one.overrules}" if one.overrules else ""
    return f"{field(one.choice, REASON)}{reason} ({one.by}{instead}) {head_of(one.entry)}"


def read_decisions(lines: Lines, known: Summary) -> Summary:
    """Read the decisions."""
    return replace(
        known, decisions=tuple(_read_decision(take_numbered(lines)) for _ in each_row(lines))
    )


def _read_decision(line: str) -> Decision:
    end = CHOSEN.search(line)
    need(end is not None)
    assert end is not None
    choice, rest = split_field(line[: end.start()], REASON)
    need(rest == "" or rest.startswith(REASON))
    reason = whole_field(rest.removeprefix(REASON))
    return Decision(choice, entry_of(end[3]), reason, WHO[end[1]], end[2] or "")


def write_findings(summary: Summary) -> list[str]:
    """One row for each thing that the agent found or reported."""
    return write_quotes(summary.findings)


def read_findings(lines: Lines, known: Summary) -> Summary:
    """Read the findings."""
    return replace(known, findings=read_quotes(lines))


PHASE, COMPLETED = "- **Phase:** ", "- **Completed:**"
REMAINING, TESTS, SEEN = "- **Remaining:**", "- **Tests:** ", "- **Seen in:** "
ITEM = "  - "


def write_progress(summary: Summary) -> list[str]:
    """Where the work stands; nothing when that is not known."""
    progress = summary.progress
    if progress == Progress():
        return []
    return [
        f"{PHASE}{or_none(progress.phase)}",
        *_listed(COMPLETED, progress.completed),
        *_listed(REMAINING, progress.remaining),
        f"{TESTS}{or_none(progress.tests)}",
        *([f"{SEEN}{head_of(progress.entry)}"] if progress.entry else []),
    ]


def _listed(label: str, items: tuple[str, ...]) -> list[str]:
    if not items:
        return [f"{label} {NONE}"]
    return [label, *(f"{ITEM}{field(item)}" for item in items)]


def read_progress(lines: Lines, known: Summary) -> Summary:
    """Read where the work stands."""
    progress = Progress(
        phase=none_or(lines.take(PHASE)),
        completed=_read_list(lines, COMPLETED),
        remaining=_read_list(lines, REMAINING),
        tests=none_or(lines.take(TESTS)),
        entry=split_head(lines.take(SEEN))[0] if lines.begins(SEEN) else "",
    )
    return replace(known, progress=progress)


def _read_list(lines: Lines, label: str) -> tuple[str, ...]:
    need(lines.take(label) in {"", f" {NONE}"})
    items = list[str]()
    while lines.begins(ITEM):
        items.append(whole_field(lines.take(ITEM)))
    return tuple(items)


def write_next(summary: Summary) -> list[str]:
    """A numbered list of the steps to come."""
    return headed([(_due(one), told(one.step)) for one in summary.next], numbered=True)


def _due(one: Next) -> str:
    owner = one.owner if one.owner != "agent" else ""
    return head_of(one.entry, owner, one.status if one.status != PENDING else "")


def read_next(lines: Lines, known: Summary) -> Summary:
    """Read the steps to come."""
    found = list[Next]()
    for entry, tags, text in read_rows(lines, numbered=True):
        owner = who_of(tags[:1], "agent")
        status = [tag for tag in tags if tag != owner]
        found.append(Next(lines.told(text), entry, owner, status[0] if status else PENDING))
    return replace(known, next=tuple(found))


# The sections of the record: errors, facts, and where the rest is found.


OPEN, RESOLVED = "open", "resolved by "
MET = " → "
KEPT = re.compile(r" \((-?[\d,]{1,20}) tokens\) \[([0-9A-Za-z]{1,12}|-)\]\Z")


def write_errors(summary: Summary) -> list[str]:
    """One row for each error, with how it stands."""
    return headed([(_stands(error), _met(error)) for error in summary.errors])


def _stands(error: Error) -> str:
    return head_of(error.entry, f"{RESOLVED}{error.resolved}" if error.resolved else OPEN)


def _met(error: Error) -> list[str]:
    first, *others = told(error.text)
    if not error.what and MET not in first and not first.startswith('"'):
        return [first, *others]
    what = field(error.what, MET.rstrip()) if error.what else '""'
    return [f"{what}{MET}{first}", *others]


def read_errors(lines: Lines, known: Summary) -> Summary:
    """Read the errors."""
    found = tuple(_read_error(entry, tags, text, lines) for entry, tags, text in read_rows(lines))
    return replace(known, errors=found)


def _read_error(entry: str, tags: list[str], text: str, lines: Lines) -> Error:
    what, rest = split_field(text, MET)
    if not rest:
        what, rest = "", f"{MET}{text}"
    need(rest.startswith(MET))
    resolved = next((tag for tag in tags if tag.startswith(RESOLVED)), "")
    gone = entry_of(resolved.removeprefix(RESOLVED)) if resolved else ""
    return Error(lines.told(rest.removeprefix(MET)), entry, what, gone)


def write_facts(summary: Summary) -> list[str]:
    """The facts under the entry and the call that each came from."""
    lines = list[str]()
    for (entry, source), facts in groupby(summary.facts, lambda fact: (fact.entry, fact.source)):
        lines.append(f"{head_of(entry)} {field(source)}" if source else head_of(entry))
        for fact in facts:
            first, *others = told(fact.text)
            lines += [f" {first}", *others]
    return lines


def read_facts(lines: Lines, known: Summary) -> Summary:
    """Read the facts; their worth is not told."""
    facts = list[Fact]()
    while lines.more():
        head, bracket, source = lines.take().partition("] ")
        entry, _ = split_head(f"{head}]" if bracket else head)
        source = whole_field(source)
        while lines.begins(" "):
            facts.append(Fact(lines.told(lines.take(" ")), entry, source))
    return replace(known, facts=tuple(facts))


def write_refs(summary: Summary) -> list[str]:
    """One row for each entry that is worth going back to."""
    # The name comes last here: it is where a message ends, and a client may trim it.
    return [
        f"- {field(ref.what)} ({ref.tokens:,} tokens) {head_of(ref.entry)}" for ref in summary.refs
    ]


def read_refs(lines: Lines, known: Summary) -> Summary:
    """Read the references."""
    return replace(known, refs=tuple(_read_ref(lines.take("- ")) for _ in each_row(lines)))


def _read_ref(line: str) -> Ref:
    end = KEPT.search(line)
    need(end is not None)
    assert end is not None
    return Ref(entry_of(end[2]), whole_field(line[: end.start()]), number_of(end[1]))


# The sections of what was said: intent, constraints, words of the user, open questions.


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
