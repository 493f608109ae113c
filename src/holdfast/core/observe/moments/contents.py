"""Read the text of a file into the lines that others would ask for: definitions, texts, values."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import EntryId
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.text.clip import clip_and_mark
from holdfast.text.patterns import Pattern

MAX_READ_CHARS = 60_000
"""Characters of one text that are read."""
MAX_LINES, MAX_LINE_CHARS = 60, 160
"""Lines of one text that become moments, and the length to which each is clipped."""
MAX_NEW_LINES, MIN_LINE_CHARS = 60, 3
"""New lines of one file that become moments; shorter ones, such as `});`, do not."""
NAMES_IN_LIST = 8
MAX_SAME_NAME = 2
"""A name that a text defines more often, such as that of a method of a mock, is not listed."""
CONFIG_ENDINGS = (
    ".json",
    ".jsonc",
    ".toml",
    ".yaml",
    ".yml",
    ".ini",
    ".cfg",
    ".env",
    ".properties",
)
"""Endings of files whose indented values are of interest too."""
MAX_NAMES, HAS_NAMES, NEXT_NAME = 200, " names ", ", "
"""Names without their lines that are read of one text, and what is written between them."""
# `load_plan`, `isOpen`, `a.py`, `src/a`, `8443`; but not `plan` and `is`. Most words are plain: the
# first branch takes runs of them at once, which the others would try letter by letter.
_NAME = Pattern(
    r"(?:[A-Z]{0,30}+[a-z]{0,30}+[0-9]{0,2}+(?:[^\w./-]++|[./](?![\w-])|-(?![\w./-])))++"
    r"|([A-Za-z_][\w-]{0,60}(?:[./][\w-]{1,60}){1,8}|[A-Za-z]\w{0,60}_\w{1,60}"
    r"|[a-z]{1,40}[A-Z]\w{1,60}|[A-Z][a-z]{1,40}[A-Z]\w{1,60}|\b\d{3,12}\b)"
)
# The number that a tool prints before a line: `  12→`, `12: `, `00012| `, `  Line 12: `; not `12 `.
_NUMBER = r"(?:[ \t]{0,8}(?:Line )?(?P<number>\d{1,7})(?:→|: ?|\| ?|\t))?"
# `def load(path):`, `func (s *Store) Get(`, `test("adds"`, `  12→class A:`; but not `return x`.
_DEFINITION = Pattern(
    rf"(?m)^{_NUMBER}(?P<code>(?P<indent>[ \t]{{0,24}})"
    r"(?:(?:export|default|pub(?:\([a-z]{1,9}\))?|async|static|public|private|protected|final"
    r"|abstract|override|unsafe|declare) ){0,4}"
    r"(?:(?P<word>def|class|func|fn|function\*?|interface|struct|enum|trait|impl|module|const|type)"
    r" (?:\([^()\n]{1,60}\) )?(?P<name>[A-Za-z_$][\w$.]{0,80})"
    r"|(?:it|test|describe|t\.Run)\((?P<quote>[\"'`])(?P<title>[^\n\"'`]{3,120})(?P=quote)"
    r"|(?:async|public|private|protected|static) (?P<method>[A-Za-z_$][\w$]{0,80})\("
    r"|(?P<mark>#{1,4}) (?P<heading>[^\n]{2,120})"
    r"|@\w{1,40}(?:\.\w{1,40})?\([\"'](?P<route>[^\n\"']{1,80})[\"'])[^\n]{0,160})"
)
# `"no transcript left"`: several words in quotes; but not `"id"` and not the blank in `"a", "b"`.
_WORDS_IN_QUOTES = Pattern(r"[\"'`]\w[^\"'`\n]{1,60} [^\"'`\n]{2,160}[\"'`]")
# `MAX_TRIES = 17`, `12→name = "x";`; but not `total = price * count` and not an indented line.
_CONSTANT = Pattern(
    rf"(?m)^{_NUMBER}(?P<code>[A-Za-z_][\w.]{{2,60}}[ ]{{0,4}}=[ ]{{0,4}}"
    r"(?:\d[\w.]{0,30}|[\"'][^\"'\n]{1,80}[\"'])[,;]?)[ \t]{0,8}$"
)
# `"version": "1.2.3",`, `  port: 80`, `name = "x"`; but not `scripts: {`.
_SETTING = Pattern(
    rf"(?m)^{_NUMBER}(?P<code>[ \t]{{0,8}}[\"']?[A-Za-z_][\w.-]{{1,60}}[\"']?[ ]{{0,4}}"
    r"[:=][ ]{0,4}(?:\d[\w.]{0,30}|[\"'][^\"'\n]{1,80}[\"']),?)[ \t]{0,8}$"
)
# `12→text` and `12: text`, the beginning of a line with its number.
_NUMBERED = Pattern(_NUMBER)
# `(path: str)`, ` extends Store`, ` = 5`: what a definition says besides its name; not `() {`.
_SAYS_MORE = Pattern(r"\([^()\n]{0,4}\w|\w{3}|\d")
_CODE_WORDS = frozenset(("const", "type"))
"""Words that define something worth a name only where the line is not indented."""
DEFINED, QUOTED, VALUED, HEADED = 1.0, 0.8, 0.6, 0.4
"""How much a line is worth beside another of its file."""


class ContentLine(Struct, frozen=True):
    """A line of a text that others would ask for."""

    start: int
    number: int
    """Number in its file; 0 if it is not known."""
    text: str
    share: float
    name: str = ""
    """The name that it defines."""


@rule(())
def content_lines(path: str, text: str, first: int = 0) -> Sequence[ContentLine]:
    """Return the lines of a text that define or set something or hold a message, in order.

    `first` is the number of the first line of the text in its file, if it is known.
    """
    text = text[:MAX_READ_CHARS]
    found = {line.start: line for line in _defined(path, text)}
    for line in (*_valued(path, text), *_quoted(text)):
        found.setdefault(line.start, line)
    best = sorted(found.values(), key=lambda line: (-line.share, line.start))[:MAX_LINES]
    return _numbered(sorted(best, key=lambda line: line.start), text, first)


@row_rule
def content_moments(
    path: str, lines: Sequence[ContentLine], entry: EntryId, weight: float
) -> Iterator[Moment]:
    """Yield the names that a file defines, several in a moment, and each line with its place."""
    name = path.rstrip("/").rpartition("/")[2] or path
    often = Counter(line.name for line in lines)
    named = [line for line in lines if line.name and often[line.name] <= MAX_SAME_NAME]
    for at in range(0, len(named), NAMES_IN_LIST) if len(named) > 2 else ():
        names = ", ".join(
            f"{line.name}:{line.number}" if line.number else line.name
            for line in named[at : at + NAMES_IN_LIST]
        )
        yield Moment("content", plain_line(f"{name} defines {names}"), entry, weight)
    listed = {line.name for line in named} if len(named) > 2 else set[str]()
    for line in lines:
        if line.name in listed and not _SAYS_MORE.search(line.text.partition(line.name)[2]):
            continue
        place = f"{name}:{line.number}:" if line.number else f"{name}:"
        shown = clip_and_mark(plain_line(line.text), MAX_LINE_CHARS)
        yield Moment("content", plain_line(f"{place} {shown}"), entry, weight * line.share)


@row_rule
def new_line_moments(
    path: str, lines: Iterable[str], entry: EntryId, weight: float
) -> Iterator[Moment]:
    """Yield new lines of a file, several in a moment, each with the name of the file."""
    name = path.rstrip("/").rpartition("/")[2] or path
    parts = list[str]()
    for line in islice((plain_line(line) for line in lines), MAX_NEW_LINES):
        if parts and sum(map(len, parts)) + len(line) > MAX_LINE_CHARS:
            yield Moment("content", f"{name}+ {' · '.join(parts)}", entry, weight)
            parts = []
        if len(line) > MIN_LINE_CHARS:
            parts.append(clip_and_mark(line, MAX_LINE_CHARS))
    if parts:
        yield Moment("content", f"{name}+ {' · '.join(parts)}", entry, weight)


@rule([])
def names_in(text: str) -> list[str]:
    """Return the paths, identifiers and numbers in a text, in order."""
    return [name for name in _NAME.findall(text) if name]


@row_rule
def name_moments(
    label: str, text: str, entry: EntryId, shown: Iterable[str] = ()
) -> Iterator[Moment]:
    """Yield the names in a text that no line shown of it has, all in one moment."""
    known = {name for line in shown for name in names_in(line)}
    names = dict.fromkeys(names_in(text[:MAX_READ_CHARS]))
    known.update(name for name in names if name.rpartition("/")[2] == label)
    others = list(islice((name for name in names if name not in known), MAX_NAMES))
    if others:
        yield Moment("named", plain_line(f"{label}{HAS_NAMES}{NEXT_NAME.join(others)}"), entry)


def _defined(path: str, text: str) -> Iterator[ContentLine]:
    prose = path.endswith((".md", ".mdx", ".rst", ".txt", ".adoc"))
    for match in _DEFINITION.finditer(text):
        if match["mark"] and not prose:
            continue
        if match["word"] in _CODE_WORDS and match["indent"]:
            continue
        name = match["name"] or match["method"] or ""
        share = HEADED if match["mark"] else DEFINED
        yield ContentLine(match.start(), _number(match["number"]), match["code"], share, name)


def _valued(path: str, text: str) -> Iterator[ContentLine]:
    pattern = _SETTING if path.endswith(CONFIG_ENDINGS) else _CONSTANT
    for match in pattern.finditer(text):
        yield ContentLine(match.start(), _number(match["number"]), match["code"], VALUED)


def _quoted(text: str) -> Iterator[ContentLine]:
    for match in _WORDS_IN_QUOTES.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        line = text[start : end if end >= 0 else len(text)]
        head = _NUMBERED.match(line)
        number = head["number"] if head else ""
        code = line[head.end() :] if head else line
        yield ContentLine(start, _number(number), code, QUOTED)


def _number(text: str | None) -> int:
    return int(text) if text else 0


def _numbered(lines: Sequence[ContentLine], text: str, first: int) -> Sequence[ContentLine]:
    """Return the lines with their numbers, counted where none is printed and `first` is known."""
    if not first or any(line.number for line in lines):
        return lines
    numbered, at, number = list[ContentLine](), 0, first
    for line in lines:
        number += text.count("\n", at, line.start)
        at = line.start
        numbered.append(ContentLine(line.start, number, line.text, line.share, line.name))
    return numbered
