"""The watch on live sessions: armed by a summary, judged once, told once and for good, logged."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.ledger.entry import Noted, is_ours
from holdfast.core.ledger.notes import Drifted, note_of
from holdfast.core.observe.sentences import own_words
from holdfast.core.plan.policy import DriftRules
from holdfast.engine.drift import review_session, signals_of
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.transcripts.export import export_document
from tests.input.making import coded, given_back, line, read_in
from tests.provider.strict import complaints
from tests.refusing import RefusingStore

REQUEST = (
    "Build the importer in src/importer.py. Never touch src/billing.py, it is audited. "
    "The deploy key for the partner is kept in vault/partner_eu.json."
)
PARTS = 6
Message = dict[str, Any]


def spoken(wire: str, text: str, name: str = "", tool: str = "", **arguments: str) -> Message:
    """A message of the agent, with a call if a tool is named."""
    if wire == "anthropic":
        blocks: list[Message] = [{"type": "text", "text": text}] if text else []
        if tool:
            blocks.append({"type": "tool_use", "id": name, "name": tool, "input": arguments})
        return {"role": "assistant", "content": blocks}
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": name, "type": "function", "function": function}] if tool else []
    return {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})


def returned(wire: str, name: str, output: str) -> Message:
    if wire == "anthropic":
        block = {"type": "tool_result", "tool_use_id": name, "content": output}
        return {"role": "user", "content": [block]}
    return {"role": "tool", "tool_call_id": name, "content": output}


def history(wire: str) -> list[Message]:
    found: list[Message] = [{"role": "user", "content": REQUEST}]
    for part in range(PARTS):
        lines = [
            f"row {part} {at}: dialect_{part}_{at} has the marker {at * 7}" for at in range(90)
        ]
        found.append(
            spoken(wire, f"Reading part {part}.", f"c{part}", "Read", file_path=f"docs/{part}.md")
        )
        found.append(returned(wire, f"c{part}", "\n".join(lines)))
    return found


def session(wire: str = "openai_chat", *, watch: int = 1, steps: int = 3) -> Session:
    """A session whose past has just been summarised."""
    policy = holdfast.Policy(window=200_000, drift=DriftRules(watch, steps))
    made = Session("s", MemoryStore(), policy=policy)
    made.extend(history(wire))
    made.compact(budget=3_000)
    return made


def breaks(wire: str = "openai_chat") -> list[Message]:
    """The agent edits what it was told not to."""
    edit = spoken(wire, "Adding it.", "w", "Edit", file_path="src/billing.py", new_string="x = 1")
    return [edit, returned(wire, "w", "The file src/billing.py has been updated.")]


def notes(of: Session) -> list[Noted]:
    bodies = [entry.body for entry in of.store.read(of.name)]
    return [body for body in bodies if isinstance(body, Noted) and body.what == "drift"]


@pytest.mark.seed(
    "R006", "R144", "R150", "R151", "R152", "R153", "R159", "R164", "R165", "R220", "R227", "R228"
)
@pytest.mark.parametrize("wire", ["openai_chat", "anthropic"])
def test_an_agent_that_drifts_after_a_summary_is_told_with_its_next_request(wire: str) -> None:
    made = session(wire)
    made.extend(breaks(wire))
    sent = made.messages()
    text = json.dumps(sent[-1], ensure_ascii=False)
    assert sent[-1]["role"] == "user"
    assert [part for part in WARNED if part not in text] == []
    assert "Never touch src/billing.py, it is audited." in text
    assert complaints(wire, sent) == []


WARNED = (
    "⚠️ **Goal Drift Warning**",
    "**Detection:** Missing stated constraint (HIGH): it does what was forbidden",
    "**Original Intent:** Build the importer in src/importer.py.",
    "**Current Action:** Adding it. | Edit: src/billing.py",
    "**Recovery Action:**\\nSearching archived content for original context...",
    "**Recommendation:** Recover constraints from archive",
    "Tell the user in one sentence",
)


WIRES = ("openai_chat", "anthropic")


@pytest.mark.parametrize("wire", WIRES)
def test_it_is_told_once_and_stays_where_it_was_told(wire: str) -> None:
    made = session(wire)
    made.extend(breaks(wire))
    first = made.wire()
    assert made.wire() == first
    assert len(notes(made)) == 1
    made.extend(goes_back(wire))
    assert made.wire().startswith(first.removesuffix(b"]"))
    assert made.wire().count(b"Goal Drift Warning") == 1
    assert complaints(wire, made.messages()) == []


def goes_back(wire: str) -> list[Message]:
    reads = spoken(wire, "Going back to it.", "r", "Read", file_path="docs/9.md")
    return [reads, returned(wire, "r", "row")]


@pytest.mark.parametrize("wire", WIRES)
def test_no_message_of_the_client_changes_for_it(wire: str) -> None:
    made = session(wire)
    before = made.wire()
    made.extend(breaks(wire))
    sent = made.messages()
    assert made.wire().startswith(before.removesuffix(b"]"))
    assert sent[-3:-1] == breaks(wire)


@pytest.mark.parametrize("wire", WIRES)
def test_a_client_that_resends_its_own_history_gets_it_back_at_the_same_place(wire: str) -> None:
    made = session(wire)
    theirs = [*history(wire), *breaks(wire)]
    made.sync(theirs)
    first = made.wire()
    theirs += goes_back(wire)
    synced = made.sync(theirs)
    assert (synced.added, synced.branched) == (2, False)
    assert made.wire().startswith(first.removesuffix(b"]"))
    assert (made.sync(theirs).added, made.wire().count(b"Goal Drift Warning")) == (0, 1)


@pytest.mark.parametrize("wire", WIRES)
def test_a_client_that_sends_it_back_is_known_too(wire: str) -> None:
    made = session(wire)
    made.extend(breaks(wire))
    theirs = [*made.messages(), *goes_back(wire)]
    synced = made.sync(theirs)
    assert (synced.added, synced.branched) == (2, False)
    assert made.messages() == theirs


def test_it_is_there_again_when_a_client_comes_back_from_another_branch() -> None:
    made = session()
    theirs = [*history("openai_chat"), *breaks(), *goes_back("")]
    made.extend(breaks())
    made.messages()
    made.sync(theirs)
    sent = made.wire()
    elsewhere = [*history("openai_chat"), {"role": "user", "content": "Stop. What did you read?"}]
    assert made.sync(elsewhere).branched
    assert "Goal Drift Warning" not in json.dumps(made.messages())
    assert made.sync(theirs).branched
    assert made.wire() == sent
    assert made.sync(elsewhere).branched
    assert made.sync(theirs[:-2]).branched
    assert sent.startswith(made.wire().removesuffix(b"]"))


def test_a_summary_takes_it_out_of_sight_like_everything_else() -> None:
    made = session()
    made.extend(breaks())
    made.messages()
    for at in range(4):
        reads = spoken("", "Going on.", f"g{at}", "Read", file_path=f"docs/{at}9.md")
        made.extend([reads, returned("", f"g{at}", "row " * 800)])
    made.compact(budget=2_000)
    assert "Goal Drift Warning" not in json.dumps(made.messages())
    told = [entry for entry in made.ledger.path() if is_ours(entry.body)]
    assert [made.read(entry.id)[:24] for entry in told] == ["⚠️ **Goal Drift Warning**"[:24]]


def test_an_export_holds_what_the_client_said_and_nothing_of_ours() -> None:
    made = session()
    made.extend(breaks())
    made.messages()
    assert json.loads(b"".join(export_document(made.ledger))) == [
        *history("openai_chat"),
        *breaks(),
    ]


def test_the_agent_is_told_no_secret_that_it_does_not_see() -> None:
    made = Session("s", MemoryStore(), policy=holdfast.Policy(window=200_000))
    key = "ghp_" + "Zq3rT7vX9bN1mK5jH8gF2dS4aP6oI0uY1eWz"
    made.extend([{"role": "user", "content": f"{REQUEST} The token is {key}."}])
    made.extend(history("openai_chat")[1:])
    made.compact(budget=3_000)
    made.extend(breaks())
    told = str(made.messages()[-1]["content"])
    assert "Goal Drift Warning" in told
    assert key not in told


def test_a_transcript_is_judged_and_told_nothing(tmp_path: Path) -> None:
    texts = [REQUEST if at == 0 else f"part {at}: {'some words ' * 60}" for at in range(30)]
    lines = [line(coded(text, at)) for at, text in enumerate(texts)]
    asks = ("go on", "Could you remind me what we are working on?", "go on")
    lost = [line(coded(text, 30 + at)) for at, text in enumerate(asks)]
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"".join(lines))
    name = read_in(path, tmp_path).session
    with holdfast.open(name, root=tmp_path, window=200_000) as made:
        made.compact(budget=3_000)
    path.write_bytes(b"".join([*lines, *lost]))
    read_in(path, tmp_path)
    with holdfast.open(name, root=tmp_path, window=200_000) as made:
        sent = made.messages()
        assert "Goal Drift Warning" not in json.dumps(sent)
        assert [one.facts["names"] for one in notes(made)] == ["clarification"]
    path.write_bytes(b"".join([*lines, *lost, line(coded("I go on.", 33))]))
    assert (read_in(path, tmp_path).added, given_back(tmp_path, name)) == (1, path.read_bytes())


def test_another_process_tells_it_too(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path, window=200_000) as made:
        made.extend(history("openai_chat"))
        made.compact(budget=3_000)
        made.extend(breaks())
        first = made.messages()
    with holdfast.open("s", root=tmp_path, window=200_000) as again:
        assert again.messages() == first
        assert len(notes(again)) == 1


@pytest.mark.seed("R230")
def test_what_was_lost_comes_back_as_data_in_a_fence() -> None:
    made = session()
    again = [spoken("", "", f"a{at}", "Read", file_path=f"docs/{at}.md") for at in range(3)]
    calls = [call for message in again for call in message["tool_calls"]]
    made.append({"role": "assistant", "content": "Reading the parts.", "tool_calls": calls})
    made.extend([returned("", f"a{at}", "row") for at in range(3)])
    text = str(made.messages()[-1]["content"])
    fence = re.search(
        r"--- data ([0-9a-f]{6}): ref [0-9a-f]{12}, tool, .*---\n([^-]*)\n--- end", text
    )
    assert fence is not None
    assert fence[1] == sha256(fence[2].encode()).hexdigest()[:6]
    assert fence[2].startswith("row 0 0: dialect_0_0 has the marker 0")


def test_a_realignment_ends_with_the_state_of_the_work_in_a_fence() -> None:
    made = session()
    made.extend(breaks("openai_chat"))
    text = str(made.messages()[-1]["content"])
    fence = re.search(
        r"--- data ([0-9a-f]{6}): where the work is[^\n]*\n(.*)--- end \1", text, re.S
    )
    assert fence is not None
    assert "Never touch src/billing.py" in fence[2]
    assert "src/billing.py" in fence[2].partition("Story:")[2]
    assert "Request [" not in fence[2]
    assert "Go on with the request as it stands above." in text[fence.end() :]


def test_an_answer_that_the_user_gave_is_restated_word_for_word() -> None:
    made = session()
    made.append(spoken("", "Which file is the deploy key for the partner kept in?"))
    made.append({"role": "user", "content": "go on"})
    text = str(made.messages()[-1]["content"])
    assert "Asking clarification immediately after summary (HIGH)" in text
    assert "The deploy key for the partner is kept in vault/partner_eu.json." in text
    (note,) = notes(made)
    drifted = note_of(note)
    assert isinstance(drifted, Drifted)
    assert [one.name for one in signals_of(drifted)] == ["clarification"]


@pytest.mark.seed("R338")
def test_an_agent_that_goes_on_is_not_disturbed() -> None:
    made = session()
    made.append(spoken("", "Now the importer.", "w", "Write", file_path="src/importer.py"))
    made.append(returned("", "w", "File created successfully at: src/importer.py"))
    assert made.messages()[-1]["role"] == "tool"
    assert notes(made) == []


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: session(watch=0), id="switched off"),
        pytest.param(lambda: session(steps=0), id="for no step"),
    ],
)
def test_a_watch_that_is_off_judges_nothing(made: Any) -> None:
    off = made()
    off.extend(breaks())
    assert off.messages()[-1]["role"] == "tool"
    assert notes(off) == []
    assert off.drift("Could you remind me what we are working on?").status == "DRIFT_DETECTED"


def test_a_session_without_a_summary_is_not_watched() -> None:
    made = Session("s", MemoryStore(), policy=holdfast.Policy(window=200_000))
    made.extend(history("openai_chat"))
    made.extend(breaks())
    assert made.messages()[-1]["role"] == "tool"


def test_a_new_task_of_the_user_ends_the_watch() -> None:
    made = session()
    made.append({"role": "user", "content": "Now write a changelog for the last release."})
    made.extend(breaks())
    assert "Goal Drift Warning" not in json.dumps(made.messages())


def test_after_some_steps_the_watch_is_over() -> None:
    made = session(steps=1)
    made.append(spoken("", "Reading on.", "r", "Read", file_path="docs/7.md"))
    made.append(returned("", "r", "row"))
    made.messages()
    made.extend(breaks())
    assert "Goal Drift Warning" not in json.dumps(made.messages())


def test_nothing_of_ours_stands_between_a_call_and_its_result() -> None:
    made = session()
    made.append(breaks()[0])
    assert made.messages()[-1]["role"] == "assistant"
    made.append(breaks()[1])
    assert made.messages()[-1]["role"] == "user"


def test_the_user_never_said_what_a_warning_says() -> None:
    made = session()
    made.extend(breaks())
    told = str(made.messages()[-1]["content"])
    assert own_words(told) == ()
    before = made.intent()
    made.append({"role": "user", "content": told})
    assert made.intent() == before


def test_the_log_tells_of_it() -> None:
    made = session()
    made.extend(breaks())
    made.messages()
    event = made.log()[-1]
    assert (event.kind, event.intent) == ("DRIFT", False)
    assert event.trigger == "constraint: it does what was forbidden"


def test_a_recorded_session_is_judged_as_it_was_then() -> None:
    made = session(watch=0)
    made.extend(breaks())
    made.append(spoken("", "The importer is next.", "r", "Read", file_path="docs/9.md"))
    made.append(returned("", "r", "row"))
    flagged, judged = review_session(made.ledger)
    assert judged == 2
    assert [signal.name for one in flagged for signal in one.drift.signals] == ["constraint"]
    assert flagged[0].action == "Adding it. | Edit: src/billing.py"


@pytest.mark.parametrize("wire", ["openai_chat", "anthropic"])
def test_a_message_is_judged_in_the_format_of_its_session(wire: str) -> None:
    drift = session(wire).drift(breaks(wire)[0])
    assert (drift.status, drift.since) == ("DRIFT_DETECTED", 1)
    told = drift.to_dict()
    assert (told["status"], [one.name for one in drift.signals]) == (
        "DRIFT_DETECTED",
        ["constraint"],
    )


def test_judging_changes_nothing() -> None:
    made = session()
    before = list(made.store.read("s"))
    made.drift("Could you remind me what we are working on?")
    assert list(made.store.read("s")) == before


def test_an_empty_session_has_nothing_to_drift_from() -> None:
    empty = Session("s", MemoryStore())
    assert empty.drift("Let me look at something.").to_dict() == {
        "status": "ALIGNED",
        "score": 0.0,
        "since": 0,
        "signals": [],
    }


def test_an_agent_that_cannot_be_judged_now_goes_on_and_is_judged_the_next_time() -> None:
    store = RefusingStore(Noted, full=False)
    policy = holdfast.Policy(window=200_000, drift=DriftRules(1, 3))
    made = Session("s", store, policy=policy)
    made.extend(history("openai_chat"))
    made.compact(budget=3_000)
    made.extend(breaks())
    store.full = True
    assert made.messages()
    assert notes(made) == []
    store.full = False
    made.messages()
    assert len(notes(made)) == 1
