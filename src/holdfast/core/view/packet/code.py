"""Layer 3 of a packet: describe files in one line each, choose relevant ones, extract patterns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.ledger.packet import RelevantFile
from holdfast.core.ledger.summary import File
from holdfast.core.observe.files.patches import symbols_in
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.scene import Scene
from holdfast.core.view.packet.select import Similar
from holdfast.text.patterns import Pattern

LONGEST_TEXT = 60_000
_NUMBERED = Pattern(r"^\s{0,8}(?:L?\d{1,6}(?:→|\t|: ?|\| ?|- | {1,2}(?=\S)))")


@rule([])
def touched_files(files: Iterable[File], scene: Scene) -> list[RelevantFile]:
    """Return the files of the record in one line each, the newest changes first."""
    known = list(files)
    changed = [one for one in reversed(known) if one.action != "read"]
    read = [one for one in reversed(known) if one.action == "read"]
    texts = _seen(scene)
    return [
        RelevantFile(
            one.path,
            one.change or file_summary(one.path, _seen_text(one.path, texts)) or one.why,
            (one.entry,) if one.entry else (),
        )
        for one in (*changed, *read)
    ]


def _seen(scene: Scene) -> dict[str, str]:
    """By path: what was last seen of a file that was read."""
    texts: dict[str, str] = {}
    for pair in scene.pairs:
        touch = touch_of(pair.body)
        if touch.path and touch.verb == "read" and pair.result is not None:
            body = scene.items[pair.result].body
            if isinstance(body, ToolReturned) and not body.failed:
                texts[touch.path] = body.output[:LONGEST_TEXT]
    return texts


def _seen_text(path: str, texts: Mapping[str, str]) -> str:
    text = texts.get(path) or next(
        (text for known, text in texts.items() if known.endswith(path) or path.endswith(known)), ""
    )
    return "\n".join(_NUMBERED.sub("", line) for line in text.split("\n"))


@rule("")
def file_summary(path: str, text: str) -> str:
    """Return a file in one line: the names it defines, or its beginning."""
    lines = text[:LONGEST_TEXT].split("\n")
    names = symbols_in(lines, path)
    if names:
        return f"defines {', '.join(names)}"
    first = next((line.strip(" #/*-\"'") for line in lines if line.strip(" #/*-\"'")), "")
    return first[:120]


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
    name = row.path.rpartition("/")[2]
    if row.path in task or (len(name) > 4 and name in task):
        return 2.0
    by_name = similar(row.path.replace("/", " "), task)
    return by_name + similar(f"{row.summary} {text[:2_000]}", task) / 2


# Strategy 3, patterns: instead of many files that are alike, what they share and one to read.


LEAST = 3
"""Files that make a pattern."""
SHARE = 0.6
"""Share of a group's files that must have a trait for it to be the group's trait."""
LOOKED_AT = 60_000
"""Characters of a file that are searched."""
MOST = 4
"""Traits that one pattern names."""

_PHRASE = Pattern(r"\s{0,8}[;,]\s{1,8}")
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
    files: Sequence[RelevantFile], texts: Mapping[str, str] | None = None, *, least: int = LEAST
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
        if len(group) >= least and (found := _shared(group, texts or {}))
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
