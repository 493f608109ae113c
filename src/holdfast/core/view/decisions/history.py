"""Show how decisions changed version by version, and which packets were handed over."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from holdfast.core.ledger.entry import Entry, PacketCleared, PacketRead, PacketReported, PacketSent
from holdfast.core.view.decisions.graph import DecisionGraph, DecisionNode
from holdfast.core.view.search.excerpts import REF_CHARS
from holdfast.text.clip import clip
from holdfast.text.jsontext import Json

MAX_TASK_CHARS = 60
"""Characters of a task that a line shows."""


class Lineage(Struct, frozen=True):
    """The versions of a decision, the first one first."""

    versions: tuple[DecisionNode, ...]


def lineages(graph: DecisionGraph, *, single: bool = False) -> tuple[Lineage, ...]:
    """Return the versions of each decision, from the first to the one in force.

    Decisions that never changed are left out, unless `single`.
    """
    by_id = {node.id: node for node in graph.nodes}
    newer = {edge.target for edge in graph.edges if edge.kind == "supersedes"}
    older = {edge.source for edge in graph.edges if edge.kind == "supersedes"}
    first = [node for node in graph.nodes if node.id not in older and (node.id in newer or single)]
    return tuple(Lineage(tuple(_versions_from(node, by_id))) for node in first)


def _versions_from(node: DecisionNode, by_id: dict[str, DecisionNode]) -> Iterator[DecisionNode]:
    seen: set[str] = set()
    following: DecisionNode | None = node
    while following is not None and following.id not in seen:
        seen.add(following.id)
        yield following
        following = by_id.get(following.superseded_by)


class Handover(Struct, frozen=True, omit_defaults=True):
    """One revision of a packet, with its reads, feedback and outcome."""

    ref: str
    session: str
    audience: str
    task: str
    revision: int
    act: str
    tokens: int
    at: str = ""
    what: str = ""
    """What the revision changed."""
    depth: str = ""
    reads: int = 0
    outcome: str = ""
    gaps: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    reported: bool = False
    cleared: bool = False


def handovers(entries: Iterable[Entry], *, session: str = "") -> tuple[Handover, ...]:
    """Return the packets that a session handed over, oldest first."""
    by_entry: dict[str, Handover] = {}
    for entry in entries:
        match entry.body:
            case PacketSent() as body:
                by_entry[entry.id] = _handover(entry, body, session)
            case PacketRead(packet=name) if name in by_entry:
                by_entry[name] = replace(by_entry[name], reads=by_entry[name].reads + 1)
            case PacketCleared(packet=name) if name in by_entry:
                by_entry[name] = replace(by_entry[name], cleared=True)
            case PacketReported(feedback=feedback) if feedback.packet in by_entry:
                handover = by_entry[feedback.packet]
                by_entry[feedback.packet] = replace(
                    handover,
                    reported=True,
                    outcome=feedback.outcome or handover.outcome,
                    gaps=tuple(dict.fromkeys((*handover.gaps, *feedback.gaps))),
                    unused=tuple(dict.fromkeys((*handover.unused, *feedback.unused))),
                )
            case _:
                pass
    return tuple(by_entry.values())


def _handover(entry: Entry, body: PacketSent, session: str) -> Handover:
    packet = body.packet
    return Handover(
        ref=entry.id[:REF_CHARS],
        session=session,
        audience=packet.audience,
        task=packet.target_task,
        revision=packet.revision,
        act=body.act,
        tokens=packet.token_count,
        at=entry.at or packet.created,
        what=packet.changelog[-1].what if packet.changelog else "",
        depth=packet.depth,
    )


def render_history(lines: Sequence[Lineage], packets: Sequence[Handover]) -> str:
    """Render decisions and packets as one page."""
    return "\n".join([*_decision_lines(lines), *_packet_lines(packets)])


def _decision_lines(lines: Sequence[Lineage]) -> Iterator[str]:
    yield "Decisions that changed:" if lines else "No decision on record has changed."
    for line in lines:
        for number, version in enumerate(line.versions, 1):
            began = "Initial: " if number == 1 else ""
            why = f", {version.reason}" if version.reason else ""
            when = f" {version.at}" if version.at else ""
            place = f"[{version.session} {version.id}{when}]"
            yield f"  v{number}: {began}{version.choice} ({version.by}{why}) {place}"
        yield ""


def _packet_lines(packets: Sequence[Handover]) -> Iterator[str]:
    yield "Packets handed over:" if packets else "No packet was handed over yet."
    for packet in packets:
        result = packet.outcome or ("reported" if packet.reported else "")
        read = f"read {packet.reads}x" if packet.reads else "not read"
        marks = [f"{packet.tokens} tokens", read, *([result] if result else ["no report yet"])]
        marks += ["cleared"] if packet.cleared else []
        task = clip(packet.task, MAX_TASK_CHARS)
        when = f"{packet.at} " if packet.at else ""
        who = f"{when}{packet.audience or '-'} v{packet.revision} {packet.act}"
        yield f"  {who}: {task} ({', '.join(marks)})"
        if packet.what:
            yield f"    {packet.what}"
        yield from (f"    gap: {gap}" for gap in packet.gaps)
        yield from (f"    unused: {part}" for part in packet.unused)


def history_document(lines: Sequence[Lineage], packets: Sequence[Handover]) -> dict[str, Json]:
    """Return decisions and packets as one JSON document."""
    return {
        "decisions": [
            {
                "versions": [
                    {
                        "version": number,
                        "id": version.id,
                        "choice": version.choice,
                        "reason": version.reason,
                        "by": version.by,
                        "session": version.session,
                        "at": version.at,
                    }
                    for number, version in enumerate(line.versions, 1)
                ]
            }
            for line in lines
        ],
        "packets": [asdict(packet) for packet in packets],
    }
