"""What happens to session files: they are cut, and their lines and letters change.

A damage is a name and a seed: the same two do the same to the same bytes.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias, cast

from tests.gauntlet import texts

Damage: TypeAlias = Callable[[bytes, Random], bytes]
CUTS = 10
"""Places at which a session is cut."""


def cut_at(data: bytes, place: int) -> bytes:
    """The first `place` tenths of a document's lines; of one long line, of its bytes."""
    lines = data.splitlines(keepends=True)
    if len(lines) < CUTS:
        return data[: len(data) * place // CUTS]
    return b"".join(lines[: max(len(lines) * place // CUTS, 1)])


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _some(random: Random, many: int) -> set[int]:
    """One line in ten, and at least one."""
    return set(random.sample(range(many), max(many // 10, 1))) if many else set()


def dropped(data: bytes, random: Random) -> bytes:
    """One line in ten is missing."""
    lines = _lines(data)
    gone = _some(random, len(lines))
    return b"".join(line for at, line in enumerate(lines) if at not in gone)


def doubled(data: bytes, random: Random) -> bytes:
    """One line in ten is there twice."""
    lines = _lines(data)
    twice = _some(random, len(lines))
    return b"".join(line * (2 if at in twice else 1) for at, line in enumerate(lines))


def reordered(data: bytes, random: Random) -> bytes:
    """Lines stand a few places from where they belong."""
    lines = _lines(data)
    order = sorted(range(len(lines)), key=lambda at: at + random.choice((0, 0, 0, 2, 6)))
    return b"".join(lines[at] for at in order)


def shuffled(data: bytes, random: Random) -> bytes:
    """Lines stand anywhere."""
    lines = _lines(data)
    random.shuffle(lines)
    return b"".join(lines)


def torn(data: bytes, random: Random) -> bytes:
    """One line in ten breaks off in the middle."""
    lines = _lines(data)
    cut = _some(random, len(lines))
    return b"".join(
        line[: random.randrange(len(line) + 1)] + b"\n" if at in cut else line
        for at, line in enumerate(lines)
    )


def broken_off(data: bytes, random: Random) -> bytes:
    """The file ends in the middle of a line."""
    return data[: random.randrange(len(data) + 1)]


def utf16(data: bytes, random: Random) -> bytes:
    """Another program saved it as UTF-16."""
    name = random.choice(("utf-16", "utf-16-le", "utf-16-be"))
    return data.decode("utf-8", "replace").encode(name)


def latin1(data: bytes, random: Random) -> bytes:
    """One line in ten holds bytes that are no UTF-8."""
    lines = _lines(data)
    other = _some(random, len(lines))
    return b"".join(
        line.replace(b"e", b"\xe9") if at in other else line for at, line in enumerate(lines)
    )


def marked(data: bytes, random: Random) -> bytes:
    """A mark of the byte order stands before it."""
    del random
    return b"\xef\xbb\xbf" + data


def returns(data: bytes, random: Random) -> bytes:
    """Lines end as on Windows."""
    del random
    return data.replace(b"\n", b"\r\n")


def zeros(data: bytes, random: Random) -> bytes:
    """Blocks of zeros, as a crash of the machine leaves them."""
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes(random.choice((1, 512, 4_096))) + data[at:]


def flipped(data: bytes, random: Random) -> bytes:
    """Some bytes are others."""
    out = bytearray(data)
    for _ in range(min(20, len(out))):
        out[random.randrange(len(out))] = random.randrange(256)
    return bytes(out)


def retold(data: bytes, random: Random) -> bytes:
    """One text in ten is replaced by a generated one; the shape of the document stays."""
    out: list[bytes] = []
    for line in _lines(data):
        try:
            value = json.loads(line)
        except ValueError:
            out.append(line)
            continue
        out.append(json.dumps(_changed(value, random)).encode() + b"\n")
    return b"".join(out)


TEXTS = (
    "text",
    "content",
    "output",
    "command",
    "cmd",
    "new_string",
    "old_string",
    "stdout",
    "input",
)
"""Keys whose texts are replaced."""


def _changed(value: Any, random: Random, key: str = "") -> Any:
    match value:
        case dict():
            known = cast("dict[str, Any]", value)
            return {name: _changed(one, random, name) for name, one in known.items()}
        case list():
            return [_changed(one, random, key) for one in cast("list[Any]", value)]
        case str() if key == "arguments" and random.randrange(4) == 0:
            return _arguments(value, random)
        case str() if key in TEXTS and random.randrange(10) == 0:
            made = texts.shell if key in ("command", "cmd") else texts.anything
            return made(random)
        case _:
            return value


def _arguments(value: str, random: Random) -> str:
    try:
        return json.dumps(_changed(json.loads(value), random))
    except ValueError:
        return value


DAMAGES: dict[str, Damage] = {
    made.__name__: made
    for made in (
        dropped,
        doubled,
        reordered,
        shuffled,
        torn,
        broken_off,
        utf16,
        latin1,
        marked,
        returns,
        zeros,
        flipped,
        retold,
    )
}
"""Every damage, by name."""


def damaged(data: bytes, name: str, seed: int) -> bytes:
    """A document with a damage done to it; as it is when none is named."""
    return DAMAGES[name](data, Random(seed)) if name else data
