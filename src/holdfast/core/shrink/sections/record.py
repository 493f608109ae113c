"""The sections of the record: errors, facts, and where the rest is found."""

import re
from itertools import groupby

from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Error,
    Fact,
    Ref,
    Summary,
)
from holdfast.core.shrink.sections.rows import each_row, number_of, read_rows
from holdfast.core.shrink.spelling import (
    Lines,
    entry_of,
    field,
    head_of,
    headed,
    need,
    split_field,
    split_head,
    told,
    whole_field,
)

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
