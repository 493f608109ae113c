from holdfast.core.ledger.append import (
    Arrival,
    Batch,
    Draft,
    append_arrivals,
    append_note,
    derived_entry,
)
from holdfast.core.ledger.chain import derived_id, meaning, source_id
from holdfast.core.ledger.entry import Compacted, Entry, Noted, Said, Sighting, Used
from holdfast.core.ledger.head import Document, Head


def said(text: str, **more: str | int | None) -> Draft:
    """A draft of the user's words."""
    return Draft(Said("user", text), **more)  # pyright: ignore[reportArgumentType]


def named(parent: str | None, text: str, lane: str = "") -> str:
    """The name that a text has to get."""
    return source_id(parent, meaning(Said("user", text)), lane=lane)


A, B = named(None, "a"), named(named(None, "a"), "b")


def test_arrivals_are_numbered_named_and_joined_to_the_end() -> None:
    batch = append_arrivals(
        Head(), [Arrival(b"1", (said("a"), said("b"))), Arrival(b"2", (said("c"),), b",")]
    )
    assert batch.entries == (
        Entry(A, None, Said("user", "a"), 1, message=1),
        Entry(B, A, Said("user", "b"), 2, message=1, part=1),
        Entry(named(B, "c"), B, Said("user", "c"), 3, message=3),
    )
    assert batch.sightings == (
        Sighting("", 0, 1, b"1", b"", 1, 2),
        Sighting("", 1, 1, b"2", b",", 3, 1),
    )
    assert (batch.head.seq, batch.head.lane("").end) == (3, named(B, "c"))
    assert batch.head.documents == {"": Document(2, 1, live=True, seen=2)}


def test_a_meaning_worked_out_before_is_taken_as_it_is() -> None:
    batch = append_arrivals(Head(), [Arrival(b"", (said("a", meant=meaning(Said("user", "z"))),))])  # pyright: ignore[reportArgumentType]
    assert batch.entries[0].id == named(None, "z")


def test_counts_that_come_with_the_drafts_are_passed_on() -> None:
    batch = append_arrivals(Head(), [Arrival(b"", (said("a", tokens=5), said("b")))])
    assert (batch.counts, batch.head.lane("").tokens) == (((1, 5),), 5)


def test_pieces_of_one_message_share_its_number() -> None:
    pieces = [Arrival(b"", (said(text, group="m1"),)) for text in "ab"]
    other = [Arrival(b"", (said("c", group="m2"),)), Arrival(b"", (said("d"),))]
    batch = append_arrivals(Head(), [*pieces, *other])
    assert [(e.message, e.group) for e in batch.entries] == [
        (1, "m1"),
        (1, "m1"),
        (3, "m2"),
        (4, ""),
    ]


def test_lanes_have_ends_of_their_own() -> None:
    batch = append_arrivals(
        Head(), [Arrival(b"", (said("a"),)), Arrival(b"", (said("a", lane="x"),), source="doc")]
    )
    assert {name: lane.end for name, lane in batch.head.lanes.items()} == {
        "": A,
        "x": named(None, "a", "x"),
    }
    assert sorted(batch.head.documents) == ["", "doc"]


def test_an_arrival_that_follows_an_earlier_place_starts_a_branch_there() -> None:
    batch = append_arrivals(
        Head(),
        [
            Arrival(b"", (said("a"),), pos=0),
            Arrival(b"", (said("b"),), pos=1),
            Arrival(b"", (said("c", follows=0),), pos=2),
        ],
    )
    assert [e.parent for e in batch.entries] == [None, A, A]
    assert batch.head.stale


def test_a_place_of_an_earlier_batch_is_asked_for() -> None:
    first = append_arrivals(
        Head(), [Arrival(b"", (said("a"),), pos=0), Arrival(b"", (said("b"),), pos=1)]
    )
    asked: list[tuple[str, int]] = []

    def place(source: str, pos: int) -> tuple[str, ...]:
        asked.append((source, pos))
        return ("0" * 32, A)

    second = append_arrivals(
        first.head, [Arrival(b"", (said("c", follows=0),), pos=2)], entries_at=place
    )
    assert (second.entries[0].parent, asked) == (A, [("", 0)])


