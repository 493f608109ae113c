"""Packets that live on: made again, written on by hand, found to be stale."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.shrink.step import ref_of
from holdfast.core.view.packet.document import NoPacket
from holdfast.core.view.packet.revise import edited, is_same, revised, rewritten
from holdfast.errors import BadPacket
from holdfast.packets.deliver import file_of, hand, whole_task, write
from holdfast.packets.make import generate
from holdfast.packets.packet import as_packet, read_packet
from holdfast.packets.records import Listed, found
from holdfast.packets.seal import count_of

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


def refresh(ledger: "Ledger", audience: str, *, why: str = "", act: str = "refresh") -> Listed:
    """Make a worker's packet again from where the session stands; what was edited stays.

    Nothing new is recorded when nothing changed and no reason is given; its file is there again.

    Raises:
        NotRecorded: the worker has none.
        NotHanded: its file could not be written.
    """
    one = found(ledger, audience)
    old = one.packet
    made = generate(
        ledger,
        whole_task(ledger, old),
        old.depth or "standard",
        layers=old.layers,
        budget=one.budget,
        audience=audience,
        # What other sessions decided has no entry in this one: it is known from the packet alone.
        decisions=tuple(choice for choice in old.decisions if not choice.refs),
        prior=old.prior_session,
        before=old,
        why=why,
    )
    if why or not is_same(old, made):
        return hand(ledger, made, act=act, budget=one.budget)
    file = one.file or file_of(ledger, audience)
    if file:
        write(ledger, old, file)
    return one


def edit(
    ledger: "Ledger",
    audience: str,
    parts: Mapping[str, Sequence[str]] | None = None,
    *,
    text: str = "",
    why: str = "",
) -> Listed:
    """Write parts of a worker's packet by hand, or take its file as a person rewrote it.

    Raises:
        NotRecorded: the worker has none.
        BadPacket: there is no such part, or the text is no packet.
    """
    one = found(ledger, audience)
    packet: Stored = one.packet
    try:
        if text:
            packet = rewritten(packet, read_packet(text, checked=False))
        for part, rows in (parts or {}).items():
            packet = edited(packet, part, rows)
    except NoPacket as error:
        raise BadPacket(f"the packet of {audience}", str(error)) from None
    now = ledger.now()
    new = revised(one.packet, packet, why=why or "edited", at=now)
    sized = count_of(ledger)(as_packet(new).to_prompt())
    over = sized > (one.budget or _cap(ledger, new))
    changed = replace(new, created=now, over_budget=over)
    return hand(ledger, changed, act="edit", budget=one.budget)


def _cap(ledger: "Ledger", packet: Stored) -> int:
    rules = ledger.policy.packets
    caps = {"minimal": rules.minimal, "standard": rules.standard, "deep": rules.deep}
    return caps.get(packet.depth, rules.standard)


def staleness(ledger: "Ledger", packet: Stored) -> str:
    """Why a packet should be asked for again; empty when it is fresh."""
    if packet.stale_after and ledger.now() and ledger.now() > packet.stale_after:
        return f"it was good until {packet.stale_after}"
    head = ledger.store.head(ledger.name)
    end = head.lane(ledger.agent).end if head else None
    if packet.upto and end and ref_of(end) != packet.upto:
        return "the session has moved on since it was made"
    return ""
