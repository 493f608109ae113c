"""Encode message bytes and long lists of entry names in fewer bytes.

A message is stored twice: as received bytes and as entries, and both hold nearly the same text. So
text in the bytes that an entry holds is replaced by a reference to that entry; all other bytes are
stored as they are. If decoding does not give back exactly the same bytes, no references are used.

A list of hidden entries is stored as spans of entry numbers.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import astuple, replace

from holdfast.core.ledger.entry import Body, Compressed, EntryId, Step
from holdfast.stores.packing import checksum
from holdfast.text.patterns import Pattern

MIN_REFERENCED_CHARS = 32
"""Shortest text that is replaced by a reference."""
AS_JSON, AS_ASCII_JSON, AS_TEXT = 0, 1, 2
"""How a text is written in the bytes: as JSON, as JSON with ASCII only, or without escapes."""


class TextMatch(NamedTuple):
    """Where the text of an entry occurs in the bytes of its message."""

    start: int
    end: int
    part: int
    field: int
    spelling: int


class ReferencedBytes(msgspec.Struct, array_like=True):
    """The bytes of a message, with references to the texts of its entries."""

    plain: list[bytes]
    """The bytes before the first reference, between references, and after the last one."""
    words: list[tuple[int, int, int]]
    """For each reference: the entry of the message, its text field, and the spelling."""
    total: bytes
    """A checksum of the decoded bytes."""


_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(ReferencedBytes)


def encode_references(raw: bytes, bodies: Sequence[Body]) -> bytes | None:
    """Encode the bytes of a message with references to its bodies; None if there are none."""
    matches = _without_overlaps(sorted(_find_texts(raw, bodies)))
    if not matches:
        return None
    plain, at = list[bytes](), 0
    for match_ in matches:
        plain.append(raw[at : match_.start])
        at = match_.end
    words = [(match_.part, match_.field, match_.spelling) for match_ in matches]
    encoded = _encoder.encode(ReferencedBytes([*plain, raw[at:]], words, checksum(raw)))
    return encoded if decode_references(encoded, bodies) == raw else None


def decode_references(data: bytes, bodies: Sequence[Body]) -> bytes:
    """Decode the bytes of a message.

    Raises:
        ValueError: `data` or the bodies are not those of the encoding.
    """
    try:
        stored = _decoder.decode(data)
        words = [
            _spell(_text_fields(bodies[part])[field], spelling)
            for part, field, spelling in stored.words
        ]
    except (msgspec.DecodeError, IndexError, UnicodeEncodeError) as error:
        raise ValueError(str(error)) from None
    pieces = [piece for pair in zip(stored.plain, [*words, b""], strict=True) for piece in pair]
    raw = b"".join(pieces)
    if checksum(raw) != stored.total:
        raise ValueError("the entries of a message have changed")
    return raw


def _find_texts(raw: bytes, bodies: Sequence[Body]) -> Iterator[TextMatch]:
    for part, body in enumerate(bodies):
        for field, text in enumerate(_text_fields(body)):
            if len(text) >= MIN_REFERENCED_CHARS:
                yield from _find_text(raw, text, part, field)


def _find_text(raw: bytes, text: str, part: int, field: int) -> Iterator[TextMatch]:
    """Yield every occurrence of a text, in the first spelling that occurs in the bytes."""
    for spelling in (AS_JSON, AS_TEXT) if text.isascii() else (AS_JSON, AS_ASCII_JSON, AS_TEXT):
        try:
            spelled = _spell(text, spelling)
        except UnicodeEncodeError:
            continue  # a lone surrogate cannot be encoded
        at = raw.find(spelled)
        if at < 0:
            continue
        while at >= 0:
            yield TextMatch(at, at + len(spelled), part, field, spelling)
            at = raw.find(spelled, at + len(spelled))
        return


def _without_overlaps(matches: Sequence[TextMatch]) -> list[TextMatch]:
    """Return matches that do not overlap; of two with the same start, the longer one."""
    result: list[TextMatch] = []
    for match_ in matches:
        if not result or match_.start >= result[-1].end:
            result.append(match_)
        elif match_.end > result[-1].end and match_.start == result[-1].start:
            result[-1] = match_
    return result


def _text_fields(body: Body) -> list[str]:
    """Return the text fields of a body in their order."""
    return [value for value in astuple(body) if isinstance(value, str)]


def _spell(text: str, spelling: int) -> bytes:
    if spelling == AS_TEXT:
        return text.encode()
    if spelling == AS_ASCII_JSON:
        import json  # late: few senders escape like this, and the import slows a hook

        return json.dumps(text).encode()[1:-1]
    return msgspec.json.encode(text)[1:-1]


# Spans: the entries that a summary hides, as ranges of entry numbers of its lane.
#
# A summary hides everything since the beginning, so if each one listed every name, a store would
# grow with the square of a session's length. A name has 32 hex digits; a span has two numbers.


MAX_LISTED_NAMES = 64
"""A step that hides more names than this is stored with spans."""
MIN_SPAN_NAMES = 3
# Matches "#12-40"; must not match an entry name such as "0f3a…" or "#12".
SPAN = Pattern(r"#(\d{1,18})-(\d{1,18})")


class LaneOrder:
    """The names and numbers of the source entries of one lane, in order."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.names: list[EntryId] = []
        self._positions: dict[EntryId, int] = {}

    @property
    def last(self) -> int:
        """Return the number of the last entry, or 0."""
        return self.seqs[-1] if self.seqs else 0

    def add(self, seq: int, name: EntryId) -> None:
        """Add the next entry of the lane."""
        self._positions[name] = len(self.seqs)
        self.seqs.append(seq)
        self.names.append(name)

    def position_of(self, name: EntryId) -> int:
        """Return the position of an entry in the lane, or -1."""
        return self._positions.get(name, -1)

    def between(self, first: int, last: int) -> list[EntryId]:
        """Return the names of the entries with numbers from `first` to `last`."""
        return self.names[bisect_left(self.seqs, first) : bisect_right(self.seqs, last)]


