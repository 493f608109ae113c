"""Kept up to date or folded anew: a head and a window are the same."""

from typing import NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import Compressed, Derived, Entry, Restored, Said, Used
from holdfast.core.ledger.head import UNCOUNTED, Head, apply_counts
from holdfast.core.ledger.head import advance_head as move
from holdfast.core.ledger.replay import replay_ledger
from holdfast.core.ledger.snapshot import entries_needed, open_snapshot, take_snapshot
from holdfast.core.ledger.window import (
    GrowingList,
    GrowingPath,
    Window,
    advance_window,
    extend_window,
    fold,
    path_to,
)
from holdfast.core.measure.tokens import count_body
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.properties.sessions import Message, hiding, histories, in_sight, words


class Shape(NamedTuple):
    """What a window shows, without what it was folded from."""

    lane: str
    end: str | None
    generation: int
    items: list[object]


def shape(window: Window) -> Shape:
    return Shape(window.lane, window.end, window.generation, list(window.items))


@st.composite
def lived(draw: st.DrawFn) -> Session:
    """A session to which all kinds of things were done."""
    session = Session("s", MemoryStore())
    messages = draw(histories("anthropic"))
    told: list[Message] = []
    for _ in range(draw(st.integers(1, 7))):
        do = draw(
            st.sampled_from(
                (
                    "tell",
                    "tell",
                    "resend",
                    "rewind",
                    "replace",
                    "hide",
                    "hide",
                    "restore",
                    "report",
                    "note",
                    "count",
                    "helper",
                )
            )
        )
        match do:
            case "tell" if messages:
                size = draw(st.integers(1, len(messages)))
                session.extend(messages[:size])
                told, messages = told + messages[:size], messages[size:]
            case "resend":
                size = draw(st.integers(0, len(messages)))
                told, messages = told + messages[:size], messages[size:]
                session.sync(told)
            case "rewind" if told:
                upto = draw(st.integers(0, len(told)))
                told = [*told[:upto], {"role": "user", "content": draw(words)}]
                session.sync(told)
            case "replace":
                told = [replaced(message, draw(st.booleans())) for message in told]
                session.sync(told)
            case "hide" if session.ledger.window().items:
                items = list(session.ledger.window().items)
                some = draw(
                    st.lists(st.sampled_from(items), min_size=1, unique_by=lambda i: i.entry.seq)
                )
                some.sort(key=lambda item: item.entry.seq)
                session.ledger.commit(
                    hiding(session, some, draw(st.booleans()), draw(st.booleans()))
                )
            case "restore":
                undo(session, draw(st.integers(0, 3)))
            case "report":
                usage = {"input_tokens": draw(st.integers(1, 5_000)), "output_tokens": 7}
                session.report(usage, model=draw(st.sampled_from((None, "claude-opus-4", "gpt-4"))))
            case "note":
                session.note(draw(st.sampled_from(("task_done", "phase_change"))))
            case "count":
                session.ledger.head()
            case "helper":
                helper = Session("s", session.store, agent="helper")
                helper.append({"role": "user", "content": [{"type": "text", "text": draw(words)}]})
            case _:
                continue
    return session


def replaced(message: Message, really: bool) -> Message:
    """A message whose results the host shows otherwise."""
    content: object = message["content"]
    if not really or not isinstance(content, list):
        return message
    blocks = [
        {**block, "content": "[shown by the host]"} if block["type"] == "tool_result" else block
        for block in cast(list[Message], content)
    ]
    return {**message, "content": blocks}


def undo(session: Session, which: int) -> None:
    """Lift a compression that is in force, if there is one."""
    entries = [e for e in session.store.read("s") if not e.lane]
    lifted = {e.body.compressed for e in entries if isinstance(e.body, Restored)}
    alive = [e for e in entries if isinstance(e.body, Compressed) and e.id not in lifted]
    if not alive:
        return
    chosen = alive[which % len(alive)]
    before = fold(entries)
    without = fold([*entries, _restoring(chosen, entries)])
    returns = _tokens(session, without) - _tokens(session, before)
    session.ledger.commit(Restored(chosen.id, session.ledger.window().generation, returns))


