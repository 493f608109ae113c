"""The engine in a session: real files, real settings, and what is written when."""

import json
import logging
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast import Policy, Session
from holdfast.core.ledger.entry import Compacted, Compressed, Noted, ToolReturned
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.measure.models import MODELS, UNKNOWN_MODEL, Model, find_model
from holdfast.core.plan.policy import BatchRules, Offload, Tail, Truncate
from holdfast.core.view.conversation import render_conversation
from holdfast.core.view.log import Event
from holdfast.engine.status import sized_window
from holdfast.errors import StoreFull
from holdfast.project.settings import load
from holdfast.stores.memory import MemoryStore
from tests.examples import examples
from tests.refusing import RefusingStore

Message: TypeAlias = dict[str, Any]

POLICY = Policy(
    model="gpt-5",
    window=6_500,
    reserve=500,
    offload=Offload(above=100_000, sweep=300),
    truncate=Truncate(above=200),
    tail=Tail(percent=5, steps=1),
    batch=BatchRules(requests=300, reclaim=5),
)
"""A small window in which what pays is done; nothing leaves at birth."""
NOW = "2026-01-29T14:25:30Z"


def call(name: str, tool: str, arguments: dict[str, Any], output: str) -> list[Message]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    use = {"id": name, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [use]},
        {"role": "tool", "tool_call_id": name, "content": output},
    ]


def text(lines: int, word: str = "row") -> str:
    return "\n".join(f"{word} {number} holds {number * 7}" for number in range(lines))


def ask(words: str) -> Message:
    return {"role": "user", "content": words}


def answer(words: str) -> Message:
    return {"role": "assistant", "content": words}


def opened(root: Path | None = None, policy: Policy = POLICY) -> Session:
    return Session(
        "s", MemoryStore(), policy=policy, root=str(root) if root else "", clock=lambda: NOW
    )


def tiers(session: Session) -> list[Event]:
    return [event for event in session.log() if event.kind.startswith("TIER")]


def noted(session: Session, what: str) -> list[dict[str, str]]:
    bodies = (entry.body for entry in session.store.read(session.name))
    return [body.facts for body in bodies if isinstance(body, Noted) and body.what == what]


def compressions(session: Session) -> list[Compressed]:
    bodies = (entry.body for entry in session.store.read(session.name))
    return [body for body in bodies if isinstance(body, Compressed)]


def arguments(message: Any) -> dict[str, str]:
    return json.loads(message["tool_calls"][0]["function"]["arguments"])


REPORT = text(250)


WROTE = call("w", "Write", {"file_path": "out/report.md", "content": REPORT}, "ok")
LONG_ASK = ask("word " * 1_500)


def wrote_and_went_on(session: Session) -> list[Any]:
    """A report is written and much is said: the window is half full."""
    session.append(ask("Write the report."))
    session.messages()
    session.extend(WROTE)
    session.messages()
    session.extend([answer("Written."), LONG_ASK])
    return session.messages()


def on_disk(root: Path) -> None:
    (root / "out").mkdir()
    (root / "out" / "report.md").write_text(REPORT)


@pytest.mark.seed("R037", "R052", "R053", "R054", "R055", "R058", "R059", "R061", "R224")
def test_what_was_written_to_disk_leaves_the_call_that_wrote_it(tmp_path: Path) -> None:
    on_disk(tmp_path)
    session = opened(tmp_path)
    sent = wrote_and_went_on(session)
    written = session.ledger.path()[1].id
    assert noted(session, "persisted") == [
        {"entry": written, "path": "out/report.md", "sha256": sha256(REPORT.encode()).hexdigest()}
    ]
    (event,) = tiers(session)
    assert (event.kind, event.before - event.after) == ("TIER_2", event.saved)
    stub = arguments(sent[1])
    assert list(stub) == ["file_path", "content"]
    shown = stub["content"].split("\n")
    assert shown[:2] == ["## Tool Call: Write", f"**Ref:** {written[:12]}"]
    assert shown[3] == "**Path:** out/report.md"
    assert shown[5] == "**Status:** Content persisted to disk ✓"
    assert json.loads(session.read(written[:12]).removeprefix("Write")) == {
        "file_path": "out/report.md",
        "content": REPORT,
    }


