"""Render the forms of the research and the planning phase within their word limits.

Rows that do not fit are left out, and the form says how many. A lower limit is not enforced: a form
is short rather than filled.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from holdfast.core.ledger.summary import File, Quote, Summary
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.results.choices import not_overruled
from holdfast.core.shrink.summary.choose import choose, moment_of_fact
from holdfast.core.shrink.summary.quoting import row_head, short_name
from holdfast.core.shrink.summary.root import relative_moments
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
MAX_STATEMENT_WORDS = 150
"""Words of one request that a problem statement shows."""
MAX_FINDING_WORDS = 400
"""Words of the sentences that are chosen as findings."""
MIN_FINDING_WEIGHT = 0.8
"""The least weight of a sentence that can be a finding: an announcement has less."""

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
# Matches "def test_load(" and "func TestLoad("; not "def load_test(".
TEST_DEFINITION = Pattern(r"\b(?:def|func|fn|class|function)\s{1,4}[Tt]est[A-Z_]")
# Matches "load()," and a final "load()"; not "load(path)".
NAMED_FUNCTION = Pattern(r"\w\(\)(?:,|\Z)")
"""A function as a row about a file names it."""
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


class FormSection(Struct, frozen=True):
    """A section of a form: its rows, the most valuable first, and its share of the words."""

    title: str
    rows: Sequence[str]
    share: float


def research_form(summary: Summary, context: FormContext) -> str:
    """Render the structured analysis of a research phase."""
    sections = (
        FormSection("Problem Statement", _problem_rows(summary), 0.3),
        FormSection("Key Findings", _finding_rows(summary, context), 0.4),
        FormSection("Relevant File Paths", _file_rows(summary), 0.15),
        FormSection("Constraints Discovered", _constraint_rows(summary), 0.15),
    )
    return _fit_to_words(
        MAX_RESEARCH_WORDS, f"## Structured Analysis — {context.title}", sections, context
    )


def planning_form(summary: Summary, context: FormContext) -> str:
    """Render the implementation specification of a planning phase."""
    found: dict[str, dict[str, str]] = {title: {} for title, _ in PLANNING_SECTIONS}
    for line, place in _written_lines(summary, context):
        title = _section_for(line[:MAX_LINE_CHARS])
        if title and not TEST_DEFINITION.search(line):
            found[title].setdefault(line, f"- `{line}` ({place})")
    for file in changed_files(summary):
        for line in map(str.strip, join_lines(file.change).split("; ")):
            named = "Function Signatures" if NAMED_FUNCTION.search(line) else ""
            title = _section_for(line[:MAX_LINE_CHARS]) or named
            if title and not _names_any(line, found[title]):
                found[title][line] = f"- `{line}` ({join_lines(file.path)})"
    sections = (
        FormSection("Constraints", _constraint_rows(summary), 0.2),
        *(FormSection(title, list(rows.values()), 0.2) for title, rows in found.items()),
    )
    return _fit_to_words(
        MAX_PLANNING_WORDS, f"## Implementation Specification — {context.title}", sections, context
    )


def _problem_rows(summary: Summary) -> list[str]:
    intent = summary.intent
    first = [_escape_heading(_cut_words(intent.original))] if intent.original.text else []
    other = intent.current.text and intent.current.text != intent.original.text
    now = [f"- Now: {_cut_words(intent.current)}"] if other else []
    return [*first, *now, *(f"- Changed: {_cut_words(change)}" for change in intent.changes)]


def _escape_heading(line: str) -> str:
    """Escape a line that starts like a heading: a request may begin with a title."""
    return f"\\{line.lstrip()}" if line.lstrip().startswith("#") else line


def _cut_words(quote: Quote) -> str:
    """Return a quote on one line, cut to the words that a statement has room for."""
    text = join_lines(quote.text)
    more = _count_words(text) - MAX_STATEMENT_WORDS
    if more <= 0:
        return text
    rest = f"`holdfast recover --ref {short_name(quote.entry)}`"
    return f"{' '.join(text.split()[:MAX_STATEMENT_WORDS])} … ({more:,} more words: {rest})"


def _constraint_rows(summary: Summary) -> list[str]:
    return [f"- {join_lines(constraint.text)}" for constraint in constraints_in_force(summary)]


def _finding_rows(summary: Summary, context: FormContext) -> list[str]:
    """Return decisions, the sentences that cover most about the requests, and open errors."""
    newest_first = list(reversed(not_overruled(summary.decisions)))
    ranked = sorted(newest_first, key=lambda decision: decision.by != "user")
    found = choose(
        [*_sentences(summary, context)],
        MAX_FINDING_WORDS,
        count=_count_words,
        focus="\n".join(quote.text for quote in summary.intent.requests),
    )
    errors = (error for error in reversed(summary.errors) if not error.resolved)
    texts = (
        *map(describe_decision, ranked),
        *(f"{moment.text} {row_head(short_name(moment.entry))}" for moment in found),
        *map(describe_error, errors),
    )
    return [f"- {join_lines(text)}" for text in texts]


def _sentences(summary: Summary, context: FormContext) -> Iterator[Moment]:
    """Yield what the agent stated, others reported and the user answered; no announcements."""
    for moment in _moments_of(summary, context):
        if moment.kind in ("said", "reported", "answered") and moment.weight >= MIN_FINDING_WEIGHT:
            yield moment


def _moments_of(summary: Summary, context: FormContext) -> Sequence[Moment]:
    moments = context.moments or map(moment_of_fact, summary.facts)
    return relative_moments(moments, summary.root)


def _file_rows(summary: Summary) -> list[str]:
    """Return the changed files before the read ones, the newest first."""
    newest_first = list(reversed(summary.files))
    return [
        _file_row(file) for file in sorted(newest_first, key=lambda file: file.action == "read")
    ]


def _file_row(file: File) -> str:
    if file.action == "read":
        return f"- {join_lines(describe_read_file(file))}"
    change = f" — {file.change}" if file.change else ""
    return f"- {join_lines(f'{file.path} ({file_action(file)}){change}')}"


def _written_lines(summary: Summary, context: FormContext) -> Iterator[tuple[str, str]]:
    """Yield lines with their place: of the requests, and of files, the newest first."""
    for quote in (*summary.intent.requests, *summary.words):
        for line in quote.text.split("\n"):
            yield line.strip().lstrip("-* ").replace("`", ""), row_head(short_name(quote.entry))
    for moment in reversed(_moments_of(summary, context)):
        if moment.kind == "content":
            name, mark, line = join_lines(moment.text).partition(": ")
            named = bool(mark) and "." in name and " " not in name
            place = row_head(short_name(moment.entry))
            yield (line.strip(), name) if named else (join_lines(moment.text).strip(), place)


def _names_any(symbols: str, lines: Iterable[str]) -> bool:
    """Return whether any line has one of the symbols of a change: it is shown already."""
    names = [symbol.rpartition(".")[2].removesuffix("()") for symbol in symbols.split(", ")]
    return any(name and name in line for line in lines for name in names)


def _section_for(text: str) -> str:
    patterns = dict(PLANNING_SECTIONS)
    return next((title for title in SECTIONS_NARROWEST_FIRST if patterns[title].search(text)), "")


def _fit_to_words(
    most: int, title: str, sections: Sequence[FormSection], context: FormContext
) -> str:
    """Render the form; each section has its share, and the first ones get what is unused."""
    room = most - _count_words(title) - sum(_count_words(part.title) + 1 for part in sections)
    # Every section may need a line about the rows it leaves out.
    room -= len(sections) * _count_words(_omission_line(1_000, context))
    shown = [_rows_that_fit(part.rows, int(room * part.share)) for part in sections]
    for at, part in enumerate(sections):
        left = room - sum(_count_words(row) for rows in shown for row in rows)
        shown[at] = _rows_that_fit(part.rows, left + sum(map(_count_words, shown[at])))
    lines = [title]
    for part, rows in zip(sections, shown, strict=True):
        missing = len(part.rows) - len(rows)
        more = [_omission_line(missing, context)] if missing else []
        lines += section_lines(part.title, [*rows, *more])
    return "\n".join(lines)


def _rows_that_fit(rows: Iterable[str], room: int) -> list[str]:
    shown = list[str]()
    for row in rows:
        size = _count_words(row)
        if size <= room:
            room -= size
            shown.append(row)
    return shown


def _omission_line(rows: int, context: FormContext) -> str:
    place = join_lines(context.archive) or SEARCH
    return f"- {rows:,} more not shown; all are in {place}"


def _count_words(text: str) -> int:
    return len(text.split())
