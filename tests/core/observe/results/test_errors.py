import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Source, ToolReturned
from holdfast.core.ledger.summary import Error
from holdfast.core.ledger.window import Item
from holdfast.core.observe.results.errors import MAX_CALL_CHARS, MAX_ERROR_CHARS, errors_of
from holdfast.core.observe.scene import read_scene
from tests.core.building import answer, ask, back, bash, call, entries, named, scene

RED, GREEN = "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed in 0.1s", "1 passed in 0.1s"


def ran(*runs: tuple[str, str]) -> list[tuple[str, str]]:
    """The errors of some commands with their outputs: the lines, and where each is gone."""
    bodies: list[Source] = [ask("Go")]
    for number, (command, output) in enumerate(runs):
        bodies += [bash(f"c{number}", command), back(f"c{number}", output)]
    return [(row.text, row.resolved) for row in errors_of(scene(*bodies))]


@pytest.mark.seed("R087")
def test_what_the_same_command_no_longer_shows_is_gone_although_it_still_fails() -> None:
    other = "FAILED tests/test_a.py::test_y - assert 3 == 4\n1 failed, 1 passed in 0.1s"
    line = "FAILED tests/test_a.py::test_{} - assert {}"
    assert ran(("pytest", RED), ("uv run pytest", other)) == [
        (line.format("x", "1 == 2"), named(5)),
        (line.format("y", "3 == 4"), ""),
    ]
    early = "Exit code 2\nIndentationError: unexpected indent"
    assert ran(("pytest", RED), ("pytest", early))[0] == (line.format("x", "1 == 2"), "")
    assert ran(("pytest -x", RED), ("pytest -x", other))[0] == (line.format("x", "1 == 2"), "")
    assert ran(("make", early), ("make", "Exit code 2\nNameError: y")) == [
        ("IndentationError: unexpected indent", named(5)),
        ("NameError: y", ""),
    ]


def test_who_looked_in_vain_and_went_on_does_without_it() -> None:
    missing = ("ls src/old", "Exit code 2\nls: cannot access 'src/old': No such file or directory")
    assert [resolved for _, resolved in ran(missing)] == [""]
    assert [resolved for _, resolved in ran(missing, ("make", "ok"))] == [named(5)]


def test_where_all_is_committed_already_nothing_went_wrong() -> None:
    clean = "Exit code 1\nOn branch main\nnothing to commit, working tree clean"
    assert ran(("git commit -m x", clean)) == []


@pytest.mark.parametrize(
    ("output", "tests"),
    [
        (RED, ["FAILED tests/test_a.py::test_x - assert 1 == 2"]),
        (
            "--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/one (0.0s)\nFAIL\tpkg\t0.1s",
            ["--- FAIL: TestA/one (0.0s)"],
        ),
        ("test a::one ... FAILED\ntest a::two ... ok", ["test a::one ... FAILED"]),
        (
            "ERROR: test_x (a.tests.Case)\n---\nFAIL: test_y (a.tests.Case)\n",
            ["ERROR: test_x (a.tests.Case)", "FAIL: test_y (a.tests.Case)"],
        ),
        ("FAIL src/a.test.ts\n  ● Cart › adds up\n", ["● Cart › adds up"]),
        (
            "\n".join(f"FAILED t/test_a.py::test_{n}" for n in range(9)),
            [f"FAILED t/test_a.py::test_{n}" for n in range(5)],
        ),
    ],
)
def test_a_run_of_tests_is_told_test_by_test(output: str, tests: list[str]) -> None:
    assert [line for line, _ in ran(("pytest", output))] == tests


def test_a_code_of_zero_is_not_believed_where_a_pipe_hides_the_real_one() -> None:
    assert ran(("pytest | tail -5", f"Exit code: 0\n{RED}")) != []
    assert ran(("pytest", f"Exit code: 0\n{RED}")) == []


def test_a_search_that_could_not_be_made_is_an_error() -> None:
    assert ran(("grep x nowhere", "Exit code 2\ngrep: nowhere: No such file or directory")) == [
        ("grep: nowhere: No such file or directory", "")
    ]


def used(tool: str, output: str, *, failed: bool = False, **arguments: object) -> tuple[Error, ...]:
    return errors_of(
        scene(ask("Go"), call("c", tool, **arguments), back("c", output, failed=failed))
    )


def test_a_file_that_holds_a_traceback_is_no_error() -> None:
    held = "Traceback (most recent call last):\nValueError: x\n"
    assert used("Read", held, file_path="log.txt") == ()
    assert used("Read", "Error: what the file begins with\n" + "x" * 3_000, file_path="a") == ()


def test_a_call_that_failed_is_told_with_its_tool_and_its_file() -> None:
    assert used(
        "Edit",
        "String to replace not found in file.\nString: error: x",
        failed=True,
        file_path="a.py",
    ) == (Error("String to replace not found in file.", named(3), "Edit a.py"),)
    assert used("get_user", "Error: user not found", user_id="mia_1") == (
        Error("Error: user not found", named(3), "get_user mia_1"),
    )
    assert used("ping", "Error: no", number=1) == (Error("Error: no", named(3), "ping"),)


