"""The drift watch at work on a session: judge, search, note, and bring back what was lost.

Judging happens before a request is made up, with the window that the agent had. What comes of it
is noted once. What the agent is told is a message of ours at the end, which stays where it is: what
was sent before it keeps its bytes, and so does what is sent after.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import msgspec

from holdfast.core.faults import attempt
from holdfast.core.index.passages import readable
from holdfast.core.ledger.entry import Derived, Entry, EntryId, Noted, Said, Source, role_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.summary import Intent
from holdfast.core.ledger.window import Item, Window, fold, in_force, path_to
from holdfast.core.observe.requests.intent import wanted
from holdfast.core.observe.scene import read_scene
from holdfast.core.verify.drift.armed import DRIFT, Watched, arms, pending, since_summary, watched
from holdfast.core.verify.drift.ground import Ground, Seen, ground_of, seen_in
from holdfast.core.verify.drift.judge import judge
from holdfast.core.verify.drift.message import Move, move_of, referred
from holdfast.core.verify.drift.signs import SIGN, Drift, Finding, Signal
from holdfast.core.view.conversation import opening
from holdfast.core.view.drift import Flagged, render_realignment, render_warning
from holdfast.core.view.search.excerpts import Hit, fitted, part_of
from holdfast.errors import Conflict, HoldfastError, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, cleaned, encode, parse
from holdfast.wire.detect import MESSAGE_WIRES, PLAIN, TRANSCRIPT_WIRES, wire_of_messages

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

logger = logging.getLogger(__name__)

SPANS = 3
"""Spans that are brought back at most."""
RECOVERED = 600
"""Tokens of what is brought back, fences included."""
NOTED = 300
"""Characters of evidence that a note keeps."""
LINES_BEFORE, LINES_AFTER = 2, 5
QUERY = 160
"""Characters of a quotation by which it is looked for."""


def judged(ledger: "Ledger", message_or_text: Mapping[str, object] | str) -> Drift:
    """What the agent's next message looks like against the session.

    Raises:
        Unreadable: a message was given that is none.
    """
    bodies = _bodies(ledger, message_or_text)
    window = ledger.sight.window(whole=True)
    record = _record(window)
    return judge(move_of(bodies), _ground(window, _summary_at(window), record, seen_in(record)))


def _bodies(ledger: "Ledger", given: Mapping[str, object] | str) -> list[Source]:
    if isinstance(given, str):
        return [Said("assistant", as_text(cleaned(given)))]
    try:
        value = as_object(parse(encode(given))[0])
    except NotJson as error:
        raise Unreadable("message", str(error)) from None
    return MESSAGE_WIRES[_wire_for(ledger, value)].read(value)


def _wire_for(ledger: "Ledger", value: dict[str, Json]) -> str:
    wire = (ledger.store.head(ledger.name) or Head()).wire
    spoken = TRANSCRIPT_WIRES[wire].SPEAKS if wire in TRANSCRIPT_WIRES else wire
    if spoken in MESSAGE_WIRES and MESSAGE_WIRES[spoken].fits(value) is not False:
        return spoken
    return wire_of_messages([value]) or PLAIN


def _summary_at(window: Window) -> int | None:
    return max((entry.seq for entry in in_force(window) if arms(entry)), default=None)


def _ground(window: Window, summary_at: int | None, record: Sequence[Item], seen: Seen) -> Ground:
    items, ledger = list(window.items), window.ledger
    return ground_of(record, items, ledger, summary_at=summary_at, seen=seen)


def _record(window: Window) -> list[Item]:
    return [Item(entry) for entry in path_to(window.end, window.ledger)]


def recalled(
    query: str, entries: Sequence[Entry], in_sight: frozenset[EntryId], limit: int
) -> list[Hit]:
    """Where something was said, word for word: what is out of sight first, then the newest.

    When it stands nowhere as it is, entries that hold all of its words are found instead.
    """
    texts = [(entry, readable(entry.body).lower()) for entry in reversed(entries)]
    needle, words = query.lower(), query.lower().split()
    whole = [entry for entry, text in texts if needle in text]
    found = whole or [entry for entry, text in texts if all(word in text for word in words)]
    line = needle if whole else max(words, key=len, default="")
    best = sorted(found, key=lambda entry: entry.id in in_sight)[:limit]
    parts = (_around(entry, line, entries, entry.id not in in_sight) for entry in best)
    return [part for part in parts if part is not None]


def _around(entry: Entry, needle: str, entries: Sequence[Entry], hidden: bool) -> Hit | None:
    """Some lines of an entry, from shortly before the one that holds something."""
    lines = readable(entry.body).lower().split("\n")
    at = next((number for number, line in enumerate(lines, 1) if needle in line), 1)
    first, last = at - LINES_BEFORE, at + LINES_AFTER
    return part_of(entry, entries, first=first, last=last, hidden=hidden)


def missing_spans(drift: Drift, window: Window) -> list[Hit]:
    """What the agent lost: the spans out of sight that its signals point at."""
    entries = [entry for entry in window.ledger if not isinstance(entry.body, Derived)]
    in_sight = frozenset(item.entry.id for item in window.items if item.stand_in is None)
    found: dict[tuple[str, int], Hit] = {}
    for signal in drift.signals:
        for one in _spans(signal.finding, entries, in_sight):
            if one.hidden and one.text != signal.finding.quote:
                found.setdefault((one.ref, one.first), one)
    return list(found.values())[:SPANS]


def _spans(
    finding: Finding, entries: Sequence[Entry], in_sight: frozenset[EntryId]
) -> Iterator[Hit]:
    line = next((line for line in finding.quote.split("\n") if line.strip()), "")[:QUERY].strip()
    if line and finding.ref:
        yield from (
            one
            for one in recalled(line, entries, in_sight, 4 * SPANS)
            if finding.ref.startswith(one.ref)
        )
    elif finding.ref:
        entry = next((entry for entry in entries if entry.id == finding.ref), None)
        shown = part_of(entry, entries, first=1, last=12, hidden=True) if entry else None
        if entry is not None and shown is not None and entry.id not in in_sight:
            yield shown
    for name in finding.missing[:SPANS]:
        yield from recalled(name, entries, in_sight, 1)


def reviewed(ledger: "Ledger", steps: int = 0) -> tuple[list[Flagged], int]:
    """Every step after a summary of a recorded session that drifted, and how many were judged."""
    entries = ledger.sight.window(whole=True).ledger
    flagged: list[Flagged] = []
    count, seen = 0, Seen()
    for step in watched(entries, steps or ledger.policy.drift.steps):
        first = step.entries[0].seq
        before = fold((e for e in entries if e.seq < first), lane=ledger.agent)
        move, record = move_of(step.bodies), _record(before)
        seen = seen_in(record, seen)
        drift = judge(move, _ground(before, step.summary.seq, record, seen))
        count += 1
        if drift.signals:
            flagged.append(_flagged(ledger, step, move, drift, before))
    return flagged, count


def _flagged(ledger: "Ledger", step: Watched, move: Move, drift: Drift, window: Window) -> Flagged:
    count = counter((ledger.store.head(ledger.name) or Head()).vocabulary)
    recovered = fitted(missing_spans(drift, window), count, RECOVERED)
    at = step.entries[0].at
    return Flagged(drift, step.id, step.summary.id, told(move), at, tuple(recovered))


def told(move: Move) -> str:
    """What a message does, in a line."""
    said = " ".join(move.text.split())
    calls = [f"{call.tool}: {' '.join(referred(call).split())}" for call in move.calls]
    return opening(" | ".join([part for part in (said, *calls) if part]), 2 * NOTED)


class Watch:
    """The watch over one session, which remembers what it has looked at."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._seen: set[EntryId] = set()
        self._known = Seen()
        """What stands in the record that was last judged against."""

    def consider(self) -> None:
        """Look. Never raises: the agent goes on with what it had, and is judged the next time."""
        try:
            attempt("drift watch", self.look, lambda: None)
        except HoldfastError as error:
            logger.warning("the agent of %r was not watched: %s", self._ledger.name, error)

    def look(self) -> None:
        """Judge the agent's new steps, while a summary is new to it; note and tell what drifted."""
        session = self._ledger
        if not session.policy.drift.watch:
            return
        window = session.window()
        if not window.generation:
            return
        for step in since_summary(window.ledger, session.policy.drift.steps):
            if step.id not in self._seen:
                self._judge(step)
                self._seen.add(step.id)
        self._tell()

    def _judge(self, step: Watched) -> None:
        session = self._ledger
        window = session.sight.window(whole=True)
        if _is_noted(step, window.ledger):
            return
        first = step.entries[0].seq
        before = fold((entry for entry in window.ledger if entry.seq < first), lane=session.agent)
        move, record = move_of(step.bodies), _record(before)
        self._known = seen_in(record, self._known)
        drift = judge(move, _ground(before, step.summary.seq, record, self._known))
        if not drift.signals:
            return
        flagged = _flagged(session, step, move, drift, before)
        session.note(DRIFT, **_facts(flagged))
        names = ", ".join(signal.name for signal in drift.signals)
        logger.warning("the agent of %r may have left its goal: %s", session.name, names)

    def _tell(self) -> None:
        """Add what the agent has to be told, where it may stand; once for every note."""
        session = self._ledger
        # First the head, then the window: whatever is written in between shows as a conflict.
        head = session.store.head(session.name) or Head()
        window = session.window()
        note = pending(window.ledger)
        if note is None or not isinstance(note.body, Noted) or not _may_follow(window.items):
            return
        if head.wire in TRANSCRIPT_WIRES:
            # The agent's own program makes its requests: nobody would send what we add.
            return
        text = session.redactor.text(self.realignment(note.body))
        with suppress(Conflict):  # Whoever wrote in between is told of with the next request.
            session.say(text, after=head.seq)

    def realignment(self, note: Noted) -> str:
        """What an agent that drifted is told: the goal, and what it lost."""
        whole = self._ledger.sight.window(whole=True)
        path = path_to(whole.end, whole.ledger)
        return render_realignment(
            signals_of(note), _intent(path), note.facts.get("action", ""), _brought(note, path)
        )


