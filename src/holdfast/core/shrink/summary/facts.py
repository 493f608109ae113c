"""Choose critical facts: the lines of hidden entries that are most worth their tokens.

Every line with names, ids or values is a candidate. While there is room, the line is taken that
adds the most likely needed names per token, without names that the window shows already. A line
with words around its names is worth more, and the call that produced it is shown above it.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import fsum
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import EntryId, Said, Thought, ToolCalled, ToolReturned
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.ledger.summary import Fact
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.files.touch import (
    COMMAND_KEYS,
    NEW_KEYS,
    OLD_KEYS,
    PATH_KEYS,
    Touch,
    arguments_of,
    touch_of,
)
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.worth import find_names
from holdfast.text.clip import clip
from holdfast.text.jsontext import SURROGATE, Json, as_text
from holdfast.text.patterns import Pattern

MAX_LINE_CHARS = 160
"""A longer line is split into pieces between words."""
MIN_LINE_CHARS = 5
MAX_ENTRY_CHARS = 300_000
"""Characters of one entry that are read, half from either end."""
_WHERE = Pattern(r"(?i)(?:cwd|work_?dir|working_?dir(?:ectory)?)$")
OPTION_KEYS = frozenset(
    ("output_mode", "max_output_tokens", "yield_time_ms", "sandbox_permissions", "tty")
)
"""Arguments of shells and searches that are options: they say nothing about the request."""
_FRAME = Pattern(r"(?:Chunk ID: |Exit code: )(?:[^\n]{0,80}\n){1,6}?Output:\n")
_FRAMED = Pattern(r"(?:Chunk ID|Wall time|Original token count|Total output lines): ")
"""The header that a shell tool prints above the output, and the rows of it that are dropped."""
MAX_LABEL_CHARS = 80
"""Characters of the label of a call, which is shown above the lines of its result."""
HEAD_TOKENS = 7
"""Tokens of the entry's name above its lines."""
LINE_TOKENS = 2
MENTION_SHARE = 0.8
"""The share of a name's worth for a bare mention; the rest is for the words around it."""
MIN_RICH_WORDS = 4
"""A line with so many words says something about its names."""
AGENT = "agent"
AGENT_FACTOR = 2.0
"""The factor for the agent's own sentences: they explain a name."""
OLD_LINE_SHARE = 0.2
"""The share of an old line's worth that remains if its names are not used again."""

_WORDS = Pattern(r"\w[\w./-]{2,80}")
_PLACED = Pattern(r"(?=[^/\s]{0,60}/)([\w~@./+-]{3,220})[:-](?=\d{1,7}[:-])")
"""`path:12:` or `path-12-`: the place of a line in the output of a search."""
_NUMBER = Pattern(r"\d{1,7}[→:|\t -]\s{0,160}")
"""The number before a line of a file, which is not a fact."""
_TAG = Pattern(r"</?[\w-]{1,40}>")
_BLANKS = Pattern(r"\s+")


NO_NAMES: Mapping[EntryId, frozenset[str]] = {}
Edits: TypeAlias = dict[str, list[tuple[int, frozenset[str]]]]
"""By file: the positions of its edits, and the lines that each removed for good."""

Piece: TypeAlias = tuple[Fact, frozenset[str]]
"""A fact, and the names in it."""


class FactLine(Struct, frozen=True):
    """A line that may be chosen as a fact."""

    fact: Fact
    names: frozenset[str]
    tokens: int
    rich: bool = False


@row_rule
def lines_of(
    scene: Scene, count: CountTokens, only: Container[EntryId] | None = None
) -> Iterator[FactLine]:
    """Return the lines of a span, or of some of its entries, that contain names, in order."""
    return (fact_line(fact, count, names) for fact, names in facts_in(scene, only))


def facts_in(
    scene: Scene,
    only: Container[EntryId] | None = None,
    holding: Mapping[EntryId, frozenset[str]] = NO_NAMES,
) -> Iterator[Piece]:
    """Yield these lines without counting their tokens, each with its names.

    `holding` maps some entries to names; a line of such an entry must contain one of them.
    """
    edits = _edits(scene)
    for at, item in enumerate(scene.items):
        if not item.covers and (only is None or item.entry.id in only):
            names = holding.get(item.entry.id, frozenset())
            yield from _facts_of(item, at, scene, edits, names)


