"""The engine in a session: nothing is lost, nothing loops, and what is logged has happened."""

import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast import Policy, Session
from holdfast.core.ledger.entry import Compressed, ToolReturned
from holdfast.core.ledger.head import AT_BIRTH
from holdfast.core.plan.policy import Offload, Tail
from holdfast.core.view.log import Event
from holdfast.stores.memory import MemoryStore
from tests.examples import examples
from tests.properties.laws import MODELS, broken_window_laws, policies, spelled
from tests.provider.histories import histories, of_model, well_formed
from tests.provider.strict import Bound

Message: TypeAlias = dict[str, Any]

SMALL = Policy(
    model="gpt-5",
    window=6_500,
    reserve=500,
    offload=Offload(above=1_500, sweep=300),
    tail=Tail(percent=5, steps=2),
)
FEW = settings(max_examples=examples(25))


def requests(session: Session, messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Feed a history and give every request that would be sent on the way."""
    for at, message in enumerate(messages):
        session.append(message)
        last = at + 1 == len(messages) or of_model(messages[at + 1])
        if last and not of_model(message):
            yield session.messages()


def batches(session: Session) -> list[Event]:
    """The compressions that changed what had been sent."""
    return [one for one in session.log() if one.kind.startswith("TIER") and one.trigger != AT_BIRTH]


def hidden(session: Session) -> int:
    """How much is out of sight of what no summary stands for."""
    entries = list(session.store.read(session.name))
    place = {entry.id: entry.seq for entry in entries}
    bodies = (entry.body for entry in entries)
    steps = [step for body in bodies if isinstance(body, Compressed) for step in body.steps]
    told = [place[name] for step in steps if step.kind == "summary" for name in step.hides]
    # What had left altogether before a summary came is behind it, and no part of what it hides.
    upto = max(told, default=0)
    return sum(step.kind != "summary" and place[step.hides[0]] > upto for step in steps)


def last_output(session: Session) -> str:
    """What the newest result says."""
    body = session.ledger.window().items[-1].body
    assert isinstance(body, ToolReturned)
    return body.output


def turn(number: int, steps: int = 3, lines: int = 12) -> list[Message]:
    """A turn of an ordinary agent: looks at things, and says what it found."""
    out: list[Message] = [{"role": "user", "content": f"Look at part {number}."}]
    for step in range(steps):
        name = f"call_{number}_{step}"
        function = {"name": "Bash", "arguments": json.dumps({"command": f"show {number} {step}"})}
        call = {"id": name, "type": "function", "function": function}
        out.append({"role": "assistant", "content": None, "tool_calls": [call]})
        text = "\n".join(f"row {number}.{step}.{line} holds {line * 7}" for line in range(lines))
        out.append({"role": "tool", "tool_call_id": name, "content": text})
    return [*out, {"role": "assistant", "content": f"Part {number} is fine."}]


drawn_sessions = st.sampled_from(tuple(MODELS)).flatmap(
    lambda wire: st.tuples(
        st.just(wire),
        st.lists(histories(wire), min_size=1, max_size=3).map(
            lambda some: [m for one in some for m in one]
        ),
        st.sampled_from(MODELS[wire]),
        policies,
        st.integers(2_000, 6_000),
    )
)


@pytest.mark.seed("R004", "R208")
@FEW
@given(drawn_sessions)
def test_every_request_on_the_way_is_whole_and_only_a_logged_batch_changes_what_was_sent(
    drawn: tuple[str, list[Message], str, Policy, int],
) -> None:
    wire, messages, model, small, window = drawn
    policy = replace(small, model=model, window=window, reserve=500)
    session = Session("s", MemoryStore(), policy=policy)
    sent: list[Message] = []
    logged = 0
    for request in requests(session, messages):
        said = [json.loads(one.raw) for one in session.store.sightings("s")]
        found = broken_window_laws(wire, said, request, read=session.read, hidden=hidden(session))
        assert found == []
        if len(batches(session)) == logged:
            assert spelled(request[: len(sent)]) == spelled(sent)
        sent, logged = request, len(batches(session))


@FEW
@given(well_formed("anthropic"), policies, st.integers(2_000, 4_000))
def test_a_model_whose_thinking_is_bound_never_refuses_a_request(
    messages: list[Message], small: Policy, window: int
) -> None:
    policy = replace(small, model="claude-opus-5-5", window=window, reserve=500)
    session = Session("s", MemoryStore(), policy=policy)
    provider = Bound()
    for message in messages:
        if of_model(message):
            assert provider.feed(session.messages()) == []
            provider.answered(message)
        session.append(message)


ROOMY = replace(SMALL, window=40_500)
"""A window in which a turn is small beside what a batch takes out, whatever counts are worth."""


@pytest.mark.parametrize("lie", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_a_count_that_lies_makes_at_most_one_batch_a_turn(lie: float) -> None:
    session = Session("s", MemoryStore(), policy=ROOMY)
    for number in range(25):
        before = len(batches(session))
        for request in requests(session, turn(number, lines=60)):
            size = sum(len(json.dumps(one)) for one in request) // 4
            session.report(usage={"prompt_tokens": round(size * lie), "completion_tokens": 9})
        assert len(batches(session)) - before <= 1


def test_a_count_that_lies_another_way_each_time_makes_at_most_one_batch_a_turn() -> None:
    session = Session("s", MemoryStore(), policy=ROOMY)
    for number in range(25):
        before = len(batches(session))
        for at, request in enumerate(requests(session, turn(number, lines=60))):
            size = sum(len(json.dumps(one)) for one in request) // 4
            lie = (0.25, 4.0, 1.0, 2.0, 0.5)[(number + at) % 5]
            session.report(usage={"prompt_tokens": round(size * lie), "completion_tokens": 9})
        assert len(batches(session)) - before <= 1


def test_what_cannot_be_made_smaller_is_told_of_once_and_not_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = Session("s", MemoryStore(), policy=SMALL)
    session.append({"role": "system", "content": "Remember this. " * 4_000})
    with caplog.at_level(logging.WARNING):
        first = session.messages()
        entries = session.ledger.head().seq
        for _ in range(30):
            assert session.messages() == first
    assert len(caplog.records) == 1
    assert session.ledger.head().seq == entries
    assert [one.kind for one in session.log()] == ["CHECKPOINT", "POSTPONED", "ADVICE"]


def test_a_part_above_the_trigger_that_stays_does_not_make_every_turn_a_batch() -> None:
    session = Session("s", MemoryStore(), policy=ROOMY)
    session.append({"role": "system", "content": "Remember this. " * 8_000})
    for number in range(12):
        before = len(batches(session))
        for request in requests(session, turn(number, lines=60)):
            assert str(request[0]["content"]).count("Remember this.") == 8_000
        assert len(batches(session)) - before <= 1


def test_a_floor_over_the_limit_is_told_of_once_however_long_the_session_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = Session("s", MemoryStore(), policy=SMALL)
    session.append({"role": "system", "content": "Remember this. " * 4_000})
    with caplog.at_level(logging.WARNING):
        for number in range(30):
            for _ in requests(session, turn(number, steps=1, lines=40)):
                pass
    assert session.status().fraction > 1
    assert len(caplog.records) == 1


def test_a_critical_window_is_brought_down_when_a_budget_could_bring_it_down() -> None:
    messages = [one for number in range(12) for one in turn(number, steps=1, lines=40)]
    asked = Session("s", MemoryStore(), policy=SMALL)
    asked.extend(messages)
    critical = asked.status()
    assert 0.85 <= critical.fraction < 1
    half = asked.ledger.limit() // 2
    assert asked.compact(half).after.tokens <= half
    left_alone = Session("s", MemoryStore(), policy=SMALL)
    left_alone.extend(messages)
    left_alone.messages()
    assert [one.kind for one in batches(left_alone)] != []
    # Down to half way between where batches begin and where they are no longer put off.
    assert left_alone.status().fraction <= 0.625


def test_thinking_that_has_no_words_does_not_keep_everything_else_in_sight(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = replace(SMALL, model="claude-opus-4-6")
    session = Session("s", MemoryStore(), policy=policy)
    for number in range(12):
        name = f"c{number}"
        text = "\n".join(f"row {number}.{line} holds {line * 7}" for line in range(80))
        thinking = {
            "type": "thinking",
            "thinking": "" if number == 0 else f"It may be in part {number}.",
            "signature": f"S{number}",
        }
        use = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"show {name}"}}
        session.extend(
            [
                {"role": "user", "content": f"Look at part {number}."},
                {"role": "assistant", "content": [thinking, use]},
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": name, "content": text}],
                },
            ]
        )
        session.messages()
        session.append({"role": "assistant", "content": f"Part {number} is fine."})
    assert caplog.records == []
    assert batches(session) != []
    assert session.status().fraction < 1


@pytest.mark.seed("R322")
def test_a_result_that_cannot_be_copied_stays_in_sight_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "cache").write_text("in the way")
    session = Session("s", MemoryStore(), policy=replace(SMALL, window=20_500), root=str(tmp_path))
    session.extend(turn(1, steps=1, lines=400)[:-1])
    said = last_output(session)
    with caplog.at_level(logging.WARNING):
        sent = session.messages()
    assert sent[-1]["content"] == said
    assert session.log() == ()
    assert len(caplog.records) == 1
    # What was sent stays; the next one leaves as if nothing had been.
    (tmp_path / ".holdfast" / "cache").unlink()
    session.append({"role": "assistant", "content": "Too long."})
    session.extend(turn(2, steps=1, lines=400)[:-1])
    again = session.messages()
    assert spelled(again[: len(sent)]) == spelled(sent)
    assert str(again[-1]["content"]).startswith("## Offloaded: ")
    tiers = [one.kind for one in session.log() if one.kind.startswith("TIER")]
    assert tiers == ["TIER_1"]


@pytest.mark.seed("R040", "R041", "R042", "R043", "R044", "R050", "R051")
def test_a_result_above_the_bound_leaves_before_it_is_ever_sent_and_its_path_opens(
    tmp_path: Path,
) -> None:
    session = Session(
        "s",
        MemoryStore(),
        policy=Policy(model="gpt-5"),
        root=str(tmp_path),
        clock=lambda: "2026-01-29T14:25:30Z",
    )
    session.extend(turn(1, steps=1, lines=2_000)[:-1])
    said = last_output(session)
    shown = session.messages()[-1]["content"]
    assert isinstance(shown, str)
    (event,) = session.log()
    entry = session.ledger.window().items[-1].entry.id
    assert event.files == (f".holdfast/cache/offloaded/20260129_142530_bash-{entry[:8]}.md",)
    assert event.files[0] in shown
    assert (tmp_path / event.files[0]).read_text() == said
    assert all(f"> {line}" in shown for line in said.split("\n")[:10])
    assert f"**Tokens Saved:** {event.saved:,}" in shown
    assert (event.kind, event.trigger, event.intent) == ("TIER_1", AT_BIRTH, True)


@pytest.mark.seed("R050")
def test_a_result_below_the_bound_stays_as_it_is(tmp_path: Path) -> None:
    session = Session("s", MemoryStore(), policy=Policy(model="gpt-5"), root=str(tmp_path))
    messages = turn(1, steps=1, lines=600)[:-1]
    session.extend(messages)
    assert spelled(session.messages()) == spelled(messages)
    assert (session.log(), list(tmp_path.iterdir())) == ((), [])
