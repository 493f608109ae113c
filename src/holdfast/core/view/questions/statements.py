"""Collect the decisions, constraints and pins of a session as statements with author and context.

Earlier stages read decisions and constraints from the record. Here they become one type, with the
words around them, so that a question can be compared with any of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Derived,
    Entry,
    Opaque,
    PacketSent,
    ToolCalled,
    ToolReturned,
    is_request,
    text_of,
)
from holdfast.core.ledger.inherited import find_resumed
from holdfast.core.ledger.summary import Constraint, Decision, Quote
from holdfast.core.observe.files.touch import bare_tool_name
from holdfast.core.observe.requests.intent import read_intent
from holdfast.core.observe.requests.pins import lift_unpinned, pinned_constraints
from holdfast.core.observe.requests.replies import PLAN_TOOLS, QUESTION_TOOLS
from holdfast.core.observe.results.choices import overruled_decisions
from holdfast.core.observe.results.decisions import decisions_of
from holdfast.core.observe.scene import Scene, scene_of

AROUND_CHARS = 240
"""Characters on either side of a statement that show its subject."""
REQUEST_CHARS = 300
"""Characters of the preceding request that show its subject."""

StatementKind: TypeAlias = Literal["decision", "constraint", "passage"]


class Statement(Struct, frozen=True, omit_defaults=True):
    """A decision, constraint or passage that is in force or was replaced."""

    kind: StatementKind
    text: str
    ref: str
    """The entry that contains it."""
    reason: str = ""
    by: str = ""
    """Its author: `user`, `agent`, `system`; for a passage, the role of the speaker."""
    session: str = ""
    turn: int = 0
    """The step of the agent that it belongs to; 0 before the first."""
    at: str = ""
    replaces: str = ""
    """The entry of the statement that it replaces."""
    replaced_by: str = ""
    """The entry of the statement that replaced it; empty while it is in force."""
    around: str = ""
    """The words beside it."""

    @property
    def key(self) -> tuple[str, str]:
        """Return its identity: an entry may contain several statements."""
        return self.ref, self.text

    @property
    def words(self) -> str:
        """Return its text with its reason."""
        return f"{self.text} — {self.reason}" if self.reason else self.text


class SessionStatements(Struct, frozen=True):
    """The statements of one session, with its requests and its relations to other sessions."""

    session: str = ""
    title: str = ""
    began: str = ""
    """Time of its first entry; empty when no entry has a time."""
    settled: tuple[Statement, ...] = ()
    """Its decisions, constraints and pins, oldest first."""
    requests: tuple[Quote, ...] = ()
    """The user's requests, word for word."""
    after: str = ""
    """The session that it continues."""
    handed: tuple[str, ...] = ()
    """Entries of decisions that it passed on in packets."""


def without_silent(path: Iterable[Entry]) -> list[Entry]:
    """Return a path without the contents of calls and results that hold no statement."""
    asked: set[str] = set()
    return [_without_silent(entry, asked) for entry in path]


def _without_silent(entry: Entry, asked: set[str]) -> Entry:
    match entry.body:
        case ToolCalled(call=call, tool=tool) as body:
            if bare_tool_name(tool) not in QUESTION_TOOLS | PLAN_TOOLS:
                return replace(entry, body=replace(body, arguments="{}"))
            asked.add(call)
            return entry
        # The user's words are in the answer to a question, or where a call was refused.
        case ToolReturned(call=call, failed=False) as body if call not in asked:
            return replace(entry, body=replace(body, output="", media=()))
        case Opaque() as body:
            return replace(entry, body=replace(body, json="{}"))
        case _:
            return entry


