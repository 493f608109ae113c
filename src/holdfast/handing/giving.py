"""Packets handed over: put on record, written to the file that a worker reads, and taken away."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Handed,
    Noted,
    PacketCleared,
)
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.view.packet.goal import carried
from holdfast.errors import NotHanded, NotWritten
from holdfast.packets import as_packet

if TYPE_CHECKING:
    from holdfast.session import Session


from holdfast.handing.drawing import generate
from holdfast.handing.listing import Listed, audience_of, found, newest
from holdfast.handing.sealing import sized

WHOLE_TASK = "packet_task"
"""The note that holds a task which is too long for a packet."""


def hand(
    session: "Session",
    packet: Stored,
    *,
    act: str = "generate",
    task: str = "",
    budget: int = 0,
) -> Listed:
    """Put a packet on record and write the file that its worker reads.

    `task` is the whole task where the packet carries only its beginning, `budget` what the packet
    was to take and takes when it is made again.

    Raises:
        NotHanded: the file could not be written; the packet is on record.
    """
    if task and _carried(session, task) == packet.target_task != task.strip():
        session.note(WHOLE_TASK, text=task)
    sealed = sized(session, packet)
    file = file_of(session, sealed.audience)
    made = session.derive(Handed(sealed, act, file, budget))
    if file:
        write(session, sealed, file)
    return Listed(made.id, session.name, sealed, file, made.at, budget)


def file_of(session: "Session", audience: str) -> str:
    """The file that a worker reads, under the root; empty when it has none."""
    if not session.root or not audience:
        return ""
    from holdfast.files.layout import packet_of

    return packet_of(audience, session.policy.layout)


def write(session: "Session", packet: Stored, file: str) -> None:
    """Write the file that a worker reads.

    Raises:
        NotHanded: it could not be written.
    """
    from holdfast.files.projecting import project

    text = as_packet(packet).to_yaml()
    try:
        project(session.root, file, text.encode("utf-8", "surrogatepass"))
    except NotWritten as error:
        raise NotHanded(file, error.reason) from None


def spawned(session: "Session", facts: Mapping[str, str]) -> Listed | None:
    """Hand a packet to a worker that is started with a task; nothing when it was not told which.

    Raises:
        NotHanded: its file could not be written; the packet is on record.
    """
    task, pane = facts.get("task", ""), facts.get("pane", "") or facts.get("agent", "")
    if not task.strip() or not pane:
        return None
    audience = audience_of(pane)
    made = generate(session, task, facts.get("depth", ""), audience=audience)
    return hand(session, made, task=task, act="spawn")


def whole_task(session: "Session", packet: Stored) -> str:
    """The task of a packet in full: as it was given, where the packet has only its beginning."""
    for entry in reversed(list(session.store.events(session.name))):
        body = entry.body
        if isinstance(body, Noted) and body.what == WHOLE_TASK:
            task = body.facts.get("text", "")
            if _carried(session, task) == packet.target_task:
                return task
    return packet.target_task


def _carried(session: "Session", task: str) -> str:
    """A task as a packet carries it: without secrets, and of a long one the beginning."""
    return carried(session.redactor.text(task))


def clear(session: "Session", audience: str, *, reason: str = "asked for") -> Listed:
    """Take the file of a packet away; the packet stays on record.

    Raises:
        NotRecorded: the worker has none.
        NotHanded: the file is there and could not be taken away.
    """
    one = found(session, audience)
    if one.file and session.root:
        from holdfast.files.removing import remove

        try:
            remove(session.root, one.file)
        except NotWritten as error:
            raise NotHanded(one.file, error.reason) from None
    if not one.cleared:
        session.derive(PacketCleared(one.id, reason))
    return replace(one, cleared=True)


def clean_up(session: "Session", audience: str, outcome: str) -> None:
    """Take a packet's file away when its task is done, where that is wanted."""
    if outcome == "done" and session.policy.packets.cleanup == "on":
        one = newest(session, audience)
        if one is not None and not one.cleared:
            clear(session, audience, reason="the task is done")
