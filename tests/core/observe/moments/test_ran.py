from holdfast.core.observe.moments.ran import shown_command
from tests.core.building import back, bash, call
from tests.core.observe.moments.reading import ran, texts


def test_a_short_output_is_quoted_whole() -> None:
    assert ran("git status --short", "M a.py\n?? b.py\n") == (
        "$ git status --short → M a.py · ?? b.py"
    )


def test_a_failed_command_is_marked_and_keeps_its_instructions() -> None:
    output = "Exit code 1\n\nThe client is not staged!\n\nRun this command:\n    pnpm generate\n"
    assert ran("git commit -m x", output) == (
        "$ git commit -m x → failed: The client is not staged! · Run this command: · pnpm generate"
    )


def test_a_passed_test_run_is_its_counts_and_not_the_errors_in_its_log() -> None:
    log = "\n".join(f"[app] ERROR cannot reach host {n}, trying again" for n in range(30))
    output = f"{log}\nTests:       467 passed, 467 total\n"
    assert ran("npx jest", output) == "$ npx jest → Tests: 467 passed, 467 total"


def test_a_failed_test_run_names_the_tests() -> None:
    log = "\n".join(f"line {n} of a long log that says nothing" for n in range(40))
    output = f"{log}\nFAILED tests/test_a.py::test_b - assert 1\n=== 1 failed, 3 passed in 0.1s ==="
    assert ran("pytest", output) == (
        "$ pytest → failed: FAILED tests/test_a.py::test_b · 1 failed, 3 passed in 0.1s"
    )


def test_a_diff_is_its_files_with_their_sizes() -> None:
    diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@ def load(path):\n"
    diff += "".join(f"+    value_{n} = error_of({n})\n" for n in range(40)) + "-old\n"
    assert ran("git diff", diff) == "$ git diff → a.py +40 −1 in def load(path):"


def test_a_long_diff_shows_its_new_lines_first_what_they_define() -> None:
    diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n"
    diff += "+def load(path):\n" + "".join(f"+    row_{n}()\n" for n in range(40))
    found = texts(bash("a", "git diff"), back("a", diff), kind="content")
    assert found[0] == "a.py: def load(path):"
    assert found[1].startswith("a.py+ def load(path): · row_0() · row_1()")
    assert all("row_39()" not in text for text in found[:2])


def test_the_header_of_a_shell_tool_and_progress_are_not_outcome() -> None:
    output = (
        "Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n45%\ndone\n"
    )
    assert ran("make build", output) == "$ make build → done"


def test_a_wrapper_and_a_prompt_are_not_outcome() -> None:
    output = "<returncode>0</returncode>\n<output>\nok\n</output>\n(Open file: n/a)\nbash-$"
    assert ran("make build", output) == "$ make build → ok"


def test_a_record_of_json_is_a_line_of_its_values() -> None:
    flights = [{"number": f"HAT{n}", "prices": {"economy": 100 + n}} for n in range(20)]
    output = str(flights).replace("'", '"')
    found = texts(call("a", "find_flights", origin="SEA", day="05-24"), back("a", output))
    assert found[0] == ("$ find_flights SEA 05-24 → number HAT0, prices (economy 100) · 20 records")
    assert found[1] == "find_flights SEA 05-24: number HAT1, prices (economy 101)"


def test_a_call_without_a_result_is_open() -> None:
    assert texts(bash("a", "make deploy")) == ["$ make deploy → no result yet"]


def test_a_long_command_keeps_both_ends() -> None:
    shown = shown_command(f"cd /src && tool {'x' * 400} --only tests/test_rows.py")
    assert shown.startswith("tool xxx")
    assert shown.endswith("--only tests/test_rows.py")
    assert " … " in shown


def test_lines_that_the_outcome_leaves_out_are_moments_with_the_command() -> None:
    output = "\n".join(f"listening on port {8000 + n} for the worker {n}" for n in range(15))
    found = texts(bash("a", "./serve"), back("a", output), kind="content")
    assert "./serve: listening on port 8007 for the worker 7" in found


def test_a_passed_test_run_has_no_other_lines() -> None:
    log = "\n".join(f"ok {n} keeps the rows of the table {n}" for n in range(30))
    output = f"{log}\nTests:       30 passed, 30 total\n"
    assert texts(bash("a", "npx jest"), back("a", output), kind="content") == []


def test_comments_in_a_command_are_left_out() -> None:
    assert shown_command("# Look at it\nmake test") == "make test"
    assert shown_command("# nothing") == "# nothing"


def test_counts_with_a_failure_name_the_tests_and_their_errors_without_an_exit_code() -> None:
    log = "\n".join(f"line {n} of a long log that says nothing" for n in range(40))
    output = f"{log}\nE   ValueError: no rows\nFAILED a.py::test_b - x\n1 failed, 2 passed in 1s\n"
    assert ran("pytest | tail -60", output).partition("→ ")[2].removeprefix("failed: ") == (
        "FAILED a.py::test_b · E ValueError: no rows · 1 failed, 2 passed in 1s"
    )


def test_short_lines_of_an_output_are_one_moment_together() -> None:
    output = "\n".join(f"name{n}.py" for n in range(30))
    found = texts(bash("a", "./serve"), back("a", output), kind="content")
    assert found[0].startswith("./serve: name0.py · name1.py · name2.py")


def test_code_that_a_command_printed_is_not_its_outcome() -> None:
    code = [f"{n}- x = {n}" for n in range(40)]
    code[20] = '20- return fmt.Errorf("failed to open: %w", err)'
    shown = ran("for f in a b; do ./show $f; done", "\n".join(code))
    assert "Errorf" not in shown


def test_a_refused_command_shows_the_words_of_the_refusal_only() -> None:
    refused = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it"
        " was a file edit, the new_string was NOT written to the file). To tell you how to proceed,"
        " the user said:\nno, I did not say commit"
    )
    assert ran("git commit -m x", refused).endswith("refused by the user: no, I did not say commit")


def test_the_frames_of_a_stack_but_the_first_and_last_are_left_out() -> None:
    frames = "\n".join(f"    at load{n} (/app/a.js:{n}:1)" for n in range(1, 9))
    assert ran("node a.js", f"Exit code 1\nTypeError: x is not a function\n{frames}") == (
        "$ node a.js → failed: TypeError: x is not a function"
        " · at load1 (/app/a.js:1:1) · at load8 (/app/a.js:8:1)"
    )


def test_a_check_that_passed_says_little_of_what_it_printed() -> None:
    output = "\n".join(f"checked the file number {n} in {n} ms" for n in range(40))
    assert len(ran("npm run lint", output)) < 140
    assert texts(bash("a", "npm run lint"), back("a", output), kind="content") == []