def _restoring(chosen: Entry, entries: list[Entry]) -> Entry:
    last = entries[-1].seq + 1
    return replace(chosen, id="f" * 32, body=Restored(chosen.id, 0), seq=last)


def _tokens(session: Session, window: Window) -> int:
    counts = session.store.counts("s", session.ledger.head().vocabulary)
    total = 0
    for item in window.items:
        if item.stand_in is None:
            total += counts[item.entry.seq]
        else:
            total += count_body(item.stand_in, counter(session.ledger.head().vocabulary))
    return total


@given(lived())
def test_a_head_kept_up_to_date_is_the_head_of_a_replay(session: Session) -> None:
    head = session.ledger.head()
    counts = session.store.counts("s", head.vocabulary)
    assert replay_ledger(session.store.read("s"), counts, head) == head


class Heard(NamedTuple):
    """An entry that reached a session, and whether it came with its count."""

    body: Said | Used
    lane: str
    counted: bool


heard = st.lists(
    st.builds(
        Heard,
        st.builds(
            Said, st.sampled_from(("user", "assistant")), st.text(st.characters(codec="utf-8"))
        )
        | st.builds(Used, st.integers(1, 900)),
        st.sampled_from(("", "helper")),
        st.booleans(),
    ),
    max_size=12,
)


def entry_of(number: int, one: Heard, head: Head) -> Entry:
    end = head.lane(one.lane).end
    if isinstance(one.body, Derived):
        return derived_entry(number, one.body, parent=end, lane=one.lane)
    return Entry(f"{number:032x}", end, one.body, number, one.lane, message=number)


@given(heard, st.data())
def test_counts_that_come_late_and_in_any_order_make_the_head_of_a_replay(
    arrivals: list[Heard], data: st.DataObject
) -> None:
    head, counts, ledger = Head(), dict[int, int](), list[Entry]()
    for number, one in enumerate(arrivals, start=1):
        ledger.append(entry_of(number, one, head))
        spoken = isinstance(one.body, Said)
        if spoken and one.counted:
            counts[number] = number * 10
        head = move(head, ledger[-1], counts.get(number, UNCOUNTED))
        late = [e.seq for e in ledger if isinstance(e.body, Said) and e.seq not in counts]
        fresh = {n: n * 10 for n in late if data.draw(st.booleans())}
        head = apply_counts(head, fresh, ledger[head.counted :], counts)
        counts |= fresh
        assert replay_ledger(ledger, counts, head) == head


@given(lived())
def test_the_tokens_of_a_head_are_those_of_what_is_in_sight(session: Session) -> None:
    assert session.ledger.head().lane("").tokens == in_sight(session)
    assert session.ledger.head().lane("").uncounted == 0


@pytest.mark.parametrize("together", [False, True])
def test_what_left_altogether_or_in_company_the_host_does_not_bring_back(together: bool) -> None:
    use: Message = {"type": "tool_use", "id": "a", "name": "run", "input": {}}
    back = {"type": "tool_result", "tool_use_id": "a", "content": "alpha beta"}
    told: list[Message] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [back]},
    ]
    session = Session("s", MemoryStore())
    session.sync(told)
    hidden = list(session.ledger.window().items)[-2:]
    session.ledger.commit(hiding(session, hidden, together, together))
    session.sync([replaced(message, really=True) for message in told])
    assert session.ledger.head().lane("").tokens == in_sight(session)


@given(lived())
def test_nothing_that_can_be_done_to_a_session_damages_it(session: Session) -> None:
    assert list(session.store.check()) == []


@given(lived())
def test_no_two_entries_have_the_same_name(session: Session) -> None:
    names = [e.id for e in session.store.read("s")]
    assert len(set(names)) == len(names)


@given(lived())
def test_a_window_kept_up_to_date_is_the_fold_of_everything(session: Session) -> None:
    entries = list(session.store.read("s"))
    assert shape(session.ledger.window()) == shape(fold(entries))
    assert shape(Session("s", session.store).ledger.window()) == shape(fold(entries))


