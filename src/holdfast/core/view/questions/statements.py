"""What a session settled, as statements: each with who said it, why, and what took its place.

Decisions and constraints are read off the record by the stages before; here they become one kind
of value, with the words around them, so that a question can be held against any of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Derived, Entry, Handed, is_request, text_of
from holdfast.core.ledger.inherited import resumed_from
from holdfast.core.ledger.summary import Constraint, Decision, Quote
from holdfast.core.ledger.window import Item
from holdfast.core.observe.requests.intent import wanted
from holdfast.core.observe.requests.pins import lift, pins_of
from holdfast.core.observe.results.choices import overruled
from holdfast.core.observe.results.decisions import decisions_of
from holdfast.core.observe.scene import Scene, read_scene

AROUND = 240
"""Characters on either side of a statement that tell what it is about."""
ASKED_BEFORE = 300
"""Characters of the request before it that do."""

Kind: TypeAlias = Literal["decision", "constraint", "passage"]


class Statement(Struct, frozen=True, omit_defaults=True):
    """Something that holds, or held until something else took its place."""

    kind: Kind
    text: str
    ref: str
    """The entry that says so."""
    reason: str = ""
    by: str = ""
    """Who: `user`, `agent`, `system`; of a passage, the role of whoever said it."""
    session: str = ""
    turn: int = 0
    """The agent's step it belongs to; 0 before the first."""
    at: str = ""
    replaces: str = ""
    """The entry of what it takes the place of."""
    replaced_by: str = ""
    """The entry of what took its place; empty while it holds."""
    around: str = ""
    """The words that stand beside it."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others: an entry may say more than one thing."""
        return self.ref, self.text

    @property
    def words(self) -> str:
        """What it says, with its reason."""
        return f"{self.text} — {self.reason}" if self.reason else self.text


class Told(Struct, frozen=True):
    """What one session settled, and what else tells where it belongs."""

    session: str = ""
    title: str = ""
    began: str = ""
    """When its first entry came; empty when nobody timed it."""
    settled: tuple[Statement, ...] = ()
    """Its decisions, constraints and pins, oldest first."""
    requests: tuple[Quote, ...] = ()
    """What the user asked for, in his own words."""
    after: str = ""
    """The session that it goes on from."""
    handed: tuple[str, ...] = ()
    """Entries of decisions that it handed on in packets."""


def told_of(
    path: Sequence[Entry], ledger: Iterable[Entry], *, session: str = "", title: str = ""
) -> Told:
    """What a session told: all that leads to its end, and what was noted about it."""
    scene = read_scene([Item(entry) for entry in path])
    notes = [entry for entry in ledger if isinstance(entry.body, Derived)]
    place = {item.entry.id: at for at, item in enumerate(scene.items)}
    want = wanted(scene)
    decided = _decided(scene, place)
    bound = _bound(lift([*want.constraints, *pins_of(notes)], notes))
    made = [*decided, *_unsaid(bound, decided)]
    order = {entry.id: entry.seq for entry in (*path, *notes)}
    settled = sorted(
        (_placed(one, scene, place, session) for one in made),
        key=lambda one: order.get(one.ref, 0),
    )
    link = resumed_from(notes)
    return Told(
        session,
        title,
        next((entry.at for entry in path if entry.at), ""),
        tuple(settled),
        tuple(one for one in (want.intent.original, *want.words, want.intent.current) if one.text),
        link.session if link else "",
        tuple(_handed(notes)),
    )


def _handed(notes: Iterable[Entry]) -> Iterator[str]:
    for entry in notes:
        if isinstance(entry.body, Handed):
            yield from (ref for one in entry.body.packet.decisions for ref in one.refs)


def _decided(scene: Scene, place: Mapping[str, int]) -> list[Statement]:
    found = decisions_of(scene)
    gone = overruled(found)
    return [
        Statement(
            "decision",
            one.choice,
            one.entry,
            one.reason,
            one.by,
            replaces=one.overrules,
            replaced_by=_later(one, found[gone[number]].entry, place) if number in gone else "",
        )
        for number, one in enumerate(found)
    ]


def _later(one: Decision, by: str, place: Mapping[str, int]) -> str:
    """What took the place of a decision; never something that was said before it."""
    return by if place.get(by, 0) > place.get(one.entry, 0) else ""


def _bound(rows: Iterable[Constraint]) -> list[Statement]:
    return [
        Statement("constraint", row.text, row.entry, by=row.by, replaced_by=row.lifted)
        for row in rows
    ]


def _unsaid(bound: Sequence[Statement], decided: Sequence[Statement]) -> list[Statement]:
    """Constraints that are no decision as well; one that is part of a decision goes with it."""
    of_entry: dict[str, list[Statement]] = {}
    for one in decided:
        of_entry.setdefault(one.ref, []).append(one)
    kept: list[Statement] = []
    for one in bound:
        beside = of_entry.get(one.ref, [])
        whole = next((other for other in beside if _holds(other, one)), None)
        if whole is None or (one.replaced_by and not whole.replaced_by):
            kept.append(one)
    return kept


def _holds(decision: Statement, constraint: Statement) -> bool:
    return constraint.text in decision.text or decision.text in constraint.text


def _placed(one: Statement, scene: Scene, place: Mapping[str, int], session: str) -> Statement:
    at = place.get(one.ref)
    if at is None:
        return replace(one, session=session)
    entry = scene.items[at].entry
    return replace(
        one,
        session=session,
        turn=scene.steps[at],
        at=entry.at,
        around=_around(one.text, scene, at),
    )


def _around(text: str, scene: Scene, at: int) -> str:
    """The rest of what was said there, and the request that it belongs to."""
    said = text_of(scene.items[at].body)
    start = max(said.find(text), 0)
    beside = f"{said[max(start - AROUND, 0) : start]} {said[start + len(text) :][:AROUND]}"
    if is_request(scene.items[at].body):
        return beside
    before = next(
        (text_of(item.body) for item in reversed(scene.items[:at]) if is_request(item.body)), ""
    )
    return f"{before[:ASKED_BEFORE]} {beside}"
