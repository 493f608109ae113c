"""Gather the inputs of a packet: what the session's record offers, and what the caller asks for.

The part taken from the record does not depend on the task. So it is computed once and kept, also
when several workers are started by several processes.
"""

from collections.abc import Mapping

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId
from holdfast.core.ledger.packet import Choice, FailedAttempt, Packet, RelevantFile
from holdfast.core.ledger.summary import Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.results.progress import newest_test_counts
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.worth import NeedEstimator, find_names, names_by_entry
from holdfast.core.view.packet.code import touched_files
from holdfast.core.view.packet.history import decisions_in_force, failures_of
from holdfast.core.view.packet.lines import bare_command
from holdfast.core.view.packet.record import LinePool, line_pool
from holdfast.core.view.packet.select import Similar


class RecordInputs(Struct, frozen=True):
    """What a packet takes from the record of a session."""

    rows: Summary = Summary()
    pool: LinePool = LinePool()
    weights: Mapping[str, float] = {}
    """How likely each name in the pool is needed again."""
    files: tuple[RelevantFile, ...] = ()
    failed: tuple[FailedAttempt, ...] = ()
    tested: str = ""
    """The command that last ran the tests."""
    steps: Mapping[EntryId, int] = {}
    """The step of the agent at which each decision was made."""
    now: int = 0
    entries: int = 0

    def weigh(self, name: str) -> float:
        """Return how likely a name is needed again; 0 when nothing in the pool contains it."""
        return self.weights.get(name, 0.0)


def gather_record_inputs(rows: Summary, scene: Scene) -> RecordInputs:
    """Gather what a packet needs from a summary and the scene at its end."""
    if not scene.items:
        return RecordInputs(rows)
    held = names_by_entry(scene.items, {})
    likely = NeedEstimator(scene, held)
    pool = line_pool(scene, held, likely)
    return RecordInputs(
        rows=rows,
        pool=pool,
        weights={name: likely(name) for name in sorted(_names(pool))},
        files=tuple(touched_files(rows.files, scene)),
        failed=failures_of(rows, scene),
        tested=_tested(scene),
        steps=_steps(rows, scene),
        now=scene.step_count,
        entries=len(scene.items),
    )


def _names(pool: LinePool) -> set[str]:
    sources = {line.fact.source for line in pool.lines}
    return {name for line in pool.lines for name in line.names}.union(*map(find_names, sources))


@rule("")
def _tested(scene: Scene) -> str:
    _, at = newest_test_counts(scene)
    pair = scene.by_result.get(at)
    return bare_command(pair.body) if pair else ""


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