@pytest.mark.seed("R054", "R224")
def test_a_write_is_seen_on_disk_however_often_the_window_was_asked_for(tmp_path: Path) -> None:
    on_disk(tmp_path)
    session = opened(tmp_path)
    for message in (ask("Write the report."), *WROTE, answer("Written."), LONG_ASK):
        session.append(message)
        session.messages()
    assert [facts["path"] for facts in noted(session, "persisted")] == ["out/report.md"]
    assert [event.kind for event in tiers(session)] == ["TIER_2"]


@pytest.mark.seed("R054", "R224")
def test_a_write_is_seen_on_disk_by_processes_that_last_one_request(tmp_path: Path) -> None:
    on_disk(tmp_path)
    store = MemoryStore()
    requests = ([ask("Write the report."), *WROTE], [answer("Written."), LONG_ASK])
    for messages in requests:
        session = Session("s", store, policy=POLICY, root=str(tmp_path), clock=lambda: NOW)
        session.extend(messages)
        session.messages()
    session = Session("s", store, policy=POLICY)
    assert [facts["path"] for facts in noted(session, "persisted")] == ["out/report.md"]
    assert [event.kind for event in tiers(session)] == ["TIER_2"]


def test_a_write_is_noted_once_however_many_processes_look(tmp_path: Path) -> None:
    on_disk(tmp_path)
    store = MemoryStore()
    for messages in ([ask("Write."), *WROTE, answer("Ok."), ask("And?")], [], []):
        session = Session("s", store, policy=POLICY, root=str(tmp_path), clock=lambda: NOW)
        session.extend(messages)
        session.plan()
    assert len(noted(Session("s", store), "persisted")) == 1


@pytest.mark.seed("R059")
@pytest.mark.parametrize("held", [None, "something else", REPORT + "and more"])
def test_what_is_not_on_disk_stays_in_the_call_that_wrote_it(
    tmp_path: Path, held: str | None
) -> None:
    (tmp_path / "out").mkdir()
    if held is not None:
        (tmp_path / "out" / "report.md").write_text(held)
    session = opened(tmp_path)
    sent = wrote_and_went_on(session)
    assert noted(session, "persisted") == []
    assert arguments(sent[1])["content"] == REPORT
    assert tiers(session) == []


@pytest.mark.seed("R115", "R119", "R133", "R136")
def test_results_of_finished_turns_leave_and_their_copies_open(tmp_path: Path) -> None:
    session = opened(tmp_path)
    outputs = [text(150, f"part{number}") for number in range(3)]
    for number, output in enumerate(outputs):
        session.append(ask(f"Look at part {number}."))
        session.extend(call(f"c{number}", "Bash", {"command": f"show {number}"}, output))
        session.append(answer(f"Part {number} is fine."))
    session.append(ask("And?"))
    session.messages()
    (made,) = compressions(session)
    steps = [step for step in made.steps if step.kind == "intermediate"]
    assert len(steps) >= 2
    for step in steps:
        assert step.file == (
            f".holdfast/cache/intermediate/20260129_142530_bash-{step.hides[0][:8]}.md"
        )
        original = session.read(step.hides[0][:12])
        assert original in outputs
        assert (tmp_path / step.file).read_text() == original
        assert isinstance(step.stand_in, ToolReturned)
        assert f"**Path:** {step.file}" in step.stand_in.output.split("\n")
    (event,) = tiers(session)
    assert event.files == tuple(step.file for step in steps)


BIRTH = replace(POLICY, window=400_000, offload=Offload(above=300))


@pytest.mark.seed("R004", "R042", "R044")
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200), st.integers(300, 600))
def test_what_left_at_birth_is_read_back_byte_for_byte(
    tmp_path: Path, word: str, count: int
) -> None:
    said = f"{word}{text(count)}{word}"
    session = opened(tmp_path, BIRTH)
    session.extend([ask("Go."), *call("a", "Bash", {"command": "show"}, said)])
    (sent,) = (m["content"] for m in session.messages()[-1:])
    assert is_stand_in(str(sent))
    (made,) = compressions(session)
    (step,) = made.steps
    assert session.read(step.hides[0][:12]) == said
    assert (tmp_path / step.file).read_bytes() == said.encode("utf-8", "surrogatepass")


