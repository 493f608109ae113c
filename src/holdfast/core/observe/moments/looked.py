"""Read a file that was read, or a search and its hits, as moments of little weight."""

from collections.abc import Iterator

from holdfast.core.faults import row_rule
from holdfast.core.ledger.entry import EntryId
from holdfast.core.observe.files.touch import Touch
from holdfast.core.observe.moments.contents import (
    content_lines,
    content_moments,
    name_moments,
)
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.core.observe.moments.printed import (
    detail_moments,
    hits_with_files,
    outcome_of,
    printed_text,
)
from holdfast.text.clip import clip_middle, clip_words

READ_WEIGHT, SEARCHED_WEIGHT, SEEN_WEIGHT = 0.1, 0.6, 0.3
MAX_SEARCH_HEAD, MAX_SEARCH_TAIL = 110, 50
MAX_LABEL_CHARS = 40
"""Characters of a search that are shown before each of its other hits."""


@row_rule
def read_moments(touch: Touch, output: str, entry: EntryId) -> Iterator[Moment]:
    """Yield the file that was read, and what it defines."""
    lines = f" lines {touch.first}–{touch.last or ''}" if touch.paged else ""
    yield Moment("looked", plain_line(f"read {touch.path}{lines}"), entry, READ_WEIGHT)
    text = printed_text(output)
    first = (touch.first or 1) if not text.startswith("<") else 0
    found = content_lines(touch.path, text, first)
    yield from content_moments(touch.path, found, entry, SEEN_WEIGHT)
    name = touch.path.rpartition("/")[2]
    yield from name_moments(name, text, entry, (line.text for line in found))


@row_rule
def searched_moments(what: str, output: str, entry: EntryId) -> Iterator[Moment]:
    """Yield a search with its hits if they are few, else with the first ones, and the others."""
    asked = clip_middle(plain_line(what), MAX_SEARCH_HEAD, MAX_SEARCH_TAIL, " … ")
    text = hits_with_files(printed_text(output))
    yield Moment("looked", f"searched {asked} → {outcome_of(text)}", entry, SEARCHED_WEIGHT)
    yield from detail_moments(clip_words(asked, MAX_LABEL_CHARS, "…"), text, entry)
