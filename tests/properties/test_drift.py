"""Laws of the drift watch, whatever an agent says."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.ledger.window import Item
from holdfast.core.verify.drift.evidence import RecordReader, evidence_of
from holdfast.core.verify.drift.judge import RULES, judge
from holdfast.core.verify.drift.message import AgentMessage
from holdfast.core.verify.drift.off_topic import find_unknown_names
from holdfast.core.verify.drift.signs import SIGN_THRESHOLD
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.core.building import call
from tests.core.verify.drift.evidence import REQUEST, evidence, says
from tests.properties.sessions import Message, histories, words

GROUND = evidence()
VISIBLE = sorted(set(REQUEST.replace(".", " ").split()))


def called(tool: str, path: str) -> ToolCalled:
    return call("c", tool, file_path=path, command=path)


calls = st.builds(
    called,
    st.sampled_from(("Read", "Edit", "Write", "Bash", "AskUserQuestion", "submit")),
    st.one_of(st.text(max_size=20), st.sampled_from(("src/billing.py", "git push", "ls -la"))),
)
texts = st.one_of(st.text(max_size=300), words, st.sampled_from((REQUEST, "All done!", "Why?")))
moves = st.builds(AgentMessage, texts, st.lists(calls, max_size=3).map(tuple))


@given(moves)
def test_a_score_lies_between_0_and_1_and_is_the_same_each_time(move: AgentMessage) -> None:
    drift = judge(move, GROUND)
    assert 0 <= drift.score <= 1
    assert drift == judge(move, GROUND)
    assert all(SIGN_THRESHOLD <= signal.strength <= 1 for signal in drift.signals)
    assert (drift.status == "ALIGNED") == (not drift.signals)


@given(histories("openai_chat"), st.data())
def test_evidence_that_is_read_in_any_steps_is_that_of_the_whole_record(
    history: list[Message], data: st.DataObject
) -> None:
    session = Session("s", MemoryStore())
    session.extend(history)
    record = [Item(entry) for entry in session.ledger.path()]
    reader = RecordReader()
    for _ in range(3):
        upto = data.draw(st.integers(0, len(record)))
        shown, since = record[upto // 2 : upto], data.draw(st.integers(0, upto))
        read = evidence_of(record[:upto], shown, summary_at=since, reader=reader)
        assert read == evidence_of(record[:upto], shown, summary_at=since)


@given(st.text())
def test_no_text_makes_a_session_raise(text: str) -> None:
    session = Session("s", MemoryStore())
    session.append({"role": "user", "content": REQUEST})
    assert session.drift(text).status in ("ALIGNED", "DRIFT_DETECTED")


@given(st.lists(st.sampled_from(VISIBLE), max_size=30))
def test_who_only_uses_words_in_sight_sees_no_ghosts(chosen: list[str]) -> None:
    assert find_unknown_names(says(" ".join(chosen)), GROUND).strength == 0


HOSTILE = (
    "a",
    "? ",
    "Could you ",
    "I'll change src/billing.py, ",
    "`",
    "```\n",
    "is not done, ",
    "what which the task ",
    "<<<<<<< SEARCH\n",
    "never instead of without ",
    "x_y/z.",
)


@pytest.mark.parametrize("run", HOSTILE)
def test_a_megabyte_of_anything_is_judged_in_linear_time(run: str) -> None:
    def seconds(size: int) -> float:
        move = AgentMessage(run * (size // len(run)))
        start = time.thread_time()
        for rule in RULES.values():
            rule(move, GROUND)
        return time.thread_time() - start

    seconds(10_000)
    small, large = seconds(125_000), seconds(1_000_000)
    assert large < 0.5 or large < small * 16
