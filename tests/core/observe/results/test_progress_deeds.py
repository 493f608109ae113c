import pytest

from holdfast.core.observe.results.progress import outside_effects_of
from tests.core.building import ask, back, call, scene


def done(output: str, *, failed: bool = False) -> list[str]:
    shown = scene(ask("Go"), call("a", "cancel_order", id="7"), back("a", output, failed=failed))
    return [text for _, text in outside_effects_of(shown)]


def test_what_failed_or_was_refused_was_not_done() -> None:
    assert done("{}") == ["cancel_order id=7"]
    assert done("no such order", failed=True) == []
    assert done("The user doesn't want to proceed with this tool use.") == []


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("mcp__shop__cancel_order", ["cancel_order id=W-7 note=a b"]),
        ("book_flight", ["book_flight id=W-7 note=a b"]),
        ("get_order", []),
        ("list_changes", []),
        ("update", []),
        ("Edit", []),
        ("TodoWrite", []),
        ("create_file", []),
    ],
)
def test_only_a_tool_that_says_what_it_changes_has_done_something(
    tool: str, told: list[str]
) -> None:
    shown = scene(ask("Go"), call("a", tool, id="W-7", note="a\n b"), back("a", "ok"))
    assert [text for _, text in outside_effects_of(shown)] == told


def test_a_call_without_an_answer_has_done_nothing_yet() -> None:
    assert list(outside_effects_of(scene(ask("Go"), call("a", "cancel_order", id="7")))) == []
