"""Select from the record what a worker likely needs: lines of files, sentences and commands.

For each file: the lines and names that the agent likely needs again, in their order. Messages give
whole sentences, calls give their commands. One measure decides how the room is used.
"""

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from math import fsum

from msgspec import Struct

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import EntryId, Said, Source, ToolCalled, ToolReturned
from holdfast.core.ledger.packet import RelevantFile
from holdfast.core.ledger.summary import Fact
from holdfast.core.observe.files.touch import arguments_of, touch_of
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.worth import NamesByEntry, find_names
from holdfast.core.shrink.summary.facts import FactLine, Weigh, facts_in, pick_lines
from holdfast.core.view.packet.lines import (
    LONGEST_TEXT,
    LOOSE,
    RAN,
    SAID,
    code_lines,
    command_lines,
    estimate_line_tokens,
    file_named_in,
    spoken_lines,
)
from holdfast.text.patterns import Pattern

LEADING = 120
"""The most likely names, whose places are searched."""
POOL = 500
"""Lines and names to choose from."""
MENTION = 0.7
"""Share of a name's worth that its bare mention has; the rest belongs to its line."""
PLACES = 2
"""Newest entries that are searched for a name."""
MOST_LOOSE = 12
"""Names that are shown without a file or a sentence."""
HEAD = 1
"""Tokens that a file takes besides its path."""
_DIFFED = Pattern(r"(?m)^\+\+\+ (?:b/)?(\S{1,200})$")


class PacketSelection(Struct, frozen=True):
    """The lines that were selected for a room."""

    files: tuple[RelevantFile, ...] = ()
    said: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    """Names that occurred outside of files."""


class LinePool(Struct, frozen=True):
    """All lines that could be selected."""

    lines: tuple[FactLine, ...] = ()
    entries: Mapping[tuple[str, str], EntryId] = {}
    """The entry of each line, by its head and text."""


@rule(LinePool())
def line_pool(scene: Scene, held: NamesByEntry, weigh: Weigh) -> LinePool:
    """Return the lines of a scene, each under its file, or as a sentence or command."""
    found: dict[tuple[str, str], tuple[FactLine, EntryId]] = {}
    told = list(_told(scene, _places(scene, held, weigh)))
    names = full_paths(line.fact.source for line, _ in told if line.fact.source)
    own = {path: find_names(path) for path in names.values()}
    for line, entry in told:
        path = names.get(line.fact.source, "")
        for one in _placed(line, path, own[path]) if path else (line,):
            # The newest word on a line is what counts.
            found[one.fact.entry, one.fact.text] = one, entry
    return _best(found, weigh)


def full_paths(paths: Iterable[str]) -> dict[str, str]:
    """Map each path to the only longest path that ends with it: the same file."""
    known = sorted(set(paths))
    ends: dict[str, list[str]] = {}
    for path in known:
        parts = path.split("/")
        for at in range(1, len(parts)):
            ends.setdefault("/".join(parts[at:]), []).append(path)
    return {path: _longest(path, ends.get(path, [])) for path in known}


def _longest(path: str, longer: Sequence[str]) -> str:
    whole = max(longer, key=len, default=path)
    return whole if all(whole.endswith(one) for one in longer) else path


def _placed(line: FactLine, path: str, own: frozenset[str]) -> Iterator[FactLine]:
    """A line below the whole path of its file, and the file alone; its own name says nothing."""
    yield FactLine(Fact("", path, path), frozenset(), 0)
    names = frozenset(name for name in line.names if name not in own and not path.endswith(name))
    if names:
        yield FactLine(Fact(line.fact.text, path, path), names, line.tokens, line.rich)


@row_rule
def _told(
    scene: Scene, places: Mapping[EntryId, frozenset[str]]
) -> Iterator[tuple[FactLine, EntryId]]:
    owners = _owners(scene, places)
    bodies = {item.entry.id: item.body for item in scene.items if item.entry.id in places}
    for entry, body in bodies.items():
        if isinstance(body, Said) and body.role == "assistant":
            yield from ((line, entry) for line in spoken_lines(body.text))
    spoken = {name for name, body in bodies.items() if isinstance(body, Said)}
    for fact, names in facts_in(scene, places.keys() - spoken, places):
        entry = fact.entry
        yield from ((one, entry) for one in _read(fact, names, bodies[entry], owners.get(entry)))


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


def _owners(scene: Scene, places: Container[EntryId]) -> dict[EntryId, _Owner]:
    """By entry of a call or a result: the file that it is about."""
    owners: dict[EntryId, _Owner] = {}
    for pair in scene.pairs:
        call = scene.items[pair.call].entry.id
        result = scene.items[pair.result] if pair.result is not None else None
        if call not in places and (result is None or result.entry.id not in places):
            continue
        touch = touch_of(pair.body)
        path = file_named_in(touch.path) or file_named_in(touch.command)
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


