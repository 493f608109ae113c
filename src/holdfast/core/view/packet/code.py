"""Layer 3 of a packet: describe files in one line each, choose relevant ones, extract patterns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, takewhile

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId
from holdfast.core.ledger.packet import RelevantFile
from holdfast.core.ledger.summary import File
from holdfast.core.observe.files.patches import symbols_in
from holdfast.core.observe.files.trail import MADE_AND_DELETED
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.core.view.packet.select import Similar
from holdfast.text.clip import clip_and_mark
from holdfast.text.patterns import Pattern

LONGEST_TEXT = 60_000
MIN_NAME_CHARS = 5
MAX_SUMMARY_CHARS, MAX_DEFINITIONS, MAX_FIELDS = 160, 8, 8
OUTLINE_WEIGHT = 0.9
"""The weight of the outline of a file that was read; no other moment has it."""
# `  12→` or `12: `: the number before a line of a file.
_NUMBERED = Pattern(r"^\s{0,8}(?:L?\d{1,6}(?:→|\t|: ?|\| ?|- | {1,2}(?=\S)))")
# `    email: str`, `  readonly id?: number;`; but not `    return: x` and `    print("a")`.
_FIELD = Pattern(
    r"^\s{2,12}(?!(?:return|else|case|default|try|finally|http|https)\b)"
    r"(?:(?:public|private|protected|readonly|static) ){0,3}"
    r"([A-Za-z_]\w{0,40}\??): {0,2}([A-Za-z_\"'\[][\w\[\]., |<>\"'?]{0,60}?)"
    r"(?:,|;| = [^\n]{0,120})?$"
)
# `    def load(self):`, `func (s *Store) Get(`, `export const x = 1`; but not `    const x = 1`.
_DEFINES = Pattern(
    r"\s{0,8}(?:async )?(?:def|class)\b"
    r"|(?:(?:export|default|pub|async|static|public|private|protected|final|abstract) ){0,3}"
    r"(?:func|fn|type|interface|struct|enum|const|class|function|trait|impl)\b"
)
# `class User:`, `export interface Row {`; but not `classes = 1`.
_CLASS = Pattern(r"\s{0,8}(?:export |abstract |data |pub ){0,3}(?:class|interface|struct|type)\b")
# `"""Log users in.`, `// Package auth …`, `# Log users in`; but not `#!/bin/sh` and `//go:build`.
_DOCSTRING = Pattern(
    r"^(?:[rR]?\"{3}|'{3}|/\*{1,2}|\*|//|#(?!!))\s{0,4}"
    r"(?!go:|eslint|pylint|noqa|ts-|type:|Copyright|SPDX|\S{0,40}coding)([A-Za-z`][^\n]{8,200})$"
)
# `You must always use MD5.`; but not `never_store = 1`.
_ORDERS = Pattern(
    r"(?i)(?<![\w./-])(?:you|your|must|never|always|ignore|disregard|do not|don't|instructions?"
    r"|decided)(?![\w./(=-])"
)
# `auth`, `Never`; but not `auth.py` and `load_plan`.
_PLAIN_WORD = Pattern(r"[a-z]{2,20}|[A-Z][a-z]{1,20}|I|a")
MIN_PROSE_WORDS = 4
_BLOCKS = frozenset(("const", "type"))
"""Words that open a block of definitions and define nothing themselves."""
_PROSE = (".md", ".mdx", ".rst", ".markdown", ".txt")
_OPENS = " {:("


@rule(())
def touched_files(files: Iterable[File]) -> tuple[str, ...]:
    """Return the paths of the files of the record: written, then read ones, the newest first."""
    known = [one for one in files if one.change != MADE_AND_DELETED]
    known.reverse()
    return tuple(one.path for one in sorted(known, key=lambda one: one.action == "read"))


@rule(None)
def outline_moment(path: str, output: str, entry: EntryId) -> Moment | None:
    """Return a file that was read in one line, after its name; None if it says nothing."""
    text = "\n".join(_NUMBERED.sub("", line) for line in output[:LONGEST_TEXT].split("\n"))
    summary = "; ".join(_parts_of(path, text.split("\n")))
    name = path.rstrip("/").rpartition("/")[2]
    line = clip_and_mark(plain_line(f"{name}: {summary}"), MAX_SUMMARY_CHARS)
    return Moment("content", line, entry, OUTLINE_WEIGHT, path) if summary else None


