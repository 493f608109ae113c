"""How things came to be as they are: decisions version by version, packets revision by revision."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, Handed, PacketCleared, PacketRead, PacketReported
from holdfast.core.view.decisions.graph import Graph, Node
from holdfast.core.view.search.excerpts import REFERENCE
from holdfast.text.jsontext import Json

TASK = 60
"""Characters of a task that a line shows."""


class Lineage(Struct, frozen=True):
    """A decision and what it took the place of, the first version first."""

    versions: tuple[Node, ...]


def lineages(graph: Graph, *, single: bool = False) -> tuple[Lineage, ...]:
    """How decisions evolved: from each that replaced none to the one that holds.

    Those that never changed are left out, unless `single`.
    """
    by_id = {one.id: one for one in graph.nodes}
    newer = {edge.target for edge in graph.edges if edge.kind == "supersedes"}
    older = {edge.source for edge in graph.edges if edge.kind == "supersedes"}
    first = [one for one in graph.nodes if one.id not in older and (one.id in newer or single)]
    return tuple(Lineage(tuple(_line(one, by_id))) for one in first)


def _line(one: Node, by_id: dict[str, Node]) -> Iterator[Node]:
    seen: set[str] = set()
    following: Node | None = one
    while following is not None and following.id not in seen:
        seen.add(following.id)
        yield following
        following = by_id.get(following.superseded_by)


class Handover(Struct, frozen=True, omit_defaults=True):
    """One revision of a packet, and what became of it."""

    ref: str
    session: str
    audience: str
    task: str
    revision: int
    act: str
    tokens: int
    at: str = ""
    what: str = ""
    """What the revision brought."""
    depth: str = ""
    reads: int = 0
    outcome: str = ""
    gaps: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    reported: bool = False
    cleared: bool = False


def handovers(entries: Iterable[Entry], *, session: str = "") -> tuple[Handover, ...]:
    """The packets that a session handed over, oldest first."""
    made: dict[str, Handover] = {}
    for entry in entries:
        match entry.body:
            case Handed() as body:
                made[entry.id] = _handed(entry, body, session)
            case PacketRead(packet=name) if name in made:
                made[name] = replace(made[name], reads=made[name].reads + 1)
            case PacketCleared(packet=name) if name in made:
                made[name] = replace(made[name], cleared=True)
            case PacketReported(feedback=told) if told.packet in made:
                one = made[told.packet]
                made[told.packet] = replace(
                    one,
                    reported=True,
                    outcome=told.outcome or one.outcome,
                    gaps=tuple(dict.fromkeys((*one.gaps, *told.gaps))),
                    unused=tuple(dict.fromkeys((*one.unused, *told.unused))),
                )
            case _:
                pass
    return tuple(made.values())


def _handed(entry: Entry, body: Handed, session: str) -> Handover:
    packet = body.packet
    return Handover(
        ref=entry.id[:REFERENCE],
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
    """Both as one page."""
    return "\n".join([*_decisions(lines), *_packets(packets)])


def _decisions(lines: Sequence[Lineage]) -> Iterator[str]:
    yield "Decisions that changed:" if lines else "No decision on record has changed."
    for line in lines:
        for number, one in enumerate(line.versions, 1):
            began = "Initial: " if number == 1 else ""
            why = f", {one.reason}" if one.reason else ""
            when = f" {one.at}" if one.at else ""
            yield f"  v{number}: {began}{one.choice} ({one.by}{why}) [{one.session} {one.id}{when}]"
        yield ""


def _packets(packets: Sequence[Handover]) -> Iterator[str]:
    yield "Packets handed over:" if packets else "No packet was handed over yet."
    for one in packets:
        came = one.outcome or ("reported" if one.reported else "")
        read = f"read {one.reads}x" if one.reads else "not read"
        marks = [f"{one.tokens} tokens", read, *([came] if came else ["no report yet"])]
        marks += ["cleared"] if one.cleared else []
        task = one.task if len(one.task) <= TASK else f"{one.task[: TASK - 1]}…"
        when = f"{one.at} " if one.at else ""
        who = f"{when}{one.audience or '-'} v{one.revision} {one.act}"
        yield f"  {who}: {task} ({', '.join(marks)})"
        if one.what:
            yield f"    {one.what}"
        yield from (f"    gap: {gap}" for gap in one.gaps)
        yield from (f"    unused: {part}" for part in one.unused)


def history_document(lines: Sequence[Lineage], packets: Sequence[Handover]) -> dict[str, Json]:
    """Both as one JSON document."""
    return {
        "decisions": [
            {
                "versions": [
                    {
                        "version": number,
                        "id": one.id,
                        "choice": one.choice,
                        "reason": one.reason,
                        "by": one.by,
                        "session": one.session,
                        "at": one.at,
                    }
                    for number, one in enumerate(line.versions, 1)
                ]
            }
            for line in lines
        ],
        "packets": [
            {
                "ref": one.ref,
                "session": one.session,
                "audience": one.audience,
                "task": one.task,
                "revision": one.revision,
                "act": one.act,
                "tokens": one.tokens,
                "at": one.at,
                "what": one.what,
                "depth": one.depth,
                "reads": one.reads,
                "outcome": one.outcome,
                "gaps": list(one.gaps),
                "unused": list(one.unused),
                "cleared": one.cleared,
            }
            for one in packets
        ],
    }