def read_statements(
    path: Sequence[Entry], ledger: Iterable[Entry], *, session: str = "", title: str = ""
) -> SessionStatements:
    """Read the statements of a session from its path and from the notes in its ledger."""
    scene = scene_of(path)
    notes = [entry for entry in ledger if isinstance(entry.body, Derived)]
    position = {item.entry.id: at for at, item in enumerate(scene.items)}
    intent = read_intent(scene)
    decisions = _decision_statements(scene, position)
    constraints = _constraint_statements(
        lift_unpinned([*intent.constraints, *pinned_constraints(notes)], notes)
    )
    statements = [*decisions, *_outside_decisions(constraints, decisions)]
    seq_by_entry = {entry.id: entry.seq for entry in (*path, *notes)}
    settled = sorted(
        (_with_place(statement, scene, position, session) for statement in statements),
        key=lambda statement: seq_by_entry.get(statement.ref, 0),
    )
    link = find_resumed(notes)
    return SessionStatements(
        session,
        title,
        next((entry.at for entry in path if entry.at), ""),
        tuple(settled),
        tuple(
            quote
            for quote in (intent.intent.original, *intent.words, intent.intent.current)
            if quote.text
        ),
        link.session if link else "",
        tuple(_handed_refs(notes)),
    )


def _handed_refs(notes: Iterable[Entry]) -> Iterator[str]:
    for entry in notes:
        if isinstance(entry.body, PacketSent):
            yield from (ref for decision in entry.body.packet.decisions for ref in decision.refs)


def _decision_statements(scene: Scene, place: Mapping[str, int]) -> list[Statement]:
    found = decisions_of(scene)
    overruled_by = overruled_decisions(found)
    return [
        Statement(
            "decision",
            decision.choice,
            decision.entry,
            decision.reason,
            decision.by,
            replaces=decision.overrules,
            replaced_by=_replaced_by(decision, found[overruled_by[number]].entry, place)
            if number in overruled_by
            else "",
        )
        for number, decision in enumerate(found)
    ]


def _replaced_by(decision: Decision, by: str, place: Mapping[str, int]) -> str:
    """Return what replaced a decision; empty if that was said before the decision."""
    return by if place.get(by, 0) > place.get(decision.entry, 0) else ""


def _constraint_statements(rows: Iterable[Constraint]) -> list[Statement]:
    return [
        Statement("constraint", row.text, row.entry, by=row.by, replaced_by=row.lifted)
        for row in rows
    ]


def _outside_decisions(
    constraints: Sequence[Statement], decisions: Sequence[Statement]
) -> list[Statement]:
    """Return the constraints that no decision of the same entry contains."""
    of_entry: dict[str, list[Statement]] = {}
    for decision in decisions:
        of_entry.setdefault(decision.ref, []).append(decision)
    outside: list[Statement] = []
    for constraint in constraints:
        beside = of_entry.get(constraint.ref, [])
        whole = next((other for other in beside if _overlaps(other, constraint)), None)
        if whole is None or (constraint.replaced_by and not whole.replaced_by):
            outside.append(constraint)
    return outside


def _overlaps(decision: Statement, constraint: Statement) -> bool:
    return constraint.text in decision.text or decision.text in constraint.text


def _with_place(
    statement: Statement, scene: Scene, place: Mapping[str, int], session: str
) -> Statement:
    at = place.get(statement.ref)
    if at is None:
        return replace(statement, session=session)
    entry = scene.items[at].entry
    return replace(
        statement,
        session=session,
        turn=scene.steps[at],
        at=entry.at,
        around=_context_of(statement.text, scene, at),
    )


def _context_of(text: str, scene: Scene, at: int) -> str:
    """Return the text around a statement, and the request that it belongs to."""
    full_text = text_of(scene.items[at].body)
    start = max(full_text.find(text), 0)
    before = full_text[max(start - AROUND_CHARS, 0) : start]
    beside = f"{before} {full_text[start + len(text) :][:AROUND_CHARS]}"
    if is_request(scene.items[at].body):
        return beside
    request = next(
        (text_of(item.body) for item in reversed(scene.items[:at]) if is_request(item.body)), ""
    )
    return f"{request[:REQUEST_CHARS]} {beside}"
