"""Render the forms of the research and the planning phase within their word limits.

The upper limit is met by leaving out the least valuable rows, and saying so. A lower limit is not
enforced: unknown content is not invented.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.summary import Fact, File, Quote, Summary
from holdfast.core.observe.results.choices import not_overruled
from holdfast.core.shrink.summary.quoting import row_head, short_name
from holdfast.core.view.forms.parts import (
    SEARCH,
    FormContext,
    changed_files,
    constraints_in_force,
    describe_decision,
    describe_error,
    describe_read_file,
    file_action,
    join_lines,
    section_lines,
)
from holdfast.text.patterns import Pattern

MAX_RESEARCH_WORDS, MAX_PLANNING_WORDS = 1_000, 2_000
"""Word limits of the two forms."""
MAX_STATEMENT_WORDS = 200
"""Words of one request that a problem statement shows."""

RANK_FIRST, RANK_MIDDLE, RANK_LAST = 2, 1, 0
"""Ranks of rows, compared before their worth: constraints and the user's choices; findings; the
rest."""

# Matches "def load(path" and "const f = (x) =>"; not "the function returns".
FUNCTION_SIGNATURE = Pattern(
    r"\b(?:def|fn|func|function|fun|sub)\s{1,4}(?:\([^()]{0,60}\)\s?)?[A-Za-z_]\w{0,80}\s?[(<\[]"
    r"|\b(?:const|let)\s[A-Za-z_]\w{0,80}\s?=\s?(?:async\s)?\([^()]{0,120}\)\s?(?::[^=]{1,60})?=>"
    r"|\b(?:public|private|protected|static)\s[\w<>\[\], ]{1,80}\([^()]{0,120}\)\s?[{;]?"
)
# Matches "class Store:" and "type Id = string"; not "a class of errors".
TYPE_DEFINITION = Pattern(
    r"\b(?:class|interface|struct|enum|trait|protocol|record)\s[A-Za-z_]\w{0,80}"
    r"(?:\s?[({:<\[]|\s(?:extends|implements|where)\b|\s?\Z)"
    r"|\btype\s[A-Za-z_]\w{0,80}(?:<[^<>]{0,60}>)?\s(?:=|struct\b|interface\b)"
    r"|\btypedef\s\w|\b[A-Z]\w{0,80}\s?=\s?(?:TypedDict|NamedTuple|NewType|TypeVar)\("
)
# Matches "GET /users" and "@app.post('/login')"; not "get the users".
API_ROUTE = Pattern(
    r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s{1,4}(?:https?://[^\s/]{1,120})?/"
    r"|\.(?:get|post|put|patch|delete|route|add_url_rule|HandleFunc|Handle)\(\s?[\"'`]/"
    r"|@(?:Get|Post|Put|Patch|Delete|Request)Mapping\b|\brpc\s[A-Z]\w{0,80}\s?\("
)
# Matches "CREATE TABLE users" and "message User {"; not "the table of users".
DATA_MODEL = Pattern(
    r"(?i:\b(?:create|alter)\s(?:temp(?:orary)?\s)?table\b|\bcreate\s(?:unique\s)?index\b"
    r"|\bprimary\skey\b|\bforeign\skey\b)"
    r"|\b(?:mapped_column|db\.Column|models\.\w{1,40}(?:Field|Key))\("
    r"|\b(?:model|message)\s[A-Z]\w{0,80}\s?\{"
)
# Matches "load()," and a final "load()"; not "load(path)".
NAMED_FUNCTION = Pattern(r"\w\(\)(?:,|\Z)")
"""A function as a row about a file names it."""
# Matches "  12→" and "12:"; not "12 files".
LINE_NUMBER = Pattern(r"\s{0,8}\d{1,7}(?:→|\t|:)\s?")
"""The number that a tool prints before a line."""

PLANNING_SECTIONS = (
    ("Function Signatures", FUNCTION_SIGNATURE),
    ("Type Definitions", TYPE_DEFINITION),
    ("API Contracts", API_ROUTE),
    ("Data Models", DATA_MODEL),
)
SECTIONS_NARROWEST_FIRST = (
    "Data Models",
    "API Contracts",
    "Type Definitions",
    "Function Signatures",
)
"""The order in which patterns are tried: a route or table is often written as a function or class
too, and then the narrower section is right."""
MAX_LINE_CHARS = 4_000
"""Characters of a line that are searched."""


class FormRow(Struct, frozen=True):
    """A line of a form and its worth."""

    text: str
    rank: int = RANK_MIDDLE
    worth: float = 0.0


class FormSection(Struct, frozen=True):
    """A section of a form."""

    title: str
    rows: Sequence[FormRow] = ()


def research_form(summary: Summary, context: FormContext) -> str:
    """Render the structured analysis of a research phase."""
    parts = (
        FormSection("Problem Statement", _problem_rows(summary)),
        FormSection("Key Findings", _finding_rows(summary)),
        FormSection("Relevant File Paths", [_file_row(file) for file in summary.files]),
        FormSection("Constraints Discovered", _constraint_rows(summary)),
    )
    return _fit_to_words(
        MAX_RESEARCH_WORDS, f"## Research Summary — {context.title}", parts, context
    )


def planning_form(summary: Summary, context: FormContext) -> str:
    """Render the specification of a planning phase."""
    found: dict[str, list[FormRow]] = {title: [] for title, _ in PLANNING_SECTIONS}
    for title, text, place, worth in _definitions(summary):
        if title:
            found[title].append(FormRow(f"- `{text}` ({join_lines(place)})", worth=worth))
    parts = (
        FormSection("Constraints", _constraint_rows(summary)),
        *(FormSection(title, _unique_rows(rows)) for title, rows in found.items()),
    )
    return _fit_to_words(
        MAX_PLANNING_WORDS, f"## Implementation Specification — {context.title}", parts, context
    )


def _problem_rows(summary: Summary) -> list[FormRow]:
    intent = summary.intent
    first = (
        [FormRow(_escape_heading(_cut_words(intent.original)), RANK_FIRST, 3)]
        if intent.original.text
        else []
    )
    other = intent.current.text and intent.current.text != intent.original.text
    now = [FormRow(f"- Now: {_cut_words(intent.current)}", RANK_FIRST, 2)] if other else []
    return [
        *first,
        *now,
        *(FormRow(f"- Changed: {_cut_words(change)}", RANK_FIRST, 1) for change in intent.changes),
    ]


def _escape_heading(line: str) -> str:
    """Escape a line that starts like a heading: a request may begin with a title."""
    return f"\\{line.lstrip()}" if line.lstrip().startswith("#") else line


def _cut_words(quote: Quote) -> str:
    """Return a quote on one line, cut to the words that a statement has room for."""
    text = join_lines(quote.text)
    more = len(text.split()) - MAX_STATEMENT_WORDS
    if more <= 0:
        return text
    rest = f"`holdfast recover --ref {short_name(quote.entry)}`"
    return f"{' '.join(text.split()[:MAX_STATEMENT_WORDS])} … ({more:,} more words: {rest})"


def _constraint_rows(summary: Summary) -> list[FormRow]:
    return [
        FormRow(f"- {join_lines(constraint.text)}", RANK_FIRST)
        for constraint in constraints_in_force(summary)
    ]


def _finding_rows(summary: Summary) -> list[FormRow]:
    return [
        *(
            FormRow(
                f"- {join_lines(describe_decision(decision))}",
                RANK_FIRST if decision.by == "user" else RANK_MIDDLE,
                1,
            )
            for decision in not_overruled(summary.decisions)
        ),
        *(
            FormRow(f"- {join_lines(finding.text)}", worth=1)
            for finding in reversed(summary.findings)
        ),
        *(FormRow(f"- {_fact_text(fact)}", worth=fact.worth) for fact in summary.facts),
        *(
            FormRow(
                f"- {join_lines(describe_error(error))}",
                RANK_LAST if error.resolved else RANK_MIDDLE,
                1,
            )
            for error in summary.errors
        ),
    ]


def _fact_text(fact: Fact) -> str:
    source = f" ({join_lines(fact.source)})" if fact.source else ""
    return f"{join_lines(fact.text).strip()}{source}"


def _file_row(file: File) -> FormRow:
    if file.action == "read":
        return FormRow(
            f"- {join_lines(describe_read_file(file))}", worth=bool(file.why) + bool(file.lines) / 2
        )
    change = f" — {file.change}" if file.change else ""
    return FormRow(f"- {join_lines(f'{file.path} ({file_action(file)}){change}')}", worth=2)


def _definitions(summary: Summary) -> Iterable[tuple[str, str, str, float]]:
    """Yield each line that may define something: section, line, source and worth."""
    for fact in summary.facts:
        line = _without_line_number(join_lines(fact.text))
        yield (
            _section_for(line[:MAX_LINE_CHARS]),
            line,
            fact.source or row_head(short_name(fact.entry)),
            fact.worth,
        )
    for file in changed_files(summary):
        for change in file.change.split("; "):
            line = join_lines(change).strip()
            named = "Function Signatures" if NAMED_FUNCTION.search(line) else ""
            yield _section_for(line[:MAX_LINE_CHARS]) or named, line, file.path, 1


def _without_line_number(line: str) -> str:
    number = LINE_NUMBER.match(line)
    return line[number.end() if number else 0 :].strip()


def _section_for(text: str) -> str:
    patterns = dict(PLANNING_SECTIONS)
    return next((title for title in SECTIONS_NARROWEST_FIRST if patterns[title].search(text)), "")


def _unique_rows(rows: Iterable[FormRow]) -> list[FormRow]:
    return list({row.text: row for row in rows}.values())


def _fit_to_words(most: int, title: str, parts: Sequence[FormSection], context: FormContext) -> str:
    """Render the form with as many rows as its words allow, the most valuable first."""
    room = most - _count_words(title) - sum(_count_words(part.title) + 1 for part in parts)
    # Every section may need a line about the rows it leaves out.
    room -= len(parts) * _count_words(_omission_line(1_000, context))
    shown = _choose_rows(parts, room)
    lines = [title]
    for at, part in enumerate(parts):
        texts = [row.text for number, row in enumerate(part.rows) if (at, number) in shown]
        missing = len(part.rows) - len(texts)
        lines += section_lines(
            part.title, [*texts, *([_omission_line(missing, context)] if missing else [])]
        )
    return "\n".join(lines)


def _choose_rows(parts: Sequence[FormSection], room: int) -> set[tuple[int, int]]:
    """Return the rows that fit: by rank, then by position within their section.

    Positions, not worth, are compared between sections, so that no kind of row crowds out another.
    """
    order = sorted(
        (-row.rank, place / len(part.rows), at, number)
        for at, part in enumerate(parts)
        for place, (number, row) in enumerate(
            sorted(enumerate(part.rows), key=lambda pair: -pair[1].worth)
        )
    )
    shown = set[tuple[int, int]]()
    for _, _, at, number in order:
        size = _count_words(parts[at].rows[number].text)
        if size <= room:
            shown.add((at, number))
            room -= size
    return shown


def _omission_line(rows: int, context: FormContext) -> str:
    place = join_lines(context.archive) or SEARCH
    return f"- {rows:,} more not shown; all are in {place}"


def _count_words(text: str) -> int:
    return len(text.split())
