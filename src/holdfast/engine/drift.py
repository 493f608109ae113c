"""Watch a session for drift: judge the agent's steps, note drift, append a realignment message.

Steps are judged before a request is rendered, against the window that the agent had. Each drift is
noted once. The realignment is a message of ours at the end of the window and is never moved, so
that the bytes of earlier requests stay equal.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import attempt
from holdfast.core.index.passages import searchable_text, starts_step
from holdfast.core.ledger.entry import Derived, Entry, EntryId, Noted, Said, Source, role_of
from holdfast.core.ledger.notes import Drifted, Finding, NotedSignal, Span, notes_in
from holdfast.core.ledger.snapshot import hides_by_summary
from holdfast.core.ledger.window import (
    GrowingPath,
    Item,
    Window,
    advance_window,
    path_to,
)
from holdfast.core.observe.moments.story import Story
from holdfast.core.observe.scene import read_scene
from holdfast.core.shrink.summary.story import guiding_rows_to_end, read_on
from holdfast.core.verify.drift.armed import (
    WatchedStep,
    pending_drift,
    steps_since_summary,
    watched_steps,
)
from holdfast.core.verify.drift.evidence import (
    MAX_RECENT_ENTRIES,
    Evidence,
    RecordReader,
    evidence_of,
)
from holdfast.core.verify.drift.judge import judge
from holdfast.core.verify.drift.message import AgentMessage, agent_message, call_reference
from holdfast.core.verify.drift.signs import SIGN_BY_NAME, Drift, Signal
from holdfast.core.view.drift import FlaggedStep, render_realignment
from holdfast.core.view.search.excerpts import Hit, cut_to_budget, excerpt_of_lines
from holdfast.engine.fault_log import notes_faults
from holdfast.errors import Conflict, HoldfastError, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.text.clip import clip_line
from holdfast.text.jsontext import (
    Json,
    NotJson,
    as_object,
    as_text,
    encode,
    parse,
    without_surrogates,
)
from holdfast.wire.detect import (
    DEFAULT_MESSAGE_WIRE,
    MESSAGE_WIRES,
    TRANSCRIPT_WIRES,
    wire_of_messages,
)

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

logger = logging.getLogger(__name__)

WORK_TOKENS = 400
"""Tokens of the state of the work in a realignment."""

MAX_SPANS = 3
"""Maximum number of recovered spans."""
MAX_RECOVERED_TOKENS = 600
"""Maximum tokens of the recovered spans, fences included."""
MAX_EVIDENCE_CHARS = 300
"""Maximum characters of evidence in a note."""
LINES_BEFORE, LINES_AFTER = 2, 5
MAX_QUERY_CHARS = 160
"""Maximum characters of a quotation that is searched for."""


def _bodies(ledger: "Ledger", message: Mapping[str, object] | str) -> list[Source]:
    if isinstance(message, str):
        return [Said("assistant", as_text(without_surrogates(message)))]
    try:
        value = as_object(parse(encode(message))[0])
    except NotJson as error:
        raise Unreadable("message", str(error)) from None
    return MESSAGE_WIRES[_wire_for(ledger, value)].read(value)


def _wire_for(ledger: "Ledger", value: dict[str, Json]) -> str:
    wire = ledger.raw_head().wire
    sent_as = TRANSCRIPT_WIRES[wire].SENT_AS if wire in TRANSCRIPT_WIRES else wire
    if sent_as in MESSAGE_WIRES and MESSAGE_WIRES[sent_as].fits(value) is not False:
        return sent_as
    return wire_of_messages([value]) or DEFAULT_MESSAGE_WIRE


class SearchedRecord(Struct, frozen=True):
    """What lost words are searched in."""

    entries: Sequence[Entry]
    visible: frozenset[EntryId]
    earlier_steps: int = 0
    """The agent's steps before the first of these entries."""

    def excerpt(self, entry: Entry, first: int, last: int, *, hidden: bool) -> Hit | None:
        """Return some lines of an entry."""
        return excerpt_of_lines(
            entry,
            self.entries,
            first=first,
            last=last,
            hidden=hidden,
            earlier_steps=self.earlier_steps,
        )


