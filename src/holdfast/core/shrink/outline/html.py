"""HTML and XML: title, headings, what it holds, and how its visible text begins."""

import re
from collections import Counter
from collections.abc import Iterator

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of, named, squeezed
from holdfast.core.shrink.outline.reading import LARGE, Reading

TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,40})")
MARKUP = re.compile(r"<[^<>]*>")
HEADING = re.compile(r"<(h[1-6])\b", re.IGNORECASE)
COUNTED = (
    ("a", "link"),
    ("form", "form"),
    ("input", "input"),
    ("button", "button"),
    ("table", "table"),
    ("img", "image"),
    ("script", "script"),
)
HIDDEN = ("script", "style", "svg", "noscript", "template")
ENTITIES = (
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&#39;", "'"),
    ("&amp;", "&"),
)


def outline_page(reading: Reading, lines: int, width: int) -> Sketch:
    """The page without its markup."""
    text = reading.whole
    seen = text if len(text) <= LARGE else text[: LARGE // 2] + text[-LARGE // 2 :]
    lower = seen.lower()
    bare = _without_hidden(seen, lower)
    tags = Counter(name.lower() for slash, name in TAG.findall(seen) if not slash)
    details = [
        Detail(1, at, f"{'#' * int(level)} {heading}")
        for at, (level, heading) in enumerate(_headings(bare))
        if heading
    ]
    details += [
        Detail(2 + order // 4, 1_000_000 + order, row)
        for order, row in enumerate(_visible(bare, lines, width))
    ]
    return Sketch(_summary(reading, lower, seen, tags), chosen(details, lines))


def _summary(reading: Reading, lower: str, seen: str, tags: Counter[str]) -> str:
    if lower.lstrip().startswith("<?xml") and "<html" not in lower[:2000]:
        common = [f"{name} ×{count}" for name, count in tags.most_common(8)]
        return f"XML, {count_of(reading.total, 'line')}: {named(common, 8)}"
    title = squeezed(_inside(seen, lower, "title"), 80)
    held = ", ".join(count_of(tags[tag], what) for tag, what in COUNTED if tags[tag])
    name = f" “{title}”" if title else ""
    return f"HTML page{name}, {count_of(len(reading.whole), 'character')}: {held or 'text only'}"


def _inside(text: str, lower: str, tag: str) -> str:
    """The text of the first element of that name."""
    start = lower.find(f"<{tag}")
    opened = text.find(">", start) if start >= 0 else -1
    closed = lower.find(f"</{tag}", opened) if opened >= 0 else -1
    return _bare(text[opened + 1 : closed]) if closed >= 0 else ""


def _without_hidden(text: str, lower: str) -> str:
    """The text less scripts, styles and drawings."""
    if len(lower) != len(text):
        # A few letters grow when lowered; then places in one are not places in the other.
        return text
    parts: list[str] = []
    at = 0
    following = {tag: lower.find(f"<{tag}") for tag in HIDDEN}
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
            # A heading may hold an element of its own, so its end is looked for by name.
            end = bare.find(f"</{match[1]}", opened, opened + 2_000)
            yield match[1][1], squeezed(_bare(bare[opened + 1 : end if end >= 0 else closed]), 120)


def _bare(text: str) -> str:
    shown = MARKUP.sub(" ", text)
    for entity, char in ENTITIES:
        shown = shown.replace(entity, char)
    return shown


def _visible(bare: str, lines: int, width: int) -> Iterator[str]:
    """The visible text, set in lines."""
    start = bare.lower().find("<body")
    body = bare[max(start, 0) :]
    # An open tag at the cut would be shown as text.
    words = _bare(body[:60_000].rpartition("<")[0] or body[:60_000]).split()
    row = ""
    made = 0
    for word in words:
        if made >= lines:
            return
        if row and len(row) + len(word) >= width:
            yield row
            made += 1
            row = ""
        row = f"{row} {word}" if row else word[:width]
    if row:
        yield row
