import pytest

from holdfast.core.ledger.append import Arrival, Draft, append_arrivals, derived_entry
from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Derived,
    Entry,
    Noted,
    Restored,
    Said,
    Source,
    Step,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import (
    GrowingList,
    Item,
    Window,
    advance_window,
    apply_steps,
    extend_window,
    fold,
    path_to,
)

A, B, C, D = append_arrivals(
    Head(), [Arrival(b"", (Draft(Said("user", word)),)) for word in "abcd"]
).entries
X, Y = Said("user", "x"), Said("user", "y")


def step(*hidden: Entry, stand_in: Source | None = X) -> Step:
    """A step that hides entries."""
    return Step(tuple(entry.id for entry in hidden), "drawn", stand_in)


def noted(seq: int, body: Derived, about: Entry | None = D) -> Entry:
    """A derived entry."""
    return derived_entry(seq, body, parent=about.id if about else None)


def compressed(seq: int, *steps: Step) -> Entry:
    """A compression as an entry."""
    return noted(seq, Compressed(steps, 0, seq - 1))


def bodies(window: Window) -> list[Source]:
    """What a reader sees."""
    return [item.body for item in window.items]


def words(text: str) -> list[Source]:
    return [Said("user", word) for word in text]


def test_everything_is_in_sight_until_something_is_hidden() -> None:
    window = fold([A, B, C])
    assert window == Window(
        "", C.id, 0, GrowingList([Item(A), Item(B), Item(C)]), GrowingList([A, B, C])
    )


def test_a_stand_in_is_seen_where_the_first_hidden_entry_was() -> None:
    window = fold([A, B, C, D, compressed(5, step(B, C))])
    assert list(window.items) == [Item(A), Item(B, (B.id, C.id), X), Item(D)]
    assert (window.generation, window.end) == (1, D.id)


def test_what_one_reader_was_told_is_what_the_item_shows() -> None:
    assert (Item(A).shows, Item(B, (B.id, C.id), X).shows) == ((A.id,), (B.id, C.id))


def test_a_step_without_a_stand_in_leaves_nothing() -> None:
    assert bodies(fold([A, B, C, D, compressed(5, step(A, D, stand_in=None))])) == words("bc")


def test_hidden_entries_need_not_be_neighbours() -> None:
    assert bodies(fold([A, B, C, D, compressed(5, step(A, C))])) == [X, *words("bd")]


def test_a_later_step_can_hide_a_stand_in_whole() -> None:
    first, second = compressed(5, step(B, C)), compressed(6, step(A, B, C, stand_in=Y))
    assert bodies(fold([A, B, C, D, first, second])) == [Y, *words("d")]


def test_a_later_step_cannot_hide_a_part_of_a_stand_in() -> None:
    first, second = compressed(5, step(B, C)), compressed(6, step(C, stand_in=Y))
    assert bodies(fold([A, B, C, D, first, second])) == [*words("a"), X, *words("d")]


def test_a_lifted_compression_hides_nothing() -> None:
    first = compressed(5, step(B, C))
    window = fold([A, B, C, D, first, noted(6, Restored(first.id, 1))])
    assert (bodies(window), window.generation) == (words("abcd"), 2)


def test_lifting_the_later_of_two_brings_back_the_earlier() -> None:
    first, second = compressed(5, step(B)), compressed(6, step(B, stand_in=Y))
    window = fold([A, B, C, D, first, second, noted(7, Restored(second.id, 2))])
    assert bodies(window) == [*words("a"), X, *words("cd")]


def test_a_host_that_compacted_shows_only_what_came_after_and_what_it_kept() -> None:
    e = Entry("e" * 32, D.id, Said("user", "e"), 6)
    assert bodies(fold([A, B, C, D, noted(5, Compacted("auto", (B.id,))), e])) == words("be")