@pytest.mark.parametrize(
    "output",
    [
        "The user doesn't want to proceed with this tool use.",
        "[Request interrupted by user for tool use]",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "(no output)\n\nCommand aborted",
    ],
)
def test_a_call_that_was_refused_or_stopped_is_no_error(output: str) -> None:
    assert used("Bash", output, failed=True, command="make") == ()


@pytest.mark.seed("R094")
def test_an_error_is_gone_where_the_same_command_went_well() -> None:
    runs = (
        ("cd /repo && make lint 2>&1 | tail -3", "error: bad"),
        ("make lint && make test", "fine"),
    )
    assert ran(*runs) == [("error: bad", named(5))]
    assert ran(*reversed(runs)) == [("error: bad", "")]
    assert ran(("make lint", "error: bad"), ("make docs", "fine")) == [("error: bad", "")]


def said_over(*words: Source) -> bool:
    """Whether a failed run of the tests is over after some words."""
    shown = scene(ask("Go"), bash("c", "pytest"), back("c", RED), *words)
    return all(row.resolved for row in errors_of(shown))


def test_an_error_ends_with_the_agents_word_that_all_passes_or_of_a_way_around() -> None:
    assert said_over(answer("Great! All 12 tests pass now."))
    assert said_over(answer("The failure of test_x in tests/test_a.py is pre-existing."))
    assert not said_over(answer("Once all tests pass, I push."))
    assert not said_over(answer("All tests pass except one."))
    assert not said_over(answer("The lint warning is pre-existing."))


def test_an_error_ends_when_the_user_drops_it() -> None:
    assert said_over(ask("Just ignore tests/test_a.py, it is old."))
    assert not said_over(ask("Look at tests/test_a.py."))


def test_a_failed_call_that_is_no_check_ends_when_work_goes_on_without_it() -> None:
    failing, fine = ("python fix.py", "Exit code 2\nno such file"), ("python other.py", "ok")
    assert [over for _, over in ran(failing, *[fine] * 4)] == [""]
    assert [over for _, over in ran(failing, *[fine] * 5)] != [""]
    assert [over for _, over in ran(("make lint", "error: bad"), *[fine] * 9)] == [""]


def test_a_wider_check_that_passes_ends_the_error_of_a_narrower_one() -> None:
    narrow = ("npx tsc --noEmit", "a.ts(1,1): error TS1: bad")
    assert [over for _, over in ran(narrow, ("npm run check", "fine"))] != [""]
    assert [over for _, over in ran(narrow, ("npm test", "fine"))] == [""]
    assert [over for _, over in ran(narrow, ("npm run build", "fine"))] == [""]
    failing = ("go test -run TestX ./a", "--- FAIL: TestX (0.1s)")
    assert [over for _, over in ran(failing, ("mise run test:ci", "ok  \tpkg\t0.1s"))] != [""]


@pytest.mark.parametrize(
    ("later", "gone"),
    [
        ("npm run check | grep 'error TS' | head", True),
        ("npm run check | grep a.ts", False),
        ("npm run check", True),
    ],
)
def test_silence_proves_nothing_where_only_some_lines_were_let_through(
    later: str, gone: bool
) -> None:
    failing = ("npm run check 2>&1 | grep b.ts", "b.ts(1,1): error TS1: bad")
    assert ran(failing, (later, "")) == [(failing[1], named(5) if gone else "")]


def test_an_edit_that_failed_is_gone_with_the_next_that_went_well() -> None:
    shown = scene(
        ask("Go"),
        call("a", "Edit", file_path="a.py", old_string="x"),
        back("a", "not found", failed=True),
        call("b", "Edit", file_path="b.py", old_string="x"),
        back("b", "done"),
        call("c", "Write", file_path="a.py", content="y"),
        back("c", "done"),
    )
    assert errors_of(shown) == (Error("not found", named(3), "Edit a.py", named(7)),)


@pytest.mark.parametrize(
    ("failing", "later", "output", "gone"),
    [
        ("pytest tests/test_a.py", "pytest tests/test_a.py", GREEN, True),
        ("pytest tests/test_a.py -k x", "pytest -q", GREEN, True),
        ("pytest tests/test_a.py", "uv run pytest tests/", GREEN, True),
        ("pytest tests/test_a.py", "pytest tests/test_b.py", GREEN, False),
        ("pytest tests/test_a.py", "pytest other -v", "tests/test_a.py::test_x PASSED", True),
        ("pytest tests/test_a.py", "make docs", "fine", False),
        ("./check", "./other", "fine", False),
        ("pytest tests/test_a.py", "pytest", "FAILED tests/test_a.py::test_y - no", False),
    ],
)
def test_a_failing_test_is_gone_where_a_run_that_covers_it_went_well(
    failing: str, later: str, output: str, gone: bool
) -> None:
    (line, resolved), *_ = ran((failing, RED), (later, output))
    assert (line, resolved) == (RED.partition("\n")[0], named(5) if gone else "")