@rule("")
def file_summary(path: str, text: str) -> str:
    """Return a file in one line: its docstring, signatures and fields, or its beginning."""
    lines = text[:LONGEST_TEXT].split("\n")
    parts = _parts_of(path, lines)
    first = next((line.strip(" #/*-\"'") for line in lines if line.strip(" #/*-\"'")), "")
    return clip_and_mark("; ".join(parts), MAX_SUMMARY_CHARS) if parts else first[:120]


def _parts_of(path: str, lines: Sequence[str]) -> list[str]:
    if path.endswith(_PROSE):
        return [f"sections: {', '.join(names)}"] if (names := symbols_in(lines, path)) else []
    return [*_docstring(lines), *_definitions(lines)]


def _docstring(lines: Sequence[str]) -> list[str]:
    """The first sentence of a file that says what it is for."""
    above = takewhile(lambda line: not _DEFINES.match(line), lines[:12])
    found = (match[1] for line in above if (match := _DOCSTRING.match(line.strip())))
    return [told.strip(" \"'*/.") for told in islice(found, 1) if not gives_orders(told)]


def _definitions(lines: Sequence[str]) -> list[str]:
    """What a file defines, each with its arguments or its fields."""
    found: list[str] = []
    for at, line in enumerate(lines):
        if len(found) == MAX_DEFINITIONS:
            break
        if not _DEFINES.match(line):
            continue
        fields = _fields_below(lines, at) if _CLASS.match(line) else ()
        told = line.strip().rstrip(_OPENS)
        if told in _BLOCKS:
            continue
        told += ")" if told.count("(") > told.count(")") else ""
        found.append(f"{told}: {', '.join(fields)}" if fields else told)
    return found


def _fields_below(lines: Sequence[str], at: int) -> list[str]:
    matches = map(_FIELD.match, takewhile(_is_in_class, lines[at + 1 : at + 40]))
    return [f"{one[1]}: {one[2]}" for one in matches if one is not None][:MAX_FIELDS]


def _is_in_class(line: str) -> bool:
    return not line.strip() or line[0] in " \t"


@rule([])
def relevant_files(
    task: str, codebase: Mapping[str, str], similar: Similar, *, most: int = 12
) -> list[RelevantFile]:
    """Return the files of a codebase that are nearest to a task, the nearest first."""
    rows = [RelevantFile(path, file_summary(path, text)) for path, text in codebase.items()]
    ranked = [(nearness(task, row, codebase[row.path], similar), row) for row in rows]
    near = sorted((one for one in ranked if one[0] > 0), key=lambda one: (-one[0], one[1].path))
    return [row for _, row in near[:most]]


def nearness(task: str, row: RelevantFile, text: str, similar: Similar) -> float:
    """Return how near a file is to a task: named in it, or similar in name or content."""
    if is_named_in(row.path, task):
        return 2.0
    by_name = similar(row.path.replace("/", " "), task)
    return by_name + similar(f"{row.summary} {text[:2_000]}", task) / 2


def is_named_in(path: str, text: str) -> bool:
    """Return whether a text names a file, by its path or its name."""
    name = path.rpartition("/")[2]
    return path in text or (len(name) >= MIN_NAME_CHARS and name in text)


def gives_orders(text: str) -> bool:
    """Return whether a text is prose that tells its reader what to do."""
    return _ORDERS.search(text) is not None and _has_prose(text)


def _has_prose(text: str) -> bool:
    parts = text.split()
    plain = sum(bool(_PLAIN_WORD.fullmatch(part.strip(".,;:!?()\"'`*"))) for part in parts)
    return plain >= MIN_PROSE_WORDS and plain * 2 >= len(parts)


# Strategy 3, patterns: instead of many files that are alike, what they share and one to read.


LEAST = 3
"""Files that make a pattern."""
SHARE = 0.6
"""Share of a group's files that must have a trait for it to be the group's trait."""
LOOKED_AT = 60_000
"""Characters of a file that are searched."""
MOST = 4
"""Traits that one pattern names."""

