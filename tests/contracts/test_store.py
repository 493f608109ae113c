"""What every store promises, asked of each of them in the same words."""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from threading import Thread

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, append_arrivals, append_note
from holdfast.core.ledger.chain import derived_id, meaning, source_id
from holdfast.core.ledger.entry import (
    Checkpointed,
    Compressed,
    Derived,
    Entry,
    Noted,
    Restored,
    Said,
    Sighting,
    Step,
    ToolReturned,
    Unread,
    pack,
)
from holdfast.core.ledger.head import FOLD_VERSION, Document, Head, Lane
from holdfast.core.ledger.snapshot import ItemRef, WindowSnapshot
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.errors import BadCompression, Conflict
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import FIRST_SPAN, Build, SessionInfo, Store, events_newest_first

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(str(folder / "store" / "ledger.db"), project="one"),
}

KEPT = WindowSnapshot(
    lane="", end="ab" * 16, generation=2, seq=3, items=(ItemRef(1), ItemRef(2, 3, 0))
)
LARGE = "x" * 5_000
"""Longer than what a store would keep inside a row."""


class Refused(Exception):
    """Raised by a build that wants nothing written."""


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with STORES[request.param](tmp_path) as made:
        yield made


def said(*texts: str, source: str = "", tokens: int = -1) -> list[Arrival]:
    """One arrival for each text."""
    return [
        Arrival(b'"%s"' % text.encode(), (Draft(Said("user", text), tokens=tokens),), source=source)
        for text in texts
    ]


def saying(*texts: str) -> Build:
    """A build that adds texts at the end."""
    return lambda head: append_arrivals(head, said(*texts))


def noting(body: Derived) -> Build:
    """A build that adds a derived entry."""
    return lambda head: append_note(head, body)


def entry(seq: int, parent: str | None, text: str) -> Entry:
    """The entry that a text has to become."""
    body = Said("user", text)
    return Entry(source_id(parent, meaning(body)), parent, body, seq, message=seq)


A = entry(1, None, "a")
B = entry(2, A.id, "b")
C = entry(3, B.id, "c")


def test_a_session_nobody_wrote_to_holds_nothing(store: Store) -> None:
    assert store.head("s") is None
    assert list(store.read("s")) == []
    assert store.names("s") == {}
    assert store.counts("s", "o200k_base") == {}
    assert list(store.sightings("s")) == []
    assert store.arrivals("s", [1]) == {}
    assert store.window("s") is None
    assert store.sessions() == []
    assert list(store.check()) == []


def test_what_is_appended_is_returned_and_read_back_in_order(store: Store) -> None:
    batch = store.append("s", saying("a", "b", "c"))
    assert batch.entries == (A, B, C)
    assert list(store.read("s")) == [A, B, C]
    assert store.head("s") == batch.head


def test_the_head_tells_where_the_session_stands(store: Store) -> None:
    store.append("s", lambda head: append_arrivals(head, said("a", "b", tokens=3)))
    lane = Lane(end=B.id, tokens=6, messages=2, turns=2, message=2)
    assert store.head("s") == Head(
        stamp=FOLD_VERSION,
        seq=2,
        counted=2,
        title="a",
        lanes={"": lane},
        documents={"": Document(2, live=True, seen=2)},
    )


def test_build_is_given_the_head_that_the_last_append_left(store: Store) -> None:
    given: list[Head] = []

    def build(head: Head) -> Batch:
        given.append(head)
        return append_arrivals(head, said("a"))

    first = store.append("s", build)
    store.append("s", build)
    assert given == [Head(), first.head]


def test_reading_since_a_number_gives_what_came_after_it(store: Store) -> None:
    store.append("s", saying("a", "b"))
    store.append("s", saying("c"))
    assert list(store.read("s", since=1)) == [B, C]
    assert list(store.read("s", since=3)) == []
    assert list(store.read("s", since=99)) == []


