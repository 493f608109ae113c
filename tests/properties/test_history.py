"""A client that sends its history again: what is known stays, and nothing is lost."""

import json

from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Derived
from holdfast.engine.sync import Synced
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.properties.sessions import Message, any_history, hiding, histories, in_sight, words


def talked(messages: list[Message]) -> Session:
    """A session that was told these messages."""
    session = Session("s", MemoryStore())
    session.extend(messages)
    return session


def sources(session: Session) -> list[object]:
    """Every source entry ever written."""
    return [e for e in session.store.read("s") if not isinstance(e.body, Derived)]


@given(any_history)
def test_a_resent_history_adds_nothing(drawn: tuple[str, list[Message]]) -> None:
    messages = drawn[1]
    session = talked(messages)
    before = list(session.store.read("s"))
    assert session.sync(messages) == Synced(0, branched=False)
    assert list(session.store.read("s")) == before
    assert json.dumps(session.messages()) == json.dumps(messages)


@given(any_history, st.data())
def test_a_history_that_grew_adds_exactly_its_tail(
    drawn: tuple[str, list[Message]], data: st.DataObject
) -> None:
    messages = drawn[1]
    known = data.draw(st.integers(1, len(messages)))
    session, whole = talked(messages[:known]), talked(messages)
    assert session.sync(messages) == Synced(len(messages) - known, branched=False)
    assert sources(session) == sources(whole)
    assert session.wire() == whole.wire()
    assert list(session.store.check()) == []


@given(any_history, st.data())
def test_a_history_resent_with_other_bytes_adds_nothing_and_goes_out_in_the_new_bytes(
    drawn: tuple[str, list[Message]], data: st.DataObject
) -> None:
    messages = drawn[1]
    session = talked(messages)
    respelled = [json.dumps(message).encode() for message in messages]
    assert session.sync(respelled) == Synced(0, branched=False)
    assert session.wire() == b"[" + b",".join(respelled) + b"]"
    assert list(session.store.check()) == []


@given(any_history, words, st.data())
def test_a_rewind_branches_and_loses_nothing(
    drawn: tuple[str, list[Message]], text: str, data: st.DataObject
) -> None:
    wire, messages = drawn
    session = talked(messages)
    before = sources(session)
    upto = data.draw(st.integers(1, len(messages) - 1)) if len(messages) > 1 else 1
    new = {"type": "message", "role": "user", "content": "X" + text}
    if wire != "openai_responses":
        del new["type"]
    assume(json.dumps(messages[upto : upto + 1]) != json.dumps([new]))
    rewound = [*messages[:upto], new]
    synced = session.sync(rewound)
    assert synced == Synced(1, branched=upto < len(messages))
    assert json.dumps(session.messages()) == json.dumps(rewound)
    assert sources(session)[: len(before)] == before
    assert session.ledger.head().lane("").tokens == in_sight(session)
    assert list(session.store.check()) == []


@given(any_history, words, st.data())
def test_a_branch_left_and_taken_again_is_the_branch_it_was(
    drawn: tuple[str, list[Message]], text: str, data: st.DataObject
) -> None:
    messages = drawn[1]
    assume(len(messages) > 1)
    session = talked(messages)
    path = session.ledger.path()
    upto = data.draw(st.integers(1, len(messages) - 1))
    new = {"role": "user", "content": "X" + text}
    session.sync([*messages[:upto], new])
    session.sync(messages)
    assert session.ledger.path() == path
    assert json.dumps(session.messages()) == json.dumps(messages)
    assert list(session.store.check()) == []


@given(histories("openai_chat"), st.data())
def test_parallel_results_match_in_any_order(messages: list[Message], data: st.DataObject) -> None:
    session = talked(messages)
    before = sources(session)
    shuffled: list[Message] = []
    run: list[Message] = []
    for message in [*messages, {"role": "end"}]:
        if message["role"] == "tool":
            run.append(message)
            continue
        shuffled += data.draw(st.permutations(run)) if run else []
        run = []
        shuffled.append(message)
    resent = shuffled[:-1]
    calls = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assume(len(set(calls)) == len(calls))
    assert session.sync(resent) == Synced(0, branched=False)
    assert sources(session) == before


@given(any_history, st.booleans(), st.booleans(), st.data())
def test_a_client_that_sends_our_own_window_back_adds_nothing(
    drawn: tuple[str, list[Message]], stand_in: bool, together: bool, data: st.DataObject
) -> None:
    session = talked(drawn[1])
    items = list(session.ledger.window().items)
    some = data.draw(st.lists(st.sampled_from(items), min_size=1, unique_by=lambda i: i.entry.seq))
    some.sort(key=lambda item: item.entry.seq)
    session.ledger.commit(hiding(session, some, stand_in, together))
    sent = session.messages()
    before = sources(session)
    assert session.sync(sent) == Synced(0, branched=False)
    assert sources(session) == before
    assert session.messages() == sent


@given(any_history, st.booleans(), st.data())
def test_a_client_that_goes_on_from_our_window_adds_only_what_is_new(
    drawn: tuple[str, list[Message]], together: bool, data: st.DataObject
) -> None:
    session = talked(drawn[1])
    items = list(session.ledger.window().items)
    some = data.draw(st.lists(st.sampled_from(items), min_size=1, unique_by=lambda i: i.entry.seq))
    some.sort(key=lambda item: item.entry.seq)
    session.ledger.commit(hiding(session, some, stand_in=True, together=together))
    sent, before = session.messages(), session.ledger.path()
    new = {"role": "user", "content": "and on"}
    assert session.sync([*sent, new]) == Synced(1, branched=False)
    assert session.ledger.path()[:-1] == before
    assert session.messages() == [*sent, new]
