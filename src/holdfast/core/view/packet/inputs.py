"""What the record gives a packet: a value, so that what was worked out for one worker can be kept.

Nothing here depends on the task. Where several workers are spawned, in one process or in several,
the record is looked through for the first of them.
"""

from collections.abc import Mapping

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId
from holdfast.core.ledger.packet import Choice, FailedAttempt, Packet, RelevantFile
from holdfast.core.ledger.summary import Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.results.progress import tested_in
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.worth import Likely, hold, telling_names
from holdfast.core.view.packet.code import touched
from holdfast.core.view.packet.history import choices_of, failures_of
from holdfast.core.view.packet.lines import bare_command
from holdfast.core.view.packet.record import Pool, pool_of
from holdfast.core.view.packet.select import Similar


class Gathered(Struct, frozen=True):
    """What a packet takes from the record of a session."""

    rows: Summary = Summary()
    pool: Pool = Pool()
    weights: Mapping[str, float] = {}
    """How likely each name in the pool is needed again."""
    files: tuple[RelevantFile, ...] = ()
    failed: tuple[FailedAttempt, ...] = ()
    tested: str = ""
    """The command by which the tests were run last."""
    steps: Mapping[EntryId, int] = {}
    """At which step of the agent each decision was made."""
    now: int = 0
    entries: int = 0

    def weigh(self, name: str) -> float:
        """How likely a name is needed again; of no account when nothing in the pool holds it."""
        return self.weights.get(name, 0.0)


def gathered(rows: Summary, scene: Scene) -> Gathered:
    """What rows and the scene that they end with give a packet."""
    if not scene.items:
        return Gathered(rows)
    held = hold(scene.items, {})
    likely = Likely(scene, held)
    pool = pool_of(scene, held, likely)
    return Gathered(
        rows=rows,
        pool=pool,
        weights={name: likely(name) for name in sorted(_names(pool))},
        files=tuple(touched(rows.files, scene)),
        failed=failures_of(rows, scene),
        tested=_tested(scene),
        steps=_steps(rows, scene),
        now=scene.step_count,
        entries=len(scene.items),
    )


def _names(pool: Pool) -> set[str]:
    sources = {line.fact.source for line in pool.lines}
    return {name for line in pool.lines for name in line.names}.union(*map(telling_names, sources))


@rule("")
def _tested(scene: Scene) -> str:
    _, at = tested_in(scene)
    pair = scene.of_result.get(at)
    return bare_command(pair.body) if pair else ""


@rule({})
def _steps(rows: Summary, scene: Scene) -> dict[EntryId, int]:
    wanted = {ref for one in choices_of(rows) for ref in one.refs}
    steps = zip(scene.items, scene.steps, strict=True)
    return {item.entry.id: step for item, step in steps if item.entry.id in wanted}


# What a packet is made of: what is asked for, what there is, and what of the world it takes.


class Tools(Struct, frozen=True):
    """What making a packet needs of the world."""

    count: CountTokens
    similar: Similar


class Wish(Struct, frozen=True):
    """What is asked for."""

    task: str
    depth: str = "standard"
    layers: tuple[int, ...] = ()
    """Which layers; those of the depth when none are named."""
    budget: int = 0
    """Tokens; the cap of the depth when 0."""
    caps: Mapping[str, int] = {}
    """Tokens by depth, where they are not the usual ones."""
    known: Mapping[str, str] = {}
    """By kind of task: the depth that the record of earlier tasks recommends."""
    order: tuple[str, ...] = ()
    """Parts of a packet, the most needed first, where the record of earlier tasks says so."""
    before: Packet = Packet()
    """The revision before: what a person wrote in it stays, and its history goes on."""
    why: str = ""
    at: str = ""
    """What the changelog says of the new revision, and when it was made."""


class Material(Struct, frozen=True):
    """All that a packet can be made of."""

    record: Gathered = Gathered()
    codebase: Mapping[str, str] = {}
    """Files that were scanned or handed in, by path: their text."""
    decisions: tuple[Choice, ...] = ()
    """What was decided elsewhere in the project."""
    prior: str = ""
    """What an earlier session of the same task came to."""