@given(lived(), st.data())
def test_a_window_advanced_in_any_steps_is_the_fold_of_everything(
    session: Session, data: st.DataObject
) -> None:
    entries = list(session.store.read("s"))
    window, at = Window(), 0
    kept: list[tuple[Window, Shape, list[Entry]]] = []
    while at < len(entries):
        size = data.draw(st.integers(1, len(entries)))
        window = advance_window(window, entries[at : at + size])
        kept.append((window, shape(window), list(window.ledger)))
        at += size
    assert window == fold(entries)
    for older, shown, ledger in kept:
        assert (shape(older), list(older.ledger)) == (shown, ledger)


@given(lived(), st.data())
def test_a_path_that_grows_in_any_steps_is_the_path_of_the_whole_window(
    session: Session, data: st.DataObject
) -> None:
    entries, lane = list(session.store.read(session.name)), session.agent
    window, grown = Window(lane), GrowingPath()
    while entries:
        count = data.draw(st.integers(1, len(entries)))
        window, entries = advance_window(window, entries[:count]), entries[count:]
        assert list(grown.to(window)) == path_to(window.end, window.ledger)


@given(lived(), st.data())
def test_a_kept_window_opened_again_and_advanced_is_the_fold_of_everything(
    session: Session, data: st.DataObject
) -> None:
    entries = list(session.store.read("s"))
    upto = data.draw(st.integers(0, len(entries)))
    kept = take_snapshot(fold(entries[:upto]), upto)
    later = [e for e in entries[upto:] if not e.lane]
    window = open_snapshot(kept, {e.seq: e for e in entries if e.seq in entries_needed(kept)})
    assert shape(window) == shape(fold(entries[:upto]))
    follows = extend_window(window, later)
    if follows is not None:
        assert shape(follows) == shape(fold(entries))
        again = take_snapshot(follows, len(entries))
        assert again == take_snapshot(fold(entries), len(entries))


@given(lived())
def test_what_is_hidden_can_be_read_back(session: Session) -> None:
    entries = [e for e in session.store.read("s") if not isinstance(e.body, Derived)]
    for entry in entries:
        assert session.ledger.find(entry.id) == entry


@given(lived())
def test_a_fresh_process_sends_the_same_bytes(session: Session) -> None:
    assert Session("s", session.store).wire() == session.wire()


@given(lived(), st.booleans(), st.booleans(), st.data())
def test_compressing_and_restoring_is_as_before(
    session: Session, stand_in: bool, together: bool, data: st.DataObject
) -> None:
    items = list(session.ledger.window().items)
    if not items:
        return
    some = data.draw(st.lists(st.sampled_from(items), min_size=1, unique_by=lambda i: i.entry.seq))
    some.sort(key=lambda item: item.entry.seq)
    wire, tokens, shown = (
        session.wire(),
        session.ledger.head().lane("").tokens,
        shape(session.ledger.window()),
    )
    body = hiding(session, some, stand_in, together)
    entry = session.ledger.commit(body).entries[0]
    hidden = {item.entry.id for item in some}
    assert hidden.isdisjoint(
        i.entry.id for i in session.ledger.window().items if i.stand_in is None
    )
    saved = sum(step.before - step.after for step in body.steps)
    assert session.ledger.head().lane("").tokens == tokens - saved
    session.ledger.commit(Restored(entry.id, session.ledger.window().generation, saved))
    assert (session.wire(), session.ledger.head().lane("").tokens) == (wire, tokens)
    assert shape(session.ledger.window()).items == shown.items


@given(st.lists(st.lists(st.integers(), max_size=4), max_size=8), st.data())
def test_a_run_that_grows_leaves_the_shorter_ones_as_they_were(
    pieces: list[list[int]], data: st.DataObject
) -> None:
    runs: list[tuple[GrowingList[int], list[int]]] = [(GrowingList(), [])]
    for piece in pieces:
        base, plain = data.draw(st.sampled_from(runs))
        runs.append((base.plus(piece), plain + piece))
    for run, plain in runs:
        assert (list(run), len(run), run == GrowingList(plain)) == (plain, len(plain), True)
        assert [run[at] for at in range(-len(plain), len(plain))] == plain + plain
        assert run[1:-1] == plain[1:-1]
