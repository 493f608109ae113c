"""What the record shows of where the work stands: files with what is telling in them, words, runs.

A file is told by those of its lines and names that the agent is likely to need again, in the order
in which they stand there; what was said, by whole sentences; what was run, as it was run. One
measure decides what the room goes to.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import EntryId, Said, Source, ToolCalled, ToolReturned
from holdfast.core.ledger.jsontext import SURROGATE
from holdfast.core.ledger.packet import RelevantFile
from holdfast.core.ledger.summary import Fact
from holdfast.core.observe.artifacts import touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.worth import Telling, telling
from holdfast.core.shrink.facts import Line, Weigh, lines_of, pick

SAID, RAN, LOOSE = "said", "ran", "loose"
"""Heads of what is of no file: sentences, commands, and names that were met elsewhere."""
LEADING = 120
"""Names, the likeliest first, whose places are looked at."""
POOL = 500
"""Lines and names among which is chosen."""
SPOKEN, DEFINED = 0.75, 0.85
"""What a token of the agent's own sentences counts, and one of a definition: they say more."""
MENTION = 0.6
"""How much of a name's worth its bare mention is to a worker; the rest is for the line it is in."""
BARE = 1
"""Tokens that a bare name counts more than it takes."""
RICH = 4
"""Words from which a line says something about its names."""
LONG_LINE, LONGEST_SENTENCE = 140, 260
PLACES = 2
"""Entries that are looked at for a name: the newest that hold it."""
LONGEST_TEXT = 60_000
SHORTEST = 8
PER_TOKEN = 3.4
"""Characters of a token, about: what is chosen is counted exactly in the end."""
LONGEST_COMMAND = 120
HEAD = 1
"""Tokens that a file takes besides its path."""

_NUMBERED = re.compile(r"^\s{0,8}(?:L?\d{1,6}(?:→|\t|: ?|\| ?|- | {1,2}(?=\S))){1,2}")
_DIFF = re.compile(r"^[+-]{1,3}\s?")
_WRAP = re.compile(r"^</?(?:path|type|content|file|output|result)>\s{0,2}")
_MARKS = re.compile(r"^(?:[#>*\s-]{1,8}|\d{1,3}[.)] )|\*\*")
_FENCE = re.compile(r"^\s{0,8}(?:`{3}|~{3})")
_EMPTY = re.compile(r"^(?:</?[\w-]{1,40}>|[\W\d_]{0,40})$")
_ENDS = re.compile(r"(?<=[.!?])\s{1,3}(?=[A-Z`*])")
_DEFINES = re.compile(
    r"(?:export |pub |async |public |static |default ){0,3}"
    r"(?:def|class|func|fn|function|type|interface|struct|enum|const|trait)\b"
)
_LEAD = re.compile(
    r"^(?:[})\]]{1,3} |(?:await|case|const|elif|else|export|for|if|let|not|private|public|return"
    r"|static|switch|throw|raise|var|while|with|yield)\b ){1,4}(?:err := )?"
)
_TAIL = re.compile(r"(?:; err [!=]= nil)?[\s{(\[,;]{1,8}$|; err [!=]= nil$")
_PLAIN = re.compile(r"[a-z]{2,20}|[A-Z][a-z]{1,20}|I|a")
_ANNOUNCED = re.compile(
    r"(?i)^(?:now |next,? |first,? |ok(?:ay)?,? |perfect[.!,]? |good[.!,]? |great[.!,]? ){0,3}"
    r"(?:let me|let's|i'll|i will|i need to|i should|looking at|here(?:'s| is| are))\b"
)
_NAME = re.compile(r"(?![0-9a-f]{7,40}$)(?!\d)(?=.{0,200}[A-Za-z_]{3})")
_FILE = re.compile(
    r"(?<![\w./@~-])(?:[\w@.~+-]{0,60}/){0,16}[\w@+-]{1,80}\.[A-Za-z]\w{0,5}(?![\w/])"
)
_DIFFED = re.compile(r"(?m)^\+\+\+ (?:b/)?(\S{1,200})$")
_OWN_WORDS = re.compile(
    r"^(?:</?(?:tool|system|error)|The file |File (?:created|written|updated)|Successfully |cat <<)"
)
_FRAME = re.compile(
    r"^cd \S{1,200} (?:&&|;) "
    r"|(?: 2>&1| 2>/dev/null| \|\| true| \| (?:cat|head|tail)\b[^|]{0,12}){1,6}$"
)


class Found(Struct, frozen=True):
    """What a room was filled with."""

    files: tuple[RelevantFile, ...] = ()
    said: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    """Names that were met, but in no file."""


