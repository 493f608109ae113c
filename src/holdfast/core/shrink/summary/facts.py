"""Critical facts: the lines of what is hidden that are most worth their tokens.

Every line that holds names, ids or values is a candidate. Lines are taken as long as there is room,
always the one that brings the most likely needed names, not yet in sight, for its tokens. A name
alone helps nobody, so a line with words around it counts for more, and what brought the line, a
call and what it was asked for, stands above it.
"""

import heapq
import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import fsum
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import (
    EntryId,
    Said,
    Thought,
    ToolCalled,
    ToolReturned,
)
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
from holdfast.core.observe.worth import telling_names
from holdfast.text.jsontext import SURROGATE, Json, as_text

WIDTH = 160
"""Characters of a line; a longer one is cut into pieces between words."""
SHORTEST = 5
LONGEST_ENTRY = 300_000
"""Characters of one entry that are looked at, half from either end."""
_WHERE = re.compile(r"(?i)(?:cwd|work_?dir|working_?dir(?:ectory)?)$")
HOW = frozenset(("output_mode", "max_output_tokens", "yield_time_ms", "sandbox_permissions", "tty"))
"""Arguments of shells and searches that say how to go about it, and nothing of what was asked."""
_FRAME = re.compile(r"(?:Chunk ID: |Exit code: )(?:[^\n]{0,80}\n){1,6}?Output:\n")
_FRAMED = re.compile(r"(?:Chunk ID|Wall time|Original token count|Total output lines): ")
"""What a shell says of its own running above the output, and what of that nobody needs."""
LABEL = 80
"""Characters of the call that brought a result, above its lines."""
HEAD = 7
"""Tokens of an entry's name above its lines."""
PER_LINE = 2
MENTION = 0.8
"""How much of a name's worth its bare mention is; the rest is for the words around it."""
RICH = 4
"""Words from which a line says something about its names."""
AGENT = "agent"
OWN = 2.0
"""How much more the agent's own sentences count: they say what a name is about."""
FADING = 0.2
"""What is left of an old line's worth when nothing new speaks for it."""

_WORDS = re.compile(r"\w[\w./-]{2,80}")
_PLACED = re.compile(r"(?=[^/\s]{0,60}/)([\w~@./+-]{3,220})[:-](?=\d{1,7}[:-])")
"""`path:12:` or `path-12-`: how a search tells where a line stands."""
_NUMBER = re.compile(r"\d{1,7}[→:|\t -]\s{0,160}")
"""The number before a line of a file: alone it tells nothing."""
_TAG = re.compile(r"</?[\w-]{1,40}>")
_BLANKS = re.compile(r"\s+")


NO_NAMES: Mapping[EntryId, frozenset[str]] = {}
Edits: TypeAlias = dict[str, list[tuple[int, frozenset[str]]]]
"""By file: where it was edited, and the lines that were taken out for good."""

Piece: TypeAlias = tuple[Fact, frozenset[str]]
"""A fact, and what is telling in it."""


class Line(Struct, frozen=True):
    """A line that could be kept."""

    fact: Fact
    names: frozenset[str]
    tokens: int
    rich: bool = False


@row_rule
def lines_of(
    scene: Scene, count: CountTokens, only: Container[EntryId] | None = None
) -> Iterator[Line]:
    """Every line of a span, or of some of its entries, that holds something telling, in order."""
    return (line(fact, count, names) for fact, names in facts_in(scene, only))


