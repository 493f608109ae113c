"""Deliver packets: record them, write the file that a worker reads, and remove it again."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.entry import PacketCleared, PacketSent
from holdfast.core.ledger.notes import Spawned, WholeTask, notes_in
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.view.packet.goal import task_to_carry
from holdfast.errors import NotHanded, NotWritten
from holdfast.packets.make import generate_packet
from holdfast.packets.packet import as_packet
from holdfast.packets.records import PacketRecord, audience_of, find_packet, newest_packet
from holdfast.packets.seal import count_and_sign
from holdfast.text.utf8 import to_bytes

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


def deliver_packet(
    ledger: "Ledger", packet: Stored, *, act: str = "generate", task: str = "", budget: int = 0
) -> PacketRecord:
    """Record a packet and write the file that its worker reads.

    `task` is the whole task, if the packet carries only its beginning; `budget` the limit in
    tokens, which also applies when the packet is made again.

    Raises:
        NotHanded: the file could not be written; the packet is recorded.
    """
    if task and _task_as_carried(ledger, task) == packet.target_task != task.strip():
        ledger.note(WholeTask(task))
    sealed = count_and_sign(ledger, packet)
    file = packet_file(ledger, sealed.audience)
    entry = ledger.derive(PacketSent(sealed, act, file, budget))
    if file:
        write_packet(ledger, sealed, file)
    return PacketRecord(entry.id, ledger.name, sealed, file, entry.at, budget)


def packet_file(ledger: "Ledger", audience: str) -> str:
    """Return the path of the file that a worker reads, below the root; empty if it has none."""
    if not ledger.root or not audience:
        return ""
    from holdfast.project.layout import packet_path

    return packet_path(audience, ledger.policy.layout)


def write_packet(ledger: "Ledger", packet: Stored, file: str) -> None:
    """Write the file that a worker reads.

    Raises:
        NotHanded: it could not be written.
    """
    from holdfast.project.write import write_copy

    text = as_packet(packet).to_yaml()
    try:
        write_copy(ledger.root, file, to_bytes(text))
    except NotWritten as error:
        raise NotHanded(file, error.reason) from None


def deliver_to_spawned(ledger: "Ledger", worker: Spawned) -> PacketRecord | None:
    """Deliver a packet to a worker that is started; None if its task or pane is unknown.

    Raises:
        NotHanded: its file could not be written; the packet is recorded.
    """
    pane = worker.pane or worker.agent
    if not worker.task.strip() or not pane:
        return None
    made = generate_packet(ledger, worker.task, worker.depth, audience=audience_of(pane))
    return deliver_packet(ledger, made, task=worker.task, act="spawn")


def whole_task(ledger: "Ledger", packet: Stored) -> str:
    """Return the whole task of a packet that may carry only its beginning."""
    entries = reversed(list(ledger.store.events(ledger.name)))
    tasks = (note.text for _, note in notes_in(entries, WholeTask))
    fitting = (task for task in tasks if _task_as_carried(ledger, task) == packet.target_task)
    return next(fitting, packet.target_task)


def _task_as_carried(ledger: "Ledger", task: str) -> str:
    """Return a task as a packet carries it: redacted, and only the beginning of a long one."""
    return task_to_carry(ledger.redactor.text(task))


def clear_packet(ledger: "Ledger", audience: str, *, reason: str = "asked for") -> PacketRecord:
    """Remove the file of a packet; the packet remains recorded.

    Raises:
        NotRecorded: the worker has none.
        NotHanded: the file exists and could not be removed.
    """
    record = find_packet(ledger, audience)
    if record.file and ledger.root:
        from holdfast.project.remove import remove_copy

        try:
            remove_copy(ledger.root, record.file)
        except NotWritten as error:
            raise NotHanded(record.file, error.reason) from None
    if not record.cleared:
        ledger.derive(PacketCleared(record.id, reason))
    return replace(record, cleared=True)


def clear_if_done(ledger: "Ledger", audience: str, outcome: str) -> None:
    """Remove a packet's file when its task is done, if the policy says so."""
    if outcome == "done" and ledger.policy.packets.cleanup == "on":
        record = newest_packet(ledger, audience)
        if record is not None and not record.cleared:
            clear_packet(ledger, audience, reason="the task is done")