class Pool(Struct, frozen=True):
    """Everything that could be told."""

    lines: tuple[Line, ...] = ()
    entries: Mapping[tuple[str, str], EntryId] = {}
    """By where it stands and what it says: the entry that a line was read in."""


def pool_of(scene: Scene, held: Telling, weigh: Weigh) -> Pool:
    """What a scene tells, each under the file, the words or the command it is of."""
    found: dict[tuple[str, str], tuple[Line, EntryId]] = {}
    places = _places(scene, held, weigh)
    for line, entry in _told(scene, places):
        key = line.fact.entry, line.fact.text
        # The newest word on a line is what counts.
        found[key] = line, entry
    return _best(found, weigh)


def _told(scene: Scene, places: frozenset[EntryId]) -> Iterator[tuple[Line, EntryId]]:
    owners = _owners(scene, places)
    bodies = {item.entry.id: item.body for item in scene.items if item.entry.id in places}
    for entry, body in bodies.items():
        if isinstance(body, Said) and body.role == "assistant":
            yield from ((line, entry) for line in _spoken(body.text))
    spoken = {name for name, body in bodies.items() if isinstance(body, Said)}
    for line in lines_of(scene, about, places - spoken):
        entry = line.fact.entry
        yield from ((one, entry) for one in _read(line, bodies[entry], owners.get(entry)))


class _Owner(Struct, frozen=True):
    """Which file the lines of an entry are of, and whether its result says anything of it."""

    path: str = ""
    silent: bool = False
    starts: tuple[int, ...] = ()
    paths: tuple[str, ...] = ()
    """Of a difference: from which line on it is which file."""

    def at(self, line: int) -> str:
        """The file of a line; empty when it is of none."""
        place = bisect_right(self.starts, line) - 1
        return self.paths[place] if place >= 0 else self.path


def _owners(scene: Scene, places: frozenset[EntryId]) -> dict[EntryId, _Owner]:
    """By entry of a call or a result: the file that it is about."""
    owners: dict[EntryId, _Owner] = {}
    for pair in scene.pairs:
        call = scene.items[pair.call].entry.id
        result = scene.items[pair.result] if pair.result is not None else None
        if call not in places and (result is None or result.entry.id not in places):
            continue
        touch = touch_of(pair.body)
        path = _named_in(touch.path) or _named_in(touch.command)
        owners[call] = _Owner(touch.path)
        if result is not None and isinstance(result.body, ToolReturned):
            changed = bool(touch.path) and touch.verb in ("write", "edit")
            owners[result.entry.id] = _output(result.body, path, changed)
    return owners


def _output(body: ToolReturned, path: str, changed: bool) -> _Owner:
    # What a tool says of its own work is no word on the file.
    if changed or body.failed:
        return _Owner(path, silent=True)
    text = body.output[:LONGEST_TEXT]
    found = list(_DIFFED.finditer(text)) if "+++ " in text else []
    starts = tuple(text.count("\n", 0, one.start()) + 1 for one in found)
    return _Owner(path, False, starts, tuple(one[1] for one in found))


def _named_in(command: str) -> str:
    """The one file that a command names; empty when it names none or several."""
    named = set(_FILE.findall(command[:1_000]))
    return named.pop() if len(named) == 1 else ""


def _read(line: Line, body: Source, owner: _Owner | None) -> Iterator[Line]:
    """What a line of a call or of a result tells."""
    fact = line.fact
    match body:
        case ToolCalled():
            path = owner.path if owner else ""
            if not path:
                yield from _command(fact, body)
            elif fact.line > 1:
                # The first line of a call names the tool and the path, which the row has.
                yield from _code(path, fact.text, line.names)
        case ToolReturned() if owner is None or not owner.silent:
            named = fact.source if "/" in fact.source and " " not in fact.source else ""
            path = named or (owner.at(fact.line) if owner else "")
            yield from _code(path or LOOSE, fact.text, line.names)
        case _:
            pass


def _command(fact: Fact, body: ToolCalled) -> Iterator[Line]:
    command = " ".join(touch_of(body).command.split())
    while (shorter := _FRAME.sub("", command).strip()) != command:
        command = shorter
    if fact.line == 1 and command and len(command) <= LONGEST_COMMAND:
        yield _line(RAN, command, telling(command))