def hides_many(body: Body) -> bool:
    """Return whether a body hides so many entries that it is stored with spans."""
    return isinstance(body, Compressed) and any(
        len(step.hides) > MAX_LISTED_NAMES for step in body.steps
    )


def has_spans(body: Body) -> bool:
    """Return whether a stored body contains spans."""
    return isinstance(body, Compressed) and any(
        name.startswith("#") for step in body.steps for name in step.hides
    )


def names_to_spans(body: Compressed, order: LaneOrder) -> Compressed:
    """Return the body with runs of names replaced by spans."""
    steps = (replace(step, hides=tuple(_spans(step, order))) for step in body.steps)
    return replace(body, steps=tuple(steps))


def spans_to_names(body: Compressed, order: LaneOrder) -> Compressed:
    """Return the body with every span replaced by its names."""
    steps = (replace(step, hides=tuple(_names(step, order))) for step in body.steps)
    return replace(body, steps=tuple(steps))


def _spans(step: Step, order: LaneOrder) -> Iterator[str]:
    hides = step.hides
    start = 0
    while start < len(hides):
        end = _end_of_run(hides, start, order)
        if end - start >= MIN_SPAN_NAMES:
            first, last = order.position_of(hides[start]), order.position_of(hides[end - 1])
            yield f"#{order.seqs[first]}-{order.seqs[last]}"
        else:
            yield from hides[start:end]
        start = end


def _end_of_run(hides: Sequence[EntryId], start: int, order: LaneOrder) -> int:
    """Return the end of the run of names that starts at `start` and is contiguous in the lane."""
    position, end = order.position_of(hides[start]), start + 1
    while (
        position >= 0
        and end < len(hides)
        and order.position_of(hides[end]) == position + end - start
    ):
        end += 1
    return end


def _names(step: Step, order: LaneOrder) -> Iterator[EntryId]:
    for name in step.hides:
        span = SPAN.fullmatch(name)
        if span is None:
            yield name
        else:
            yield from order.between(int(span[1]), int(span[2]))
