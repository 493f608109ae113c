"""Counts add up: a total is the sum of its parts and the count of what is sent, whoever wrote it.

Everything is counted here once more, from the messages themselves.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import NothingToShrink
from holdfast.core.ledger.entry import Compressed, Used
from holdfast.core.ledger.replay import replay_ledger
from holdfast.core.measure.tokens import count_body
from holdfast.core.measure.usage import factor_of, split_proportionally
from holdfast.engine.live_window import message_dicts
from holdfast.engine.status import sized_window
from holdfast.errors import BadCompression, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.surfaces.status import session_rows, status_report
from holdfast.transcripts.ingest import ingest
from holdfast.wire.detect import DEFAULT_MESSAGE_WIRE, MESSAGE_WIRES, TRANSCRIPT_WIRES
from tests.properties.sessions import in_sight
from tests.properties.transcripts import WRITERS, Happened, growing, happenings


def counted_in_messages(session: Session) -> int:
    """Raw tokens of the messages that would be sent, read and counted anew."""
    head = session.ledger.head()
    wire = TRANSCRIPT_WIRES[head.wire].SENT_AS if head.wire in TRANSCRIPT_WIRES else head.wire
    wire = wire or DEFAULT_MESSAGE_WIRE
    count, take = counter(head.vocabulary), MESSAGE_WIRES[wire].read
    sent = message_dicts(session.ledger.live_window.messages())
    return sum(count_body(body, count) for message in sent for body in take(message))


def broken_counts(session: Session) -> list[str]:
    """Every sum of a session that does not add up."""
    head, usage, now = session.ledger.head(), session.status(), sized_window(session.ledger)
    lane = head.lane(session.agent)
    messages, report = counted_in_messages(session), status_report(session, "")
    factor = factor_of(session.ledger.model(), lane.calibration)
    rows, events = session_rows(session, now), [one for one in session.log() if one.before]
    laws = {
        "the head's sum is the count of the items": (lane.tokens, in_sight(session)),
        "and that of the messages": (lane.tokens, messages),
        "the head is that of a replay": (
            head,
            replay_ledger(
                session.store.read(session.name),
                session.store.counts(session.name, head.vocabulary),
                head,
            ),
        ),
        "sizes add up": (sum(now.tokens) + usage.overhead, usage.tokens),
        "shares add up": (sum(one.tokens for one in report.shares), usage.messages),
        "rows add up": (sum(row.shown for row in rows) + usage.overhead, usage.tokens),
        "a report says what the status says": (report.usage, usage),
        "calibrated messages and overhead": (
            abs(messages * factor + usage.overhead - usage.tokens) <= 0.5,
            True,
        ),
        "the limit is at least what was accepted": (
            session.ledger.limit() >= accepted(session),
            True,
        ),
        "an event saves the difference": (
            [one.saved for one in events],
            [one.before - one.after for one in events],
        ),
    }
    return [f"{law}: {one} != {other}" for law, (one, other) in laws.items() if one != other]


def accepted(session: Session) -> int:
    """The largest request of the session's model that was reported as done."""
    model = session.ledger.head().model
    reports = (entry.body for entry in session.store.read(session.name))
    used = [body for body in reports if isinstance(body, Used) and body.model == model]
    return max((body.input + body.output for body in used), default=0)


def lanes_of(session: Session) -> list[Session]:
    """A session, and those of its sub-agents."""
    store = session.store
    return [Session(session.name, store, agent=lane) for lane in session.ledger.head().lanes]


@given(st.sampled_from(sorted(WRITERS)), happenings, st.data())
def test_counts_add_up_in_a_transcript_of_any_agent(
    wire: str, story: Sequence[Happened], data: st.DataObject
) -> None:
    store, session = MemoryStore(), None
    with TemporaryDirectory() as folder:
        for name, written in growing(wire, story, data.draw(st.integers(0, len(story)))):
            path = Path(folder) / name
            path.write_bytes(written)
            try:
                session = Session(ingest(path, store, wire=wire).session, store)
            except Unreadable:
                continue
            for lane in lanes_of(session):
                assert broken_counts(lane) == []
            compressed_to_a_part(session, data.draw(st.integers(0, 100)))
            assert broken_counts(session) == []
            if data.draw(st.booleans()):
                undone(session)
    if session is not None:
        undone(session)
        assert broken_counts(session) == []


def compressed_to_a_part(session: Session, percent: int) -> None:
    """Compress, as far as that is possible; what is told of it is what is there then."""
    before = session.status()
    budget = before.overhead + before.messages * percent // 100
    try:
        made = session.compact(budget)
    except (NothingToShrink, BadCompression):
        assert session.status() == before
        return
    after = session.status()
    assert (made.before, made.after) == (before, after)
    assert after.tokens <= budget
    saved = sum(step.before - step.after for step in made.steps)
    assert saved == before.tokens - after.tokens
    assert made.plan is not None
    assert sum(step.before - step.after for step in made.plan.steps) == saved
    if made.steps:
        written = [e.body for e in session.ledger.events() if isinstance(e.body, Compressed)][-1]
        assert (written.before, written.after) == (before.tokens, after.tokens)


def undone(session: Session) -> None:
    """Lift the newest compression, if there is one."""
    try:
        session.undo()
    except BadCompression:
        return


@given(st.lists(st.integers(0, 9_000), max_size=40), st.floats(0.5, 3.0))
def test_a_total_is_divided_into_whole_tokens_that_add_up_to_it(
    raws: list[int], factor: float
) -> None:
    total = round(sum(raws) * factor)
    parts = split_proportionally(total, raws)
    assert sum(parts) == total
    for raw, part in zip(raws, parts, strict=True):
        assert abs(part * sum(raws) - total * raw) < max(sum(raws), 1)


@pytest.mark.parametrize("wire", sorted(WRITERS))
def test_a_host_that_drops_what_we_compressed_leaves_nothing_to_undo(
    wire: str, tmp_path: Path
) -> None:
    long = "a line of output\n" * 400
    story = [Happened("ask", "go"), Happened("step", "looking", long, 3_000)] * 3
    store, path = MemoryStore(), tmp_path / "s.jsonl"
    (_, first), (_, whole) = growing(
        wire, [*story, Happened("compact", "all done"), Happened("ask", "more")], len(story)
    )
    path.write_bytes(first)
    session = Session(ingest(path, store, wire=wire).session, store)
    session.compact(session.status().tokens - 900)
    path.write_bytes(whole)
    ingest(path, store, wire=wire)
    assert broken_counts(session) == []
    with pytest.raises(BadCompression, match="none to undo"):
        session.undo()