def _code(head: str, text: str, names: frozenset[str]) -> Iterator[Line]:
    """A line of a file: as it stands, and each name in it alone."""
    words = _WRAP.sub("", text.strip())
    words = _TAIL.sub("", _DIFF.sub("", _NUMBERED.sub("", words))).strip()
    if len(words) < SHORTEST or _EMPTY.match(words) or _OWN_WORDS.match(words):
        return
    if not _DEFINES.match(words):
        words = _LEAD.sub("", words)
    if head != LOOSE and " " in words:
        yield _line(head, words, names)
    for name in sorted(names, key=words.find):
        if is_name(name) and name in words:
            shown = f"{name}()" if f"{name}(" in words else name
            yield Line(Fact(shown, head, _source(head)), frozenset((name,)), about(name) + BARE)


def is_name(word: str) -> bool:
    """Whether a word by itself says what is meant: no plain word, no number, no hash."""
    return _NAME.match(word) is not None and not (word.isalpha() and word.islower())


def is_prose(words: str) -> bool:
    """Whether a text is made of words rather than of code."""
    parts = words.split()
    plain = sum(bool(_PLAIN.fullmatch(part.strip(".,;:!?()\"'`*"))) for part in parts)
    return plain >= RICH and plain * 2 >= len(parts)


def _source(head: str) -> str:
    return "" if head in (SAID, RAN, LOOSE) else head


def _line(head: str, text: str, names: frozenset[str]) -> Line:
    price = about(text) * (SPOKEN if head == SAID else DEFINED if _DEFINES.match(text) else 1.0)
    rich = len(text.split()) >= RICH
    return Line(Fact(text, head, _source(head)), names, int(price) + 1, rich)


def _best(found: Mapping[tuple[str, str], tuple[Line, EntryId]], weigh: Weigh) -> Pool:
    """What could be chosen at all, in its order: nobody takes one of thousands."""

    def worth(key: tuple[str, str]) -> float:
        line = found[key][0]
        return sum(map(weigh, line.names)) / (line.tokens + 2)

    kept = set(sorted(found, key=worth, reverse=True)[:POOL])
    lines = tuple(line for key, (line, _) in found.items() if key in kept)
    return Pool(lines, {key: entry for key, (_, entry) in found.items() if key in kept})


def _spoken(text: str) -> Iterator[Line]:
    """What was said: its sentences, and the names in the code that was shown with them."""
    fenced, path = False, ""
    for row in text[:LONGEST_TEXT].split("\n"):
        if _FENCE.match(row):
            fenced = not fenced
        elif fenced:
            yield from _code(path or LOOSE, row, telling(row))
        else:
            path = _named_in(row) if row.strip() else path
            yield from _sentences(row)


def _sentences(row: str) -> Iterator[Line]:
    plain = SURROGATE.sub("\ufffd", " ".join(_MARKS.sub("", row).split()))
    if plain.startswith("|"):
        plain = " — ".join(cell.strip() for cell in plain.strip("|").split("|") if cell.strip())
    pieces = _ENDS.split(plain) if len(plain) > LONG_LINE else [plain]
    for piece in pieces:
        words = piece.strip()
        names = telling(words)
        if names and SHORTEST <= len(words) <= LONGEST_SENTENCE and _says(words):
            yield _line(SAID, words, names)


def _says(words: str) -> bool:
    """Whether a sentence tells of the work rather than of what is done next."""
    return is_prose(words) and not words.endswith((":", "{", "(")) and not _ANNOUNCED.match(words)


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


def fill(
    pool: Pool, room: int, weigh: Weigh, *, covered: Iterable[str], layers: Sequence[int]
) -> Found:
    """What is most worth a room: of files in layer 3, of words and commands in 2."""
    wanted = [one for one in pool.lines if _layer(one.fact.entry) in layers]
    chosen = pick(
        wanted, room, weigh=weigh, count=about, covered=covered, head=HEAD, mention=MENTION
    )
    grouped: dict[str, list[str]] = {}
    for fact in chosen:
        grouped.setdefault(fact.entry, []).append(fact.text)
    said, ran, loose = (grouped.pop(head, []) for head in (SAID, RAN, LOOSE))
    files = tuple(
        RelevantFile(path, joined(texts), _refs(pool, path, texts))
        for path, texts in grouped.items()
    )
    return Found(files, tuple(said), tuple(ran), tuple(loose))


def _layer(head: str) -> int:
    return 2 if head in (SAID, RAN, LOOSE) else 3


def joined(texts: Sequence[str]) -> str:
    """Names and lines in a row: names with commas, lines with semicolons."""
    told, last = "", ""
    for text in texts:
        names = bool(last) and " " not in text and " " not in last
        told += f"{', ' if names else '; ' if told else ''}{text}"
        last = text
    return told


def _refs(pool: Pool, path: str, texts: Iterable[str]) -> tuple[EntryId, ...]:
    newest = [pool.entries[path, text] for text in texts if (path, text) in pool.entries]
    return tuple(newest[-1:])
