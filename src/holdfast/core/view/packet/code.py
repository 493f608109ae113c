"""Layer 3, and where the work stands: files with what is telling in them, what was said and run.

A file is told by the lines of it that hold what the agent is likely to need again, in the order in
which they stand there. The same choice is made over what the agent said and ran last, so that one
measure decides what the room goes to.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import EntryId, Said, Source, ToolCalled, ToolReturned
from holdfast.core.ledger.jsontext import SURROGATE
from holdfast.core.ledger.packet import RelevantFile
from holdfast.core.ledger.summary import Fact, File
from holdfast.core.observe.artifacts import touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.symbols import symbols_in
from holdfast.core.observe.worth import Telling, telling
from holdfast.core.shrink.facts import Line, Weigh, lines_of, pick
from holdfast.core.view.packet.relevance import Similar

SAID, RAN, OUTPUT = "said", "ran", "output of "
LEADING = 80
"""Names, the likeliest first, whose places are looked at."""
POOL = 300
"""Lines among which is chosen."""
SPOKEN, DEFINED = 0.75, 0.85
"""What a token of the agent's own sentences counts, and one of a definition: they say more."""
RICH = 4
"""Words from which a line says something about its names."""
LONG_LINE, LONGEST_SENTENCE = 140, 260
PLACES = 2
"""Entries that are looked at for a name: the newest that hold it."""
LONGEST_TEXT = 60_000
SHORTEST = 8
PER_TOKEN = 3.4
"""Characters of a token, about: what is chosen is counted exactly in the end."""
_NUMBERED = re.compile(r"^\s{0,8}(?:L?\d{1,6}(?:→|\t|: ?|\| ?|- | {1,2}(?=\S)))")
_DIFF = re.compile(r"^[+-]{1,3}\s?")
_MARKS = re.compile(r"^(?:[#>*\s-]{1,8}|\d{1,3}[.)] )|\*\*|^`{3}\w{0,12}$")
_EMPTY = re.compile(r"^(?:</?[\w-]{1,40}>|[\W\d_]{0,40})$")
_ENDS = re.compile(r"(?<=[.!?])\s{1,3}(?=[A-Z`*])")
_DEFINES = re.compile(
    r"(?:export |pub |async |public |static |default ){0,3}"
    r"(?:def|class|func|fn|function|type|interface|struct|enum|const|trait)\b"
)
_TAIL = re.compile(r"[\s{(\[,;]{1,8}$")
LONGEST_COMMAND = 140
HEAD = 1
"""Tokens that a file takes besides its path."""


class Found(Struct, frozen=True):
    """What a room was filled with."""

    files: tuple[RelevantFile, ...] = ()
    said: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()


class Pool(Struct, frozen=True):
    """Every line that could be told."""

    lines: tuple[Line, ...] = ()
    entries: Mapping[tuple[str, str], EntryId] = {}
    """By where it stands and what it says: the entry that a line was read in."""


def pool_of(scene: Scene, held: Telling, weigh: Weigh) -> Pool:
    """The telling lines of a scene, each under the file, the words or the command it is of."""
    places = _places(scene, held, weigh)
    paths = _paths(scene)
    found: dict[tuple[str, str], tuple[Line, EntryId]] = {}
    bodies: dict[EntryId, Source] = {}
    for item in scene.items:
        body, entry = item.body, item.entry.id
        if entry in places:
            bodies[entry] = body
        if entry in places and isinstance(body, Said) and body.role == "assistant":
            for words, names in _sentences(body.text):
                found[SAID, words] = _line(SAID, words, names), entry
    spoken = {name for name, body in bodies.items() if isinstance(body, Said)}
    for line in lines_of(scene, about, places - spoken):
        fact = line.fact
        told = _told(fact, bodies[fact.entry], paths.get(fact.entry, ""))
        if told is not None:
            # The newest word on a line is what counts.
            found[told] = _line(*told, line.names), fact.entry
    return _best(found, weigh)


def _line(head: str, text: str, names: frozenset[str]) -> Line:
    source = "" if head in (SAID, RAN) else head
    price = about(text) * (SPOKEN if head == SAID else DEFINED if _DEFINES.match(text) else 1.0)
    rich = len(text.split()) >= RICH
    return Line(Fact(text, head, source), names, int(price) + 1, rich)


def _best(found: Mapping[tuple[str, str], tuple[Line, EntryId]], weigh: Weigh) -> Pool:
    """The lines that could be chosen at all, in their order: nobody takes one of thousands."""

    def worth(key: tuple[str, str]) -> float:
        line = found[key][0]
        return sum(map(weigh, line.names)) / (line.tokens + 2)

    kept = set(sorted(found, key=worth, reverse=True)[:POOL])
    lines = tuple(line for key, (line, _) in found.items() if key in kept)
    return Pool(lines, {key: entry for key, (_, entry) in found.items() if key in kept})