def test_events_are_what_was_done_without_what_was_said(store: Store) -> None:
    assert list(store.events("s")) == []
    store.append("s", saying("a"))
    first = store.append("s", noting(Noted("first"))).entries
    store.append("s", saying("b"))
    later = store.append("s", noting(Noted("later"))).entries
    assert tuple(store.events("s")) == (*first, *later)
    assert tuple(store.events("s", since=2)) == later
    assert list(store.events("s", since=4)) == []


def test_events_of_some_kinds_leave_out_all_others(store: Store) -> None:
    store.append("s", saying("a"))
    large = Noted("large", {"text": "x" * 100_000})
    summary = Summary(words=tuple(Quote(f"word {number} " * 9, "e") for number in range(900)))
    bodies = (Noted("first"), large, Checkpointed(summary), Checkpointed(summary, upto=1))
    written = [store.append("s", noting(body)).entries[0] for body in (*bodies, Noted("last"))]
    notes = [entry for entry in written if isinstance(entry.body, Noted)]
    assert list(store.events("s", kinds=("noted",))) == notes
    assert list(store.events("s", kinds=("checkpoint",))) == written[2:4]
    assert list(store.events("s", kinds=("noted", "checkpoint"), since=3)) == written[2:]
    assert list(store.events("s", kinds=())) == []


def test_the_latest_events_come_first_and_each_once_in_a_session_of_any_length(
    store: Store,
) -> None:
    assert list(events_newest_first(store, "s")) == []
    for part in range(4):
        store.append("s", noting(Noted(f"note {part}")))
        store.append("s", saying(*(f"{part} {number}" for number in range(FIRST_SPAN * part))))
    assert list(events_newest_first(store, "s")) == list(reversed(list(store.events("s"))))


def test_who_looks_at_the_latest_events_only_does_not_have_the_rest_read() -> None:
    asked: list[int] = []

    class Watched(MemoryStore):
        def events(
            self, session: str, *, since: int = 0, kinds: Collection[str] | None = None
        ) -> Iterator[Entry]:
            asked.append(since)
            return super().events(session, since=since, kinds=kinds)

    store = Watched()
    store.append("s", saying(*map(str, range(FIRST_SPAN * 3))))
    (last,) = store.append("s", noting(Noted("last"))).entries
    assert next(events_newest_first(store, "s")) == last
    assert asked == [last.seq - FIRST_SPAN]


def test_reading_numbers_gives_those_entries_in_order_and_once(store: Store) -> None:
    store.append("s", saying("a", "b", "c"))
    assert list(store.read("s", numbers=[3, 1, 3])) == [A, C]
    assert list(store.read("s", numbers=[])) == []


@pytest.mark.parametrize("number", [0, -1, 4])
def test_a_number_that_no_entry_has_is_left_out(store: Store, number: int) -> None:
    store.append("s", saying("a", "b", "c"))
    assert list(store.read("s", numbers=[number, 2])) == [B]


def test_names_are_those_of_source_entries(store: Store) -> None:
    store.append("s", saying("a", "b"))
    store.append("s", noting(Noted("task_done")))
    assert store.names("s") == {A.id: 1, B.id: 2}


def test_names_asked_for_are_found_and_unknown_ones_left_out(store: Store) -> None:
    store.append("s", saying("a", "b"))
    assert store.names("s", [B.id, "0" * 32]) == {B.id: 2}
    assert store.names("s", []) == {}


def test_a_derived_entry_asked_for_by_name_is_treated_alike_by_every_store(store: Store) -> None:
    store.append("s", saying("a"))
    noted = store.append("s", noting(Noted("task_done"))).entries[0]
    assert store.names("s", [noted.id]) == {}


