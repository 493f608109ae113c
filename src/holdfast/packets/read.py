"""Read a packet as its worker: check its file, record the reading, add layers on demand."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    PacketRead,
)
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.view.packet.layers import PARTS
from holdfast.core.view.packet.revise import keep_layers, packet_rows
from holdfast.errors import BadPacket
from holdfast.packets.deliver import whole_task
from holdfast.packets.make import generate_packet
from holdfast.packets.packet import MAX_PACKET_BYTES, Packet, as_packet, read_packet
from holdfast.packets.records import PacketRecord, find_packet
from holdfast.packets.seal import count_and_sign, signing_key
from holdfast.project.regular_files import read_regular

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


def read_for_worker(
    ledger: "Ledger", audience: str, *, layers: Sequence[int] = (), way: str = "cli"
) -> Packet:
    """Return the packet of a worker, and record that it was read.

    Raises:
        NotRecorded: the worker has none.
        BadPacket: its file is not what was delivered.
    """
    record = find_packet(ledger, audience)
    _check_file(ledger, record)
    if ledger.policy.packets.track == "on":
        ledger.derive(PacketRead(record.id, audience, tuple(layers), way))
    if not layers:
        return as_packet(record.packet)
    return as_packet(keep_layers(_with_layers(ledger, record.packet, layers), layers))


def _with_layers(ledger: "Ledger", packet: Stored, layers: Sequence[int]) -> Stored:
    """Return a packet with layers that it was made without."""
    missing = [layer for layer in layers if layer not in packet.layers and layer != 1]
    if not missing:
        return packet
    more = generate_packet(
        ledger,
        whole_task(ledger, packet),
        "deep",
        layers=(1, *missing),
        audience=packet.audience,
    )
    parts = [part for layer in missing for part in PARTS[layer]]
    grown = replace(packet, **{part: getattr(more, part) for part in parts})
    return count_and_sign(ledger, replace(grown, layers=tuple(sorted({*packet.layers, *missing}))))


def _check_file(ledger: "Ledger", record: PacketRecord) -> None:
    """Refuse a file that was changed by hand, and say what differs from the record."""
    if not record.file or record.cleared:
        return
    path = Path(ledger.root, record.file)
    try:
        text = read_regular(path, MAX_PACKET_BYTES, links=False).decode()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise BadPacket(record.file, reason.lower()) from None
    try:
        read_packet(text, key=signing_key(ledger), where=record.file)
    except BadPacket as error:
        differing = _differences(text, record)
        reason_text = f"{error.reason}{differing}; `holdfast context push` writes it anew"
        raise BadPacket(record.file, reason_text) from None


def _differences(text: str, record: PacketRecord) -> str:
    try:
        file = read_packet(text, checked=False)
    except BadPacket:
        return ""
    before, after = packet_rows(record.packet), packet_rows(file)
    parts = [part for part in before if before[part] != after[part]]
    return f"; {', '.join(parts)} differ from what is on record" if parts else ""