def facts_in(
    scene: Scene,
    only: Container[EntryId] | None = None,
    holding: Mapping[EntryId, frozenset[str]] = NO_NAMES,
) -> Iterator[Piece]:
    """The same lines, neither counted nor weighed, each with what is telling in it.

    `holding` are names of which a line has to hold one, where an entry is named there.
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
            pair = scene.of_result.get(at)
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
            names = telling_names(piece)
            if names and _says(piece, names):
                yield Fact(piece, entry, source, number), names


def _says(piece: str, names: frozenset[str]) -> bool:
    """Whether a line tells anything beside its own number or the name of a tag."""
    number = _NUMBER.match(piece)
    rest = piece[number.end() :] if number else piece
    # One name may be the number; a second one is of what follows it.
    return (not number or len(names) > 1 or bool(telling_names(rest))) and not _TAG.fullmatch(rest)


def _asked(call: ToolCalled, entry: EntryId, holding: frozenset[str]) -> Iterator[Piece]:
    """The lines of a call: the first says what it is itself, the others stand below that."""
    label = label_of(call)
    for number, (key, text) in enumerate(_rows(call), 1):
        source = f"{label}{SIDES.get(key, '')}" if number > 1 else ""
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


def line(fact: Fact, count: CountTokens, names: frozenset[str] | None = None) -> Line:
    """A fact as a line that could be kept."""
    rich = len({word.lower() for word in _WORDS.findall(fact.text)}) >= RICH
    found = telling_names(fact.text) if names is None else names
    return Line(fact, found, count(fact.text), rich)


def _numbered(text: str, holding: frozenset[str] = frozenset()) -> Iterator[tuple[int, str]]:
    """The lines of a text, or those that hold one of some names."""
    half = LONGEST_ENTRY // 2
    if len(text) > LONGEST_ENTRY:
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
    while len(plain) > WIDTH:
        at = plain.rfind(" ", WIDTH // 2, WIDTH)
        at = WIDTH if at < 0 else at
        yield plain[:at]
        plain = plain[at:].lstrip()
    if len(plain) >= SHORTEST:
        yield plain


SIDES = {**dict.fromkeys(OLD_KEYS, ": taken out"), **dict.fromkeys(NEW_KEYS, ": put in")}
"""What the lines of an edit are: whoever goes on from them must not take the old for the new."""
MAIN = frozenset((*PATH_KEYS, *COMMAND_KEYS, "pattern", "query", "url", "prompt", "description"))


def _tool_of(call: ToolCalled) -> str:
    """The bare name of a tool."""
    return call.tool


@rule_or(_tool_of)
def label_of(call: ToolCalled) -> str:
    """A call in few words: its tool, and what it was asked for; of a file its name alone.

    The whole path stands in the tables of files.
    """
    touch = touch_of(call)
    if touch.path and touch.verb in ("read", "write", "edit"):
        lines = f" {touch.first}–{touch.last or ''}" if touch.paged else ""
        name = SURROGATE.sub("\ufffd", touch.path.rstrip("/").rpartition("/")[2])
        return f"{call.tool} {name}{lines}"
    plain = SURROGATE.sub("\ufffd", _BLANKS.sub(" ", next(call_lines(call), call.tool)).strip())
    return plain if len(plain) <= LABEL else f"{plain[: LABEL - 1]}…"


@row_rule
def call_lines(call: ToolCalled) -> Iterator[str]:
    """A call in lines: first its tool and all that is short, then every line of what is long."""
    return (text for _, text in _rows(call))


def _rows(call: ToolCalled) -> Iterator[tuple[str, str]]:
    """The lines of a call, each with the argument that it stands in; the first with none."""
    arguments = arguments_of(call)
    if not arguments:
        yield "", f"{call.tool} {call.arguments}" if call.arguments != "{}" else call.tool
        return
    short, long = [call.tool], list[tuple[str, str]]()
    for key, value in arguments.items():
        if key in HOW:
            continue
        rows = [row for text in _leaves(value) for row in text.strip().split("\n")]
        if _WHERE.match(key):
            # Nearly every call says it: it is told once, by itself.
            long += [(key, f"{key}={row}") for row in rows[:1]]
        elif len(rows) == 1:
            short.append(rows[0] if key in MAIN else f"{key}={rows[0]}")
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


def pick(
    pool: Sequence[Line],
    room: int,
    *,
    weigh: Weigh,
    count: CountTokens,
    covered: Iterable[str] = (),
    first: frozenset[str] = frozenset(),
    head: int = HEAD,
    mention: float = MENTION,
) -> tuple[Fact, ...]:
    """The lines that are most worth so many tokens, in the order in which they stood.

    Lines among `first` come before others, as long as they take no more than half of the room.
    `head` are the tokens that what brought a line takes besides its words, `mention` how much of a
    name's worth its bare mention is.
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
        pool: Sequence[Line],
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
        self._source_names = {source: telling_names(source) for source in sources}
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
        return self._pool[at].tokens + PER_LINE + head

    def _value(self, at: int) -> float:
        one = self._pool[at]
        weight, seen = self._weight, self._seen
        value = self._mention * fsum(weight[name] for name in one.names if name not in seen)
        if one.rich:
            told = fsum(weight[name] for name in one.names if name not in self._told)
            value += (1 - self._mention) * told
        if one.fact.source == AGENT:
            value *= OWN
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
    pool: Sequence[Line], sources: Iterable[frozenset[str]], weigh: Weigh
) -> dict[str, float]:
    """What each name is worth now; one in an old line keeps some of what it was worth then."""
    names = {name for one in pool for name in one.names}
    weights = {name: weigh(name) for name in names.union(*sources)}
    for one in pool:
        if one.fact.worth:
            was = FADING * one.fact.worth / max(len(one.names), 1)
            weights.update({name: max(weights[name], was) for name in one.names})
    return weights