def test_counts_are_kept_per_vocabulary(store: Store) -> None:
    store.append("s", saying("a", "b"))
    for vocabulary, counts in {"one": ((1, 10), (2, 20)), "two": ((2, 7),)}.items():

        def build(
            head: Head, name: str = vocabulary, pairs: tuple[tuple[int, int], ...] = counts
        ) -> Batch:
            return Batch(replace(head, vocabulary=name), counts=pairs)

        store.append("s", build)
    assert store.counts("s", "one") == {1: 10, 2: 20}
    assert store.counts("s", "two") == {2: 7}
    assert store.counts("s", "three") == {}


def test_counts_of_several_appends_add_up(store: Store) -> None:
    for text, tokens in (("a", 5), ("b", 6)):

        def build(head: Head, text: str = text, tokens: int = tokens) -> Batch:
            return append_arrivals(replace(head, vocabulary="v"), said(text, tokens=tokens))

        store.append("s", build)
    assert store.counts("s", "v") == {1: 5, 2: 6}


def test_a_later_count_of_an_entry_takes_the_place_of_the_earlier(store: Store) -> None:
    store.append("s", saying("a", "b"))
    for tokens in (5, 6):

        def build(head: Head, tokens: int = tokens) -> Batch:
            return Batch(replace(head, vocabulary="v"), counts=((1, tokens),))

        store.append("s", build)
    assert store.counts("s", "v") == {1: 6}


def test_bytes_are_given_back_in_the_order_of_their_places(store: Store) -> None:
    store.append("s", saying("a"))
    store.append("s", saying("b"))
    assert list(store.sightings("s")) == [
        Sighting("", 0, 1, b'"a"', first=1, parts=1),
        Sighting("", 1, 1, b'"b"', first=2, parts=1),
    ]


def test_the_sources_of_a_session_are_kept_apart(store: Store) -> None:
    store.append("s", saying("a"))
    store.append("s", lambda head: append_arrivals(head, said("b", source="agent-1")))
    assert [seen.raw for seen in store.sightings("s")] == [b'"a"']
    assert [seen.raw for seen in store.sightings("s", "agent-1")] == [b'"b"']


def test_a_place_seen_again_is_given_back_in_its_newest_version(store: Store) -> None:
    store.append("s", saying("a", "b"))
    for version, raw in ((2, b"a-2"), (3, b"a-3")):

        def build(head: Head, version: int = version, raw: bytes = raw) -> Batch:
            return Batch(head, sightings=(Sighting("", 0, version, raw, b" ", 1, 1),))

        store.append("s", build)
    assert list(store.sightings("s")) == [
        Sighting("", 0, 3, b"a-3", b" ", 1, 1),
        Sighting("", 1, 1, b'"b"', first=2, parts=1),
    ]
    assert store.arrivals("s", [1, 2, 9]) == {
        1: Sighting("", 0, 3, b"a-3", b" ", 1, 1),
        2: Sighting("", 1, 1, b'"b"', first=2, parts=1),
    }


def test_bytes_that_hold_no_entry_are_kept_all_the_same(store: Store) -> None:
    store.append("s", lambda head: append_arrivals(head, [Arrival(b"\n", ()), *said("a")]))
    assert list(store.sightings("s")) == [
        Sighting("", 0, 1, b"\n"),
        Sighting("", 1, 1, b'"a"', first=1, parts=1),
    ]
    assert store.arrivals("s", [0]) == {}


def test_a_kept_window_takes_the_place_of_the_one_before(store: Store) -> None:
    store.append("s", saying("a"))
    store.save_window("s", KEPT)
    store.save_window("s", replace(KEPT, seq=9))
    assert store.window("s") == replace(KEPT, seq=9)


def test_windows_are_kept_lane_by_lane(store: Store) -> None:
    store.append("s", saying("a"))
    store.save_window("s", KEPT)
    store.save_window("s", replace(KEPT, lane="agent-1", seq=9))
    assert store.window("s") == KEPT
    assert store.window("s", "agent-1") == replace(KEPT, lane="agent-1", seq=9)
    assert store.window("s", "agent-2") is None


