"""What the sections of a summary share: rows under the names of their entries."""

from collections.abc import Iterator, Mapping

from holdfast.core.ledger.summary import (
    Quote,
    Who,
)
from holdfast.core.shrink.spelling import (
    NONE,
    Lines,
    field,
    head_of,
    headed,
    need,
    split_head,
    split_headed,
    told,
    whole_field,
)

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
