"""The forms of the research and the planning phase, each within its number of words.

The most words are kept by leaving out the rows that are worth least, and saying so; the fewest
cannot be: what is not known is not made up.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.summary import Fact, File, Quote, Summary
from holdfast.core.observe.results.choices import still_held
from holdfast.core.shrink.summary.quoting import head_of, name_of
from holdfast.core.view.forms.parts import (
    SEARCH,
    About,
    changed,
    chosen,
    done_to,
    failed,
    in_a_line,
    in_force,
    looked_at,
    section,
)

RESEARCH, PLANNING = 1_000, 2_000
"""Words at the most."""
STATED = 200
"""Words of one request that a problem statement shows."""

FIRST, MIDDLE, LAST = 2, 1, 0
"""What rows are worth before all else: constraints and the user's choices; findings; the rest."""

FUNCTION = re.compile(
    r"\b(?:def|fn|func|function|fun|sub)\s{1,4}(?:\([^()]{0,60}\)\s?)?[A-Za-z_]\w{0,80}\s?[(<\[]"
    r"|\b(?:const|let)\s[A-Za-z_]\w{0,80}\s?=\s?(?:async\s)?\([^()]{0,120}\)\s?(?::[^=]{1,60})?=>"
    r"|\b(?:public|private|protected|static)\s[\w<>\[\], ]{1,80}\([^()]{0,120}\)\s?[{;]?"
)
TYPE = re.compile(
    r"\b(?:class|interface|struct|enum|trait|protocol|record)\s[A-Za-z_]\w{0,80}"
    r"(?:\s?[({:<\[]|\s(?:extends|implements|where)\b|\s?\Z)"
    r"|\btype\s[A-Za-z_]\w{0,80}(?:<[^<>]{0,60}>)?\s(?:=|struct\b|interface\b)"
    r"|\btypedef\s\w|\b[A-Z]\w{0,80}\s?=\s?(?:TypedDict|NamedTuple|NewType|TypeVar)\("
)
ROUTE = re.compile(
    r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s{1,4}(?:https?://[^\s/]{1,120})?/"
    r"|\.(?:get|post|put|patch|delete|route|add_url_rule|HandleFunc|Handle)\(\s?[\"'`]/"
    r"|@(?:Get|Post|Put|Patch|Delete|Request)Mapping\b|\brpc\s[A-Z]\w{0,80}\s?\("
)
MODEL = re.compile(
    r"(?i:\b(?:create|alter)\s(?:temp(?:orary)?\s)?table\b|\bcreate\s(?:unique\s)?index\b"
    r"|\bprimary\skey\b|\bforeign\skey\b)"
    r"|\b(?:mapped_column|db\.Column|models\.\w{1,40}(?:Field|Key))\("
    r"|\b(?:model|message)\s[A-Z]\w{0,80}\s?\{"
)
NAMED = re.compile(r"\w\(\)(?:,|\Z)")
"""Functions as a row about a file names them."""
NUMBER = re.compile(r"\s{0,8}\d{1,7}(?:→|\t|:)\s?")
"""The number that a tool puts before a line."""

PLANNED = (
    ("Function Signatures", FUNCTION),
    ("Type Definitions", TYPE),
    ("API Contracts", ROUTE),
    ("Data Models", MODEL),
)
ASKED_IN_ORDER = ("Data Models", "API Contracts", "Type Definitions", "Function Signatures")
"""A route or a table is often written as a function or a class too: the narrower one counts."""
WIDEST = 4_000
"""Characters of a line that are looked at."""


class Row(Struct, frozen=True):
    """A line of a form, and what it is worth."""

    text: str
    rank: int = MIDDLE
    worth: float = 0.0


class Part(Struct, frozen=True):
    """A section of a form."""

    title: str
    rows: Sequence[Row] = ()


def research(summary: Summary, about: About) -> str:
    """The structured analysis that a research phase leaves."""
    parts = (
        Part("Problem Statement", _stated(summary)),
        Part("Key Findings", _findings(summary)),
        Part("Relevant File Paths", [_path(file) for file in summary.files]),
        Part("Constraints Discovered", _bound(summary)),
    )
    return _within(RESEARCH, f"## Research Summary — {about.title}", parts, about)


def planning(summary: Summary, about: About) -> str:
    """The specification that a planning phase leaves."""
    found: dict[str, list[Row]] = {title: [] for title, _ in PLANNED}
    for title, text, place, worth in _defined(summary):
        if title:
            found[title].append(Row(f"- `{text}` ({in_a_line(place)})", worth=worth))
    parts = (
        Part("Constraints", _bound(summary)),
        *(Part(title, _once(rows)) for title, rows in found.items()),
    )
    return _within(PLANNING, f"## Implementation Specification — {about.title}", parts, about)


def _stated(summary: Summary) -> list[Row]:
    intent = summary.intent
    first = [Row(_no_heading(_cut(intent.original)), FIRST, 3)] if intent.original.text else []
    other = intent.current.text and intent.current.text != intent.original.text
    now = [Row(f"- Now: {_cut(intent.current)}", FIRST, 2)] if other else []
    return [*first, *now, *(Row(f"- Changed: {_cut(one)}", FIRST, 1) for one in intent.changes)]


def _no_heading(line: str) -> str:
    """A line that stands by itself and starts no section: a request may begin with a title."""
    return f"\\{line.lstrip()}" if line.lstrip().startswith("#") else line


def _cut(quote: Quote) -> str:
    """The words in a line, as many as a statement has room for."""
    said = in_a_line(quote.text)
    more = len(said.split()) - STATED
    if more <= 0:
        return said
    rest = f"`holdfast recover --ref {name_of(quote.entry)}`"
    return f"{' '.join(said.split()[:STATED])} … ({more:,} more words: {rest})"


def _bound(summary: Summary) -> list[Row]:
    return [Row(f"- {in_a_line(one.text)}", FIRST) for one in in_force(summary)]


def _findings(summary: Summary) -> list[Row]:
    return [
        *(
            Row(f"- {in_a_line(chosen(one))}", FIRST if one.by == "user" else MIDDLE, 1)
            for one in still_held(summary.decisions)
        ),
        *(Row(f"- {in_a_line(one.text)}", worth=1) for one in reversed(summary.findings)),
        *(Row(f"- {_fact(fact)}", worth=fact.worth) for fact in summary.facts),
        *(
            Row(f"- {in_a_line(failed(error))}", LAST if error.resolved else MIDDLE, 1)
            for error in summary.errors
        ),
    ]


def _fact(fact: Fact) -> str:
    source = f" ({in_a_line(fact.source)})" if fact.source else ""
    return f"{in_a_line(fact.text).strip()}{source}"


def _path(file: File) -> Row:
    if file.action == "read":
        return Row(f"- {in_a_line(looked_at(file))}", worth=bool(file.why) + bool(file.lines) / 2)
    change = f" — {file.change}" if file.change else ""
    return Row(f"- {in_a_line(f'{file.path} ({done_to(file)}){change}')}", worth=2)


def _defined(summary: Summary) -> Iterable[tuple[str, str, str, float]]:
    """What lines define, if anything: its kind, the line, where it is from, what it is worth."""
    for fact in summary.facts:
        line = _unnumbered(in_a_line(fact.text))
        yield _kind(line[:WIDEST]), line, fact.source or head_of(name_of(fact.entry)), fact.worth
    for file in changed(summary):
        for change in file.change.split("; "):
            line = in_a_line(change).strip()
            named = "Function Signatures" if NAMED.search(line) else ""
            yield _kind(line[:WIDEST]) or named, line, file.path, 1


def _unnumbered(line: str) -> str:
    number = NUMBER.match(line)
    return line[number.end() if number else 0 :].strip()


def _kind(text: str) -> str:
    patterns = dict(PLANNED)
    return next((title for title in ASKED_IN_ORDER if patterns[title].search(text)), "")


def _once(rows: Iterable[Row]) -> list[Row]:
    return list({row.text: row for row in rows}.values())


def _within(most: int, title: str, parts: Sequence[Part], about: About) -> str:
    """The form with as many rows as its words allow, the worthiest first."""
    room = most - _size(title) - sum(_size(part.title) + 1 for part in parts)
    # Every section may have to say what it leaves out.
    room -= len(parts) * _size(_left_out(1_000, about))
    shown = _chosen(parts, room)
    lines = [title]
    for at, part in enumerate(parts):
        kept = [row.text for number, row in enumerate(part.rows) if (at, number) in shown]
        missing = len(part.rows) - len(kept)
        lines += section(part.title, [*kept, *([_left_out(missing, about)] if missing else [])])
    return "\n".join(lines)


def _chosen(parts: Sequence[Part], room: int) -> set[tuple[int, int]]:
    """The rows that fit: by rank, then by their place among those of their own section.

    Places, not worth, are compared between sections: so no kind of row crowds out another.
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
        size = _size(parts[at].rows[number].text)
        if size <= room:
            shown.add((at, number))
            room -= size
    return shown


def _left_out(rows: int, about: About) -> str:
    place = in_a_line(about.archive) or SEARCH
    return f"- {rows:,} more not shown; all are in {place}"


def _size(text: str) -> int:
    return len(text.split())