def test_a_window_kept_for_a_session_that_is_not_there_is_not_kept(store: Store) -> None:
    store.save_window("nobody", KEPT)
    assert store.window("nobody") is None
    assert store.window("somebody else") is None


def test_keeping_a_window_is_no_event(store: Store) -> None:
    store.append("older", saying("a"))
    store.append("newer", saying("a"))
    before = store.sessions()
    store.save_window("older", KEPT)
    assert store.sessions() == before


def test_a_reading_takes_the_place_of_the_one_before_under_its_name(store: Store) -> None:
    head = store.append("s", saying("a")).head
    for name, data in (("told", b"1"), ("told", b"2"), ("secrets", b"3")):
        store.write_cache("s", name, head, data)
    assert [store.read_cache("s", name) for name in ("told", "secrets", "else")] == [
        b"2",
        b"3",
        None,
    ]


def test_what_was_read_before_a_session_moved_on_is_not_kept(store: Store) -> None:
    head = store.append("s", saying("a")).head
    store.append("s", saying("b"))
    store.write_cache("s", "told", head, b"1")
    store.write_cache("nobody", "told", head, b"1")
    assert (store.read_cache("s", "told"), store.read_cache("nobody", "told")) == (None, None)


def test_keeping_a_reading_is_no_event(store: Store) -> None:
    head = store.append("older", saying("a")).head
    store.append("newer", saying("a"))
    before = store.sessions()
    store.write_cache("older", "told", head, b"1")
    assert store.sessions() == before


def test_sessions_are_listed_the_newest_first(store: Store) -> None:
    store.append("one", saying("a"))
    store.append("two", saying("a"))
    last = store.append("one", saying("b"))
    two = store.head("two")
    assert two is not None
    assert store.sessions() == [SessionInfo("one", last.head, 3), SessionInfo("two", two, 2)]


def test_a_count_alone_does_not_make_a_session_the_newest(store: Store) -> None:
    store.append("one", saying("a"))
    store.append("two", saying("a"))
    store.append("one", lambda head: Batch(head, counts=((1, 5),)))
    assert [listed.name for listed in store.sessions()] == ["two", "one"]


def test_sessions_do_not_see_each_others_entries(store: Store) -> None:
    store.append("one", saying("a", "b"))
    store.append("two", saying("a"))
    assert list(store.read("one")) == [A, B]
    assert list(store.read("two")) == [A]


def test_a_session_may_have_any_name(store: Store) -> None:
    names = ["", "a/b", "..", "ä\u2028", "'; drop table entries; --", "x" * 300]
    for name in names:
        store.append(name, saying(f"in {name}"))
    assert {name: [e.body for e in store.read(name)] for name in names} == {
        name: [Said("user", f"in {name}")] for name in names
    }


def test_a_build_that_raises_writes_nothing(store: Store) -> None:
    store.append("s", saying("a"))
    before = store.sessions()

    def refuse(head: Head) -> Batch:
        append_arrivals(head, said("b"))
        raise Refused

    with pytest.raises(Refused):
        store.append("s", refuse)
    assert store.sessions() == before
    assert list(store.read("s")) == [A]
    assert [seen.raw for seen in store.sightings("s")] == [b'"a"']


def test_a_build_that_raises_makes_no_session(store: Store) -> None:
    def refuse(head: Head) -> Batch:
        raise Refused

    with pytest.raises(Refused):
        store.append("s", refuse)
    assert (store.head("s"), store.sessions()) == (None, [])


def test_a_store_goes_on_after_a_build_that_raised(store: Store) -> None:
    def refuse(head: Head) -> Batch:
        raise Refused

    with pytest.raises(Refused):
        store.append("s", refuse)
    store.append("s", saying("a"))
    assert list(store.read("s")) == [A]
    assert list(store.check()) == []


