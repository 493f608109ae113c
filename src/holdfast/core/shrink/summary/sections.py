"""Write and read back each section of the text of a summary: `write_X` and `read_X` are inverse."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import cast

from msgspec import Struct
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
    SummaryLines,
    block_lines,
    entry_of_name,
    quote_field,
    require,
    row_head,
    rows_with_heads,
    split_field,
    split_head,
    split_row,
    split_table_row,
    whole_field,
    write_table_row,
)
from holdfast.text.patterns import Pattern

# The sections of files: those that were changed, and those that were only read.


FILE_COLUMNS = ["Path", "Action", "What changed", "Status"]
TABLE_RULE = f"|{'---|' * len(FILE_COLUMNS)}"
COMPLETE, PARTIAL = "Complete", "Partial"
WHY, SPAN = " — ", " lines "
ALSO, NEXT_NAME = "- also ", ", "
CHANGING_ACTIONS: tuple[Action, ...] = ("created", "modified", "deleted", "renamed")


def write_artifacts(summary: Summary) -> list[str]:
    """A table of the files that were changed, then the names of those without more to say."""
    changed = [file for file in summary.files if file.action != "read"]
    rows = [
        write_table_row(
            [file.path, _done(file), file.change, PARTIAL if file.partial else COMPLETE]
        )
        for file in changed
        if not is_name_only(file)
    ]
    table = [write_table_row(FILE_COLUMNS), TABLE_RULE, *rows] if rows else []
    return [*table, *_names(changed)]


def is_name_only(file: File) -> bool:
    """Return whether nothing is known of a changed file but its path and what was done."""
    more = file.change or file.was or file.partial
    return file.path != "" and file.action != "read" and not more


def _names(changed: Iterable[File]) -> Iterator[str]:
    named = [file for file in changed if is_name_only(file)]
    for action in CHANGING_ACTIONS:
        paths = [quote_field(file.path, NEXT_NAME) for file in named if file.action == action]
        if paths:
            yield f"{ALSO}{action}: {NEXT_NAME.join(paths)}"


def _done(file: File) -> str:
    return f"{file.action} from {file.was}" if file.was else file.action


def read_artifacts(lines: SummaryLines, known: Summary) -> Summary:
    """Read the table of changed files, and the names after it."""
    files = list[File]()
    if not lines.starts_with(ALSO):
        require(lines.take() == write_table_row(FILE_COLUMNS) and lines.take() == TABLE_RULE)
    while lines.has_row() and not lines.starts_with(ALSO):
        path, done, change, status = split_table_row(lines.take(), len(FILE_COLUMNS))
        action, _, was = done.partition(" from ")
        require(action in CHANGING_ACTIONS and status in {COMPLETE, PARTIAL})
        partial = status == PARTIAL
        files.append(File(path, cast(Action, action), change=change, partial=partial, was=was))
    while lines.has_row():
        action, colon, rest = lines.take(ALSO).partition(": ")
        require(action in CHANGING_ACTIONS and colon != "")
        files.extend(File(path, cast(Action, action)) for path in _read_names(rest))
    return replace(known, files=tuple(files))


def _read_names(line: str) -> Iterator[str]:
    while line:
        path, line = split_field(line, NEXT_NAME)
        yield path
        require(line == "" or line.startswith(NEXT_NAME))
        line = line.removeprefix(NEXT_NAME)


def write_files_read(summary: Summary) -> list[str]:
    """One row for each file that was only read."""
    return [f"- {_looked_at(file)}" for file in summary.files if file.action == "read"]


def _looked_at(file: File) -> str:
    path = quote_field(file.path, SPAN.rstrip(), WHY.rstrip())
    span = ", ".join(f"{first}–{last}" for first, last in file.lines)
    why = f"{WHY}{quote_field(file.why)}" if file.why else ""
    return f"{path}{SPAN}{span}{why}" if span else f"{path}{why}"


def read_files_read(lines: SummaryLines, known: Summary) -> Summary:
    """Read the files that were only read; they come after the changed ones."""
    files = list(known.files)
    while lines.has_row():
        path, rest = split_field(lines.take("- "), SPAN, WHY)
        spans, rest = (
            split_field(rest.removeprefix(SPAN), WHY) if rest.startswith(SPAN) else ("", rest)
        )
        require(rest == "" or rest.startswith(WHY))
        why = whole_field(rest.removeprefix(WHY))
        files.append(File(path, "read", lines=_spans(spans), why=why))
    return replace(known, files=tuple(files))


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    pairs = (span.split("–") for span in text.split(", ")) if text else ()
    return tuple((int(first), int(last)) for first, last in pairs)


# What the sections of a summary share: rows under the names of their entries.


PENDING = "pending"
WHO_BY_TAG: Mapping[str, Who] = {"user": "user", "system": "system", "agent": "agent"}


def parse_number(text: str) -> int:
    """Parse a number with thousands separators."""
    return int(text.replace(",", ""))


def write_quotes(quotes: tuple[Quote, ...]) -> list[str]:
    """One row for each quotation."""
    return rows_with_heads([(row_head(quote.entry), block_lines(quote.text)) for quote in quotes])


def read_rows(
    lines: SummaryLines, *, numbered: bool = False
) -> Iterator[tuple[str, list[str], str]]:
    """Yield the entry, the tags and the text of each row; the caller reads its further lines."""
    said = row_head("")
    while lines.has_row():
        line = take_numbered_row(lines) if numbered else lines.take("- ")
        said, rest = split_row(line, said)
        yield (*split_head(said), rest)


def take_numbered_row(lines: SummaryLines) -> str:
    """Take the next row of a numbered list, and return it without its number."""
    number, dot, line = lines.take().partition(". ")
    require(dot != "" and number.isdecimal())
    return line


def read_quotes(lines: SummaryLines) -> tuple[Quote, ...]:
    """Read rows that are quotations."""
    return tuple(Quote(lines.take_block(text), entry) for entry, _, text in read_rows(lines))


def who_of(tags: list[str], otherwise: Who) -> Who:
    """Return the person among the tags of a row; `otherwise` if there is none."""
    for tag in tags:
        if tag in WHO_BY_TAG:
            return WHO_BY_TAG[tag]
    return otherwise


def each_row(lines: SummaryLines) -> Iterator[None]:
    """Yield once for each row that follows."""
    while lines.has_row():
        yield None


REASON_MARK = ": "
CHOSEN = Pattern(
    r" \((user|system|agent)(?:, instead of ([0-9A-Za-z]{1,12}))?\) \[([0-9A-Za-z]{1,12}|-)\]\Z"
)


def write_decisions(summary: Summary) -> list[str]:
    """A numbered list of the decisions."""
    return [f"{number}. {_chosen(one)}" for number, one in enumerate(summary.decisions, 1)]


def _chosen(one: Decision) -> str:
    reason = f"{REASON_MARK}{quote_field(one.reason)}" if one.reason else ""
    instead = f", instead of {one.overrules}" if one.overrules else ""
    return (
        f"{quote_field(one.choice, REASON_MARK)}{reason} ({one.by}{instead}) {row_head(one.entry)}"
    )


def read_decisions(lines: SummaryLines, known: Summary) -> Summary:
    """Read the decisions."""
    return replace(
        known, decisions=tuple(_read_decision(take_numbered_row(lines)) for _ in each_row(lines))
    )


def _read_decision(line: str) -> Decision:
    end = CHOSEN.search(line)
    require(end is not None)
    assert end is not None
    choice, rest = split_field(line[: end.start()], REASON_MARK)
    require(rest == "" or rest.startswith(REASON_MARK))
    reason = whole_field(rest.removeprefix(REASON_MARK))
    return Decision(choice, entry_of_name(end[3]), reason, WHO_BY_TAG[end[1]], end[2] or "")


PHASE, COMPLETED = "- **Phase:** ", "- **Completed:**"
REMAINING, TESTS, SEEN = "- **Remaining:**", "- **Tests:** ", "- **Seen in:** "
ITEM_MARK, HEAD = "  - ", " ["


def write_progress(summary: Summary) -> list[str]:
    """The progress of the work, as far as it is known."""
    progress = summary.progress
    return [
        *([f"{PHASE}{_phase(progress)}"] if progress.phase else []),
        *_listed(COMPLETED, progress.completed),
        *_listed(REMAINING, progress.remaining),
        *([f"{TESTS}{quote_field(progress.tests)}"] if progress.tests else []),
        *([f"{SEEN}{row_head(progress.entry)}"] if progress.entry else []),
    ]


def _phase(progress: Progress) -> str:
    """Return the phase; one that a model read is followed by its entry."""
    entry = f" {row_head(progress.phase_entry)}" if progress.phase_entry else ""
    return f"{quote_field(progress.phase, HEAD)}{entry}"


def _listed(label: str, items: tuple[str, ...]) -> list[str]:
    return [label, *(f"{ITEM_MARK}{quote_field(item)}" for item in items)] if items else []


def read_progress(lines: SummaryLines, known: Summary) -> Summary:
    """Read the progress of the work."""
    phase, head = split_field(lines.take(PHASE) if lines.starts_with(PHASE) else "", HEAD)
    require(head == "" or head.startswith(HEAD))
    progress = Progress(
        phase=phase,
        phase_entry=split_head(head.lstrip())[0] if head else "",
        completed=_read_list(lines, COMPLETED),
        remaining=_read_list(lines, REMAINING),
        tests=_read_line(lines, TESTS),
        entry=split_head(lines.take(SEEN))[0] if lines.starts_with(SEEN) else "",
    )
    return replace(known, progress=progress)


def _read_line(lines: SummaryLines, label: str) -> str:
    return whole_field(lines.take(label)) if lines.starts_with(label) else ""


def _read_list(lines: SummaryLines, label: str) -> tuple[str, ...]:
    if not lines.starts_with(label):
        return ()
    require(lines.take(label) == "")
    items = list[str]()
    while lines.starts_with(ITEM_MARK):
        items.append(whole_field(lines.take(ITEM_MARK)))
    require(bool(items))
    return tuple(items)


def write_next(summary: Summary) -> list[str]:
    """A numbered list of the next steps."""
    return rows_with_heads(
        [(_due(one), block_lines(one.step)) for one in summary.next], numbered=True
    )


def _due(one: Next) -> str:
    owner = one.owner if one.owner != "agent" else ""
    return row_head(one.entry, owner, one.status if one.status != PENDING else "")


def read_next(lines: SummaryLines, known: Summary) -> Summary:
    """Read the next steps."""
    found = list[Next]()
    for entry, tags, text in read_rows(lines, numbered=True):
        owner = who_of(tags[:1], "agent")
        status = [tag for tag in tags if tag != owner]
        found.append(Next(lines.take_block(text), entry, owner, status[0] if status else PENDING))
    return replace(known, next=tuple(found))


# The sections of the record: errors, the story, and where the rest is found.


OPEN, RESOLVED = "open", "resolved by "
STATUS_MARK = " → "
REF_END = Pattern(r" \((-?[\d,]{1,20}) tokens\) \[([0-9A-Za-z]{1,12}|-)\]\Z")


def write_errors(summary: Summary) -> list[str]:
    """One row for each error, with its status."""
    return rows_with_heads([(_stands(error), _met(error)) for error in summary.errors])


def _stands(error: Error) -> str:
    return row_head(error.entry, f"{RESOLVED}{error.resolved}" if error.resolved else OPEN)


def _met(error: Error) -> list[str]:
    first, *others = block_lines(error.text)
    if not error.what and STATUS_MARK not in first and not first.startswith('"'):
        return [first, *others]
    what = quote_field(error.what, STATUS_MARK.rstrip()) if error.what else '""'
    return [f"{what}{STATUS_MARK}{first}", *others]


def read_errors(lines: SummaryLines, known: Summary) -> Summary:
    """Read the errors."""
    found = tuple(_read_error(entry, tags, text, lines) for entry, tags, text in read_rows(lines))
    return replace(known, errors=found)


def _read_error(entry: str, tags: list[str], text: str, lines: SummaryLines) -> Error:
    what, rest = split_field(text, STATUS_MARK)
    if not rest:
        what, rest = "", f"{STATUS_MARK}{text}"
    require(rest.startswith(STATUS_MARK))
    resolved = next((tag for tag in tags if tag.startswith(RESOLVED)), "")
    gone = entry_of_name(resolved.removeprefix(RESOLVED)) if resolved else ""
    return Error(lines.take_block(rest.removeprefix(STATUS_MARK)), entry, what, gone)


# The story: the user's messages, each followed by what happened until the next one.


USER_MARK = "USER: "


class StoryTurn(Struct, frozen=True):
    """The facts of one request; `quote` has its words unless the intent shows them."""

    entry: str
    facts: tuple[Fact, ...]
    quote: Quote | None = None


def story_turns(summary: Summary) -> Iterator[StoryTurn]:
    """Yield the user's words and the facts in order; each fact names its request as its entry.

    Words without text only say where the facts of that message belong.
    """
    groups = [
        (entry, tuple(facts)) for entry, facts in groupby(summary.facts, lambda fact: fact.entry)
    ]
    intent, at, waiting = summary.intent, 0, list[StoryTurn]()
    marked = {quote.entry for quote in summary.words}
    first, last = (
        [Quote("", quote.entry)] if quote.entry not in marked else []
        for quote in (intent.original, intent.current)
    )
    for quote in (*first, *summary.words, *last):
        place = next((n for n in range(at, len(groups)) if groups[n][0] == quote.entry), None)
        shown = quote if quote.text else None
        if place is None:
            # Where a message without facts belongs is known from the next one that has facts.
            waiting += [StoryTurn(quote.entry, (), shown)] if shown else []
            continue
        yield from (StoryTurn(entry, facts) for entry, facts in groups[at:place])
        yield from waiting
        yield StoryTurn(quote.entry, groups[place][1], shown)
        waiting, at = [], place + 1
    yield from (StoryTurn(entry, facts) for entry, facts in groups[at:])
    yield from waiting


def write_story(summary: Summary) -> list[str]:
    """The user's words and the facts, in order; facts are under the request they belong to."""
    return [line for turn in story_turns(summary) for line in turn_lines(turn)]