def test_following_the_very_beginning_starts_a_path_of_its_own() -> None:
    first = append_arrivals(Head(), [Arrival(b"", (said("a"),), pos=0)])
    second = append_arrivals(first.head, [Arrival(b"", (said("c", follows=-1),), pos=1)])
    assert second.entries[0].parent is None


def test_following_a_place_that_holds_nothing_goes_on_at_the_end() -> None:
    first = append_arrivals(Head(), [Arrival(b"", (said("a"),), pos=0)])
    second = append_arrivals(first.head, [Arrival(b"", (said("b", follows=7),), pos=1)])
    assert second.entries[0].parent == A


def test_an_entry_that_is_known_is_not_added_and_the_lane_moves_to_it() -> None:
    first = append_arrivals(
        Head(), [Arrival(b"", (said("a"),), pos=0), Arrival(b"", (said("b"),), pos=1)]
    )
    again = Arrival(b"other", (said("a", follows=-1),), pos=0)
    back = append_arrivals(first.head, [again], find_seq=lambda name: {A: 1, B: 2}.get(name, 0))
    assert [(e.parent, e.body) for e in back.entries] == [(A, Noted("switched"))]
    assert (back.head.lane("").end, back.head.stale) == (A, True)
    assert back.sightings == (Sighting("", 0, 2, b"other", b"", 1, 1),)


def test_what_is_new_behind_known_entries_is_added_to_their_path() -> None:
    first = append_arrivals(
        Head(), [Arrival(b"", (said("a"),), pos=0), Arrival(b"", (said("b"),), pos=1)]
    )
    again = [Arrival(b"", (said("a", follows=-1),), pos=0), Arrival(b"", (said("c"),), pos=1)]
    numbers = {A: 1, B: 2}
    back = append_arrivals(first.head, again, find_seq=lambda name: numbers.get(name, 0))
    assert [(e.parent, e.body) for e in back.entries] == [(A, Said("user", "c"))]


def test_a_place_seen_again_gets_the_next_version() -> None:
    head = Head(documents={"": Document(length=2, version=1)})
    batch = append_arrivals(head, [Arrival(b"", (), pos=1), Arrival(b"", (), pos=2)])
    assert [(seen.pos, seen.version) for seen in batch.sightings] == [(1, 2), (2, 2)]
    assert batch.head.documents == {"": Document(3, 2, seen=2)}


def test_a_derived_draft_is_about_the_end_of_its_lane_and_no_link_of_the_chain() -> None:
    first = append_arrivals(Head(), [Arrival(b"", (said("a"),))]).head
    batch = append_arrivals(first, [Arrival(b"", (Draft(Used(5), at="now"), said("b")))])
    noted = Entry(derived_id(A, 2, Used(5)), A, Used(5), 2, message=2, at="now")
    assert batch.entries == (noted, Entry(B, A, Said("user", "b"), 3, message=3))
    assert batch.sightings == (Sighting("", 1, 1, b"", b"", 3, 1),)


def test_what_a_host_keeps_is_named_by_the_places_it_names() -> None:
    kept = Draft(Compacted("auto"), keeps=(0, 7))
    batch = append_arrivals(
        Head(), [Arrival(b"", (said("a"),), pos=0), Arrival(b"", (kept,), pos=1)]
    )
    assert batch.entries[1].body == Compacted("auto", (A,))
    assert batch.head.stale


def test_a_note_is_a_batch_of_one_entry() -> None:
    first = append_arrivals(Head(), [Arrival(b"", (said("a"),))]).head
    body = Noted("task_done")
    batch = append_note(first, body, at="now")
    entry = derived_entry(2, body, parent=A, at="now")
    assert batch == Batch(batch.head, (entry,))
    assert (batch.head.seq, batch.head.lane("")) == (2, first.lane(""))