def test_threads_that_append_at_once_lose_nothing_and_leave_one_chain(store: Store) -> None:
    def write(who: int) -> None:
        for number in range(20):
            store.append("s", saying(f"{who}-{number}"))

    threads = [Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = list(store.read("s"))
    assert [e.seq for e in entries] == list(range(1, 81))
    assert [e.parent for e in entries] == [None, *(e.id for e in entries[:-1])]
    assert sorted(e.body.text for e in entries if isinstance(e.body, Said)) == sorted(
        f"{who}-{number}" for who in range(4) for number in range(20)
    )
    assert list(store.check()) == []


def test_a_derived_body_of_a_newer_version_is_carried_unread(store: Store) -> None:
    data = msgspec.msgpack.encode({"type": "dreamt", "of": ["sheep", 1.5, None], "text": LARGE})
    body = Unread("dreamt", data)
    store.append("s", saying("a"))
    store.append("s", lambda head: append_note(head, body))
    assert [e.body for e in store.read("s")] == [Said("user", "a"), body]
    assert pack(body) == data
    assert list(store.check()) == []


@pytest.mark.parametrize(
    "text",
    ["", "a\0b", "é\U0001f600\u2028", LARGE, "\u0416" * 3_000],
    ids=["empty", "nul", "odd", "large", "large and wide"],
)
def test_content_of_any_kind_comes_back_as_it_was(store: Store, text: str) -> None:
    raw = text.encode() + b"\xff\0"
    body = Said("user", text)
    store.append(
        "s", lambda head: append_arrivals(head, [Arrival(raw, (Draft(body),), lead=b",\n")])
    )
    assert [e.body for e in store.read("s")] == [body]
    assert list(store.sightings("s")) == [Sighting("", 0, 1, raw, b",\n", 1, 1)]


def test_an_entry_comes_back_with_everything_it_was_given(store: Store) -> None:
    draft = Draft(
        Said("assistant", LARGE), lane="agent-1", group="msg_1", at="2026-01-02T03:04:05Z"
    )
    batch = store.append("s", lambda head: append_arrivals(head, [Arrival(b"{}", (draft, draft))]))
    assert tuple(store.read("s")) == batch.entries
    assert [(e.lane, e.group, e.at, e.part, e.message) for e in batch.entries] == [
        ("agent-1", "msg_1", "2026-01-02T03:04:05Z", 0, 1),
        ("agent-1", "msg_1", "2026-01-02T03:04:05Z", 1, 1),
    ]


def test_a_head_that_is_not_what_its_entries_fold_to_is_found(store: Store) -> None:
    store.append("s", saying("a"))
    store.append("s", lambda head: Batch(replace(head, title="not the title")))
    assert [(found.kind, found.where) for found in store.check()] == [("cache", "s")]


def test_an_entry_whose_name_does_not_follow_from_its_content_is_found(store: Store) -> None:
    forged = replace(A, body=Said("user", "forged"))
    store.append("s", lambda head: replace(append_arrivals(head, said("a")), entries=(forged,)))
    assert ("lost", "s, entry 1") in [(found.kind, found.where) for found in store.check()]


def test_an_entry_that_follows_nothing_that_is_there_is_found(store: Store) -> None:
    lost = entry(1, "0" * 32, "a")
    store.append("s", lambda head: replace(append_arrivals(head, said("a")), entries=(lost,)))
    assert ("lost", "s, entry 1") in [(found.kind, found.where) for found in store.check()]


def test_a_number_left_out_is_found(store: Store) -> None:
    late = replace(entry(2, None, "a"), message=2)
    store.append("s", lambda head: replace(append_arrivals(head, said("a")), entries=(late,)))
    found = [(damage.kind, damage.where) for damage in store.check()]
    assert ("lost", "s, entry 1") in found


def test_fewer_entries_than_the_head_counts_are_found(store: Store) -> None:
    store.append("s", lambda head: replace(append_arrivals(head, said("a", "b")), entries=(A,)))
    assert ("lost", "s") in [(found.kind, found.where) for found in store.check()]


def test_a_compression_that_hides_what_is_not_there_is_found(store: Store) -> None:
    body = Compressed((Step(("0" * 32,), "gone"),), generation=0, watermark=1)
    store.append("s", saying("a"))
    store.append("s", lambda head: append_note(head, body))
    assert ("lost", "s, entry 2") in [(found.kind, found.where) for found in store.check()]


@pytest.mark.parametrize("gaps", [(), (0,), (70,), (1, 3, 5, 7, 120)])
def test_a_compression_that_hides_very_much_comes_back_name_by_name(
    store: Store, gaps: tuple[int, ...]
) -> None:
    for number in range(150):
        store.append("s", saying(f"a{number}"))
        draft = Draft(Said("user", f"b{number}"), lane="other")
        store.append("s", partial(append_arrivals, arrivals=[Arrival(b'"b"', (draft,))]))
    mine = [entry.id for entry in store.read("s") if entry.lane == ""]
    hides = tuple(name for at, name in enumerate(mine) if at not in gaps)
    body = Compressed((Step(hides, "old", Said("user", "notes")),), generation=0, watermark=300)
    store.append("s", lambda head: append_note(head, body))
    assert list(store.read("s"))[-1].body == body
    store.append("s", saying("later"))
    assert [entry.body for entry in store.read("s", numbers=[301])] == [body]
    assert list(store.check()) == []


def test_a_piece_that_is_missing_is_found(store: Store) -> None:
    def build(head: Head) -> Batch:
        batch = append_arrivals(head, said("a", "b"))
        return replace(batch, sightings=batch.sightings[1:])

    store.append("s", build)
    assert ("lost", "s, piece 1") in [(found.kind, found.where) for found in store.check()]


def test_fewer_pieces_than_were_written_are_found(store: Store) -> None:
    def build(head: Head) -> Batch:
        batch = append_arrivals(head, said("a", "b", source="agent-1"))
        return replace(batch, sightings=batch.sightings[:1])

    store.append("s", build)
    assert ("lost", "s") in [(found.kind, found.where) for found in store.check()]


def test_a_piece_that_holds_an_entry_not_there_is_found(store: Store) -> None:
    def build(head: Head) -> Batch:
        batch = append_arrivals(head, said("a"))
        return replace(batch, sightings=(replace(batch.sightings[0], first=5),))

    store.append("s", build)
    assert ("lost", "s, piece 1") in [(found.kind, found.where) for found in store.check()]


# The guard on compressions: written through a session, as every caller writes them.

TALK: list[dict[str, object]] = [
    {"role": "user", "content": "Read both files."},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.txt"}},
            {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "b.txt"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "alpha " * 400},
            {"type": "tool_result", "tool_use_id": "c2", "content": "beta " * 400},
        ],
    },
    {"role": "assistant", "content": "Both are read."},
]
SHORT = ToolReturned("c1", "[see a.txt]")