def turn_lines(turn: StoryTurn) -> list[str]:
    """Return the request of a turn, and its facts."""
    first, *others = block_lines(turn.quote.text) if turn.quote is not None else [""]
    said = f" {USER_MARK}{first}" if turn.quote is not None else ""
    return [f"{row_head(turn.entry)}{said}", *others, *_fact_lines(turn.facts)]


def _fact_lines(facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        first, *others = block_lines(fact.text)
        yield f" {first}"
        yield from others


def read_story(lines: SummaryLines, known: Summary) -> Summary:
    """Read the user's words and the facts; words without text where a message is not shown."""
    words, facts = list[Quote](), list[Fact]()
    while lines.has_row():
        head, bracket, said = lines.take().partition("] ")
        require(head.startswith("["))
        entry, _ = split_head(f"{head}]" if bracket else head)
        require(said.startswith(USER_MARK) if bracket else lines.starts_with(" "))
        text = lines.take_block(said.removeprefix(USER_MARK)) if bracket else ""
        words.append(Quote(text, entry))
        while lines.starts_with(" "):
            facts.append(Fact(lines.take_block(lines.take(" ")), entry))
    return replace(known, words=tuple(words), facts=tuple(facts))


def write_state(summary: Summary) -> list[str]:
    """One row for each part of the state."""
    return write_quotes(summary.state)


def read_state(lines: SummaryLines, known: Summary) -> Summary:
    """Read the state."""
    return replace(known, state=read_quotes(lines))


def write_refs(summary: Summary) -> list[str]:
    """One row for each recovery reference."""
    # The name comes last here: it is where a message ends, and a client may trim it.
    return [
        f"- {quote_field(ref.what)} ({ref.tokens:,} tokens) {row_head(ref.entry)}"
        for ref in summary.refs
    ]


def read_refs(lines: SummaryLines, known: Summary) -> Summary:
    """Read the references."""
    return replace(known, refs=tuple(_read_ref(lines.take("- ")) for _ in each_row(lines)))


def _read_ref(line: str) -> Ref:
    end = REF_END.search(line)
    require(end is not None)
    assert end is not None
    return Ref(entry_of_name(end[2]), whole_field(line[: end.start()]), parse_number(end[1]))


# The sections of what was said: intent, constraints, words of the user, open questions.


FORBIDS_TAG = "forbids"
LIFTED_TAG = "taken back by "
ORIGINAL, CURRENT, CHANGE = "- **Original:** ", "- **Current:** ", "- **Scope change:** "
ORIGINAL_REST, CURRENT_REST = "- **Original, too:** ", "- **Current, too:** "


def write_intent(summary: Summary) -> list[str]:
    """The original and the current request, and the changes of scope."""
    original, current = summary.intent.original, summary.intent.current
    rows = [(ORIGINAL, original)] if original != Quote() else []
    rows += [(ORIGINAL_REST, part) for part in summary.intent.original_rest]
    rows += [(CURRENT, current)] if current != original else []
    rows += [(CURRENT_REST, part) for part in summary.intent.current_rest]
    rows += [(CHANGE, change) for change in summary.intent.changes]
    return [line for label, quote in rows for line in _labelled(label, quote)]


def _labelled(label: str, quote: Quote) -> list[str]:
    first, *others = block_lines(quote.text)
    return [f"{label}{row_head(quote.entry)} {first}", *others]


def read_intent(lines: SummaryLines, known: Summary) -> Summary:
    """Read the intent; if there is one request only, it is also the current one."""
    labels = (ORIGINAL, ORIGINAL_REST, CURRENT, CURRENT_REST, CHANGE)
    found: dict[str, list[Quote]] = {label: [] for label in labels}
    while lines.has_row():
        label = next((label for label in found if lines.starts_with(label)), "")
        require(label != "")
        head, text = split_row(lines.take(label), "")
        found[label].append(Quote(lines.take_block(text), split_head(head)[0]))
    original = (found[ORIGINAL] or [Quote()])[0]
    current = (found[CURRENT] or [original])[0]
    rests = tuple(found[ORIGINAL_REST]), tuple(found[CURRENT_REST])
    return replace(known, intent=Intent(original, current, tuple(found[CHANGE]), *rests))


def write_constraints(summary: Summary) -> list[str]:
    """One row for each constraint."""
    return rows_with_heads([(_bound(one), block_lines(one.text)) for one in summary.constraints])


def _bound(one: Constraint) -> str:
    by = one.by if one.by != "user" else ""
    lifted = f"{LIFTED_TAG}{one.lifted}" if one.lifted else ""
    return row_head(one.entry, by, FORBIDS_TAG if one.negative else "", lifted)


def read_constraints(lines: SummaryLines, known: Summary) -> Summary:
    """Read the constraints."""
    found = tuple(
        Constraint(
            lines.take_block(text), entry, who_of(tags, "user"), FORBIDS_TAG in tags, _lifted(tags)
        )
        for entry, tags, text in read_rows(lines)
    )
    return replace(known, constraints=found)


def _lifted(tags: Iterable[str]) -> str:
    said = (tag.removeprefix(LIFTED_TAG) for tag in tags if tag.startswith(LIFTED_TAG))
    return next(said, "")


def write_questions(summary: Summary) -> list[str]:
    """One row for each open question."""
    return write_quotes(summary.questions)


def read_questions(lines: SummaryLines, known: Summary) -> Summary:
    """Read the open questions."""
    return replace(known, questions=read_quotes(lines))
