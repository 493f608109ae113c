import pytest

from holdfast.core.ledger.append import Arrival, Draft, append_arrivals
from holdfast.core.ledger.entry import Said, ToolCalled, ToolReturned
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import Item
from holdfast.core.view.conversation import EntryRow, bar, entry_rows
from holdfast.text.clip import clip_line


def test_a_session_is_listed_step_by_step_with_what_is_hidden_marked() -> None:
    drafts = (
        Draft(Said("user", "Go\n on."), at="09:00"),
        Draft(ToolCalled("c1", "read", "{}")),
        Draft(ToolReturned("c1", "no", failed=True)),
        Draft(Said("assistant", "Done.")),
    )
    path = append_arrivals(Head(), [Arrival(b"", (draft,)) for draft in drafts]).entries
    shown = [Item(path[0]), Item(path[1]), Item(path[2], (path[2].id,), Said("user", "-"))]
    refs = [entry.id[:12] for entry in path]
    assert list(entry_rows(path, shown, {1: 3, 2: 4})) == [
        EntryRow(0, 1, refs[0], "09:00", "user", 3, "Go on.", starts_turn=True),
        EntryRow(1, 2, refs[1], "", "read call", 4, "{}"),
        EntryRow(1, 3, refs[2], "", "read result", 0, "no", failed=True, hidden=True),
        EntryRow(2, 4, refs[3], "", "assistant", 0, "Done.", hidden=True),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short"),
        (" a\n\tb ", "a b"),
        ("abcdefghijk", "abcdefghi…"),
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("", ""),
    ],
)
def test_a_text_is_shown_by_how_it_begins_on_one_line(text: str, shown: str) -> None:
    assert clip_line(text, 10) == shown


@pytest.mark.parametrize(
    ("part", "whole", "drawn"),
    [
        (0, 100, ""),
        (100, 100, "████"),
        (50, 100, "██"),
        (1, 32, "▏"),
        (7, 32, "▉"),
        (300, 100, "████"),
        (5, 0, ""),
    ],
)
def test_a_bar_is_as_long_as_its_part_of_the_whole(part: int, whole: int, drawn: str) -> None:
    assert bar(part, whole, 4) == drawn