@pytest.fixture
def talk(store: Store) -> Session:
    """A session in which two large results came back."""
    session = Session("talk", store, owns_store=False)
    session.extend(TALK)
    return session


def hiding(session: Session, *numbers: int, watermark: int | None = None) -> Compressed:
    """A compression that hides entries, each in a step of its own, behind a short stand-in."""
    window = session.ledger.window()
    hidden = list(session.store.read(session.name, numbers=numbers))
    counts = session.store.counts(session.name, session.ledger.head().vocabulary)
    steps = tuple(
        Step((one.id,), "large", ToolReturned(call_of(one), SHORT.output), 1, counts[one.seq], 6)
        for one in hidden
    )
    last = session.ledger.head().seq if watermark is None else watermark
    return Compressed(steps, window.generation, last)


def call_of(one: Entry) -> str:
    """The call that an entry belongs to."""
    return one.body.call if isinstance(one.body, ToolReturned) else ""


def outputs(session: Session) -> list[object]:
    """What the results in sight say, as they would be sent."""
    blocks = session.messages()[2]["content"]
    assert isinstance(blocks, list)
    return [block["content"] for block in blocks if isinstance(block, dict)]


def test_a_hidden_result_is_seen_as_its_stand_in(talk: Session) -> None:
    talk.ledger.commit(hiding(talk, 4))
    assert outputs(talk) == ["[see a.txt]", "beta " * 400]
    assert talk.messages()[:2] == TALK[:2]
    assert talk.messages()[3:] == TALK[3:]


