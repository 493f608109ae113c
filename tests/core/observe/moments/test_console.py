from tests.core.building import answer, ask
from tests.core.observe.moments.reading import texts


def test_an_applied_edit_and_a_refused_one_are_changes() -> None:
    report = "Applied edit to rows.py\n# 1 SEARCH block failed to exactly match lines in plan.py\n"
    assert texts(ask(report)) == [
        "edit applied to rows.py",
        "edit of plan.py failed: the searched lines are not in the file",
    ]


def test_words_of_the_user_are_not_a_report() -> None:
    assert texts(ask("Why was no edit applied to rows.py? It failed twice.")) == []


def test_tests_that_an_editor_ran_after_an_edit_are_a_run() -> None:
    log = "\n".join(f"test_{n} (rows.tests.Rows) ... ok" for n in range(60))
    report = f"Applied edit to rows.py\n{log}\nRan 60 tests in 0.1s\n\nOK\n"
    assert texts(ask(report), kind="ran") == ["$ tests after the edit → Ran 60 tests in 0.1s: OK"]


def test_output_for_an_agent_without_tools_is_a_run_of_its_last_command() -> None:
    said = answer("I run it.\n\n```bash\npython3 rows.py\n```")
    output = ask("<returncode>0</returncode>\n<output>\n12 rows\n</output>")
    assert texts(said, output, kind="ran") == ["$ python3 rows.py → 12 rows"]