def test_what_is_read_back_by_its_reference_is_never_a_stand_in(tmp_path: Path) -> None:
    session = opened(tmp_path, replace(BIRTH, window=6_500))
    session.append(ask("The log says `[holdfast 0123456789ab] Bash result out of sight`."))
    for number in range(8):
        how = {"command": f"show {number}"}
        session.extend(call(f"c{number}", "Bash", how, text(80, f"p{number}")))
        session.messages()
        session.extend([answer("So."), ask("And?")])
    assert len(compressions(session)) > 1
    for made in compressions(session):
        for step in made.steps:
            assert not is_stand_in(session.read(step.hides[0][:12]))
            if step.file:
                assert not is_stand_in((tmp_path / step.file).read_text())


SETTINGS = """
role = "reviewer"

[models."gpt-5"]
offload.above = 500

[roles.reviewer]
offload.never = ["Grep"]
tail.steps = 7
"""


def session_of(root: Path, model: str) -> Session:
    (root / "holdfast.toml").write_text(SETTINGS)
    policy = load(root, {"XDG_CONFIG_HOME": str(root / "none")}).policy
    return opened(root, replace(policy, model=model))


@pytest.mark.parametrize(
    ("model", "leaves"), [("gpt-5", True), ("gpt-5-mini", True), ("o3", False)]
)
def test_a_model_may_have_a_bound_of_its_own_in_the_project_settings(
    tmp_path: Path, model: str, leaves: bool
) -> None:
    session = session_of(tmp_path, model)
    session.extend([ask("Go."), *call("a", "Bash", {"command": "show"}, text(200))])
    assert is_stand_in(str(session.messages()[-1]["content"])) is leaves


def test_a_role_may_have_settings_of_its_own_in_the_project_settings(tmp_path: Path) -> None:
    session = session_of(tmp_path, "gpt-5")
    assert (session.policy.tail.steps, session.policy.offload.never) == (7, ("Grep",))
    session.extend([ask("Go."), *call("a", "Grep", {"pattern": "x"}, text(4_000))])
    assert session.messages()[-1]["content"] == text(4_000)


ANCHORED = replace(POLICY, at=replace(POLICY.at, batch=70, summary=70, events=(
    "task_done", "phase_change", "session_end")))  # fmt: skip


@pytest.mark.seed("R099", "R102", "R103")
@pytest.mark.parametrize("event", ["task_done", "phase_change", "session_end"])
def test_a_boundary_that_is_told_of_compresses_what_is_finished(event: str) -> None:
    session = opened(policy=ANCHORED)
    for number in range(3):
        session.append(ask(f"Look at part {number}."))
        how = {"command": f"show {number}"}
        session.extend(call(f"c{number}", "Bash", how, text(60, f"p{number}")))
        session.append(answer(f"Part {number} is fine."))
    session.messages()
    assert session.log() == ()
    session.note("something_else")
    assert session.log() == ()
    session.note(event)
    (made,) = tiers(session)
    assert made.trigger == event.replace("_", " ")
    assert made.after < made.before


def with_parts(session: Session, count: int, lines: int = 60) -> None:
    for number in range(count):
        session.append(ask(f"Look at part {number}."))
        how = {"command": f"show {number}"}
        session.extend(call(f"c{number}", "Bash", how, text(lines, f"p{number}")))
        session.append(answer(f"Part {number} is fine."))


@pytest.mark.seed("R099", "R103")
def test_a_summary_stands_for_a_finished_task_long_before_the_window_is_full() -> None:
    session = opened(policy=replace(ANCHORED, window=200_000))
    with_parts(session, 40, lines=120)
    session.messages()
    assert session.status().fraction < 0.5
    session.note("task_done")
    (made,) = compressions(session)
    assert made.summary is not None
    assert "Look at part 0." in str(session.messages()[0]["content"])


@pytest.mark.seed("R099")
def test_a_task_names_its_summary_and_a_new_one_ends_it(tmp_path: Path) -> None:
    policy = replace(ANCHORED, window=200_000)
    first = Session("s", MemoryStore(), policy=policy, root=str(tmp_path), task="Parse totals")
    with_parts(first, 40, lines=120)
    assert (first.ledger.task(), compressions(first)) == ("Parse totals", [])
    second = Session("s", first.store, policy=policy, root=str(tmp_path), task="Write docs")
    second.append(ask("Now the docs."))
    (made,) = compressions(second)
    assert (second.ledger.task(), made.trigger) == ("Write docs", "task done")
    assert second.messages()[-1]["content"] == "Now the docs."
    pages = sorted(path.name for path in tmp_path.rglob("session-summary-*.md"))
    assert pages == ["session-summary-parse_totals-06818be9.md"]
    assert Session("s", first.store).ledger.task() == "Write docs"


