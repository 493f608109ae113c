"""How the bytes of a message are laid down beside what they say: words that an entry has are named.

A message is kept twice, as it arrived and as it was understood, and nearly all of it is the same
words. Where these stand in the bytes, escaped as the sender did, only their place in the entries is
told. Whatever is found in no entry is kept as it is; and bytes that do not come out the same again,
to the last one, are never laid down so.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import astuple

from holdfast.core.ledger.entry import Body
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
