"""Revise a packet: make it again, edit it by hand, and check whether it is stale."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.shrink.step import ref_of
from holdfast.core.view.packet.document import InvalidPacket
from holdfast.core.view.packet.revise import apply_rewrite, edit_part, is_unchanged, next_revision
from holdfast.errors import BadPacket
from holdfast.packets.deliver import deliver_packet, packet_file, whole_task, write_packet
from holdfast.packets.make import generate_packet
from holdfast.packets.packet import as_packet, read_packet
from holdfast.packets.records import PacketRecord, find_packet
from holdfast.packets.seal import token_counter

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


def refresh_packet(
    ledger: "Ledger", audience: str, *, why: str = "", act: str = "refresh"
) -> PacketRecord:
    """Make a worker's packet again from the session's current state; edits are kept.

    If nothing changed and no reason is given, nothing is recorded, and only the file is written
    again.

    Raises:
        NotRecorded: the worker has none.
        NotHanded: its file could not be written.
    """
    record = find_packet(ledger, audience)
    old = record.packet
    made = generate_packet(
        ledger,
        whole_task(ledger, old),
        old.depth or "standard",
        layers=old.layers,
        budget=record.budget,
        audience=audience,
        # Decisions of other sessions have no entry here: only the packet holds them.
        decisions=tuple(choice for choice in old.decisions if not choice.refs),
        prior=old.prior_session,
        before=old,
        why=why,
    )
    if why or not is_unchanged(old, made):
        return deliver_packet(ledger, made, act=act, budget=record.budget)
    file = record.file or packet_file(ledger, audience)
    if file:
        write_packet(ledger, old, file)
    return record


def edit_packet(
    ledger: "Ledger",
    audience: str,
    parts: Mapping[str, Sequence[str]] | None = None,
    *,
    text: str = "",
    why: str = "",
) -> PacketRecord:
    """Replace parts of a worker's packet, or take over its file as a person edited it.

    Raises:
        NotRecorded: the worker has none.
        BadPacket: there is no such part, or the text is no packet.
    """
    record = find_packet(ledger, audience)
    packet: Stored = record.packet
    try:
        if text:
            packet = apply_rewrite(packet, read_packet(text, checked=False))
        for part, rows in (parts or {}).items():
            packet = edit_part(packet, part, rows)
    except InvalidPacket as error:
        raise BadPacket(f"the packet of {audience}", str(error)) from None
    now = ledger.now()
    new = next_revision(record.packet, packet, why=why or "edited", at=now)
    tokens = token_counter(ledger)(as_packet(new).to_prompt())
    over_budget = tokens > (record.budget or _token_cap(ledger, new))
    changed = replace(new, created=now, over_budget=over_budget)
    return deliver_packet(ledger, changed, act="edit", budget=record.budget)


def _token_cap(ledger: "Ledger", packet: Stored) -> int:
    rules = ledger.policy.packets
    caps = {"minimal": rules.minimal, "standard": rules.standard, "deep": rules.deep}
    return caps.get(packet.depth, rules.standard)


def stale_reason(ledger: "Ledger", packet: Stored) -> str:
    """Return why a packet should be requested again; empty if it is fresh."""
    if packet.stale_after and ledger.now() and ledger.now() > packet.stale_after:
        return f"it was good until {packet.stale_after}"
    head = ledger.store.head(ledger.name)
    end = head.lane(ledger.agent).end if head else None
    if packet.upto and end and ref_of(end) != packet.upto:
        return "the session has moved on since it was made"
    return ""
