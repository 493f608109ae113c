"""Laws of tier 3: a summary stands for what is old, whatever the history and the window."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast import NothingToShrink, Outcome, Policy, Session
from holdfast.core.ledger.entry import Compressed, Entry
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, in_force
from holdfast.core.observe.moments.story import Story
from holdfast.core.observe.requests.intent import IntentReading, read_intent
from holdfast.core.observe.scene import read_scene
from holdfast.core.plan.policy import BatchRules, DueAt
from holdfast.core.shrink.summary.root import with_absolute_paths
from holdfast.core.shrink.summary.story import read_on, read_to_end
from holdfast.core.shrink.summary.text import read_summary
from holdfast.core.view.log import Event
from holdfast.engine.live_window import message_dicts
from holdfast.stores.memory import MemoryStore
from tests.examples import examples
from tests.properties.laws import (
    MODELS,
    anchor_at,
    broken_laws,
    broken_window_laws,
    compressed,
    is_anchor,
    policies,
    sendable,
    size_of,
    spelled,
    text_in,
)
from tests.provider.histories import histories
from tests.provider.strict import WIRES, Bound, worse

Message: TypeAlias = dict[str, Any]

FEW = settings(max_examples=examples(25))
percents = st.integers(3, 60)


class Drawn(NamedTuple):
    """A history, long enough that much of it is old."""

    wire: str
    messages: list[Message]
    model: str


@st.composite
def long_histories(draw: st.DrawFn, wires: tuple[str, ...] = tuple(WIRES)) -> Drawn:
    wire = draw(st.sampled_from(wires))
    parts = draw(st.lists(histories(wire), min_size=2, max_size=4))
    messages = [message for part in parts for message in part]
    return Drawn(wire, messages, draw(st.sampled_from(MODELS[wire])))


def opened(drawn: Drawn, policy: Policy) -> Session:
    session = Session("compress", MemoryStore(), policy=replace(policy, model=drawn.model))
    session.extend(drawn.messages)
    return session


def shown(session: Session) -> list[Message]:
    """What is in sight, with nothing done about it."""
    return message_dicts(session.ledger.live_window.messages())


def compacted(session: Session, percent: int) -> Outcome | None:
    """The session brought down to a part of its size; nothing if its floor is above that."""
    try:
        return session.compact(session.status().tokens * percent // 100)
    except NothingToShrink:
        return None


def tiers(session: Session) -> list[Event]:
    """The compressions of a session that hold or held."""
    return [event for event in session.log() if event.kind.startswith("TIER")]


def newest(session: Session) -> Summary | None:
    made = in_force(session.ledger.live_window.window(whole=True))
    bodies = [entry.body for entry in reversed(made) if isinstance(entry.body, Compressed)]
    return next((body.summary for body in bodies if body.summary is not None), None)


def all_said(entries: Sequence[Entry]) -> IntentReading:
    return read_intent(read_scene([Item(entry) for entry in entries]))


BEGUN = 40
"""Characters that stand of a request whatever the room is."""


LEFT_OUT = re.compile(r"(\d+) more rules and corrections of the user: `holdfast intent`")
"""How a summary says that rules did not fit."""


def unsaid(session: Session, window: Sequence[Message]) -> list[str]:
    """Words that have to stand in a window, and do not.

    Of a request that is larger than its share the beginning stands, with a line that says so. Where
    rules and corrections do not fit, a line says how many: so many may be missing, and no more.
    """
    want = all_said(session.ledger.path())
    text = "\n".join(text_in(message) for message in window)
    requests = (want.intent.original, want.intent.current)
    due = [
        quote.text[:BEGUN] if f"[more {quote.entry[:12]}]" in text else quote.text
        for quote in requests
    ]
    rules = [quote.text for quote in want.intent.changes]
    rules += [row.text for row in want.constraints if not row.lifted and row.by == "user"]
    left_out = LEFT_OUT.search(text)
    missing = _missing(rules, text)[int(left_out[1]) if left_out else 0 :]
    return _missing(due, text) + missing


def _missing(due: Sequence[str], text: str) -> list[str]:
    return [words for words in due if sendable(words) not in sendable(text)]


def in_tail(session: Session) -> int:
    """How much is out of sight behind the last entry that a summary stands for."""
    window = session.ledger.live_window.window(whole=True)
    seqs = {entry.id: entry.seq for entry in window.ledger}
    bodies = [entry.body for entry in in_force(window)]
    steps = [step for body in bodies if isinstance(body, Compressed) for step in body.steps]
    summed = (step.hides for step in steps if step.kind == "summary")
    last = max((seqs[name] for hides in summed for name in hides), default=0)
    return len({name for step in steps for name in step.hides if seqs[name] > last})


def broken(session: Session, drawn: Drawn) -> list[str]:
    """Everything that is wrong with what a session would send now."""
    window = session.messages()
    hidden = in_tail(session)
    found = broken_window_laws(drawn.wire, drawn.messages, window, read=session.read, hidden=hidden)
    found += [f"not in sight: {words[:60]!r}" for words in unsaid(session, window)]
    found += [f"{at} is a second summary" for at in _summaries(window)[1:]]
    return found + made_up(session)


def _summaries(window: Sequence[Message]) -> list[int]:
    return [at for at, message in enumerate(window) if is_anchor(message)]


def made_up(session: Session) -> list[str]:
    """Quotes of the stored summary that do not stand in the entry that they name."""
    summary = newest(session)
    if summary is None:
        return []
    intent = summary.intent
    quotes = (intent.original, intent.current, *intent.changes, *summary.words, *summary.questions)
    rows = [(quote.text, quote.entry) for quote in quotes if quote.text]
    rows += [(row.text, row.entry) for row in summary.constraints]
    return [f"nobody said {text[:60]!r}" for text, at in rows if text not in session.read(at)]


@pytest.mark.seed("R003", "R004", "R065")
@FEW
@given(long_histories(), percents, policies)
def test_a_window_brought_down_to_a_budget_breaks_nothing_and_loses_no_words(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    session = opened(drawn, policy)
    before = session.status().tokens
    if compacted(session, percent) is None:
        assert spelled(shown(session)) == spelled(drawn.messages)
        return
    assert broken(session, drawn) == []
    assert session.status().tokens <= before * percent // 100


SMALL = Policy(at=DueAt(batch=10, summary=20, critical=30), batch=BatchRules(reclaim=1, margin=0))


@pytest.mark.seed("R062", "R065")
@FEW
@given(long_histories(), st.integers(30, 400), policies)
def test_a_window_that_is_too_small_breaks_nothing_and_loses_no_words(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    window = max(size_of(drawn.messages) * percent // 100, 100)
    session = opened(
        drawn, replace(policy, at=SMALL.at, batch=SMALL.batch, window=window, reserve=1)
    )
    before = session.status().tokens
    sent = session.messages()
    assert broken(session, drawn) == []
    assert session.status().tokens <= before
    assert spelled(session.messages()) == spelled(sent)


@FEW
@given(long_histories(), percents, policies)
def test_compacting_again_at_once_changes_nothing(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    session = opened(drawn, policy)
    budget = session.status().tokens * percent // 100
    assume(compacted(session, percent) is not None)
    once = spelled(shown(session))
    assert session.compact(budget).steps == ()
    assert spelled(shown(session)) == once


@FEW
@given(long_histories(), percents, policies)
def test_undoing_a_summary_gives_the_window_before_it_back(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    session = opened(drawn, policy)
    windows = [session.ledger.live_window.messages()]
    sizes = [session.status().tokens]
    for share in (80, percent):
        if compacted(session, share) is not None and len(tiers(session)) == len(windows):
            windows.append(session.ledger.live_window.messages())
            sizes.append(session.status().tokens)
    while len(windows) > 1:
        windows.pop()
        sizes.pop()
        session.undo()
        assert (session.ledger.live_window.messages(), session.status().tokens) == (
            windows[-1],
            sizes[-1],
        )


@FEW
@given(long_histories(), percents, policies)
def test_compressing_messages_is_a_session_that_is_compacted(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    exact = drawn._replace(model="gpt-5")
    budget = max(size_of(drawn.messages, "gpt-5") * percent // 100, 1)
    made, refused = compressed(drawn.messages, budget, model="gpt-5", policy=policy)
    session = opened(exact, replace(policy, window=budget + 1, reserve=1))
    try:
        same = session.compact(budget)
    except NothingToShrink as error:
        assert refused is not None
        assert isinstance(error.outcome, Outcome)
        same = error.outcome
    assert spelled(same.messages) == spelled(made.messages)
    assert (same.steps, same.summary) == (made.steps, made.summary)
    assert (same.before.tokens, same.after.tokens) == (made.before.tokens, made.after.tokens)


@FEW
@given(long_histories(), percents, policies)
def test_the_stored_table_of_files_is_that_of_the_whole_record(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    session = opened(drawn, policy)
    for share in (percent, 60):
        if compacted(session, share) is None:
            continue
        summary = newest(session)
        if summary is None:
            continue
        path = [Item(entry) for entry in session.ledger.path()]
        assert summary.files == read_to_end(read_on(Story(), path)).rows.files


@FEW
@given(long_histories(("anthropic",)), percents, policies, st.sampled_from(("claude-opus-5-5", "")))
def test_no_thinking_is_left_behind_a_summary_that_it_was_not_made_on(
    drawn: Drawn, percent: int, policy: Policy, model: str
) -> None:
    provider = Bound()
    before = provider.feed(drawn.messages)
    made, _ = compressed(
        drawn.messages, size_of(drawn.messages, model) * percent // 100, model=model, policy=policy
    )
    assert [why for why in provider.feed(made.messages) if why not in before] == []


@pytest.mark.seed("R088", "R089")
@FEW
@given(long_histories(), percents, policies, st.data())
def test_a_window_that_comes_back_with_more_has_its_summary_extended(
    drawn: Drawn, percent: int, policy: Policy, data: st.DataObject
) -> None:
    budget = size_of(drawn.messages) * percent // 100
    once, refused = compressed(drawn.messages, budget, policy=policy)
    assume(refused is None and once.summary.text)
    more = data.draw(long_histories((drawn.wire,))).messages
    grown = [*once.messages, *more]
    again, refused = compressed(grown, size_of(grown) * percent // 100, policy=policy)
    assert broken_laws(drawn.wire, grown, again) == []
    if again.summary.text and anchor_at(grown, again.messages) is not None:
        first, second = read_summary(once.summary.text), again.summary.rows
        assert first is not None
        assert second.revision == first.revision + 1
        assert second.intent.original.text == first.intent.original.text
        paths = {file.path for file in with_absolute_paths(first).files}
        assert paths <= {file.path for file in second.files}
        assert {row.text for row in first.constraints if not row.lifted} <= {
            row.text for row in second.constraints
        }


def called(name: str, thought: bool) -> Message:
    use = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "show"}}
    thinking = {"type": "thinking", "thinking": "So.", "signature": f"S{name}"}
    return {"role": "assistant", "content": [thinking, use] if thought else [use]}


def returned(name: str, *, words: bool = False) -> Message:
    result = {"type": "tool_result", "tool_use_id": name, "content": "row\n" * 50}
    said = {"type": "text", "text": "[Request interrupted by user]"}
    return {"role": "user", "content": [result, said] if words else [result]}


LOOPS = {
    "at the end": [called("c1", True), returned("c1", words=True)],
    "in the middle": [
        called("c1", True),
        returned("c1", words=True),
        called("c2", False),
        returned("c2"),
    ],
}


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-opus-4-6", ""])
@pytest.mark.parametrize("loop", LOOPS)
def test_words_among_results_do_not_end_a_loop_of_calls(loop: str, model: str) -> None:
    old = [
        message
        for number in range(4)
        for message in (
            {"role": "user", "content": f"Part {number}? {'word ' * 150}"},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes. " * 50}]},
        )
    ]
    messages: list[Message] = [*old, {"role": "user", "content": "Now go."}, *LOOPS[loop]]
    for budget in range(150, 1_500, 75):
        made, _ = compressed(messages, budget, model=model)
        assert worse("anthropic", messages, made.messages) == []