def _read(
    fact: Fact, names: frozenset[str], body: Source, owner: _Owner | None
) -> Iterator[FactLine]:
    """What a line of a call or of a result tells."""
    match body:
        case ToolCalled():
            path = owner.path if owner else ""
            if not path:
                yield from command_lines(fact, body)
            elif fact.line > 1:
                yield from code_lines(path, fact.text, names)
            else:
                yield from _asked(path, fact.text, names, body)
        case ToolReturned() if owner is None or not owner.silent:
            named = fact.source if "/" in fact.source and " " not in fact.source else ""
            path = named or (owner.at(fact.line) if owner else "")
            yield from code_lines(path or LOOSE, fact.text, names)
        case _:
            pass


def _asked(path: str, text: str, names: frozenset[str], body: ToolCalled) -> Iterator[FactLine]:
    """The names in the first line of a call, besides its tool, its keys and the path."""
    known = {path, path.rpartition("/")[2], body.tool, *arguments_of(body)}
    found = code_lines(path, text.replace(path, " "), names - known)
    return (one for one in found if " " not in one.fact.text)


def _best(found: Mapping[tuple[str, str], tuple[FactLine, EntryId]], weigh: Weigh) -> LinePool:
    """What could be chosen at all, in its order: nobody takes one of thousands."""

    def worth(key: tuple[str, str]) -> float:
        line = found[key][0]
        return fsum(map(weigh, line.names)) / (line.tokens + 2)

    kept = set(nlargest(POOL, found, key=worth))
    kept |= {key for key in found if not key[1]}
    lines = tuple(line for key, (line, _) in found.items() if key in kept)
    return LinePool(lines, {key: entry for key, (_, entry) in found.items() if key in kept})


def _places(scene: Scene, held: NamesByEntry, weigh: Weigh) -> dict[EntryId, frozenset[str]]:
    """The entries in which the likeliest names were met last, with those that stand there."""
    met: dict[str, list[EntryId]] = {}
    for item in scene.items:
        # Sorted: names of the same worth are taken in this order, and sets have none.
        for name in sorted(held[item.entry.id]):
            met.setdefault(name, []).append(item.entry.id)
    leading = nlargest(LEADING, met, key=weigh)
    names = frozenset(leading)
    # What a call was given stands there escaped and is read as it was meant: any may be in it.
    calls = {item.entry.id for item in scene.items if isinstance(item.body, ToolCalled)}
    return {
        entry: names if entry in calls else held[entry] & names
        for name in leading
        for entry in met[name][-PLACES:]
    }


def select_lines(
    pool: LinePool, room: int, weigh: Weigh, *, covered: Iterable[str], layers: Sequence[int]
) -> PacketSelection:
    """Select the most valuable lines for a room: files in layer 3, the rest in layer 2."""
    wanted = [one for one in pool.lines if _layer(one.fact.entry) in layers]
    loose = [one for one in wanted if one.fact.entry == LOOSE]
    few = {one.fact.text for one in nlargest(MOST_LOOSE, loose, key=lambda one: _worth(one, weigh))}
    chosen = pick_lines(
        [one for one in wanted if one.fact.entry != LOOSE or one.fact.text in few],
        room,
        weigh=weigh,
        count=estimate_line_tokens,
        covered=covered,
        head=HEAD,
        mention=MENTION,
    )
    grouped: dict[str, list[str]] = {}
    for fact in chosen:
        grouped.setdefault(fact.entry, []).append(fact.text)
    said, ran, names = (grouped.pop(head, []) for head in (SAID, RAN, LOOSE))
    files = tuple(
        RelevantFile(path, join_texts(texts), _refs(pool, path, texts))
        for path, texts in grouped.items()
    )
    return PacketSelection(files, tuple(said), tuple(ran), tuple(names))


def _worth(line: FactLine, weigh: Weigh) -> float:
    return fsum(map(weigh, line.names))


def _layer(head: str) -> int:
    return 2 if head in (SAID, RAN, LOOSE) else 3


def join_texts(texts: Sequence[str]) -> str:
    """Join names with commas and lines with semicolons."""
    told, last = "", ""
    for text in filter(None, texts):
        names = bool(last) and " " not in text and " " not in last
        told += f"{', ' if names else '; ' if told else ''}{text}"
        last = text
    return told


def _refs(pool: LinePool, path: str, texts: Iterable[str]) -> tuple[EntryId, ...]:
    newest = [pool.entries[path, text] for text in texts if (path, text) in pool.entries]
    return tuple(newest[-1:])
