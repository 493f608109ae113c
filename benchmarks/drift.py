"""Does the drift watch tell an agent that left its goal from one that goes on?

Every long session is cut at half and at three quarters of its tokens, and where it was really
compacted. What stands before the cut is summarised. What the agent really did next, message by
message, is the undisturbed continuation: whatever is flagged there is a false alarm. Against it
stand messages of agents that drifted: what the agent of another project did at the same point of
its session, and messages made from the session's own rows (`benchmarks.drifted`), in wordings that
the rules were tried with and in others that they never met. At four more cuts only false alarms are
counted.

AUC is the chance that a message that drifted scores above one that did not.
"""

import json
import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from benchmarks.data import data_folder
from benchmarks.drifted import drifted
from benchmarks.peers import Message, plain
from benchmarks.recall import CUTS, PROCESSES, as_recorded, legal_cuts, session_files, tokens_of
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Compressed
from holdfast.core.ledger.window import Item, in_force
from holdfast.core.verify.drift.evidence import Evidence, evidence_of
from holdfast.core.verify.drift.judge import RULES
from holdfast.core.verify.drift.message import agent_message
from holdfast.core.verify.drift.signs import SIGN_THRESHOLD, combine_findings
from holdfast.errors import HoldfastError
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.wire import openai_chat

STEPS = 3
BUDGET = 0.25
"""Of the tokens before a cut: what the window may have after the summary."""
OTHERS = 2
"""Sessions of other projects that are spliced in at each cut."""
REAL = "what really followed"
ELSEWHERE, OTHER_CUTS = "what really followed elsewhere", (0.3, 0.4, 0.6, 0.9)
"""Cuts at which only false alarms are counted."""
SPLICED = "another project's next message"
EARLY, NOTHING_DONE = "done early", "done with nothing to show"
KINDS = {
    SPLICED: "subtask",
    "against a constraint": "constraint",
    NOTHING_DONE: "completion",
    EARLY: "completion",
    "asks for the task": "clarification",
    "asks for what was said": "clarification",
    "against a decision": "decision",
    "reads it all again": "repetition",
}
"""Each way to drift, and the signal that is meant for it."""
ASKED_FOR = tuple(KINDS)[:6]
"""The ways that count for the overall figure."""


class Row(NamedTuple):
    """One message, judged."""

    session: str
    kind: str
    held_out: bool
    scores: dict[str, float]
    score: float
    flagged: bool
    text: str


def run() -> None:
    """Print the tables."""
    names = [name for name, _ in session_files()]
    if not names:
        print("drift: no real sessions here (set HOLDFAST_DATA)")
        return
    with ProcessPoolExecutor(PROCESSES) as pool:
        rows = [row for found in pool.map(measured, names) for row in found]
    report(rows)


def report(rows: Sequence[Row]) -> None:
    """Print what the rows come to."""
    real = [row for row in rows if row.kind == REAL]
    alarms = [row for row in real if row.flagged]
    print(f"\n{len({row.session for row in rows})} sessions, {len(real)} undisturbed messages, ")
    print(f"{len(alarms)} of them flagged: {len(alarms) / len(real):.1%} false alarms")
    others = [row for row in rows if row.kind == ELSEWHERE]
    wrong = sum(row.flagged for row in others)
    print(f"at other cuts {wrong} of {len(others)}: {wrong / len(others):.1%} false alarms")
    made = [row for row in rows if row.kind in ASKED_FOR]
    print_table(
        "Each way to drift against what really followed",
        ("way", "signal", "messages", "AUC of the signal", "AUC overall", "flagged"),
        [
            *(_row(kind, _of(rows, kind), real) for kind in KINDS),
            *(_row(f"{kind}, new wording", _of(rows, kind, True), real) for kind in KINDS),
            _row("all ways asked for", made, real),
            _row("all ways asked for, new wording", [row for row in made if row.held_out], real),
        ],
    )
    print_table(
        "False alarms by signal, of undisturbed messages",
        ("signal", "flagged", "share"),
        [
            (name, count, f"{count / len(real):.1%}")
            for name in RULES
            for count in [sum(row.scores[name] >= SIGN_THRESHOLD for row in real)]
        ],
    )


def _of(rows: Iterable[Row], kind: str, held_out: bool = False) -> list[Row]:
    return [row for row in rows if row.kind == kind and row.held_out >= held_out]


def _row(title: str, made: Sequence[Row], real: Sequence[Row]) -> tuple[object, ...]:
    if not made:
        return (title, "-", 0, "-", "-", "-")
    names = {KINDS[row.kind] for row in made}
    own = "-"
    if len(names) == 1:
        name = next(iter(names))
        own = f"{auc([r.scores[name] for r in made], [r.scores[name] for r in real]):.3f}"
    whole = auc([row.score for row in made], [row.score for row in real])
    flagged = sum(row.flagged for row in made) / len(made)
    return (title, "/".join(sorted(names)), len(made), own, f"{whole:.3f}", f"{flagged:.0%}")


def auc(above: Sequence[float], below: Sequence[float]) -> float:
    """The chance that one of the first is larger than one of the second; half for a tie."""
    order = sorted(below)
    won = sum((bisect_left(order, one) + bisect_right(order, one)) / 2 for one in above)
    return won / (len(above) * len(order))


