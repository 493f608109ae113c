import pytest

from holdfast.core.ledger.summary import Progress
from holdfast.core.ledger.window import Item
from holdfast.core.shrink.summary.rows import original_scene, rows_of_scene
from tests.core.building import (
    Told,
    answer,
    ask,
    back,
    bash,
    call,
    items,
    named,
    scene,
    standing,
)

TODO = [
    {"content": "write the parser", "status": "completed"},
    {"content": "write the tests", "status": "pending"},
]


WORK: tuple[Told, ...] = (
    ask("Write the parser. Never touch the docs."),
    call("t", "TodoWrite", todos=TODO),
    back("t", "ok"),
    call("w", "Write", file_path="parser.py", content="x = 1\n"),
    back("w", "ok"),
    bash("m", "make test"),
    back("m", "Error: boom in parser.py", failed=True),
    ask("And the tests?"),
    bash("n", "make test"),
    back("n", "all 3 passed"),
    answer("Done."),
)


@pytest.mark.seed("R063", "R088")
def test_a_scene_shows_what_is_wanted_what_was_done_and_how_the_work_is() -> None:
    made = rows_of_scene(scene(*WORK))
    assert made.intent.original.text == "Write the parser. Never touch the docs."
    assert [row.text for row in made.constraints] == ["Never touch the docs."]
    assert [(file.path, file.action) for file in made.files] == [("parser.py", "created")]
    assert made.progress.remaining == ("write the tests",)
    assert [step.step for step in made.next] == ["write the tests"]
    assert [error.entry for error in made.errors] == [named(7)]


def test_only_the_rows_of_the_named_entries_are_returned() -> None:
    names = {named(at) for at in range(8, 12)}
    made = rows_of_scene(scene(*WORK), names)
    assert (made.intent.original.text, made.intent.current.text) == ("", "And the tests?")
    assert (made.constraints, made.files, made.next) == ((), (), ())
    assert made.progress == Progress()


def test_entries_are_read_as_they_came_and_a_summary_is_no_entry() -> None:
    shown = items(ask("Go."), bash("a", "show"), back("a", "row 1"))
    hidden = standing(shown[2], back("a", "[holdfast 000000000003]"))
    summed = Item(shown[0].entry, (named(1), named(2)), ask("## Session Summary [s]"))
    seen = original_scene([summed, shown[1], hidden])
    assert [item.body for item in seen.items] == [shown[1].body, shown[2].body]