class PastWindow:
    """The window as it was before a step, and the record up to there; a later step extends both."""

    def __init__(self, lane: str) -> None:
        self.window = Window(lane)
        self._path = GrowingPath()
        self._notes: list[Entry] = []
        self._story = Story()
        self._reader = RecordReader()

    def advance(self, ledger: Sequence[Entry], upto: int) -> None:
        """Go to the entries with numbers below `upto`, which are more than those of the last."""
        later = (ledger[at] for at in range(len(self.window.ledger), len(ledger)))
        fresh = list(takewhile(lambda entry: entry.seq < upto, later))
        self.window = advance_window(self.window, fresh)
        self._notes += (entry for entry in fresh if isinstance(entry.body, Noted))

    def evidence(self, summary_at: int | None) -> Evidence:
        """Collect the evidence for a step that comes next."""
        record = [Item(entry) for entry in self._path.to(self.window)]
        if all(item.entry.id != self._story.end for item in record):
            self._story = Story()
        known = self._story.context
        items = [i for i in record if i.entry.seq > self._story.seq or i.entry.seq in known]
        reading = read_on(self._story, items)
        self._story = reading.story
        return evidence_of(
            record,
            list(self.window.items),
            self._notes,
            summary_at=summary_at,
            reader=self._reader,
            rows=guiding_rows_to_end(reading),
        )

    def searched(self) -> SearchedRecord:
        """Return the record, to search for what left the window."""
        visible = (item.entry.id for item in self.window.items if item.stand_in is None)
        return SearchedRecord(self._path.to(self.window), frozenset(visible))