@row_rule
def _facts_of(
    item: Item, at: int, scene: Scene, edits: Edits, names: frozenset[str]
) -> Iterator[Piece]:
    """The lines of one entry."""
    entry = item.entry.id
    match item.body:
        case ToolCalled() as body:
            yield from _asked(body, entry, names)
        case ToolReturned() as body if not is_stand_in(body.output):
            pair = scene.by_result.get(at)
            touch = touch_of(pair.body) if pair else Touch()
            if body.failed and touch.verb in ("edit", "write"):
                return  # it shows what the file never became
            label = label_of(pair.body) if pair else ""
            later = edits.get(touch.path, ()) if touch.verb == "read" else ()
            yield from _found(body.output, entry, label, _gone(later, at), names)
        case Said(role="assistant") as body:
            yield from _lines(_numbered(body.text, names), entry, AGENT)
        case Thought() as body:
            yield from _lines(_numbered(body.text, names), entry, "thinking")
        case Said(role="user") as body:
            yield from _lines(_numbered(body.text, names), entry, body.by or "user")
        case _:
            return


def _lines(rows: Iterable[tuple[int, str]], entry: EntryId, source: str) -> Iterator[Piece]:
    for number, text in rows:
        for piece in _pieces(text):
            names = find_names(piece)
            if names and _says(piece, names):
                yield Fact(piece, entry, source, number), names


def _says(piece: str, names: frozenset[str]) -> bool:
    """Whether a line tells anything beside its own number or the name of a tag."""
    number = _NUMBER.match(piece)
    rest = piece[number.end() :] if number else piece
    # One name may be the number; a second one is of what follows it.
    return (not number or len(names) > 1 or bool(find_names(rest))) and not _TAG.fullmatch(rest)


def _asked(call: ToolCalled, entry: EntryId, holding: frozenset[str]) -> Iterator[Piece]:
    """The lines of a call: the first says what it is itself, the others stand below that."""
    label = label_of(call)
    for number, (key, text) in enumerate(_rows(call), 1):
        source = f"{label}{EDIT_SIDES.get(key, '')}" if number > 1 else ""
        if not holding or any(name in text for name in holding):
            yield from _lines([(number, text)], entry, source)


@rule({})
def _edits(scene: Scene) -> Edits:
    """Where each file was edited."""
    found: Edits = {}
    for pair in scene.pairs:
        touch = touch_of(pair.body)
        if touch.verb != "edit" or not touch.path or pair.result is None:
            continue
        result = scene.items[pair.result].body
        if isinstance(result, ToolReturned) and not result.failed:
            arguments = arguments_of(pair.body)
            out, put = (_lines_under(arguments, keys) for keys in (OLD_KEYS, NEW_KEYS))
            found.setdefault(touch.path, []).append((pair.call, out - put))
    return found


def _lines_under(arguments: Mapping[str, Json], keys: Iterable[str]) -> frozenset[str]:
    texts = (as_text(arguments.get(key)) for key in keys)
    return frozenset(line.strip() for text in texts for line in text.split("\n") if line.strip())


def _gone(edits: Iterable[tuple[int, frozenset[str]]], at: int) -> frozenset[str]:
    """Lines that a file no longer has, although it was read with them."""
    return frozenset[str]().union(*(lines for place, lines in edits if place > at))


def _found(
    output: str, entry: EntryId, label: str, gone: frozenset[str], holding: frozenset[str]
) -> Iterator[Piece]:
    """The lines of a result; of those that each name their file, the file stands above them."""
    frame = _FRAME.match(output)
    above = frame[0].count("\n") if frame else 0
    for number, text in _numbered(output, holding):
        if number <= above and _FRAMED.match(text):
            continue
        if gone and _NUMBER.sub("", text.lstrip(), 1).strip() in gone:
            continue
        match = _PLACED.match(text)
        if match is None:
            yield from _lines([(number, text)], entry, label)
        else:
            rest = text[match.end(1) + 1 :]
            yield from _lines([(number, rest)], entry, match[1])


def fact_line(fact: Fact, count: CountTokens, names: frozenset[str] | None = None) -> FactLine:
    """Return a fact as a line that may be chosen."""
    rich = len({word.lower() for word in _WORDS.findall(fact.text)}) >= MIN_RICH_WORDS
    found = find_names(fact.text) if names is None else names
    return FactLine(fact, found, count(fact.text), rich)


