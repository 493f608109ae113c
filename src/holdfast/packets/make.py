"""Packets made from what a session came to; nothing is recorded."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from holdfast.core.ledger.entry import Noted, text_of
from holdfast.core.ledger.head import Head, Lane
from holdfast.core.ledger.packet import SHARED, Choice
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.requests.pins import PINNED, UNPINNED
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.shrink.step import ref_of
from holdfast.core.view.levels import sections_of
from holdfast.core.view.packet.code import relevant_files
from holdfast.core.view.packet.goal import carried
from holdfast.core.view.packet.inputs import Gathered, Material, Tools, Wish, gathered
from holdfast.core.view.packet.layers import DEPTHS, SAME
from holdfast.core.view.packet.make import make
from holdfast.core.view.packet.select import Similar, similar_by
from holdfast.engine.cache import recalled, remember, rules_of
from holdfast.engine.engine import engine_of
from holdfast.engine.fault_log import notes_faults
from holdfast.engine.purge.rewrite import PURGED
from holdfast.errors import BadSetting
from holdfast.models.thesaurus import like
from holdfast.packets.packet import Packet
from holdfast.packets.records import Listed, handed, newest_of
from holdfast.packets.seal import count_of, signed

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


NEAREST = 40
"""Files of a codebase that are looked at closely."""
REACH = 300_000
"""Characters of the record, from its end, in which names are weighed."""
PRIOR = 4_000
"""Characters of what an earlier session came to."""
LONGEST_TASK = 4 * 1024 * 1024


@notes_faults
def generate(
    ledger: "Ledger",
    task: str,
    depth: str = "",
    *,
    layers: Sequence[int] = (),
    budget: int = 0,
    audience: str = "",
    codebase: Mapping[str, str] | None = None,
    decisions: Sequence[Choice] = (),
    known: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
    continues: str = "",
    prior: str = "",
    before: Stored | None = None,
    why: str = "",
) -> Packet:
    """Make a packet for a task from what a session came to; nothing is recorded.

    `decisions` are those of other sessions that may bear on the task, `known` the depth and `order`
    the parts that the record recommends, `continues` the session or task whose work goes on, and
    `prior` what that came to where it is known already.
    Of a task that the audience has a packet for already, it becomes the next revision.

    Raises:
        BadSetting: the depth, the layers or the task cannot be meant.
    """
    rules = ledger.policy.packets
    wanted = _depth(depth or rules.depth)
    _check(task, layers, audience)
    count = count_of(ledger)
    similar = similar_by(like)
    task = ledger.redactor.text(ledger.storable(task))
    listed = handed(ledger)
    wish = Wish(
        task,
        wanted,
        tuple(layers),
        budget,
        {"minimal": rules.minimal, "standard": rules.standard, "deep": rules.deep},
        known or {},
        tuple(order),
        before or _same_task(listed, audience, task),
        why,
        ledger.now(),
    )
    material = _material(ledger, task, similar, codebase or {}, continues, prior)
    shared = _shared(listed, material.record.rows)
    material = replace(material, decisions=(*shared, *decisions))
    made = make(wish, material, Tools(count, similar))
    return signed(ledger, _addressed(ledger, made, audience))


def _same_task(listed: Sequence[Listed], audience: str, task: str) -> Stored:
    """The packet that a worker has for a task already; an empty one when it has none."""
    last = newest_of(listed, audience) if audience else None
    if last is None or last.packet.target_task != carried(task):
        return Stored()
    return last.packet


def _depth(depth: str) -> str:
    named = SAME.get(depth, depth)
    if named not in DEPTHS:
        choices = ", ".join((*DEPTHS, *SAME))
        raise BadSetting("depth", f"{depth!r} is not one of {choices}", origin="the caller")
    return named


def _check(task: str, layers: Sequence[int], audience: str) -> None:
    if not task.strip() and audience != SHARED:
        raise BadSetting("task", "it is empty: say what the worker is to do", origin="the caller")
    if len(task) > LONGEST_TASK:
        size = f"{len(task):,} characters, and {LONGEST_TASK:,} are the most"
        raise BadSetting("task", f"it has {size}", origin="the caller")
    wrong = [layer for layer in layers if layer not in (1, 2, 3, 4)]
    if wrong:
        raise BadSetting("layers", f"{wrong[0]!r} is not one of 1, 2, 3, 4", origin="the caller")


def _material(
    ledger: "Ledger",
    task: str,
    similar: Similar,
    codebase: Mapping[str, str],
    continues: str,
    prior: str,
) -> Material:
    """All that a packet can be made of."""
    near = relevant_files(task, codebase, similar, most=NEAREST) if codebase else []
    return Material(
        _from_record(ledger),
        codebase={row.path: ledger.redactor.text(codebase[row.path]) for row in near},
        prior=_prior(ledger, continues) or prior,
    )


_drawn: "WeakKeyDictionary[Ledger, tuple[str, Gathered]]" = WeakKeyDictionary()
"""What was last drawn from a session, and by which rules: workers are spawned several at a time."""


def _from_record(ledger: "Ledger") -> Gathered:
    """What the record shows, looked through once for each end that the session has."""
    # All counted: counting it later would move the head on from under what is kept.
    head = ledger.head()
    if not head.seq:
        return Gathered()
    rules = _rules(ledger, head.lane(ledger.agent))
    found = _drawn.get(ledger)
    if found is None or found[0] != rules:
        found = _drawn[ledger] = rules, _recalled(ledger, head, rules)
    return found[1]


def _rules(ledger: "Ledger", lane: Lane) -> str:
    """A name for all that decides what is drawn: where the path ends, what holds, what is hidden.

    What becomes of packets is on record as well and changes none of it.
    """
    ledger.redactor.learn()
    # What the user pinned binds a worker as well, what was purged is gone; neither is in the chain.
    notes = [
        one.id
        for one in ledger.store.events(ledger.name)
        if isinstance(one.body, Noted) and one.body.what in (PINNED, UNPINNED, PURGED)
    ]
    marks = sorted(ledger.redactor.known.marks.items())
    return rules_of(lane.end, lane.generation, notes, marks, ledger.policy)


def _recalled(ledger: "Ledger", head: Head, rules: str) -> Gathered:
    name = f"packet {ledger.agent}".rstrip()
    kept = recalled(ledger.store, ledger.name, name, rules, Gathered)
    if kept is not None:
        return kept[1]
    made = _gathered(ledger)
    remember(ledger.store, ledger.name, name, rules, head, made)
    return made


def _gathered(ledger: "Ledger") -> Gathered:
    path = ledger.redactor.entries(ledger.path())
    # A packet names no references: neither those of the summary nor files kept by the project.
    rows = replace(engine_of(ledger).rows(outside=False), refs=()) if path else Summary()
    return gathered(rows, _recent(read_scene([Item(one) for one in path])))


def _recent(scene: Scene) -> Scene:
    """The end of a record, in which what is needed next was met last."""
    left, at = REACH, len(scene.items)
    while at > 0 and left > 0:
        at -= 1
        left -= len(text_of(scene.items[at].body))
    return read_scene(scene.items[at:]) if at else scene


def _prior(ledger: "Ledger", continues: str) -> str:
    """What the session or task came to that this one goes on with."""
    from holdfast.core.ledger.inherited import inherited  # late: few go on from another

    rows = inherited(ledger.events()) if not continues else Summary()
    if continues and continues != ledger.name and ledger.store.head(continues) is not None:
        rows = engine_of(ledger.sibling(continues)).rows()
    lines = [row.told() for section in sections_of(rows) for row in section.rows]
    return "\n".join(lines)[:PRIOR]


def _shared(listed: Sequence[Listed], rows: Summary) -> tuple[Choice, ...]:
    """What the packet of all workers says was decided, as far as that was not overruled since."""
    found = newest_of(listed, SHARED)
    old = [one.overrules for one in rows.decisions if one.overrules]
    return tuple(
        choice
        for choice in (found.packet.decisions if found is not None else ())
        if not any(entry.startswith(ref) for entry in old for ref in choice.refs)
    )


def _addressed(ledger: "Ledger", packet: Stored, audience: str) -> Stored:
    head = ledger.store.head(ledger.name)
    end = head.lane(ledger.agent).end if head else None
    now = ledger.now()
    return replace(
        packet,
        created=now,
        creator=f"orchestrator{f'-{ledger.agent}' if ledger.agent else ''}",
        audience=audience,
        session=ledger.name,
        upto=ref_of(end) if end else "",
        stale_after=_later(now, ledger.policy.packets.stale),
    )


def _later(now: str, minutes: int) -> str:
    from datetime import datetime, timedelta  # late: only packets go stale

    if not minutes or not now:
        return ""
    try:
        at = datetime.fromisoformat(now) + timedelta(minutes=minutes)
    except ValueError:
        return ""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
