"""List the packets of a session with revision and state; resolve a pane to a worker's name."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, PacketCleared, PacketRead, PacketReported, PacketSent
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.shrink.step import ref_of
from holdfast.engine.cache import read_cached, rules_digest, write_cached
from holdfast.errors import BadPacket, BadSetting, NotRecorded
from holdfast.packets.packet import MAX_PACKET_BYTES, read_packet
from holdfast.project.regular_files import read_regular
from holdfast.stores.store import Store
from holdfast.text.jsontext import whole_number

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


PANE_VARIABLES = ("HOLDFAST_PANE", "AGENTWIRE_PANE")
"""Environment variables that say which pane a worker is."""


PACKET_ENTRIES = (PacketSent, PacketRead, PacketCleared, PacketReported)
"""Entries that record events of packets."""
PACKETS_CACHE = "packets"
MIN_NEW_TO_SAVE = 20
"""New entries of a session from which on its packet entries are cached again."""


class PacketRecord(Struct, frozen=True):
    """A packet, and its state."""

    id: str
    """The id of its entry; `ref` is its beginning."""
    session: str
    packet: Stored
    file: str = ""
    at: str = ""
    budget: int = 0
    """Its limit in tokens; zero for the limit of its depth."""
    reads: int = 0
    """How often this revision was read."""
    cleared: bool = False
    reported: bool = False

    @property
    def ref(self) -> str:
        """The short reference of the packet."""
        return ref_of(self.id)


def audience_of(pane: int | str | None, environment: Mapping[str, str] | None = None) -> str:
    """Return the audience of a packet: `pane-1` for `1`; without a pane, that of the environment.

    Raises:
        BadSetting: it is no name.
    """
    given = pane
    if given is None:
        given = next(
            (value for name in PANE_VARIABLES if (value := (environment or {}).get(name))), None
        )
    if given is None:
        return ""
    name = str(given).strip()
    if (number := whole_number(name)) is not None:
        return f"pane-{number}"
    if not name or len(name) > 64 or not all(char.isalnum() or char in "-_." for char in name):
        raise BadSetting(
            "pane", f"{name[:40]!r} is neither a number nor a name", origin="the caller"
        )
    return name


def packet_entries(store: Store, session: str) -> list[Entry]:
    """Return the entries that record events of a session's packets, oldest first.

    They are cached as they are in the ledger: later calls read only new entries.
    """
    head = store.head(session)
    if head is None:
        return []
    rules = rules_digest(PACKETS_CACHE)
    upto, known = read_cached(store, session, PACKETS_CACHE, rules, list[Entry]) or (0, [])
    if upto == head.seq:
        return known
    new = store.events(session, since=upto)
    found = [*known, *(entry for entry in new if isinstance(entry.body, PACKET_ENTRIES))]
    if head.seq - upto >= MIN_NEW_TO_SAVE:
        write_cached(store, session, PACKETS_CACHE, rules, head, found)
    return found


def packet_records(ledger: "Ledger") -> list[PacketRecord]:
    """Return every revision of every packet of a session, oldest first, with its state."""
    records: dict[str, PacketRecord] = {}
    for entry in ledger.redactor.entries(packet_entries(ledger.store, ledger.name)):
        body = entry.body
        if isinstance(body, PacketSent):
            records[entry.id] = PacketRecord(
                entry.id, ledger.name, body.packet, body.file, entry.at, body.budget
            )
        else:
            _apply_event(records, entry)
    return list(records.values())


def _apply_event(records: dict[str, PacketRecord], entry: Entry) -> None:
    match entry.body:
        case PacketRead(packet=name) if name in records:
            records[name] = replace(records[name], reads=records[name].reads + 1)
        case PacketCleared(packet=name) if name in records:
            records[name] = replace(records[name], cleared=True)
        case PacketReported(feedback=feedback) if feedback.packet in records:
            records[feedback.packet] = replace(records[feedback.packet], reported=True)
        case _:
            pass


def newest_packet(ledger: "Ledger", audience: str) -> PacketRecord | None:
    """Return the newest packet for a worker in this session; None if there is none."""
    return newest_among(packet_records(ledger), audience)


def newest_among(records: Iterable[PacketRecord], audience: str) -> PacketRecord | None:
    """Return the newest packet for a worker among records; None if there is none."""
    of_audience = [record for record in records if record.packet.audience == audience]
    return of_audience[-1] if of_audience else None


def newest_of_each_worker(records: Iterable[PacketRecord]) -> list[PacketRecord]:
    """Return the newest packet of each worker."""
    named = (record for record in records if record.packet.audience)
    return list({record.packet.audience: record for record in named}.values())


def unread_packets(ledger: "Ledger") -> list[PacketRecord]:
    """Return the newest packet of each worker that has not been read."""
    newest = newest_of_each_worker(packet_records(ledger))
    return [record for record in newest if not record.reads and not record.cleared]


def find_packet(ledger: "Ledger", audience: str) -> PacketRecord:
    """Return the newest packet of a worker.

    Raises:
        NotRecorded: there is none; the message lists the workers that have one.
    """
    record = newest_packet(ledger, audience) if audience else None
    if record is not None:
        return record
    known = list(dict.fromkeys(other.packet.audience for other in packet_records(ledger)))
    others = f"; there are packets for {', '.join(filter(None, known))}" if any(known) else ""
    where = f"session {ledger.name!r}{others}"
    raise NotRecorded("packet for", audience or "an unnamed worker", where=where)


def session_in_file(names: Iterable[str], root: str | os.PathLike[str], file: str) -> str:
    """Return the session that a packet's file names; empty if it names none of `names`."""
    try:
        text = read_regular(Path(root, file), MAX_PACKET_BYTES, links=False).decode()
        session = read_packet(text, checked=False).session
    except (OSError, UnicodeDecodeError, BadPacket):
        return ""
    return session if session in set(names) else ""