def test_a_compression_holds_on_a_branch_only_if_all_it_hides_is_on_it() -> None:
    branch = Entry("e" * 32, B.id, Said("user", "e"), 7)
    on, off = compressed(5, step(A)), compressed(6, step(B, C))
    assert bodies(fold([A, B, C, D, on, off, branch])) == [X, *words("be")]


def test_a_compaction_holds_only_on_the_path_it_was_made_on() -> None:
    branch = Entry("e" * 32, B.id, Said("user", "e"), 6)
    assert bodies(fold([A, B, C, D, noted(5, Compacted()), branch])) == words("abe")


def test_the_newest_source_entry_is_the_end() -> None:
    branch = Entry("e" * 32, A.id, Said("user", "e"), 5)
    assert fold([A, B, C, D, branch]).end == branch.id


def test_a_switch_makes_another_path_the_one_in_sight() -> None:
    branch = Entry("e" * 32, A.id, Said("user", "e"), 5)
    window = fold([A, B, C, D, branch, noted(6, Noted("switched"), C)])
    assert (window.end, bodies(window)) == (C.id, words("abc"))


def test_a_switch_to_the_very_beginning_shows_nothing() -> None:
    window = fold([A, noted(2, Noted("switched"), None)])
    assert (window.end, bodies(window)) == (None, [])


def test_entries_of_other_lanes_do_not_concern_a_window() -> None:
    other = Entry("e" * 32, None, Said("user", "e"), 5, lane="x")
    window = fold([A, B])
    assert advance_window(window, [other]) is window
    assert bodies(fold([A, other], lane="x")) == words("e")


@pytest.mark.parametrize(
    ("entries", "grows"),
    [
        ([], True),
        ([B, C], True),
        ([B, noted(9, Noted("x")), C], True),
        ([C], False),
        ([B, D], False),
        ([compressed(5, step(A))], True),
        ([B, compressed(5, step(A), step(B)), C], True),
        ([compressed(5, step(A)), compressed(6, step(A, stand_in=Y))], True),
        ([compressed(5, step(A, stand_in=None)), compressed(6, step(A))], False),
        ([compressed(5, step(B))], False),
        ([noted(5, Restored("x", 0))], False),
        ([noted(5, Compacted())], False),
        ([noted(5, Noted("switched"))], False),
    ],
)
def test_a_window_follows_what_comes_at_its_end_and_what_hides_what_it_shows(
    entries: list[Entry], grows: bool
) -> None:
    follows = extend_window(fold([A]), entries)
    assert (follows is not None) is grows
    assert follows is None or follows == fold([A, *entries])


def test_a_path_leads_from_the_first_entry_to_the_one_named() -> None:
    branch = Entry("e" * 32, A.id, Said("user", "e"), 5)
    entries = [A, B, C, branch, noted(6, Noted("x"))]
    assert path_to(branch.id, entries) == [A, branch]
    assert (path_to(None, entries), path_to("unknown", entries)) == ([], [])


def test_a_step_that_fits_nothing_changes_nothing() -> None:
    items = [Item(A), Item(B)]
    assert apply_steps([step(D)], items) == items


def test_a_run_is_a_sequence_like_any_other() -> None:
    run = GrowingList([1, 2, 3])
    assert (len(run), run[0], run[-1], run[1:], 2 in run) == (3, 1, 3, [2, 3], True)
    assert (
        run == GrowingList((1, 2, 3)),
        run == [1, 2, 3],
        hash(run) == hash(GrowingList([1, 2, 3])),
    ) == (
        True,
        False,
        True,
    )
    assert repr(run) == "GrowingList([1, 2, 3])"
    with pytest.raises(IndexError):
        run[3]


def test_a_run_does_not_see_what_a_longer_one_has() -> None:
    short = GrowingList([1])
    longer = short.plus([2])
    with pytest.raises(IndexError):
        short[1]
    assert (list(short.plus([9])), list(longer)) == ([1, 9], [1, 2])