def test_a_compression_takes_what_it_saves_off_the_count(talk: Session) -> None:
    before = talk.ledger.head().lane("").tokens
    body = hiding(talk, 4)
    talk.ledger.commit(body)
    saved = body.steps[0].before - body.steps[0].after
    assert talk.ledger.head().lane("").tokens == before - saved
    assert list(talk.store.check()) == []


def test_several_results_can_be_hidden_at_once(talk: Session) -> None:
    talk.ledger.commit(hiding(talk, 4, 5))
    assert outputs(talk) == ["[see a.txt]", "[see a.txt]"]
    assert talk.ledger.window().generation == 1


def test_several_entries_can_hide_behind_one_stand_in(talk: Session) -> None:
    hidden = tuple(e.id for e in talk.ledger.path()[1:5])
    step = Step(hidden, "summary", Said("user", "Both files were read."), 3)
    talk.ledger.commit(Compressed((step,), 0, 6))
    assert talk.messages() == [
        TALK[0],
        {"role": "user", "content": "Both files were read."},
        TALK[3],
    ]


def test_a_step_without_a_stand_in_only_removes(talk: Session) -> None:
    talk.ledger.commit(Compressed((Step((talk.ledger.path()[0].id,), "old"),), 0, 6))
    assert talk.messages() == TALK[1:]


def test_what_is_hidden_can_still_be_read(talk: Session) -> None:
    hidden = talk.ledger.path()[3]
    talk.ledger.commit(hiding(talk, 4))
    assert talk.read(hidden.id) == "alpha " * 400
    assert talk.ledger.path()[3] == hidden


def test_a_compression_planned_on_another_generation_is_refused(talk: Session) -> None:
    first, second = hiding(talk, 4), hiding(talk, 5)
    talk.ledger.commit(first)
    with pytest.raises(Conflict) as caught:
        talk.ledger.commit(second)
    refusal = caught.value
    assert (refusal.session, refusal.expected, refusal.found) == ("talk", 0, 1)
    assert outputs(talk) == ["[see a.txt]", "beta " * 400]


def test_an_entry_that_came_after_the_plan_cannot_be_hidden(talk: Session) -> None:
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(hiding(talk, 4, watermark=3))
    assert caught.value.session == "talk"
    assert talk.messages() == TALK


def test_an_entry_that_is_not_in_the_ledger_cannot_be_hidden(talk: Session) -> None:
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(Compressed((Step(("0" * 32,), "large", SHORT),), 0, 6))
    assert caught.value.session == "talk"
    assert talk.ledger.head().seq == 6


def test_a_derived_entry_cannot_be_hidden(talk: Session) -> None:
    talk.note("task_done")
    noted = talk.ledger.find("#7")
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(Compressed((Step((noted.id,), "large", SHORT),), 0, 7))
    assert caught.value.session == "talk"


def test_an_entry_of_another_agent_cannot_be_hidden(talk: Session, store: Store) -> None:
    helper = Session("talk", store, agent="helper", owns_store=False)
    helper.append({"role": "user", "content": [{"type": "text", "text": "Look around."}]})
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(Compressed((Step((helper.ledger.path()[0].id,), "large"),), 0, 7))
    assert caught.value.session == "talk"


def test_two_steps_cannot_hide_the_same_entry(talk: Session) -> None:
    body = hiding(talk, 4)
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(replace(body, steps=body.steps * 2))
    assert caught.value.session == "talk"