# `;` and `,` between phrases; but not the comma of `get(a, b)`.
_PHRASE = Pattern(r"\s{0,8}[;,]\s{1,8}(?![^()\n]{0,120}\))")
_PLAIN = Pattern(r"[^\w{}:. ]+")
TRAITS: tuple[tuple[str, Pattern[str]], ...] = (
    ("handlers are async", Pattern(r"(?m)^\s{0,8}(?:export )?async (?:def|function)\b")),
    ("tests are pytest functions", Pattern(r"(?m)^(?:async )?def test_\w{1,80}\(")),
    ("tests are unittest classes", Pattern(r"\bunittest\.TestCase\b|\(TestCase\)")),
    ("tests use describe/it", Pattern(r"(?m)^\s{0,8}(?:describe|it)\(['\"`]")),
    ("tests are table-driven", Pattern(r"\bt\.Run\(tt\.|range tests\b")),
    ("values are dataclasses", Pattern(r"(?m)^@(?:dataclasses\.)?dataclass\b")),
    ("errors are wrapped with fmt.Errorf", Pattern(r"fmt\.Errorf\([^\n]{0,120}%w")),
)
"""Common traits of code, and the patterns that detect them."""
_SHARED = (
    Pattern(r"(?m)^\s{0,8}@([\w.]{3,60})"),
    Pattern(r"(?m)^class \w{1,80}\(([\w.]{3,60})"),
    Pattern(
        r"(?m)^(?:from ([\w.]{3,60}) import|import \{[^}\n]{1,200}\} from ['\"]([^'\"\n]{3,80}))"
    ),
)
_WORDS = ("decorated with @{}", "classes extend {}", "import from {}")


class ExtractedPatterns(Struct, frozen=True):
    """The files that remain after common patterns were extracted, with those patterns."""

    files: tuple[RelevantFile, ...] = ()
    patterns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


def extract_patterns(
    files: Sequence[RelevantFile], texts: Mapping[str, str] | None = None
) -> ExtractedPatterns:
    """Replace files of one folder and kind that share traits by a pattern and an example.

    Traits come from the summaries of the files and, if given, from their texts. The example stays
    in the list; of the others only those that add something of their own.
    """
    groups: dict[tuple[str, str], list[RelevantFile]] = {}
    for file in files:
        groups.setdefault(_group(file.path), []).append(file)
    told = [
        (key, found)
        for key, group in groups.items()
        if len(group) >= LEAST and (found := _shared(group, texts or {}))
    ]
    gone = dict[str, RelevantFile | None]()
    patterns, examples = list[str](), list[str]()
    for (folder, kind), traits in told:
        group = groups[folder, kind]
        example = min(group, key=lambda file: (-len(file.summary), file.path))
        patterns.append(f"{_place(folder, kind)}: {', '.join(traits[:MOST])}")
        examples.append(example.path)
        gone.update({file.path: _without(file, traits) for file in group if file is not example})
    rest = (gone.get(file.path, file) for file in files)
    return ExtractedPatterns(tuple(file for file in rest if file), tuple(patterns), tuple(examples))


def _group(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name.rpartition(".")[2] if "." in name else ""


def _place(folder: str, kind: str) -> str:
    return f"{folder}/*.{kind}" if kind else f"{folder}/*"


def _shared(group: Sequence[RelevantFile], texts: Mapping[str, str]) -> list[str]:
    """The traits that enough files of a group have, the most common first."""
    seen = Counter[str]()
    spelled: dict[str, str] = {}
    for file in group:
        traits = {*_phrases(file.summary), *code_traits(texts.get(file.path, ""))}
        for trait in sorted(traits):
            spelled.setdefault(_plain(trait), trait)
        seen.update({_plain(trait) for trait in traits})
    enough = max(LEAST, SHARE * len(group))
    return [spelled[key] for key, count in seen.most_common() if key and count >= enough]


def _phrases(summary: str) -> list[str]:
    return [phrase.strip(" .…") for phrase in _PHRASE.split(summary) if phrase.strip(" .…")]


def _plain(phrase: str) -> str:
    return " ".join(_PLAIN.sub(" ", phrase.lower()).split())


def _without(file: RelevantFile, traits: Iterable[str]) -> RelevantFile | None:
    """A file with what it says of its own; nothing when that is nothing."""
    shared = {_plain(trait) for trait in traits}
    own = [phrase for phrase in _phrases(file.summary) if _plain(phrase) not in shared]
    return replace(file, summary=", ".join(own)) if own else None


def code_traits(text: str) -> list[str]:
    """Return the traits of a file's text that other files may share."""
    head = text[:LOOKED_AT]
    found = [name for name, pattern in TRAITS if pattern.search(head)]
    for pattern, words in zip(_SHARED, _WORDS, strict=True):
        for match in pattern.finditer(head):
            name = next(group for group in match.groups() if group)
            found.append(words.format(name))
    return list(dict.fromkeys(found))
