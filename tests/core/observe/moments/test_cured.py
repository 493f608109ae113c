from tests.core.building import Told, answer, ask, back, bash, call
from tests.core.observe.moments.reading import texts

FAILED = "a.py:1: error: Name 'x' is not defined\nFound 1 error"
PASSED = "Success: no issues found"


def edit(number: int) -> tuple[Told, ...]:
    name = f"e{number}"
    made = call(name, "Edit", file_path="/app/a.py", old_string="x", new_string=f"y{number}")
    return made, back(name, "The file /app/a.py has been updated.")


def test_a_check_that_passes_again_says_what_was_changed_since() -> None:
    found = texts(
        *edit(1),
        bash("a", "mypy ."),
        back("a", FAILED, failed=True),
        *edit(2),
        bash("b", "mypy ."),
        back("b", PASSED),
        kind="ran",
    )
    assert found[-1] == (
        "$ mypy . → Success: no issues found (passes after: edited a.py +1 −1: x ⇒ y2)"
    )


def test_a_check_that_never_failed_says_only_that_it_passed() -> None:
    found = texts(*edit(1), bash("a", "mypy ."), back("a", PASSED), kind="ran")
    assert found == ["$ mypy . → Success: no issues found"]


def test_another_check_does_not_cure_the_one_that_failed() -> None:
    found = texts(
        bash("a", "mypy ."),
        back("a", FAILED, failed=True),
        *edit(2),
        bash("b", "ruff check ."),
        back("b", "All checks passed!"),
        kind="ran",
    )
    assert found[-1] == "$ ruff check . → All checks passed!"


def test_a_check_is_cured_once() -> None:
    found = texts(
        bash("a", "mypy ."),
        back("a", FAILED, failed=True),
        *edit(2),
        bash("b", "mypy ."),
        back("b", PASSED),
        bash("c", "mypy ."),
        back("c", PASSED),
        kind="ran",
    )
    assert found[-1] == "$ mypy . → Success: no issues found"


def test_a_call_that_the_user_stopped_is_not_waited_for() -> None:
    assert texts(ask("Deploy it."), bash("a", "make deploy"), ask("No, stop."), answer("Ok.")) == []