class LiveRecord:
    """The newest entries of a session under way; a later call reads only those that are new."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._entries: list[Entry] = []
        """Source entries only: the derived ones hold whole summaries."""
        self._path: list[Item] = []
        """The path to the last one that was asked for, which a later one extends."""
        self._seq = self._path_seq = self._erased_upto = 0
        self._reader = RecordReader()

    def evidence(self, before: int, summary_at: int | None) -> Evidence:
        """Collect the evidence for a step whose first entry has the number `before`."""
        session = self._ledger
        recent = self._recent(before)
        return evidence_of(
            recent,
            items_before(session.window(), before),
            [note for note in session.notes() if note.seq < before],
            summary_at=summary_at,
            reader=self._reader,
            rows=session.engine.guiding_rows_before(before),
        )

    def searched(self, before: int) -> SearchedRecord:
        """Return the newest entries before one, to search for what left the window."""
        entries = [item.entry for item in self._recent(before)]
        items = items_before(self._ledger.window(), before)
        visible = frozenset(item.entry.id for item in items if item.stand_in is None)
        steps = self._ledger.raw_head().lane(self._ledger.agent).steps
        read = sum(map(starts_step, self._entries))
        return SearchedRecord(entries, visible, max(steps - read, 0))

    def _recent(self, before: int) -> list[Item]:
        session, since = self._ledger, max(before - MAX_RECENT_ENTRIES, 0)
        if session.erased_upto != self._erased_upto:
            self._entries, self._path, self._seq = [], [], 0
            self._path_seq, self._erased_upto = 0, session.erased_upto
        known = [entry for entry in self._entries if entry.seq > since]
        for entry in session.store.read(session.name, since=max(self._seq, since)):
            self._seq = entry.seq
            if entry.lane == session.agent and not isinstance(entry.body, Derived):
                known.append(entry)
        self._entries = known
        self._path = [item for item in self._path if item.entry.seq > since]
        new = [entry for entry in known if self._path_seq < entry.seq < before]
        if before > self._path_seq and self._path and _is_chain([self._path[-1].entry, *new]):
            self._path += map(Item, new)
        else:
            earlier = [entry for entry in known if entry.seq < before]
            path = path_to(earlier[-1].id if earlier else None, earlier)
            self._path = [Item(entry) for entry in path]
        self._path_seq = before - 1
        return self._path


def _is_chain(entries: Sequence[Entry]) -> bool:
    return all(after.parent == before.id for before, after in pairwise(entries))


def items_before(window: Window, before: int) -> list[Item]:
    """Return the items of a window without those that came with or after an entry."""
    return [item for item in window.items if item.entry.seq < before]


def find_quotes(query: str, record: SearchedRecord, limit: int) -> list[Hit]:
    """Find entries that contain a text literally: hidden ones first, then the newest.

    If none does, return entries that contain all of its words.
    """
    texts = [(entry, searchable_text(entry.body).lower()) for entry in reversed(record.entries)]
    needle, words = query.lower(), query.lower().split()
    whole = [entry for entry, text in texts if needle in text]
    found = whole or [entry for entry, text in texts if all(word in text for word in words)]
    line = needle if whole else max(words, key=len, default="")
    best = sorted(found, key=lambda entry: entry.id in record.visible)[:limit]
    parts = (_excerpt_around(entry, line, record) for entry in best)
    return [part for part in parts if part is not None]


def _excerpt_around(entry: Entry, needle: str, record: SearchedRecord) -> Hit | None:
    """Return some lines of an entry, from shortly before the first one that contains `needle`."""
    lines = searchable_text(entry.body).lower().split("\n")
    at = next((number for number, line in enumerate(lines, 1) if needle in line), 1)
    hidden = entry.id not in record.visible
    return record.excerpt(entry, at - LINES_BEFORE, at + LINES_AFTER, hidden=hidden)


def missing_spans(drift: Drift, record: SearchedRecord) -> list[Hit]:
    """Return the hidden spans that the signals of a drift refer to."""
    found: dict[tuple[str, int], Hit] = {}
    for signal in drift.signals:
        for hit in _spans_for(signal.finding, record):
            if hit.hidden and hit.text != signal.finding.quote:
                found.setdefault((hit.ref, hit.first), hit)
    return list(found.values())[:MAX_SPANS]


def _spans_for(finding: Finding, record: SearchedRecord) -> Iterator[Hit]:
    line = next((line for line in finding.quote.split("\n") if line.strip()), "")[
        :MAX_QUERY_CHARS
    ].strip()
    if line and finding.ref:
        quotes = find_quotes(line, record, 4 * MAX_SPANS)
        yield from (hit for hit in quotes if finding.ref.startswith(hit.ref))
    elif finding.ref:
        entry = next((entry for entry in record.entries if entry.id == finding.ref), None)
        shown = record.excerpt(entry, 1, 12, hidden=True) if entry else None
        if entry is not None and shown is not None and entry.id not in record.visible:
            yield shown
    for name in finding.missing[:MAX_SPANS]:
        yield from find_quotes(name, record, 1)


def review_session(ledger: "Ledger", steps: int = 0) -> tuple[list[FlaggedStep], int]:
    """Judge each step after a summary of a recorded session; return drifted steps and the count."""
    entries = ledger.whole_window().ledger
    flagged: list[FlaggedStep] = []
    count, before = 0, PastWindow(ledger.agent)
    for step in watched_steps(entries, steps or ledger.policy.drift.steps):
        move = agent_message(step.bodies)
        before.advance(entries, step.entries[0].seq)
        drift = judge(move, before.evidence(step.summary.seq))
        count += 1
        if drift.signals:
            flagged.append(_flag_step(ledger, step, move, drift, before.searched()))
    return flagged, count


def _flag_step(
    ledger: "Ledger", step: WatchedStep, move: AgentMessage, drift: Drift, record: SearchedRecord
) -> FlaggedStep:
    count = counter(ledger.raw_head().vocabulary)
    recovered = cut_to_budget(missing_spans(drift, record), count, MAX_RECOVERED_TOKENS)
    at = step.entries[0].at
    return FlaggedStep(drift, step.id, step.summary.id, action_line(move), at, tuple(recovered))


def action_line(move: AgentMessage) -> str:
    """Return the text and the calls of a message in one line."""
    text = " ".join(move.text.split())
    calls = [f"{call.tool}: {' '.join(call_reference(call).split())}" for call in move.calls]
    return clip_line(" | ".join([part for part in (text, *calls) if part]), 2 * MAX_EVIDENCE_CHARS)


class DriftWatch:
    """Watches one session, and remembers which steps it has judged."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._judged_steps: set[EntryId] = set()
        self._record = LiveRecord(ledger)

    @property
    def ledger(self) -> "Ledger":
        """The ledger that it watches."""
        return self._ledger

    @notes_faults
    def judge(self, message_or_text: Mapping[str, object] | str) -> Drift:
        """Judge the agent's next message against the session; change nothing.

        Raises:
            Unreadable: a dictionary was given that is no message.
        """
        bodies = _bodies(self._ledger, message_or_text)
        made = self._ledger.window().ledger
        summary = next((entry.seq for entry in reversed(made) if hides_by_summary(entry)), None)
        following = self._ledger.raw_head().seq + 1
        return judge(agent_message(bodies), self._record.evidence(following, summary))

    def consider(self) -> None:
        """Judge new steps. Never raises: after an error they are judged with the next request."""
        try:
            attempt("drift watch", self.judge_new_steps, lambda: None)
        except HoldfastError as error:
            logger.warning("the agent of %r was not watched: %s", self._ledger.name, error)

    def judge_new_steps(self) -> None:
        """Judge the agent's first steps after a summary; note drift and append a realignment."""
        session = self._ledger
        if not session.policy.drift.watch:
            return
        window = session.window()
        if not window.generation:
            return
        for step in steps_since_summary(window.ledger, session.policy.drift.steps):
            if step.id not in self._judged_steps:
                self._judge_step(step)
                self._judged_steps.add(step.id)
        self._send_realignment()

    def _judge_step(self, step: WatchedStep) -> None:
        session, before = self._ledger, step.entries[0].seq
        if _is_noted(step, session.notes()):
            return
        move = agent_message(step.bodies)
        drift = judge(move, self._record.evidence(before, step.summary.seq))
        if not drift.signals:
            return
        flagged = _flag_step(session, step, move, drift, self._record.searched(before))
        session.note(drift_note(flagged))
        names = ", ".join(signal.name for signal in drift.signals)
        logger.warning("the agent of %r may have left its goal: %s", session.name, names)

    def _send_realignment(self) -> None:
        """Append the realignment for a pending note, once each, if a message may follow."""
        session = self._ledger
        # First the head, then the window: a write in between then causes a conflict.
        head = session.raw_head()
        window = session.window()
        note = pending_drift(window.ledger)
        if note is None or not note.is_readable or not _may_append(window.items):
            return
        if head.wire in TRANSCRIPT_WIRES:
            # The host renders its own requests: a message of ours would not be sent.
            return
        text = session.redactor.text(self.realignment(note))
        with suppress(Conflict):  # Retried with the next request.
            session.append_own_message(text, after=head.seq)

    def realignment(self, note: Drifted) -> str:
        """Return the message for an agent that drifted: the goal, and the spans it lost."""
        session, signals = self._ledger, signals_of(note)
        intent = session.engine.guiding_rows_before(session.raw_head().seq + 1).intent
        spans = _read_spans(note, self._record.searched(session.raw_head().seq + 1))
        return render_realignment(signals, intent, note.action, spans, self._work(signals))

    def _work(self, signals: Sequence[Signal]) -> str:
        """Return the constraints, the state of the work, and what happened about the signals."""
        from holdfast.engine.levels import level_in_budget  # late: an agent that drifts is rare

        focus = "\n".join(signal.finding.quote for signal in signals)
        return level_in_budget(
            self._ledger, WORK_TOKENS, title="where the work is", focus=focus, requests=False
        ).text


