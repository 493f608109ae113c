"""How the bytes of a message are laid down beside what they say: words that an entry has are named.

A message is kept twice, as it arrived and as it was understood, and nearly all of it is the same
words. Where these stand in the bytes, escaped as the sender did, only their place in the entries is
told. Whatever is found in no entry is kept as it is; and bytes that do not come out the same again,
to the last one, are never laid down so.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import astuple, replace

from holdfast.core.ledger.entry import Body, Compressed, EntryId, Step
from holdfast.stores.packing import row_sum

SHORTEST = 32
"""Characters of words that are worth naming."""
JSON, ASCII, PLAIN = 0, 1, 2
"""How words are spelled in the bytes: as JSON, as JSON in ASCII alone, as they are."""


class Spot(NamedTuple):
    """Words of an entry in the bytes of its message."""

    start: int
    end: int
    part: int
    field: int
    spelling: int


class Woven(msgspec.Struct, array_like=True):
    """Bytes told by what the entries say."""

    plain: list[bytes]
    """What stands before the first words, between them and after the last."""
    words: list[tuple[int, int, int]]
    """Which entry of the message, which of its fields, in which spelling."""
    total: bytes
    """A check sum of the whole."""


_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Woven)


def weave(raw: bytes, bodies: Sequence[Body]) -> bytes | None:
    """Bytes of a message told by its bodies; nothing where that is not worth it."""
    spots = _apart(sorted(_spots(raw, bodies)))
    if not spots:
        return None
    plain, at = list[bytes](), 0
    for spot in spots:
        plain.append(raw[at : spot.start])
        at = spot.end
    words = [(spot.part, spot.field, spot.spelling) for spot in spots]
    woven = _encoder.encode(Woven([*plain, raw[at:]], words, row_sum(raw)))
    return woven if unweave(woven, bodies) == raw else None


def unweave(data: bytes, bodies: Sequence[Body]) -> bytes:
    """The bytes of a message as they arrived.

    Raises:
        ValueError: the bodies are not those, or this is not what was laid down.
    """
    try:
        woven = _decoder.decode(data)
        words = [_spelled(_fields(bodies[part])[at], how) for part, at, how in woven.words]
    except (msgspec.DecodeError, IndexError, UnicodeEncodeError) as error:
        raise ValueError(str(error)) from None
    pieces = [piece for pair in zip(woven.plain, [*words, b""], strict=True) for piece in pair]
    raw = b"".join(pieces)
    if row_sum(raw) != woven.total:
        raise ValueError("the entries of a message no longer say what it said")
    return raw


def _spots(raw: bytes, bodies: Sequence[Body]) -> Iterator[Spot]:
    for part, body in enumerate(bodies):
        for field, text in enumerate(_fields(body)):
            if len(text) >= SHORTEST:
                yield from _found(raw, text, part, field)


def _found(raw: bytes, text: str, part: int, field: int) -> Iterator[Spot]:
    """Every place where words stand, in the first spelling that is there at all."""
    for spelling in (JSON, PLAIN) if text.isascii() else (JSON, ASCII, PLAIN):
        try:
            spelled = _spelled(text, spelling)
        except UnicodeEncodeError:
            continue  # half of a pair has no bytes of its own
        at = raw.find(spelled)
        if at < 0:
            continue
        while at >= 0:
            yield Spot(at, at + len(spelled), part, field, spelling)
            at = raw.find(spelled, at + len(spelled))
        return


def _apart(spots: Sequence[Spot]) -> list[Spot]:
    """Spots of which none stands in another."""
    kept: list[Spot] = []
    for spot in spots:
        if not kept or spot.start >= kept[-1].end:
            kept.append(spot)
        elif spot.end > kept[-1].end and spot.start == kept[-1].start:
            kept[-1] = spot
    return kept


def _fields(body: Body) -> list[str]:
    """The words of a body, in the order of its fields."""
    return [value for value in astuple(body) if isinstance(value, str)]


def _spelled(text: str, spelling: int) -> bytes:
    if spelling == PLAIN:
        return text.encode()
    if spelling == ASCII:
        import json  # late: few senders write so, and a hook should not pay for it

        return json.dumps(text).encode()[1:-1]
    return msgspec.json.encode(text)[1:-1]


# How the long list of what a summary hides is laid down: as spans of its lane's entries.
#
# A summary hides everything since the beginning, so if each one named every entry, a store would
# grow with the square of a session's length. Names are 32 hex digits; a span is told by two
# numbers.


FEW = 64
"""Names that a step may hide before spans are worth looking for."""
SHORTEST_SPAN = 3
SPAN = re.compile(r"#(\d{1,18})-(\d{1,18})")


class Order:
    """The source entries of one lane in their order, as far as they were looked up."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.names: list[EntryId] = []
        self._places: dict[EntryId, int] = {}

    @property
    def last(self) -> int:
        """The number of the last entry that is known."""
        return self.seqs[-1] if self.seqs else 0

    def add(self, seq: int, name: EntryId) -> None:
        """Take one more entry in."""
        self._places[name] = len(self.seqs)
        self.seqs.append(seq)
        self.names.append(name)

    def place_of(self, name: EntryId) -> int:
        """Where an entry stands; -1 when it is not known."""
        return self._places.get(name, -1)

    def between(self, first: int, last: int) -> list[EntryId]:
        """The names of the entries with numbers from `first` to `last`."""
        return self.names[bisect_left(self.seqs, first) : bisect_right(self.seqs, last)]


def is_long(body: Body) -> bool:
    """Whether a body hides so much that spans are worth it."""
    return isinstance(body, Compressed) and any(len(step.hides) > FEW for step in body.steps)


def is_spanned(body: Body) -> bool:
    """Whether a body was laid down with spans."""
    return isinstance(body, Compressed) and any(
        name.startswith("#") for step in body.steps for name in step.hides
    )


def spanned(body: Compressed, order: Order) -> Compressed:
    """The body with runs of names told as spans."""
    steps = (replace(step, hides=tuple(_spans(step, order))) for step in body.steps)
    return replace(body, steps=tuple(steps))


def named(body: Compressed, order: Order) -> Compressed:
    """The body as it was given: every name in full."""
    steps = (replace(step, hides=tuple(_names(step, order))) for step in body.steps)
    return replace(body, steps=tuple(steps))


def _spans(step: Step, order: Order) -> Iterator[str]:
    hides = step.hides
    at = 0
    while at < len(hides):
        end = _end_of_run(hides, at, order)
        if end - at >= SHORTEST_SPAN:
            first, last = order.place_of(hides[at]), order.place_of(hides[end - 1])
            yield f"#{order.seqs[first]}-{order.seqs[last]}"
        else:
            yield from hides[at:end]
        at = end


def _end_of_run(hides: Sequence[EntryId], start: int, order: Order) -> int:
    """Where names that begin at `start` stop following one another in the lane."""
    place, end = order.place_of(hides[start]), start + 1
    while place >= 0 and end < len(hides) and order.place_of(hides[end]) == place + end - start:
        end += 1
    return end


def _names(step: Step, order: Order) -> Iterator[EntryId]:
    for name in step.hides:
        span = SPAN.fullmatch(name)
        if span is None:
            yield name
        else:
            yield from order.between(int(span[1]), int(span[2]))
