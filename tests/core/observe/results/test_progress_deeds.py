import pytest

from holdfast.core.observe.results.progress import outside_effects_of
from tests.core.building import ask, back, bash, call, scene


def done(command: str, output: str, *, failed: bool = False) -> list[str]:
    shown = scene(ask("Go"), bash("a", command), back("a", output, failed=failed))
    return [text for _, text in outside_effects_of(shown)]


@pytest.mark.parametrize(
    ("command", "output", "deeds"),
    [
        (
            "git add -A && git commit -m 'Fix it'",
            "lint ok\n[feat/x (root-commit) 0a1b2c3d] Fix it\n 2 files changed",
            ["committed 0a1b2c3d on feat/x: Fix it"],
        ),
        (
            "git commit -qm a; git commit -m b; git commit -m c",
            "[main aaaaaaa] b\n[main bbbbbbb] c",
            ["committed bbbbbbb on main: c", "committed aaaaaaa on main: b"],
        ),
        (
            "git push -u origin fix/x",
            "remote: hi\nTo github.com:o/r.git\n * [new branch]      fix/x -> fix/x",
            ["pushed fix/x"],
        ),
        (
            "git push --force",
            "To github.com:o/r.git\n + 1a2b3c4...5d6e7f8 main -> main (forced update)",
            ["pushed main"],
        ),
        (
            "gh pr create --title x --body y",
            "https://github.com/o/r/pull/13",
            ["pr create: https://github.com/o/r/pull/13"],
        ),
        ("gh pr view 13", "https://github.com/o/r/pull/13", []),
        ("git log", "[main aaaaaaa] b", []),
        ("cat notes", "[main aaaaaaa] commit", []),
    ],
)
def test_git_is_believed_in_what_it_answers(command: str, output: str, deeds: list[str]) -> None:
    assert done(command, output) == deeds


def test_what_failed_or_was_refused_was_not_done() -> None:
    said = "[main aaaaaaa] b"
    assert done("git commit -m b", f"{said}\nhook failed", failed=True) == []
    assert done("git commit -m b", "The user doesn't want to proceed with this tool use.") == []


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