def _is_noted(step: WatchedStep, ledger: Sequence[Entry]) -> bool:
    later = takewhile(lambda entry: entry.seq > step.entries[0].seq, reversed(ledger))
    return any(note.entry == step.id for _, note in notes_in(later, Drifted))


def drift_note(step: FlaggedStep) -> Drifted:
    """Return a note of drift: signals with their evidence, and the positions of missing spans."""
    found = step.drift.signals
    return Drifted(
        entry=step.ref,
        summary=step.summary,
        score=step.drift.score,
        step=step.drift.since,
        names=", ".join(signal.name for signal in found),
        why="; ".join(signal.finding.why for signal in found),
        action=step.action[:MAX_EVIDENCE_CHARS],
        signals=tuple(NotedSignal(signal.name, _cut_finding(signal.finding)) for signal in found),
        recovered=tuple(Span(back.ref, back.first, back.last) for back in step.recovered),
    )


def _cut_finding(finding: Finding) -> Finding:
    return replace(
        finding,
        evidence=finding.evidence[:MAX_EVIDENCE_CHARS],
        quote=finding.quote[:MAX_EVIDENCE_CHARS],
    )


def signals_of(note: Drifted) -> list[Signal]:
    """Return the signals in a note of drift, without those of signs that no longer exist."""
    known = ((SIGN_BY_NAME.get(noted.name), noted.finding) for noted in note.signals or ())
    return [
        Signal(sign.name, sign.severity, sign.what, sign.action, finding)
        for sign, finding in known
        if sign is not None
    ]


def _read_spans(note: Drifted, record: SearchedRecord) -> list[Hit]:
    """Read the spans that a note names again: purged ones are left out."""
    found: list[Hit] = []
    for span in note.recovered or ():
        entry = next((entry for entry in record.entries if entry.id.startswith(span.ref)), None)
        if entry is not None:
            hit = record.excerpt(entry, span.first, span.last, hidden=True)
            found += [hit] if hit is not None else []
    return found


def _may_append(items: Sequence[Item]) -> bool:
    """Return whether a message may be appended: the agent is next, and no call is open."""
    if not items or role_of(items[-1].body) == "assistant":
        return False
    scene = read_scene(items[-200:])
    return all(pair.result is not None for pair in scene.pairs if pair.step == scene.step_count)
