"""Packets read by their workers: what was handed over, checked, on record, layer by layer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    PacketRead,
)
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.view.packet.layers import PARTS
from holdfast.core.view.packet.revise import only, rows_of
from holdfast.errors import BadPacket
from holdfast.packets.deliver import whole_task
from holdfast.packets.make import generate
from holdfast.packets.packet import LARGEST, Packet, as_packet, read_packet
from holdfast.packets.records import Listed, found
from holdfast.packets.seal import key_of, sized
from holdfast.project.regular_files import read_regular

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


def take(
    ledger: "Ledger", audience: str, *, layers: Sequence[int] = (), way: str = "cli"
) -> Packet:
    """The packet of a worker, as it reads it; that it did is put on record.

    Raises:
        NotRecorded: there is none for it.
        BadPacket: its file is not what was handed over.
    """
    one = found(ledger, audience)
    _compare(ledger, one)
    if ledger.policy.packets.track == "on":
        ledger.derive(PacketRead(one.id, audience, tuple(layers), way))
    if not layers:
        return as_packet(one.packet)
    return as_packet(only(_with_layers(ledger, one.packet, layers), layers))


def _with_layers(ledger: "Ledger", packet: Stored, layers: Sequence[int]) -> Stored:
    """A packet with layers that it was made without: what a worker asks for when it needs it."""
    missing = [layer for layer in layers if layer not in packet.layers and layer != 1]
    if not missing:
        return packet
    more = generate(
        ledger,
        whole_task(ledger, packet),
        "deep",
        layers=(1, *missing),
        audience=packet.audience,
    )
    parts = [part for layer in missing for part in PARTS[layer]]
    grown = replace(packet, **{part: getattr(more, part) for part in parts})
    return sized(ledger, replace(grown, layers=tuple(sorted({*packet.layers, *missing}))))


def _compare(ledger: "Ledger", one: Listed) -> None:
    """Refuse a file that was changed by hand, and say what differs from what is on record."""
    if not one.file or one.cleared:
        return
    path = Path(ledger.root, one.file)
    try:
        text = read_regular(path, LARGEST, links=False).decode()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise BadPacket(one.file, reason.lower()) from None
    try:
        read_packet(text, key=key_of(ledger), where=one.file)
    except BadPacket as error:
        differing = _differing(text, one)
        told = f"{error.reason}{differing}; `holdfast context push` writes it anew"
        raise BadPacket(one.file, told) from None


def _differing(text: str, one: Listed) -> str:
    try:
        file = read_packet(text, checked=False)
    except BadPacket:
        return ""
    before, after = rows_of(one.packet), rows_of(file)
    parts = [part for part in before if before[part] != after[part]]
    return f"; {', '.join(parts)} differ from what is on record" if parts else ""
