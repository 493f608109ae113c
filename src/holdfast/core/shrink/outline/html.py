"""Outline HTML and XML: title, headings, counts of elements, and the first visible text."""

import re
from collections import Counter
from collections.abc import Iterator

from holdfast.core.shrink.outline.fit import (
    Detail,
    Sketch,
    best_lines,
    join_names,
    squeeze,
    with_noun,
)
from holdfast.core.shrink.outline.reading import MAX_WHOLE_CHARS, TextReading
from holdfast.text.patterns import Pattern

TAG = Pattern(r"<(/?)([A-Za-z][\w:-]{0,40})")
MARKUP = Pattern(r"<[^<>]*>")
HEADING = Pattern(r"<(h[1-6])\b", re.IGNORECASE)
COUNTED_TAGS = (
    ("a", "link"),
    ("form", "form"),
    ("input", "input"),
    ("button", "button"),
    ("table", "table"),
    ("img", "image"),
    ("script", "script"),
)
HIDDEN_TAGS = ("script", "style", "svg", "noscript", "template")
ENTITIES = (
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&#39;", "'"),
    ("&amp;", "&"),
)


def outline_page(reading: TextReading, lines: int, width: int) -> Sketch:
    """Show the headings and the visible text of a page."""
    text = reading.whole
    sample = (
        text
        if len(text) <= MAX_WHOLE_CHARS
        else text[: MAX_WHOLE_CHARS // 2] + text[-MAX_WHOLE_CHARS // 2 :]
    )
    lower = sample.lower()
    bare = _without_hidden(sample, lower)
    tags = Counter(name.lower() for slash, name in TAG.findall(sample) if not slash)
    details = [
        Detail(1, at, f"{'#' * int(level)} {heading}")
        for at, (level, heading) in enumerate(_headings(bare))
        if heading
    ]
    details += [
        Detail(2 + order // 4, 1_000_000 + order, row)
        for order, row in enumerate(_visible_rows(bare, lines, width))
    ]
    return Sketch(_summary(reading, lower, sample, tags), best_lines(details, lines))


def _summary(reading: TextReading, lower: str, sample: str, tags: Counter[str]) -> str:
    if lower.lstrip().startswith("<?xml") and "<html" not in lower[:2000]:
        common = [f"{name} ×{count}" for name, count in tags.most_common(8)]
        return f"XML, {with_noun(reading.total, 'line')}: {join_names(common, 8)}"
    title = squeeze(_element_text(sample, lower, "title"), 80)
    contents = ", ".join(with_noun(tags[tag], what) for tag, what in COUNTED_TAGS if tags[tag])
    name = f" “{title}”" if title else ""
    return (
        f"HTML page{name}, {with_noun(len(reading.whole), 'character')}: {contents or 'text only'}"
    )


def _element_text(text: str, lower: str, tag: str) -> str:
    """Return the text of the first element with a tag."""
    start = lower.find(f"<{tag}")
    opened = text.find(">", start) if start >= 0 else -1
    closed = lower.find(f"</{tag}", opened) if opened >= 0 else -1
    return _without_markup(text[opened + 1 : closed]) if closed >= 0 else ""


def _without_hidden(text: str, lower: str) -> str:
    """Remove scripts, styles and drawings."""
    if len(lower) != len(text):
        # Some letters become longer in lower case; then places in `lower` are not places in `text`.
        return text
    parts: list[str] = []
    at = 0
    following = {tag: lower.find(f"<{tag}") for tag in HIDDEN_TAGS}
    while True:
        for tag, place in following.items():
            if 0 <= place < at:
                following[tag] = lower.find(f"<{tag}", at)
        opened = [(place, tag) for tag, place in following.items() if place >= 0]
        if not opened:
            return "".join((*parts, text[at:]))
        start, tag = min(opened)
        parts.append(text[at:start])
        end = lower.find(f"</{tag}", start)
        if end < 0:
            return "".join(parts)
        at = end + len(tag) + 3


def _headings(bare: str) -> Iterator[tuple[str, str]]:
    for match in HEADING.finditer(bare):
        opened = bare.find(">", match.end(), match.end() + 2_000)
        closed = bare.find("</", opened, opened + 2_000) if opened >= 0 else -1
        if closed >= 0:
            # A heading may contain other elements, so its end is searched by its tag.
            end = bare.find(f"</{match[1]}", opened, opened + 2_000)
            yield (
                match[1][1],
                squeeze(_without_markup(bare[opened + 1 : end if end >= 0 else closed]), 120),
            )


def _without_markup(text: str) -> str:
    shown = MARKUP.sub(" ", text)
    for entity, char in ENTITIES:
        shown = shown.replace(entity, char)
    return shown


def _visible_rows(bare: str, lines: int, width: int) -> Iterator[str]:
    """Yield the visible text in lines of at most `width` characters."""
    start = bare.lower().find("<body")
    body = bare[max(start, 0) :]
    # A tag that the limit cuts would be shown as text.
    words = _without_markup(body[:60_000].rpartition("<")[0] or body[:60_000]).split()
    row = ""
    yielded = 0
    for word in words:
        if yielded >= lines:
            return
        if row and len(row) + len(word) >= width:
            yield row
            yielded += 1
            row = ""
        row = f"{row} {word}" if row else word[:width]
    if row:
        yield row
