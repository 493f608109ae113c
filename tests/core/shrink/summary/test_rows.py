import pytest

from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import read_scene
from holdfast.core.shrink.summary.rows import (
    HiddenSpan,
    original_scene,
    passed_commands,
    rows_of_span,
)
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


def span(leaves: int, *messages: Told, left: int = 0) -> HiddenSpan:
    """A window whose first `left` entries are gone, and of whose rest some leave now."""
    shown = items(*messages)
    return HiddenSpan(
        hidden=read_scene(shown[left : left + leaves]),
        window=read_scene(shown[left:]),
        record=read_scene(shown[: left + leaves]),
    )


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
def test_what_is_wanted_comes_from_what_leaves_and_how_things_stand_from_everything() -> None:
    made = rows_of_span(span(7, *WORK))
    assert made.intent.original.text == "Write the parser. Never touch the docs."
    assert [row.text for row in made.constraints] == ["Never touch the docs."]
    assert [(file.path, file.action) for file in made.files] == [("parser.py", "created")]
    assert made.progress.remaining == ("write the tests",)
    assert [step.step for step in made.next] == ["write the tests"]
    assert (made.hidden, [error.entry for error in made.errors]) == (7, [named(7)])


def test_a_list_of_tasks_that_left_long_ago_still_holds() -> None:
    made = rows_of_span(span(4, *WORK, left=3))
    assert made.progress.remaining == ("write the tests",)
    assert (made.intent.original.text, made.constraints) == ("", ())
    assert [file.path for file in made.files] == ["parser.py"]


def test_an_error_that_the_part_that_stays_shows_gone_is_resolved() -> None:
    (error,) = rows_of_span(span(7, *WORK)).errors
    assert error.resolved == named(10)


def test_a_command_counts_as_passed_only_when_it_went_well_the_last_time() -> None:
    well = scene(
        bash("a", "make"), back("a", "Error: no", failed=True), bash("b", "make"), back("b", "ok")
    )
    assert list(passed_commands(well).values()) == [named(4)]
    badly = scene(
        bash("a", "make"), back("a", "ok"), bash("b", "make"), back("b", "no", failed=True)
    )
    assert passed_commands(badly) == {}
    open_call = scene(bash("a", "make"))
    assert passed_commands(open_call) == {}


def test_entries_are_read_as_they_came_and_a_summary_is_no_entry() -> None:
    shown = items(ask("Go."), bash("a", "show"), back("a", "row 1"))
    hidden = standing(shown[2], back("a", "[holdfast 000000000003]"))
    summed = Item(shown[0].entry, (named(1), named(2)), ask("## Session Summary [s]"))
    seen = original_scene([summed, shown[1], hidden])
    assert [item.body for item in seen.items] == [shown[1].body, shown[2].body]


def test_the_first_request_is_that_of_the_record_also_where_a_host_dropped_it() -> None:
    whole = items(
        ask("Build the parser."), answer("Built."), ask("Now review it."), answer("Fine.")
    )
    late = whole[2:]
    span = HiddenSpan(original_scene(late), original_scene(late), original_scene(whole))
    made = rows_of_span(span)
    assert made.intent.original.text == "Build the parser."
    assert made.intent.current.text == "Now review it."
    assert made.words == ()


def test_what_the_user_said_holds_although_a_host_dropped_it() -> None:
    whole = items(
        ask("Build the parser. Never touch the lexer."),
        answer("Built. I decided to use tabs because the linter asks for them."),
        ask("Use spaces instead."),
        ask("Now review it."),
        answer("Fine."),
    )
    late = whole[3:]
    made = rows_of_span(
        HiddenSpan(
            original_scene(late), original_scene(late), original_scene(whole), tuple(whole[:3])
        )
    )
    rules = ["Never touch the lexer.", "Use spaces instead."]
    assert [one.text for one in made.constraints] == rules
    assert [one.text for one in made.words] == ["Use spaces instead."]
    assert [one.text for one in made.intent.changes] == ["Use spaces instead."]
    assert made.hidden == 2