def test_a_boundary_is_no_trigger_where_the_policy_does_not_name_it() -> None:
    session = opened(policy=POLICY)
    session.extend([ask("Go."), *call("a", "Bash", {"command": "show"}, text(60)), answer("So.")])
    session.note("task_done")
    assert session.log() == ()


def openai_usage(size: int) -> dict[str, object]:
    cached = {"cached_tokens": size * 9 // 10}
    return {"prompt_tokens": size, "completion_tokens": 0, "prompt_tokens_details": cached}


def anthropic_usage(size: int) -> dict[str, object]:
    read = size * 9 // 10
    return {
        "input_tokens": size - read - 1,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": 1,
        "output_tokens": 0,
    }


@pytest.mark.seed("R026")
@pytest.mark.parametrize("shape", [openai_usage, anthropic_usage])
@pytest.mark.parametrize("model", [*MODELS, UNKNOWN_MODEL], ids=lambda model: model.id or "unknown")
def test_every_model_is_weighed_from_the_same_part_of_its_own_window_on(
    model: Model, shape: Callable[[int], dict[str, object]]
) -> None:
    name = model.id or "no-such-model"
    assert find_model(name) == model

    def triggers(percent: float) -> list[str]:
        session = opened(policy=Policy(model=name))
        session.extend([ask("Go."), answer("Yes."), ask("And?")])
        limit = session.ledger.limit()
        assert limit == model.window - model.reserve
        session.report(usage=shape(round(limit * percent / 100)))
        session.messages()
        kinds = ("CHECKPOINT", "ADVICE")
        return [event.trigger for event in session.log() if event.kind not in kinds]

    assert triggers(49.9) == []
    assert [one.partition(":")[0] for one in triggers(50.1)] == [
        "context at 50%, tiers 1 and 2 from 50%"
    ]
    assert [one.partition(":")[0] for one in triggers(85.1)] == [
        "context at 85%, critical from 85%"
    ]


@pytest.mark.seed("R208")
def test_what_was_not_written_has_not_happened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = RefusingStore(Compressed)
    session = Session("s", store, policy=BIRTH, root=str(tmp_path), clock=lambda: NOW)
    messages = [ask("Go."), *call("a", "Bash", {"command": "show"}, text(400))]
    session.extend(messages)
    before, seq = session.ledger.window(), session.ledger.head().seq
    with caplog.at_level(logging.WARNING):
        assert json.dumps(session.messages()) == json.dumps(messages)
    assert (session.log(), session.ledger.window(), session.ledger.head().seq) == ((), before, seq)
    assert len(caplog.records) == 1
    session.extend([answer("So."), ask("And?"), answer("Yes.")])
    before, seq = session.ledger.window(), session.ledger.head().seq
    with pytest.raises(StoreFull):
        session.compact(budget=900)
    assert (session.log(), session.ledger.window(), session.ledger.head().seq) == ((), before, seq)
    # Copies may have stayed: they hold what they should.
    copies = {file for file in tmp_path.rglob("*") if file.is_file()}
    assert {file.read_text() for file in copies} == {text(400)}
    store.full = False
    session.compact(budget=900)
    (event,) = session.log()
    assert {tmp_path / file for file in event.files} <= copies


HALF = "\ud800"


@pytest.mark.parametrize(
    "odd",
    [
        call("w", "Write", {"file_path": "a", "content": HALF + text(300)}, "ok"),
        call("w", "Write", {"file_path": HALF, "content": text(300)}, "ok"),
        call("w", "Bash", {"command": "show"}, HALF + text(300)),
        call("w", HALF, {"command": "show"}, text(300)),
    ],
    ids=["written", "path", "result", "tool"],
)
def test_half_of_a_character_breaks_no_compression(tmp_path: Path, odd: list[Message]) -> None:
    session = opened(tmp_path, replace(POLICY, window=6_000))
    session.extend([ask("Go."), *odd, answer("So."), ask("And?")])
    session.extend([*call("b", "Bash", {"command": "show"}, text(300)), answer("So."), ask("And?")])
    session.messages()
    assert session.compact(budget=1_500).after.tokens <= 1_500


def test_the_whole_conversation_is_written_down_before_a_summary_stands_for_it(
    tmp_path: Path,
) -> None:
    store = RefusingStore(Compressed)
    session = Session("s", store, policy=BIRTH, root=str(tmp_path), clock=lambda: NOW)
    for number in range(30):
        rows = "\n".join(f"row {number}.{row} holds value_{row}" for row in range(12))
        session.extend([*call(f"c{number}", "Bash", {"command": f"show {number}"}, rows)])
    with pytest.raises(StoreFull):
        session.compact(budget=700)
    archive = next(tmp_path.rglob("*_full.md"))
    assert archive.read_text() == render_conversation("s", session.ledger.path())
    store.full = False
    made = session.compact(budget=700)
    assert [step.kind for step in made.steps][:1] == ["summary"]
    assert str(archive.relative_to(tmp_path)) in str(made.summary)


def test_a_constraint_that_a_host_dropped_is_in_the_summary() -> None:
    """An agent's own compaction may leave the user's words out; the ledger has them."""
    with Session("s", MemoryStore()) as session:
        session.extend(
            [
                {"role": "user", "content": "Port the importer. Never write to the prod database."},
                {"role": "assistant", "content": "Started."},
                {"role": "user", "content": "Keep the CSV reader as it is, please."},
                {"role": "assistant", "content": "I will."},
            ]
        )
        session.ledger.derive(Compacted("auto"))
        session.extend(
            [
                {"role": "user", "content": "Now the tests. " + "It is late. " * 400},
                {"role": "assistant", "content": "Written. " + "All of them. " * 400},
            ]
        )
        assert "Never write" not in str(session.messages())
        shown = str(session.summary())
    assert "Never write to the prod database." in shown
    assert "Keep the CSV reader as it is, please." in shown


def test_what_a_host_dropped_before_a_summary_is_not_heard_again_after_it() -> None:
    """The newest request is behind the summary: what was dropped before it must not pass for it."""
    filler = {"role": "assistant", "content": "Written. " + "All of them. " * 400}
    with Session("s", MemoryStore()) as session:
        session.extend([ask("Port the importer."), answer("Done.")])
        session.ledger.derive(Compacted("auto"))
        session.extend([ask("Now the tests."), filler, *call("c1", "bash", {"command": "ls"}, "a")])
        session.extend([ask("Then the docs of the reader."), filler, answer("Both are there.")])
        session.compact(budget=600)
        assert session.summary().rows.intent.current.text == "Then the docs of the reader."


def test_undo_lifts_what_we_made_and_not_what_the_host_replaced_since() -> None:
    history = [ask("Build it.")]
    for number in range(8):
        history += call(f"c{number}", "bash", {"command": "ls"}, text(120, f"row{number}"))
    history.append(answer("Done."))
    with Session("s", MemoryStore(), policy=Policy(window=60_000)) as session:
        session.sync(history)
        session.compact(budget=1_500)
        cleared = [dict(message) for message in history]
        cleared[2]["content"] = "[Old tool result content cleared]"
        session.sync([*cleared, ask("Now the docs.")])
        assert [body.by for body in compressions(session)] == ["holdfast", "host"]
        ours = next(
            entry for entry in session.ledger.events() if isinstance(entry.body, Compressed)
        )
        assert session.undo().compressed == ours.id
        assert "cleared" in json.dumps(session.messages())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "head -n \u00b2 x.txt"}),
        ("bash", {"command": "tail -\u00b2 x.txt && patch -p\u00b2 < y.diff"}),
        ("Read", {"file_path": "a.py", "offset": 2**64, "limit": 2**70}),
    ],
)
def test_odd_numbers_in_a_call_end_nothing(tool: str, arguments: dict[str, Any]) -> None:
    with Session("s", MemoryStore(), policy=Policy(window=4_000)) as session:
        session.extend([ask("Go."), *call("a", tool, arguments, text(900)), answer("So.")])
        session.extend([ask("And?"), *call("b", tool, arguments, text(900)), answer("Yes.")])
        assert session.messages()
        assert "Go." in str(session.summary())
        assert session.checkpoint().ref


def test_a_session_without_an_entry_has_a_status() -> None:
    from holdfast.surfaces.status import status_report

    session = Session("empty", MemoryStore())
    assert (
        sized_window(session.ledger).usage.tokens == status_report(session, "now").usage.tokens == 0
    )