def _sentences(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """What was said, sentence by sentence, and line by line where it is code."""
    for row in text[:LONGEST_TEXT].split("\n"):
        plain = SURROGATE.sub("\ufffd", " ".join(_MARKS.sub("", row).split()))
        pieces = _ENDS.split(plain) if len(plain) > LONG_LINE else [plain]
        for piece in pieces:
            words = piece.strip()
            if SHORTEST <= len(words) <= LONGEST_SENTENCE and not _EMPTY.match(words):
                names = telling(words)
                if names:
                    yield words, names


def about(text: str) -> int:
    """Tokens of a text, about."""
    return int(len(text) / PER_TOKEN) + 1


def _places(scene: Scene, held: Telling, weigh: Weigh) -> frozenset[EntryId]:
    """The entries in which the likeliest names were met last."""
    met: dict[str, list[EntryId]] = {}
    for item in scene.items:
        for name in held[item.entry.id]:
            met.setdefault(name, []).append(item.entry.id)
    leading = sorted(met, key=weigh, reverse=True)[:LEADING]
    return frozenset(entry for name in leading for entry in met[name][-PLACES:])


def _paths(scene: Scene) -> dict[EntryId, str]:
    """By entry of a call or a result: the file that it is about."""
    paths: dict[EntryId, str] = {}
    for pair in scene.pairs:
        path = touch_of(pair.body).path
        if path:
            paths[scene.items[pair.call].entry.id] = path
            if pair.result is not None:
                paths[scene.items[pair.result].entry.id] = path
    return paths


def _told(fact: Fact, body: object, path: str) -> tuple[str, str] | None:
    """Under which head a line is told, and how; nothing when it is not."""
    match body:
        case ToolCalled():
            return _called(fact, body, path)
        case ToolReturned():
            named = fact.source if "/" in fact.source and " " not in fact.source else ""
            return _worded(path or named or OUTPUT + fact.source, _code(fact.text))
        case _:
            return None


def _called(fact: Fact, body: ToolCalled, path: str) -> tuple[str, str] | None:
    if path:
        # The first line of a call names the tool and the path, which the row has.
        return _worded(path, _code(fact.text)) if fact.line > 1 else None
    command = " ".join(touch_of(body).command.split())
    if fact.line > 1 or not command or len(command) > LONGEST_COMMAND:
        return None
    return RAN, command


def _worded(head: str, text: str) -> tuple[str, str] | None:
    words = text.strip()
    if len(words) < SHORTEST or _EMPTY.match(words):
        return None
    return head, words


def _code(text: str) -> str:
    return _TAIL.sub("", _DIFF.sub("", _NUMBERED.sub("", text)))


def fill(
    pool: Pool, room: int, weigh: Weigh, *, covered: Iterable[str], layers: Sequence[int]
) -> Found:
    """The lines that are most worth a room: of files and commands in layer 3, of words in 2."""
    wanted = [one for one in pool.lines if (2 if one.fact.entry == SAID else 3) in layers]
    chosen = pick(wanted, room, weigh=weigh, count=about, covered=covered, head=HEAD)
    grouped: dict[str, list[str]] = {}
    for fact in chosen:
        grouped.setdefault(fact.entry, []).append(fact.text)
    said, ran = grouped.pop(SAID, []), grouped.pop(RAN, [])
    said += [
        f"{head.removeprefix(OUTPUT)} → {'; '.join(grouped.pop(head))}"
        for head in list(grouped)
        if head.startswith(OUTPUT)
    ]
    files = tuple(
        RelevantFile(path, "; ".join(texts), _refs(pool, path, texts))
        for path, texts in grouped.items()
    )
    return Found(files, tuple(said), tuple(ran))


def _refs(pool: Pool, path: str, texts: Iterable[str]) -> tuple[EntryId, ...]:
    newest = [pool.entries[path, text] for text in texts if (path, text) in pool.entries]
    return tuple(newest[-1:])


def touched(files: Iterable[File], scene: Scene) -> list[RelevantFile]:
    """Files of the record in a line each, the newest changes first."""
    known = list(files)
    changed = [one for one in reversed(known) if one.action != "read"]
    read = [one for one in reversed(known) if one.action == "read"]
    texts = _seen(scene)
    return [
        RelevantFile(
            one.path,
            one.change or summary_of(one.path, _seen_text(one.path, texts)) or one.why,
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


def summary_of(path: str, text: str) -> str:
    """A file in a line: what it defines, or how it begins."""
    lines = text[:LONGEST_TEXT].split("\n")
    names = symbols_in(lines, path)
    if names:
        return f"defines {', '.join(names)}"
    first = next((line.strip(" #/*-\"'") for line in lines if line.strip(" #/*-\"'")), "")
    return first[:120]


def relevant_files(
    task: str, codebase: Mapping[str, str], similar: Similar, *, most: int = 12
) -> list[RelevantFile]:
    """The files of a codebase that a task is about, the nearest first."""
    rows = [RelevantFile(path, summary_of(path, text)) for path, text in codebase.items()]
    ranked = [(nearness(task, row, codebase[row.path], similar), row) for row in rows]
    near = sorted((one for one in ranked if one[0] > 0), key=lambda one: (-one[0], one[1].path))
    return [row for _, row in near[:most]]


def nearness(task: str, row: RelevantFile, text: str, similar: Similar) -> float:
    """How near a file is to a task: named in it, alike in name, or alike in what it holds."""
    name = row.path.rpartition("/")[2]
    if row.path in task or (len(name) > 4 and name in task):
        return 2.0
    by_name = similar(row.path.replace("/", " "), task)
    return by_name + similar(f"{row.summary} {text[:2_000]}", task) / 2


def lines_in(rows: Iterable[RelevantFile]) -> Iterator[str]:
    """Files as lines."""
    for row in rows:
        yield f"{row.path}: {row.summary}" if row.summary else row.path