def _is_noted(step: Watched, ledger: Iterable[Entry]) -> bool:
    return any(
        isinstance(entry.body, Noted)
        and entry.body.what == DRIFT
        and entry.body.facts.get("entry") == step.id
        for entry in ledger
    )


def _facts(one: Flagged) -> dict[str, str]:
    """A note of drift: signals with their evidence, and where the missing spans stand."""
    spans = [[back.ref, back.first, back.last] for back in one.recovered]
    signals = [
        {
            "name": signal.name,
            "finding": msgspec.structs.replace(
                signal.finding,
                evidence=signal.finding.evidence[:NOTED],
                quote=signal.finding.quote[:NOTED],
            ),
        }
        for signal in one.drift.signals
    ]
    return {
        "entry": one.ref,
        "summary": one.summary,
        "score": f"{one.drift.score:.2f}",
        "step": str(one.drift.since),
        "names": ", ".join(signal.name for signal in one.drift.signals),
        "why": "; ".join(signal.finding.why for signal in one.drift.signals),
        "action": one.action[:NOTED],
        "signals": msgspec.json.encode(signals).decode(),
        "recovered": msgspec.json.encode(spans).decode(),
    }


def signals_of(note: Noted) -> list[Signal]:
    """The signals that a note of drift tells of."""
    found: list[Signal] = []
    for one in _listed(note, "signals"):
        value = cast(dict[str, object], one)
        sign = SIGN.get(str(value.get("name")))
        if sign is not None:
            finding = msgspec.convert(value.get("finding"), Finding)
            found.append(Signal(sign.name, sign.severity, sign.what, sign.action, finding))
    return found


def _listed(note: Noted, fact: str) -> list[object]:
    return cast(list[object], msgspec.json.decode(note.facts.get(fact, "[]")))


def _brought(note: Noted, path: Sequence[Entry]) -> list[Hit]:
    """The spans that a note names, read anew: what was purged since does not come back."""
    found: list[Hit] = []
    for ref, first, last in cast(list[tuple[str, int, int]], _listed(note, "recovered")):
        entry = next((entry for entry in path if entry.id.startswith(ref)), None)
        if entry is not None:
            one = part_of(entry, path, first=first, last=last, hidden=True)
            found += [one] if one is not None else []
    return found


def _intent(path: Sequence[Entry]) -> Intent:
    return wanted(read_scene([Item(entry) for entry in path])).intent


def warning_of(ledger: "Ledger", drift: Drift, action: str) -> str:
    """The protocol's warning for a message that drifted."""
    return render_warning(drift.signals, ledger.intent(), action)


def _may_follow(items: Sequence[Item]) -> bool:
    """Whether words of ours may stand at the end: the agent is next, and no call is open."""
    if not items or role_of(items[-1].body) == "assistant":
        return False
    scene = read_scene(items[-200:])
    return all(pair.result is not None for pair in scene.pairs if pair.step == scene.step_count)
