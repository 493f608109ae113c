"""Packet, the public object: its YAML and prompt forms, and a strict reader.

The reader trusts nothing: size, depth and repetition are limited, every member has its type, and
the content must match the seal. Members that a newer version added are kept.
"""

from collections.abc import Callable
from importlib import import_module
from typing import cast

import msgspec

from holdfast.core.ledger import packet as stored
from holdfast.core.view.packet.document import (
    InvalidPacket,
    packet_from_document,
    packet_yaml,
    seal_packet,
    verify_seal,
)
from holdfast.core.view.packet.prompt import to_prompt
from holdfast.errors import BadPacket
from holdfast.text.utf8 import to_bytes

MAX_PACKET_BYTES = 256 * 1024
"""Maximum bytes of a packet; a real one has a few thousand."""
MAX_DEPTH = 12


class Packet(stored.Packet, frozen=True, omit_defaults=True):
    """The context that a worker gets for a task, with a list of what it does not get."""

    def to_yaml(self) -> str:
        """Return the packet as the YAML of its file."""
        return packet_yaml(self)

    def to_prompt(self) -> str:
        """Return the packet as Markdown for the worker's prompt: `token_count` tokens."""
        return to_prompt(self)

    @classmethod
    def from_yaml(cls, text: str, *, key: str = "", where: str = "the packet") -> "Packet":
        """Read a packet; with a key, only one that was signed with it.

        Raises:
            BadPacket: it is no packet, or was changed after it was sealed.
        """
        return read_packet(text, key=key, where=where)


def as_packet(packet: stored.Packet) -> Packet:
    """Return a stored packet as the public object."""
    if isinstance(packet, Packet):
        return packet
    return Packet(**{name: getattr(packet, name) for name in packet.__struct_fields__})


def seal(packet: stored.Packet, key: str = "") -> Packet:
    """Return a packet with its checksum, and with its signature if there is a key."""
    return as_packet(seal_packet(packet, key))


def read_packet(
    text: str, *, key: str = "", where: str = "the packet", checked: bool = True
) -> Packet:
    """Read a packet; with `checked=False`, one that a person edits.

    Raises:
        BadPacket: it is no packet, or was changed after it was sealed.
    """
    document = read_yaml(text, where)
    try:
        if checked:
            _check_seal(document, key)
        return as_packet(packet_from_document(document))
    except InvalidPacket as error:
        raise BadPacket(where, str(error)) from None


def _check_seal(document: dict[str, object], key: str) -> None:
    # The checksum of another version may be computed differently.
    if document.get("version") == stored.SCHEMA:
        verify_seal(document, key)


def read_yaml(text: str, where: str) -> dict[str, object]:
    """Read a YAML document that must be a mapping within the limits.

    Raises:
        BadPacket: it is no mapping, or exceeds a limit.
    """
    if len(to_bytes(text)) > MAX_PACKET_BYTES:
        raise BadPacket(where, f"it has more than {MAX_PACKET_BYTES // 1024} kB")
    try:
        loads = cast("Callable[[str], object]", import_module("ryaml").loads)
        found = loads(text)
    except ImportError:
        raise BadPacket(where, "reading it takes the package ryaml") from None
    except (ValueError, UnicodeError, RecursionError) as error:
        raise BadPacket(where, f"it is not YAML: {_first_line(error)}") from None
    if not isinstance(found, dict):
        raise BadPacket(where, "it is not a packet but something else")
    if _depth(cast(object, found)) > MAX_DEPTH:
        raise BadPacket(where, f"it is nested deeper than {MAX_DEPTH} levels")
    return _as_json_document(cast(dict[object, object], found), where)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def _depth(value: object) -> int:
    inner: list[object] = []
    if isinstance(value, dict):
        inner = list(cast(dict[object, object], value).values())
    elif isinstance(value, list):
        inner = cast(list[object], value)
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, dict | list) else 0


def _as_json_document(found: dict[object, object], where: str) -> dict[str, object]:
    """Return a document whose keys are strings and whose values JSON can represent."""
    try:
        made = msgspec.convert(found, dict[str, object])
        msgspec.json.encode(made)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise BadPacket(where, f"it holds what no packet holds: {_first_line(error)}") from None
    return made