def _numbered(text: str, holding: frozenset[str] = frozenset()) -> Iterator[tuple[int, str]]:
    """The lines of a text, or those that hold one of some names."""
    half = MAX_ENTRY_CHARS // 2
    if len(text) > MAX_ENTRY_CHARS:
        text = f"{text[:half]}\n{text[-half:]}"
    rows = text.split("\n")
    if not holding:
        return enumerate(rows, 1)
    ends = list(accumulate(len(row) + 1 for row in rows))
    found = {at for name in holding for at in _places(text, name, ends)}
    return ((at + 1, rows[at]) for at in sorted(found))


def _places(text: str, name: str, ends: Sequence[int]) -> Iterator[int]:
    """The lines that hold a name: looked for in the whole text, which is quicker than in each."""
    found = text.find(name)
    while found >= 0:
        at = bisect_right(ends, found)
        yield at
        found = text.find(name, ends[at])


def _pieces(text: str) -> Iterator[str]:
    """A line as one, or as several that break between words."""
    plain = SURROGATE.sub("\ufffd", _BLANKS.sub(" ", text).strip())
    while len(plain) > MAX_LINE_CHARS:
        at = plain.rfind(" ", MAX_LINE_CHARS // 2, MAX_LINE_CHARS)
        at = MAX_LINE_CHARS if at < 0 else at
        yield plain[:at]
        plain = plain[at:].lstrip()
    if len(plain) >= MIN_LINE_CHARS:
        yield plain


EDIT_SIDES = {**dict.fromkeys(OLD_KEYS, ": taken out"), **dict.fromkeys(NEW_KEYS, ": put in")}
"""Labels for the two sides of an edit, so that a reader does not mistake old lines for new."""
MAIN_KEYS = frozenset(
    (*PATH_KEYS, *COMMAND_KEYS, "pattern", "query", "url", "prompt", "description")
)


def _tool_of(call: ToolCalled) -> str:
    """The bare name of a tool."""
    return call.tool


@rule_or(_tool_of)
def label_of(call: ToolCalled) -> str:
    """Return a short label of a call: its tool and its main argument; of a path only the name.

    The tables of files show the whole path.
    """
    touch = touch_of(call)
    if touch.path and touch.verb in ("read", "write", "edit"):
        lines = f" {touch.first}–{touch.last or ''}" if touch.paged else ""
        name = SURROGATE.sub("\ufffd", touch.path.rstrip("/").rpartition("/")[2])
        return f"{call.tool} {name}{lines}"
    plain = SURROGATE.sub("\ufffd", _BLANKS.sub(" ", next(call_lines(call), call.tool)).strip())
    return clip(plain, MAX_LABEL_CHARS)


@row_rule
def call_lines(call: ToolCalled) -> Iterator[str]:
    """Return the lines of a call: its tool with the short arguments, then the long ones."""
    return (text for _, text in _rows(call))


def _rows(call: ToolCalled) -> Iterator[tuple[str, str]]:
    """The lines of a call, each with the argument that it stands in; the first with none."""
    arguments = arguments_of(call)
    if not arguments:
        yield "", f"{call.tool} {call.arguments}" if call.arguments != "{}" else call.tool
        return
    short, long = [call.tool], list[tuple[str, str]]()
    for key, value in arguments.items():
        if key in OPTION_KEYS:
            continue
        rows = [row for text in _leaves(value) for row in text.strip().split("\n")]
        if _WHERE.match(key):
            # Nearly every call says it: it is told once, by itself.
            long += [(key, f"{key}={row}") for row in rows[:1]]
        elif len(rows) == 1:
            short.append(rows[0] if key in MAIN_KEYS else f"{key}={rows[0]}")
        else:
            short += rows[:1] if key in COMMAND_KEYS else ()
            long += [(key, row) for row in rows]
    yield "", " ".join(short)
    yield from long


def _leaves(value: Json) -> Iterator[str]:
    match value:
        case list():
            for inner in value:
                yield from _leaves(inner)
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case bool() | None:
            pass
        case _:
            yield str(value)


Weigh = Callable[[str], float]


def pick_lines(
    pool: Sequence[FactLine],
    room: int,
    *,
    weigh: Weigh,
    count: CountTokens,
    covered: Iterable[str] = (),
    first: frozenset[str] = frozenset(),
    head: int = HEAD_TOKENS,
    mention: float = MENTION_SHARE,
) -> tuple[Fact, ...]:
    """Choose the lines that are worth most within `room` tokens; keep their order.

    Lines in `first` are taken before others, up to half of the room. `head` is the number of tokens
    of the label above a line, `mention` the share of a name's worth for a bare mention.
    """
    chosen = _Picking(pool, weigh, count, covered, head, mention).run(room, first)
    return tuple(
        pool[at].fact if not worth else _worth(pool[at].fact, worth) for at, worth in chosen
    )


def _worth(fact: Fact, worth: float) -> Fact:
    return Fact(fact.text, fact.entry, fact.source, fact.line, round(worth, 3))


class _Picking:
    """One greedy choice under way: what is in sight so far, and what each line would add."""

    def __init__(
        self,
        pool: Sequence[FactLine],
        weigh: Weigh,
        count: CountTokens,
        covered: Iterable[str],
        head: int,
        mention: float,
    ) -> None:
        self._pool, self._mention = pool, mention
        self._seen, self._told = set(covered), set(covered)
        self._heads: set[EntryId] = set()
        sources = {one.fact.source for one in pool}
        self._source_names = {source: find_names(source) for source in sources}
        self._source_cost = {source: count(source) + head for source in sources}
        self._weight = _weights(pool, self._source_names.values(), weigh)

    def run(self, room: int, first: frozenset[str]) -> list[tuple[int, float]]:
        """Take lines, the best for its tokens first, until nothing more fits or helps.

        Says which, in their order, and what each was worth when it was taken.
        """
        taken = self._take_first(room // 2, first) if first else []
        room -= sum(price for _, _, price in taken)
        done = {at for at, _, _ in taken}
        heap = [
            (-self._value(at) / self._price(at), at)
            for at in range(len(self._pool))
            if at not in done
        ]
        heapq.heapify(heap)
        while heap and room > 0:
            _, at = heapq.heappop(heap)
            value, price = self._value(at), self._price(at)
            if value <= 0 or price > room:
                continue
            if heap and value / price < -heap[0][0] - 1e-12:
                heapq.heappush(heap, (-value / price, at))
                continue
            room -= price
            taken.append((at, value, price))
            self._take(at)
        return sorted((at, value) for at, value, _ in taken)

    def _take_first(self, room: int, first: frozenset[str]) -> list[tuple[int, float, int]]:
        taken: list[tuple[int, float, int]] = []
        wanted = set(first)
        for at, one in enumerate(self._pool):
            price = self._price(at)
            if one.fact.text in wanted and price <= room:
                wanted.remove(one.fact.text)  # the same words may stand in many entries
                room -= price
                taken.append((at, self._value(at), price))
                self._take(at)
        return taken

    def _price(self, at: int) -> int:
        fact = self._pool[at].fact
        head = 0 if fact.entry in self._heads else self._source_cost[fact.source]
        return self._pool[at].tokens + LINE_TOKENS + head

    def _value(self, at: int) -> float:
        one = self._pool[at]
        weight, seen = self._weight, self._seen
        value = self._mention * fsum(weight[name] for name in one.names if name not in seen)
        if one.rich:
            told = fsum(weight[name] for name in one.names if name not in self._told)
            value += (1 - self._mention) * told
        if one.fact.source == AGENT:
            value *= AGENT_FACTOR
        if one.fact.entry not in self._heads:
            value += fsum(weight[name] for name in self._source_names[one.fact.source] - seen)
        return value

    def _take(self, at: int) -> None:
        one = self._pool[at]
        self._seen |= one.names
        if one.rich:
            self._told |= one.names
        if one.fact.entry not in self._heads:
            self._heads.add(one.fact.entry)
            self._seen |= self._source_names[one.fact.source]


def _weights(
    pool: Sequence[FactLine], sources: Iterable[frozenset[str]], weigh: Weigh
) -> dict[str, float]:
    """What each name is worth now; one in an old line keeps some of what it was worth then."""
    names = {name for one in pool for name in one.names}
    weights = {name: weigh(name) for name in names.union(*sources)}
    for one in pool:
        if one.fact.worth:
            was = OLD_LINE_SHARE * one.fact.worth / max(len(one.names), 1)
            weights.update({name: max(weights[name], was) for name in one.names})
    return weights
