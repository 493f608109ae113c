"""Packet as callers have it: the ledger's value with its two written forms, and how one is read.

Reading trusts nothing: size, depth and repetition are bounded, every member has its type, and the
content has to be what was sealed. What a newer version added is kept.
"""

from collections.abc import Callable
from importlib import import_module
from typing import cast

import msgspec

from holdfast.core.ledger import packet as stored
from holdfast.core.view.packet.document import NoPacket, packet_yaml, sealed, unnested, verify
from holdfast.core.view.packet.prompt import to_prompt
from holdfast.errors import BadPacket

LARGEST = 256 * 1024
"""Bytes of a packet; a real one has a few thousand."""
DEEPEST = 12


class Packet(stored.Packet, frozen=True, omit_defaults=True):
    """What a worker is handed for a task, and what it is not handed."""

    def to_yaml(self) -> str:
        """The packet as its file has it."""
        return packet_yaml(self)

    def to_prompt(self) -> str:
        """The packet as Markdown for the worker's prompt: `token_count` tokens."""
        return to_prompt(self)

    @classmethod
    def from_yaml(cls, text: str, *, key: str = "", where: str = "the packet") -> "Packet":
        """Read a packet; with a key, only one that was signed with it.

        Raises:
            BadPacket: it is no packet, or not what was sealed.
        """
        return read_packet(text, key=key, where=where)


def as_packet(packet: stored.Packet) -> Packet:
    """A stored packet as callers have it."""
    if isinstance(packet, Packet):
        return packet
    return Packet(**{name: getattr(packet, name) for name in packet.__struct_fields__})


def seal(packet: stored.Packet, key: str = "") -> Packet:
    """A packet with its checksum, and its signature where there is a key."""
    return as_packet(sealed(packet, key))


def read_packet(
    text: str, *, key: str = "", where: str = "the packet", checked: bool = True
) -> Packet:
    """Read a packet; unchecked, one that a person is writing on.

    Raises:
        BadPacket: it is no packet, or not what was sealed.
    """
    document = read_yaml(text, where)
    try:
        if checked:
            _check(document, key)
        return as_packet(unnested(document))
    except NoPacket as error:
        raise BadPacket(where, str(error)) from None


def _check(document: dict[str, object], key: str) -> None:
    # Of another version nobody can say what its checksum is made of.
    if document.get("version") == stored.SCHEMA:
        verify(document, key)


def read_yaml(text: str, where: str) -> dict[str, object]:
    """A YAML document that has to be a mapping, within bounds.

    Raises:
        BadPacket: it is none, or has what no packet needs.
    """
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise BadPacket(where, f"it has more than {LARGEST // 1024} kB")
    try:
        loads = cast("Callable[[str], object]", import_module("ryaml").loads)
        found = loads(text)
    except ImportError:
        raise BadPacket(where, "reading it takes the package ryaml") from None
    except (ValueError, UnicodeError, RecursionError) as error:
        raise BadPacket(where, f"it is not YAML: {_first_line(error)}") from None
    if not isinstance(found, dict):
        raise BadPacket(where, "it is not a packet but something else")
    if _depth(cast(object, found)) > DEEPEST:
        raise BadPacket(where, f"it is nested deeper than {DEEPEST} levels")
    return _plain(cast(dict[object, object], found), where)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def _depth(value: object) -> int:
    inner: list[object] = []
    if isinstance(value, dict):
        inner = list(cast(dict[object, object], value).values())
    elif isinstance(value, list):
        inner = cast(list[object], value)
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, dict | list) else 0


def _plain(found: dict[object, object], where: str) -> dict[str, object]:
    """A document whose names are texts and whose values JSON has a word for."""
    try:
        made = msgspec.convert(found, dict[str, object])
        msgspec.json.encode(made)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise BadPacket(where, f"it holds what no packet holds: {_first_line(error)}") from None
    return made
