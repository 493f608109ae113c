"""Packets handed over: put on record, written to the file that a worker reads, and taken away."""

from collections.abc import Mapping, Sequence
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
from holdfast.packets.make import generate
from holdfast.packets.packet import Packet, as_packet
from holdfast.packets.records import Listed, audience_of, found, newest
from holdfast.packets.seal import sized

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


WHOLE_TASK = "packet_task"
"""The note that holds a task which is too long for a packet."""


def hand(
    ledger: "Ledger",
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
    if task and _carried(ledger, task) == packet.target_task != task.strip():
        ledger.note(WHOLE_TASK, text=task)
    sealed = sized(ledger, packet)
    file = file_of(ledger, sealed.audience)
    made = ledger.derive(Handed(sealed, act, file, budget))
    if file:
        write(ledger, sealed, file)
    return Listed(made.id, ledger.name, sealed, file, made.at, budget)


def file_of(ledger: "Ledger", audience: str) -> str:
    """The file that a worker reads, under the root; empty when it has none."""
    if not ledger.root or not audience:
        return ""
    from holdfast.project.layout import packet_of

    return packet_of(audience, ledger.policy.layout)


def write(ledger: "Ledger", packet: Stored, file: str) -> None:
    """Write the file that a worker reads.

    Raises:
        NotHanded: it could not be written.
    """
    from holdfast.project.write import project

    text = as_packet(packet).to_yaml()
    try:
        project(ledger.root, file, text.encode("utf-8", "surrogatepass"))
    except NotWritten as error:
        raise NotHanded(file, error.reason) from None


def spawned(ledger: "Ledger", facts: Mapping[str, str]) -> Listed | None:
    """Hand a packet to a worker that is started with a task; nothing when it was not told which.

    Raises:
        NotHanded: its file could not be written; the packet is on record.
    """
    task, pane = facts.get("task", ""), facts.get("pane", "") or facts.get("agent", "")
    if not task.strip() or not pane:
        return None
    audience = audience_of(pane)
    made = generate(ledger, task, facts.get("depth", ""), audience=audience)
    return hand(ledger, made, task=task, act="spawn")


def whole_task(ledger: "Ledger", packet: Stored) -> str:
    """The task of a packet in full: as it was given, where the packet has only its beginning."""
    for entry in reversed(list(ledger.store.events(ledger.name))):
        body = entry.body
        if isinstance(body, Noted) and body.what == WHOLE_TASK:
            task = body.facts.get("text", "")
            if _carried(ledger, task) == packet.target_task:
                return task
    return packet.target_task


def _carried(ledger: "Ledger", task: str) -> str:
    """A task as a packet carries it: without secrets, and of a long one the beginning."""
    return carried(ledger.redactor.text(task))


def clear(ledger: "Ledger", audience: str, *, reason: str = "asked for") -> Listed:
    """Take the file of a packet away; the packet stays on record.

    Raises:
        NotRecorded: the worker has none.
        NotHanded: the file is there and could not be taken away.
    """
    one = found(ledger, audience)
    if one.file and ledger.root:
        from holdfast.project.remove import remove

        try:
            remove(ledger.root, one.file)
        except NotWritten as error:
            raise NotHanded(one.file, error.reason) from None
    if not one.cleared:
        ledger.derive(PacketCleared(one.id, reason))
    return replace(one, cleared=True)


def clean_up(ledger: "Ledger", audience: str, outcome: str) -> None:
    """Take a packet's file away when its task is done, where that is wanted."""
    if outcome == "done" and ledger.policy.packets.cleanup == "on":
        one = newest(ledger, audience)
        if one is not None and not one.cleared:
            clear(ledger, audience, reason="the task is done")


def make_and_hand(
    ledger: "Ledger",
    task: str,
    depth: str,
    *,
    layers: Sequence[int] = (),
    budget: int = 0,
    pane: int | str | None = None,
    codebase: Mapping[str, str] | None = None,
    continues: str = "",
) -> Packet:
    """Make a packet; with a pane, record it and write its file."""
    audience = audience_of(pane)
    made = generate(
        ledger,
        task,
        depth,
        layers=layers,
        budget=budget,
        audience=audience,
        codebase=codebase,
        continues=continues,
    )
    if not audience:
        return made
    return as_packet(hand(ledger, made, task=task, budget=budget).packet)
