"""Records of tasks: what was sent, how it ended, what was missing and what was not needed."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, Handed, PacketRead, PacketReported
from holdfast.core.ledger.packet import Feedback, Outcome, Packet
from holdfast.core.ledger.tuning import UNTUNED, Tunings
from holdfast.core.view.packet.layers import SECTIONS

UNTYPED = "other"


class Record(Struct, frozen=True, omit_defaults=True):
    """One task of a worker's, as far as it was told."""

    context_sent: int
    """Tokens of the packet; 0 when there was none."""
    outcome: Outcome = ""
    gaps: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    task_type: str = UNTYPED
    tokens_used: int = 0
    explored: int = 0
    """How many things the worker looked up again although the orchestrator knew them."""
    edited: bool = False
    """Whether somebody wrote on the packet by hand."""
    sections: tuple[str, ...] = ()
    """Which parts the packet had."""
    read: bool = True
    depth: str = ""
    at: str = ""
    tuning: int = 0
    """The version of the recommendation that the packet was made under."""

    @property
    def success(self) -> bool | None:
        """Whether the task was done; nothing when nobody told."""
        return None if not self.outcome else self.outcome == "done"


def records_of(entries: Iterable[Entry], tunings: Tunings = UNTUNED) -> tuple[Record, ...]:
    """The tasks that were reported on, in the order of the reports, each with its last word.

    A worker may report as often as it likes: what it says of the same revision of a packet adds up,
    and the newest outcome counts.
    """
    packets: dict[str, tuple[Packet, str]] = {}
    read: set[str] = set()
    reported: dict[object, list[tuple[Feedback, str]]] = {}
    for entry in entries:
        match entry.body:
            case Handed() as body:
                packets[entry.id] = (body.packet, entry.at)
            case PacketRead() as body:
                read.add(body.packet)
            case PacketReported() as body:
                key = (
                    (body.feedback.packet, body.feedback.revision)
                    if body.feedback.packet
                    else entry.id
                )
                reported.setdefault(key, []).append((body.feedback, entry.at))
            case _:
                pass
    made = (_record(said, packets, read) for said in reported.values())
    return tuple(replace(one, tuning=_in_force(one.at, tunings)) for one in made)


def _in_force(at: str, tunings: Tunings) -> int:
    """The version that was newest at a moment; 0 when nobody told the time."""
    before = [one.version for one in tunings.versions if at and one.at and one.at <= at]
    return max(before, default=0)


def _record(
    said: list[tuple[Feedback, str]],
    packets: Mapping[str, tuple[Packet, str]],
    read: set[str],
) -> Record:
    told = [one for one, _ in said]
    last = told[-1]
    ended: list[Outcome] = [one.outcome for one in told if one.outcome]
    packet = packets.get(last.packet, (None, ""))[0]
    return Record(
        context_sent=last.context_sent or (packet.token_count if packet else 0),
        outcome=ended[-1] if ended else "",
        gaps=tuple(dict.fromkeys(gap for one in told for gap in one.gaps)),
        unused=tuple(dict.fromkeys(part for one in told for part in one.unused)),
        task_type=last.task_type or (packet.task_type if packet else "") or UNTYPED,
        tokens_used=max(one.tokens_used for one in told),
        explored=len({what for one in told for what in one.explored}),
        edited=bool(packet and packet.edited),
        sections=tuple(sections_of(packet)) if packet else (),
        read=last.packet in read or packet is None,
        depth=packet.depth if packet else "",
        at=said[-1][1],
    )


def sections_of(packet: Packet) -> Iterator[str]:
    """The parts that a packet has."""
    code = packet.codebase
    held: Mapping[str, object] = {
        name: getattr(code if hasattr(code, name) else packet, name) for name in SECTIONS
    }
    return (name for name, value in held.items() if value)