def test_a_compression_that_hides_nothing_is_refused(talk: Session) -> None:
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(Compressed((), 0, 6))
    assert caught.value.session == "talk"


def test_entries_that_arrive_while_a_compression_is_planned_stay_in_sight(talk: Session) -> None:
    body = hiding(talk, 4)
    later = {"role": "user", "content": "And now?"}
    talk.append(later)
    talk.ledger.commit(body)
    assert outputs(talk) == ["[see a.txt]", "beta " * 400]
    assert talk.messages()[3:] == [TALK[3], later]


def test_a_compression_by_another_writer_is_noticed(talk: Session, store: Store) -> None:
    other = Session("talk", store, owns_store=False)
    assert other.messages() == TALK
    talk.ledger.commit(hiding(talk, 4))
    assert outputs(other) == ["[see a.txt]", "beta " * 400]


def test_restoring_brings_back_what_was_hidden(talk: Session) -> None:
    before, tokens = talk.wire(), talk.ledger.head().lane("").tokens
    body = hiding(talk, 4, 5)
    entry = talk.ledger.commit(body).entries[0]
    returns = sum(step.before - step.after for step in body.steps)
    talk.ledger.commit(Restored(entry.id, 1, returns))
    assert talk.wire() == before
    assert (talk.ledger.head().lane("").tokens, talk.ledger.window().generation) == (tokens, 2)
    assert list(talk.store.check()) == []


def test_an_undoing_planned_on_another_generation_is_refused(talk: Session) -> None:
    entry = talk.ledger.commit(hiding(talk, 4)).entries[0]
    with pytest.raises(Conflict) as caught:
        talk.ledger.commit(Restored(entry.id, 0))
    assert (caught.value.expected, caught.value.found) == (0, 1)


def test_what_was_never_compressed_cannot_be_restored(talk: Session) -> None:
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(Restored("0" * 32, 0, 1_000))
    assert caught.value.session == "talk"
    assert talk.ledger.head().seq == 6


def test_a_compression_cannot_be_restored_twice(talk: Session) -> None:
    entry = talk.ledger.commit(hiding(talk, 4)).entries[0]
    talk.ledger.commit(Restored(entry.id, 1))
    with pytest.raises(BadCompression) as caught:
        talk.ledger.commit(Restored(entry.id, 2))
    assert caught.value.session == "talk"


def test_a_stand_in_can_be_replaced_by_a_shorter_one_and_come_back(talk: Session) -> None:
    talk.ledger.commit(hiding(talk, 4))
    shorter = Step((talk.ledger.path()[3].id,), "again", ToolReturned("c1", "-"))
    second = talk.ledger.commit(Compressed((shorter,), 1, 7)).entries[0]
    assert outputs(talk) == ["-", "beta " * 400]
    talk.ledger.commit(Restored(second.id, 2))
    assert outputs(talk) == ["[see a.txt]", "beta " * 400]


def test_a_writer_that_saw_an_older_head_can_refuse_to_write(store: Store) -> None:
    base = store.append("s", saying("a")).head
    store.append("s", saying("b"))

    def only_on_base(head: Head) -> Batch:
        if head != base:
            raise Conflict("s", expected=base.seq, found=head.seq)
        return append_arrivals(head, said("c"))

    with pytest.raises(Conflict) as caught:
        store.append("s", only_on_base)
    assert (caught.value.expected, caught.value.found) == (1, 2)
    assert list(store.read("s")) == [A, B]


def test_a_derived_entry_is_named_by_what_it_says_and_where(store: Store) -> None:
    body = Noted("phase_change", {"to": "build"})
    store.append("s", saying("a"))
    batch = store.append("s", noting(body))
    expected = Entry(derived_id(A.id, 2, body), A.id, body, 2, message=2)
    assert batch.entries == (expected,)
    assert list(store.read("s")) == [A, expected]