def measured(name: str) -> list[Row]:
    """All messages of one session's cuts, judged."""
    rows: list[Row] = []
    for place, share in points(name):
        ground = grounds(name, place)
        messages = _session(name)
        for grown, message in continued(ground, messages[place:]):
            rows.append(_judged(name, REAL, False, message, grown))
        for message in _spliced(name, share):
            rows.append(_judged(name, SPLICED, True, message, ground.ground))
        for made in drifted(ground.ground, _hidden_calls(ground, messages[:place])):
            rows.append(_judged(name, *made, ground.ground))
    for place in _cut(name, OTHER_CUTS):
        for grown, message in continued(grounds(name, place), _session(name)[place:]):
            rows.append(_judged(name, ELSEWHERE, False, message, grown))
    return rows


def _judged(name: str, kind: str, held_out: bool, message: Message, ground: Evidence) -> Row:
    move = agent_message(openai_chat.read(message))
    findings = {rule: judge(move, ground) for rule, judge in RULES.items()}
    scores = {rule: found.strength for rule, found in findings.items()}
    found = combine_findings(findings)
    if kind == EARLY and not (ground.delivered.made or ground.delivered.passed):
        kind = NOTHING_DONE
    return Row(name, kind, held_out, scores, found.score, bool(found.signals), _told(message))


def _told(message: Message) -> str:
    calls = [call["function"]["arguments"][:80] for call in message.get("tool_calls") or ()]
    return f"{(message.get('content') or '')[:160]!r} {calls[:2]}"


class Grown(NamedTuple):
    """A ground, and what it was made from."""

    ground: Evidence
    session: Session
    summary_at: int


@cache
def _session(name: str) -> list[Message]:
    return as_recorded(dict(session_files(0))[name])


@cache
def points(name: str) -> list[tuple[int, float]]:
    """Where a session is cut: half, three quarters, and where it was really compacted."""
    messages = _session(name)
    cuts = _cut(name, CUTS)
    real = [
        (place + 1, -1.0)
        for place, message in enumerate(messages)
        if message.get("x_compact_summary") and place + 1 < len(messages)
    ]
    return [*cuts.items(), *real]


def _cut(name: str, shares: Iterable[float]) -> dict[int, float]:
    """The legal places that are nearest to shares of a session's tokens."""
    messages = [plain(message) for message in _session(name)]
    total = sum(map(tokens_of, messages))
    legal = list(legal_cuts(messages))
    return {min(legal, key=lambda at: abs(at[1] - share * total))[0]: share for share in shares}


def grounds(name: str, place: int) -> Grown:
    """The ground at a cut: summarised by us, or as the agent's own program did it."""
    before = _session(name)[:place]
    session = Session(name, MemoryStore())
    session.extend([plain(message) for message in before])
    if before[-1].get("x_compact_summary"):
        summary_at = session.ledger.path()[-1].seq - 1
        items = session.ledger.window().items
        shown = [item for item in items if item.entry.seq > summary_at]
        return Grown(_ground(session, shown, summary_at), session, summary_at)
    with suppress(HoldfastError):
        session.compact(int(sum(map(tokens_of, map(plain, before))) * BUDGET))
    window = session.ledger.live_window.window(whole=True)
    made = [e.seq for e in in_force(window) if isinstance(e.body, Compressed)]
    summary_at = max(made, default=max(entry.seq for entry in window.ledger))
    return Grown(_ground(session, window.items, summary_at), session, summary_at)


def _ground(session: Session, shown: Iterable[Item], summary_at: int) -> Evidence:
    window = session.ledger.live_window.window(whole=True)
    record = [Item(entry) for entry in session.ledger.path()]
    return evidence_of(record, list(shown), window.ledger, summary_at=summary_at)


def continued(start: Grown, after: Sequence[Message]) -> Iterator[tuple[Evidence, Message]]:
    """The next messages of the agent, each with the ground as it was then."""
    session, judged, fresh = start.session, 0, False
    ground = start.ground
    for message in after:
        if message["role"] == "assistant":
            if fresh:
                ground = _ground(session, session.ledger.window().items, start.summary_at)
            yield ground, plain(message)
            judged += 1
        if judged == STEPS:
            return
        session.append(plain(message))
        fresh = True


def _spliced(name: str, share: float) -> Iterator[Message]:
    """What agents of other projects did next, at the same point of their sessions."""
    repos = _repos()
    others = [other for other in repos if repos[other] != repos[name]]
    chosen = random.Random(f"{name} {share}").sample(others, OTHERS)
    for other in chosen:
        place = {at: place for place, at in points(other)}.get(share, points(other)[0][0])
        following = [m for m in _session(other)[place:] if m["role"] == "assistant"]
        yield from map(plain, following[:STEPS])


@cache
def _repos() -> dict[str, str]:
    folder = data_folder()
    assert folder is not None
    index = json.loads((folder / "dev" / "index.json").read_bytes())
    long = {name for name, _ in session_files()}
    return {about["id"]: about["repo"] for about in index["trajectories"] if about["id"] in long}


def _hidden_calls(ground: Grown, before: Sequence[Message]) -> list[Message]:
    """Calls whose answers left with the summary and still hold."""
    found: dict[str, Message] = {}
    for message in before:
        for call in message.get("tool_calls") or ():
            bodies = openai_chat.read({"role": "assistant", "tool_calls": [call]})
            scores = RULES["repetition"](agent_message(bodies), ground.ground)
            if scores.strength > 0:
                found[call["function"]["arguments"]] = call
    return list(found.values())
