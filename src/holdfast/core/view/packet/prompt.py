"""Render a packet as the Markdown that a worker reads, the most binding content first.

Quoted text cannot pass for a heading or a row of ours: rows are one line each, and a line of the
goal that looks like a heading is escaped.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from holdfast.core.ledger.packet import Choice, Codebase, FailedAttempt, Packet, Pivot
from holdfast.text.clip import clip_words, one_line
from holdfast.text.jsontext import SURROGATE
from holdfast.text.patterns import Pattern

_RULE = Pattern(r"\s{0,8}[-=_*~]{3,}\s{0,8}$")
_HEADING = Pattern(r"^(\s{0,3})([#>-]|`{3}|~{3})")

NOTHING = "nothing that a worker acts on"
CHANGES, CHANGE = 3, 140
"""Newest revisions that are shown, and characters of each."""

Lines: TypeAlias = Iterator[str]


def to_prompt(packet: Packet) -> str:
    """Render the packet as the text that a worker gets."""
    text = "\n".join(line for part in PARTS for line in part(packet))
    return SURROGATE.sub("\ufffd", text)


def _goal(packet: Packet) -> Lines:
    if packet.goal:
        yield "# Goal"
        yield from _quoted(packet.goal)
    yield from _rows("Done when:", packet.success_criteria)


def _quoted(text: str) -> Lines:
    """A text line by line, without what only parts it; no line of it can pass for ours."""
    for line in text.split("\n"):
        if line.strip() and not _RULE.match(line):
            yield _HEADING.sub(r"\1\\\2", line.rstrip())


def _constraints(packet: Packet) -> Lines:
    # A goal that is nothing but the constraint says it already.
    goal = one_line(packet.goal)
    rows = [one for one in packet.constraints if one_line(one) != goal]
    yield from _rows("## Constraints (follow exactly)", rows)


def _decisions(packet: Packet) -> Lines:
    # What a constraint says word for word is not told twice.
    bound = "\n".join(packet.constraints)
    rows = [render_decision(one) for one in packet.decisions if not is_bound(one, bound)]
    yield from _rows("## Decided (do not decide again)", rows)


def is_bound(one: Choice, bound: str) -> bool:
    """Return whether the constraints say what was decided, also where the decision is cut."""
    return one.choice.removesuffix("…") in bound


def render_decision(one: Choice) -> str:
    """Render a decision on one line."""
    reason = f" — {one_line(one.reason)}" if one.reason else ""
    was = f" (was: {one_line(one.superseded)})" if one.superseded else ""
    return f"{one_line(one.choice)}{reason}{was} [{one.made_by}]"


def _state(packet: Packet) -> Lines:
    yield from _rows("## Where it stands", packet.state)


def _codebase(packet: Packet) -> Lines:
    code = packet.codebase
    if code == Codebase():
        return
    yield "## Code"
    for file in code.relevant_files:
        summary = f": {one_line(file.summary)}" if file.summary else ""
        yield f"- {one_line(file.path)}{summary}"
    yield from _rows("Follow:", code.patterns)
    if code.examples:
        yield f"Read for reference: {', '.join(map(one_line, code.examples))}"
    yield from _rows("Avoid:", code.anti_patterns)


def _history(packet: Packet) -> Lines:
    yield from _rows(
        "## Tried and failed", [render_failed_attempt(one) for one in packet.failed_attempts]
    )
    yield from _rows("## Changed on the way", [render_pivot(one) for one in packet.pivots])
    yield from _rows("## Open questions", packet.open_questions)


def render_failed_attempt(one: FailedAttempt) -> str:
    """Render a failed attempt on one line."""
    return _because(one.approach, one.reason_failed)


def render_pivot(one: Pivot) -> str:
    """Render a change of direction on one line."""
    return _because(one.change, one.reason)


def _because(what: str, why: str) -> str:
    return f"{one_line(what)} — {one_line(why)}" if why else one_line(what)


def _prior(packet: Packet) -> Lines:
    if packet.prior_session:
        yield "## Prior Session Context"
        for line in packet.prior_session.split("\n"):
            # Its own rows begin with a dash; quoted lines in it are indented.
            yield from [line] if line.startswith("- ") else _quoted(line)


def _changes(packet: Packet) -> Lines:
    if packet.revision > 1:
        changes = [one for one in packet.changelog[1:] if not one.what.endswith(NOTHING)]
        rows = [f"v{one.revision}: {_brief(one.what)}" for one in changes[-CHANGES:]]
        yield from _rows("## What changed in this packet", rows)


def _brief(text: str) -> str:
    return clip_words(one_line(text), CHANGE, "…", split=False)


def _rest(packet: Packet) -> Lines:
    yield from _rows("## Not included", packet.not_included)


def _rows(title: str, rows: Iterable[str]) -> Lines:
    told = [f"- {line}" for row in rows if (line := one_line(row))]
    if told:
        yield title
        yield from told


PARTS: tuple[Callable[[Packet], Lines], ...] = (
    *(_goal, _constraints, _decisions, _state, _codebase, _history, _prior, _changes, _rest),
)
"""The functions that render each part, in order."""
