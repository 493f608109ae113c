"""Gather the inputs of a packet: what the session's record offers, and what the caller asks for.

The part taken from the record does not depend on the task. So it is computed once and kept, also
when several workers are started by several processes. When the session moves on, only its newer
entries are read.
"""

from collections.abc import Mapping

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, text_of
from holdfast.core.ledger.packet import Choice, FailedAttempt, Packet, RelevantFile
from holdfast.core.ledger.summary import Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.results.progress import newest_test_counts
from holdfast.core.observe.scene import Scene
from holdfast.core.view.packet.code import touched_files
from holdfast.core.view.packet.history import decisions_in_force, failures_of
from holdfast.core.view.packet.moments import (
    bare_command,
    packet_moments,
    tail_since,
)
from holdfast.core.view.packet.select import Similar

MAX_RECORD_CHARS = 300_000
"""Characters of the record, from its end, whose moments are read."""
MAX_COMMAND_CHARS = 120


class RecordInputs(Struct, frozen=True, omit_defaults=True):
    """What a packet takes from the record of a session."""

    rows: Summary = Summary()
    moments: tuple[Moment, ...] = ()
    files: tuple[RelevantFile, ...] = ()
    failed: tuple[FailedAttempt, ...] = ()
    tested: str = ""
    """The command that last ran the tests."""
    steps: Mapping[EntryId, int] = {}
    """The step of the agent at which each decision was made."""
    now: int = 0
    entries: int = 0
    end: EntryId = ""
    """The last entry that was read."""


def gather_record_inputs(
    rows: Summary, scene: Scene, known: RecordInputs | None = None
) -> RecordInputs:
    """Gather what a packet needs from a summary and the scene of the whole record.

    `known` are the inputs up to an earlier entry: only what came after it is read.
    """
    if not scene.items:
        return RecordInputs(rows)
    known = known or RecordInputs()
    moments = packet_moments(scene, _recent_start(scene), known.moments, known.end)
    return RecordInputs(
        rows=rows,
        moments=moments,
        files=tuple(touched_files(rows.files, moments)),
        failed=failures_of(rows, moments),
        tested=_tested(tail_since(scene, known.end)) or known.tested,
        steps=_steps(rows, scene),
        now=scene.step_count,
        entries=len(scene.items),
        end=scene.items[-1].entry.id,
    )


def _recent_start(scene: Scene) -> int:
    """Return where the end of a record begins: what is needed next was usually used last."""
    chars_left, start = MAX_RECORD_CHARS, len(scene.items)
    while start > 0 and chars_left > 0:
        start -= 1
        chars_left -= len(text_of(scene.items[start].body))
    return start


@rule("")
def _tested(scene: Scene) -> str:
    _, at = newest_test_counts(scene)
    pair = scene.by_result.get(at)
    command = bare_command(touch_of(pair.body).command) if pair else ""
    return command if len(command) <= MAX_COMMAND_CHARS else ""


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
