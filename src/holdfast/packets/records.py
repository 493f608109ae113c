"""Packets on record: every revision of every packet of a session, and what became of each."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Entry,
    Handed,
    PacketCleared,
    PacketRead,
    PacketReported,
)
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.shrink.step import ref_of
from holdfast.errors import BadPacket, BadSetting, NotRecorded
from holdfast.packets.packet import LARGEST, read_packet
from holdfast.project.regular_files import read_regular
from holdfast.text.jsontext import whole_number

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


VARIABLES = ("HOLDFAST_PANE", "AGENTWIRE_PANE")
"""Where a worker's environment says which pane it is."""


ABOUT = (Handed, PacketRead, PacketCleared, PacketReported)
"""Entries that say what became of packets."""


class Listed(Struct, frozen=True):
    """A packet, and what became of it."""

    id: str
    """The name of its entry; `ref` is its beginning."""
    session: str
    packet: Stored
    file: str = ""
    at: str = ""
    budget: int = 0
    """Tokens that it was to take; zero for what its depth takes."""
    reads: int = 0
    """How often this revision was read."""
    cleared: bool = False
    reported: bool = False

    @property
    def ref(self) -> str:
        """How it is called where room is short."""
        return ref_of(self.id)


def audience_of(pane: int | str | None, environment: Mapping[str, str] | None = None) -> str:
    """Whom a packet is for: `1` is `pane-1`; of nobody named, whoever the environment says.

    Raises:
        BadSetting: it is no name.
    """
    told = pane
    if told is None:
        told = next((value for name in VARIABLES if (value := (environment or {}).get(name))), None)
    if told is None:
        return ""
    name = str(told).strip()
    if (number := whole_number(name)) is not None:
        return f"pane-{number}"
    if not name or len(name) > 64 or not all(one.isalnum() or one in "-_." for one in name):
        raise BadSetting(
            "pane", f"{name[:40]!r} is neither a number nor a name", origin="the caller"
        )
    return name


def handed(ledger: "Ledger") -> list[Listed]:
    """Every revision of every packet of a session, oldest first, and what became of each."""
    made: dict[str, Listed] = {}
    told = [one for one in ledger.store.events(ledger.name) if isinstance(one.body, ABOUT)]
    for entry in ledger.redactor.entries(told):
        body = entry.body
        if isinstance(body, Handed):
            made[entry.id] = Listed(
                entry.id, ledger.name, body.packet, body.file, entry.at, body.budget
            )
        else:
            _follow(made, entry)
    return list(made.values())


def _follow(made: dict[str, Listed], entry: Entry) -> None:
    match entry.body:
        case PacketRead(packet=name) if name in made:
            made[name] = replace(made[name], reads=made[name].reads + 1)
        case PacketCleared(packet=name) if name in made:
            made[name] = replace(made[name], cleared=True)
        case PacketReported(feedback=told) if told.packet in made:
            made[told.packet] = replace(made[told.packet], reported=True)
        case _:
            pass


def newest(ledger: "Ledger", audience: str) -> Listed | None:
    """The newest packet for a worker in this session; nothing when there is none."""
    return newest_of(handed(ledger), audience)


def newest_of(listed: Iterable[Listed], audience: str) -> Listed | None:
    """The newest packet for a worker among some; nothing when there is none."""
    mine = [one for one in listed if one.packet.audience == audience]
    return mine[-1] if mine else None


def unread(ledger: "Ledger") -> list[Listed]:
    """The newest packets, one for each worker, that nobody has read."""
    last = {one.packet.audience: one for one in handed(ledger) if one.packet.audience}
    return [one for one in last.values() if not one.reads and not one.cleared]


def found(ledger: "Ledger", audience: str) -> Listed:
    """The packet of a worker.

    Raises:
        NotRecorded: there is none; the sentence says for whom there are some.
    """
    one = newest(ledger, audience) if audience else None
    if one is not None:
        return one
    known = list(dict.fromkeys(each.packet.audience for each in handed(ledger)))
    others = f"; there are packets for {', '.join(filter(None, known))}" if any(known) else ""
    where = f"session {ledger.name!r}{others}"
    raise NotRecorded("packet for", audience or "an unnamed worker", where=where)


def session_of(names: Iterable[str], root: str | os.PathLike[str], file: str) -> str:
    """The session that a packet's file says it was drawn from; empty when it says none."""
    try:
        text = read_regular(Path(root, file), LARGEST, links=False).decode()
        told = read_packet(text, checked=False).session
    except (OSError, UnicodeDecodeError, BadPacket):
        return ""
    return told if told in set(names) else ""
