"""Gather the inputs of a packet: what the session's record offers, and what the caller asks for."""

from collections.abc import Mapping

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId
from holdfast.core.ledger.packet import Choice, FailedAttempt, Packet
from holdfast.core.ledger.summary import Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.moments.story import PathContent
from holdfast.core.observe.scene import Scene
from holdfast.core.view.packet.code import touched_files
from holdfast.core.view.packet.history import decisions_in_force, failures_of
from holdfast.core.view.packet.moments import file_of, outlines_in, packet_moments
from holdfast.core.view.packet.names import UsedName, names_used
from holdfast.core.view.packet.select import Similar


class RecordInputs(Struct, frozen=True):
    """What a packet takes from the record of a session."""

    rows: Summary = Summary()
    moments: tuple[Moment, ...] = ()
    files: tuple[str, ...] = ()
    failed: tuple[FailedAttempt, ...] = ()
    steps: Mapping[EntryId, int] = {}
    """The step of the agent at which each decision was made."""
    now: int = 0
    entries: int = 0
    names: tuple[UsedName, ...] = ()
    """Names that the agent wrote or saw last, the most needed first."""


def gather_record_inputs(content: PathContent, scene: Scene) -> RecordInputs:
    """Gather what a packet needs from what a path says, and from the scene of all of it."""
    rows, moments = content.rows, tuple(packet_moments(content.moments, outlines_in(scene)))
    return RecordInputs(
        rows=rows,
        moments=moments,
        files=touched_files(rows.files),
        failed=failures_of(rows, moments),
        steps=_steps(rows, scene),
        now=scene.step_count,
        entries=len(scene.items),
        names=names_used(scene, moments, file_of),
    )


@rule({})
def _steps(rows: Summary, scene: Scene) -> dict[EntryId, int]:
    wanted = {ref for one in decisions_in_force(rows) for ref in one.refs}
    steps = zip(scene.items, scene.steps, strict=True)
    return {item.entry.id: step for item, step in steps if item.entry.id in wanted}


# What a packet is made of: what is asked for, what there is, and what of the world it takes.


class PacketTools(Struct, frozen=True):
    """The functions of the caller that making a packet needs."""

    count: CountTokens
    similar: Similar


class PacketRequest(Struct, frozen=True):
    """What the caller asks for."""

    task: str
    depth: str = "standard"
    layers: tuple[int, ...] = ()
    """Layers to include; those of the depth when empty."""
    budget: int = 0
    """Token budget; the cap of the depth when 0."""
    caps: Mapping[str, int] = {}
    """Token caps by depth that replace the defaults."""
    known: Mapping[str, str] = {}
    """The recommended depth by type of task, from earlier tasks."""
    order: tuple[str, ...] = ()
    """Sections of a packet, the most needed first, as recommended from earlier tasks."""
    before: Packet = Packet()
    """The previous revision: its manual edits stay, and its changelog continues."""
    why: str = ""
    at: str = ""
    """Time of the new revision; `why` is its reason in the changelog."""


class PacketMaterial(Struct, frozen=True):
    """All content that a packet can be made of."""

    record: RecordInputs = RecordInputs()
    codebase: Mapping[str, str] = {}
    """Texts of scanned or given files, by path."""
    decisions: tuple[Choice, ...] = ()
    """Decisions of other sessions of the project."""
    prior: str = ""
    """The result of an earlier session of the same task."""
