"""What erasing promises, asked of every store in the same words."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Body,
    Compressed,
    Derived,
    Noted,
    Said,
    Thought,
    ToolReturned,
    text_of,
)
from holdfast.core.plan.policy import Policy
from holdfast.engine.purge.purge import apply_purge, plan_message_purge, plan_session_purge
from holdfast.errors import Conflict, Erased, NotRecorded
from holdfast.session.session import Session
from holdfast.stores.store import Erasure, RetentionCheck, Store, Tombstone
from tests.contracts.test_store import STORES
from tests.surfaces.cli.working import talk

CANARY = "ZEBRAQUUX7741"
AT = "2026-02-03T04:05:06Z"


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with STORES[request.param](tmp_path) as made:
        yield made


def session_in(store: Store, name: str = "s", window: int = 0) -> Session:
    return Session(name, store, policy=Policy(window=window), owns_store=False)


def called(name: str, command: str) -> dict[str, Any]:
    function = {"name": "Bash", "arguments": json.dumps({"command": command})}
    call = {"id": name, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def returned(name: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": text}


def filled(store: Store, name: str = "s") -> Session:
    session = session_in(store, name)
    session.extend(
        [
            {"role": "user", "content": "Look at the log."},
            called("c1", "cat app.log"),
            returned("c1", f"the host is {CANARY} and the log goes on"),
            {"role": "assistant", "content": "The log is read."},
        ]
    )
    return session


def holding(session: Session, word: str) -> list[str]:
    """The ids of entries that hold a word."""
    return [e.id for e in session.store.read(session.name) if word in repr(e.body)]


def everything(store: Store) -> str:
    """All that a store gives back of every session."""
    said: list[str] = []
    for listed in store.sessions():
        said += [repr(listed), *map(repr, store.read(listed.name))]
        said += map(repr, store.all_sightings(listed.name))
    return "\n".join([*said, *map(repr, store.tombstones())])


def test_a_session_that_is_erased_is_gone_and_its_entries_say_so(store: Store) -> None:
    session = filled(store)
    (ref,) = holding(session, CANARY)
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert (store.sessions(), store.head("s"), CANARY in everything(store)) == ([], None, False)
    with pytest.raises(Erased) as caught:
        session_in(store).read(ref[:12])
    told = caught.value
    assert (told.reason, told.at, told.again) == ("purged", AT, "the call of Bash")
    assert told.size == len(f"the host is {CANARY} and the log goes on")


def test_a_tombstone_keeps_the_name_the_size_and_the_reason_of_every_entry(store: Store) -> None:
    session = filled(store)
    said = [(e.seq, e.id, len(text_of_any(e.body).encode())) for e in session.ledger.path()]
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert [(one.seq, one.id, one.size) for one in store.tombstones("s")] == said
    assert {one.reason for one in store.tombstones("s")} == {"purged"}


def test_another_session_is_as_it_was(store: Store) -> None:
    session, other = filled(store), filled(store, "other")
    before = [*store.read("other")], [*store.all_sightings("other")], other.messages()
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    again = session_in(store, "other")
    assert ([*store.read("other")], [*store.all_sightings("other")], again.messages()) == before
    assert again.read(holding(again, CANARY)[0]).startswith("the host is")
    assert list(store.check()) == []


def test_a_message_that_is_erased_keeps_its_place_and_the_request_stays_legal(store: Store) -> None:
    session = filled(store)
    (ref,) = holding(session, CANARY)
    apply_purge(session.ledger, plan_message_purge(session.ledger, ref), at=AT)
    size = len(f"the host is {CANARY} and the log goes on")
    shown = session_in(store).messages()
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "assistant"]
    assert shown[2] == returned("c1", f"[purged: {size} bytes]")
    assert CANARY not in everything(store)
    assert list(store.check()) == []


@pytest.mark.parametrize("all_of_it", [True, False])
def test_what_was_read_off_a_session_goes_with_what_is_erased(
    store: Store, all_of_it: bool
) -> None:
    session = filled(store)
    head = session.ledger.head()
    store.write_cache("s", "told", head, CANARY.encode())
    (ref,) = holding(session, CANARY)
    apply_purge(
        session.ledger,
        plan_session_purge(session.ledger)
        if all_of_it
        else plan_message_purge(session.ledger, ref),
        at=AT,
    )
    # Whoever was reading in the meantime comes too late.
    store.write_cache("s", "told", head, CANARY.encode())
    assert store.read_cache("s", "told") is None


def test_reading_a_purged_result_names_the_call_that_brings_it_again(store: Store) -> None:
    session = filled(store)
    (ref,) = holding(session, CANARY)
    apply_purge(session.ledger, plan_message_purge(session.ledger, ref), at=AT)
    with pytest.raises(Erased) as caught:
        session.read(ref[:12])
    assert caught.value.again == "Bash `cat app.log`"
    assert isinstance(caught.value, NotRecorded)


def test_a_call_that_goes_after_its_result_is_no_longer_named(store: Store) -> None:
    session = filled(store)
    (ref,) = holding(session, CANARY)
    apply_purge(session.ledger, plan_message_purge(session.ledger, ref), at=AT)
    (call,) = holding(session, "cat app.log")
    apply_purge(session.ledger, plan_message_purge(session.ledger, call), at=AT)
    assert "app.log" not in everything(store)
    assert {one.again for one in store.tombstones("s", ref)} == {"the call of Bash"}


def test_a_live_session_sees_that_something_was_erased_behind_its_back(store: Store) -> None:
    session = filled(store)
    assert CANARY in str(session.messages())
    other = session_in(store)
    apply_purge(other.ledger, plan_message_purge(other.ledger, holding(other, CANARY)[0]), at=AT)
    assert CANARY not in str(session.messages())


def test_a_client_that_sends_its_history_again_brings_nothing_back(store: Store) -> None:
    session = filled(store)
    history = session.messages()
    apply_purge(
        session.ledger, plan_message_purge(session.ledger, holding(session, CANARY)[0]), at=AT
    )
    done = session_in(store).sync(history)
    assert (done.added, CANARY in everything(store)) == (0, False)


def test_a_summary_loses_what_it_quoted_of_what_is_gone(store: Store) -> None:
    words = f"Always call the host {CANARY} over the tunnel."
    history = talk(60)
    history.insert(5, {"role": "user", "content": words})
    session = session_in(store)
    session.extend(history)
    session.pin(f"the tunnel to {CANARY}")
    made = session.compact(4_000)
    assert CANARY in str(made.summary)
    before = session.status().tokens
    ref = next(
        e.id for e in session.ledger.path() if isinstance(e.body, Said) and e.body.text == words
    )
    apply_purge(session.ledger, plan_message_purge(session.ledger, ref), at=AT)
    assert CANARY not in everything(store)
    again = session_in(store)
    assert (CANARY in str(again.messages()), list(store.check())) == (False, [])
    assert abs(again.status().tokens - before) < 50
    lines = len(str(again.messages()))
    again.undo()
    assert (CANARY in str(again.messages()), len(str(again.messages())) > lines) == (False, True)


def test_sizes_are_what_they_would_be_had_it_never_been_more(store: Store) -> None:
    session = session_in(store)
    session.extend(talk(40))
    session.compact(4_000)
    gone = next(e for e in session.ledger.path() if "remark_3_" in text_of_any(e.body))
    apply_purge(session.ledger, plan_message_purge(session.ledger, gone.id), at=AT)
    again = session_in(store)
    shown = again.status().tokens
    again.undo()
    counts = store.counts("s", again.ledger.head().vocabulary)
    seen = [item.entry.seq for item in again.ledger.window().items]
    assert again.status().tokens == sum(counts[seq] for seq in seen)
    assert 0 < shown <= 4_000


def text_of_any(body: Body) -> str:
    return "" if isinstance(body, Derived) else text_of(body)


def test_sealed_thinking_that_is_erased_is_no_longer_sent(store: Store) -> None:
    session = session_in(store)
    thinking = {"type": "thinking", "thinking": f"so {CANARY}", "signature": "c2VhbA=="}
    use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": CANARY}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a\nb"}
    session.extend(
        [
            {"role": "user", "content": "list"},
            {"role": "assistant", "content": [thinking, use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": "There are two."},
            {"role": "user", "content": "Thanks."},
        ]
    )
    ref = next(e.id for e in session.ledger.path() if isinstance(e.body, Thought))
    apply_purge(session.ledger, plan_message_purge(session.ledger, ref), at=AT)
    shown = session_in(store).messages()
    notice = f"[purged: {len(f'so {CANARY}') + len(json.dumps({'path': CANARY})) + 1} bytes]"
    assert shown[1]["content"] == [
        {"type": "tool_use", "id": "t1", "name": "ls", "input": {"purged": notice}}
    ]
    assert (CANARY in everything(store), list(store.check())) == (False, [])


def test_a_picture_becomes_words(store: Store) -> None:
    session = session_in(store)
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    session.append(
        {"role": "user", "content": [{"type": "image", "source": source}]},
    )
    apply_purge(session.ledger, plan_message_purge(session.ledger, "#1"), at=AT)
    shown = session_in(store).messages()
    assert shown == [{"role": "user", "content": [{"type": "text", "text": "[purged: 0 bytes]"}]}]


def test_an_erasure_worked_out_on_an_older_state_is_refused(store: Store) -> None:
    session = filled(store)
    seq = session.ledger.head().seq
    session.append({"role": "user", "content": "one more"})
    stone = Tombstone("s", 1, session.ledger.path()[0].id, 3, "purged")
    with pytest.raises(Conflict):
        store.erase("s", Erasure(seq, (stone,), whole=True))
    assert (len(session.ledger.path()), store.tombstones()) == (5, [])


def test_what_was_erased_once_stays_erased_as_it_was(store: Store) -> None:
    session = filled(store)
    (ref,) = holding(session, CANARY)
    apply_purge(session.ledger, plan_message_purge(session.ledger, ref), at=AT)
    (first,) = store.tombstones("s", ref)
    apply_purge(session.ledger, plan_session_purge(session.ledger), at="2027-01-01T00:00:00Z")
    (second,) = store.tombstones("s", ref)
    assert second == replace(first, again="the call of Bash")


def test_a_session_of_the_same_name_can_begin_anew(store: Store) -> None:
    session = filled(store)
    (ref,) = holding(session, CANARY)
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    again = filled(store)
    assert len(again.messages()) == 4
    assert again.read(ref[:12]) == f"the host is {CANARY} and the log goes on"
    assert list(store.check()) == []


def test_what_only_quoted_it_is_not_told_as_erased(store: Store) -> None:
    session = filled(store)
    session.note("observed", host=CANARY)
    apply_purge(
        session.ledger, plan_message_purge(session.ledger, holding(session, CANARY)[0]), at=AT
    )
    noted = next(e for e in store.read("s") if isinstance(e.body, Noted))
    assert noted.body == Noted("observed", {"host": "[purged]"})
    assert {one.reason for one in store.tombstones("s", noted.id)} == {"rewritten"}


def test_looks_are_kept_in_their_order(store: Store) -> None:
    looks = [RetentionCheck(1, 0, 500), RetentionCheck(3, 60, 100), RetentionCheck(3, 60, 90)]
    for look in looks:
        store.add_retention_check(look)
    assert store.retention_checks() == looks


def test_a_store_is_smaller_once_a_session_has_left_it(store: Store) -> None:
    session = session_in(store)
    drawn = Random(7)
    session.extend({"role": "user", "content": drawn.randbytes(9_000).hex()} for _ in range(30))
    filled(store, "other")
    full = store.size()
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert store.size() < full / 2


def test_only_messages_of_someone_can_be_erased(store: Store) -> None:
    session = filled(store)
    session.note("observed", host="x")
    with pytest.raises(NotRecorded):
        plan_message_purge(session.ledger, f"#{session.ledger.head().seq}")


def test_the_kinds_of_what_is_left_are_what_they_were(store: Store) -> None:
    session = filled(store)
    kinds = [type(e.body) for e in session.ledger.path()]
    for entry in session.ledger.path():
        apply_purge(session.ledger, plan_message_purge(session.ledger, entry.id), at=AT)
    assert [type(e.body) for e in session_in(store).ledger.path()] == kinds
    assert {type(e.body) for e in store.read("s")} >= {Said, ToolReturned, Noted}
    assert not any(isinstance(e.body, Compressed) for e in store.read("s"))
    assert list(store.check()) == []