def test_the_same_error_is_told_once_with_its_newest_status() -> None:
    bad, good = ("make", "error: bad"), ("make", "fine")
    assert ran(bad, bad, good) == [("error: bad", named(7))]
    assert ran(bad, good, bad) == [("error: bad", "")]


def test_an_error_that_came_back_is_told_by_its_newest_run() -> None:
    bad, good = ("error: bad", "fine")
    bodies: list[Source] = [ask("Go")]
    for number, output in enumerate((bad, good, bad)):
        bodies += [bash(f"c{number}", "make"), back(f"c{number}", output)]
    (row,) = errors_of(scene(*bodies))
    assert (row.entry, row.resolved) == (named(7), "")


def test_one_error_that_two_commands_show_is_told_once() -> None:
    shown = "src/a.ts(1,1): error TS2304: Cannot find name 'x'."
    assert ran(("npm run build", shown), ("npx tsc", shown)) == [(shown, "")]


def test_an_error_is_read_from_the_entry_whatever_stands_in_for_it() -> None:
    made = entries(ask("Go"), bash("c", "make"), back("c", "error: bad"))
    stand_in = ToolReturned("c", "## Offloaded: Bash")
    items = [Item(made[0]), Item(made[1]), Item(made[2], (made[2].id,), stand_in)]
    assert errors_of(read_scene(items)) == (Error("error: bad", named(3), "Bash make"),)
    covering = [*items[:2], Item(made[2], (made[2].id, "other"), stand_in)]
    assert errors_of(read_scene(covering)) == ()


def test_a_call_without_a_result_is_no_error() -> None:
    assert errors_of(scene(ask("Go"), bash("c", "make"))) == ()


def test_long_lines_and_commands_are_cut() -> None:
    (row,) = used("Bash", f"{'x' * 500} error TS2304: {'y' * 500}", command="make " + "z" * 500)
    assert row.text.startswith("error TS2304: y") and len(row.text) == MAX_ERROR_CHARS
    assert len(row.what) == MAX_CALL_CHARS and row.what.endswith("…")
    (row,) = used("Bash", "x\n" * 100_000 + "error: far below", command="make")
    assert row.text == "error: far below"


RUNS = st.lists(
    st.tuples(
        st.sampled_from(["make", "pytest", "cat a", "cd x && make | tail"]),
        st.sampled_from(["fine", "error: bad", RED, GREEN, "Exit code 1", "", "\x1b[0m"]),
    ),
    max_size=8,
)


@given(RUNS)
def test_errors_come_in_order_and_are_gone_only_later(runs: list[tuple[str, str]]) -> None:
    found = ran(*runs)
    assert found == ran(*runs) and all(line for line, _ in found)
    bodies: list[Source] = []
    for number, (command, output) in enumerate(runs):
        bodies += [bash(f"c{number}", command), back(f"c{number}", output)]
    rows = errors_of(scene(*bodies))
    assert [row.entry for row in rows] == sorted(row.entry for row in rows)
    assert all(not row.resolved or row.resolved > row.entry for row in rows)


@given(RUNS, RUNS)
def test_the_errors_of_two_parts_are_those_of_the_whole(
    first: list[tuple[str, str]], second: list[tuple[str, str]]
) -> None:
    bodies: list[Source] = []
    for number, (command, output) in enumerate([*first, *second]):
        bodies += [bash(f"c{number}", command), back(f"c{number}", output)]
    whole = scene(*bodies)
    middle = 2 * len(first)
    parts = [read_scene(whole.items[:middle]), read_scene(whole.items[middle:])]
    merged = errors_of(parts[1], errors_of(parts[0]))
    checks = ("Bash make", "Bash pytest")
    open_after = [
        [(row.text, row.what) for row in rows if not row.resolved and row.what in checks]
        for rows in (merged, errors_of(whole))
    ]
    assert open_after[0] == open_after[1]


def test_an_error_of_an_earlier_part_ends_with_a_check_of_a_later_one() -> None:
    known = (Error("error: bad", "e1", "Bash cd r && make lint"), Error("no", "e2", "Edit a.py"))
    shown = scene(
        ask("Go"),
        bash("c", "make lint"),
        back("c", "fine"),
        call("d", "Write", file_path="a.py", content="x"),
        back("d", "ok"),
    )
    assert [row.resolved for row in errors_of(shown, known)] == [named(3), named(5)]
    assert [row.resolved for row in errors_of(scene(ask("Go")), known)] == ["", ""]


def test_a_comparison_that_found_something_is_no_error() -> None:
    told = back("a", "Exit code 1\n3c3\n< a\n> b", failed=True)
    run = bash("a", "run --all > after.txt; diff before.txt after.txt")
    assert errors_of(scene(ask("Go."), run, told)) == ()
    other = bash("a", "diff a b && make")
    assert errors_of(scene(ask("Go."), other, told)) != ()
