import pytest

from holdfast.core.observe.results.checks import checks_of, includes


def covers(later: str, failed: str) -> bool:
    return any(includes(run, known) for run in checks_of(later) for known in checks_of(failed))


@pytest.mark.parametrize(
    ("later", "failed"),
    [
        ("python -m unittest discover -s tests -t .", "python -m unittest tests.test_dates 2>&1"),
        ("go test ./...", "go test ./cmd/app"),
        ("make test", "pytest tests/test_dates.py"),
        ("pytest tests", "pytest tests/test_dates.py"),
        ("npm run test", "npm run test -- dates.test.ts"),
    ],
)
def test_a_run_of_everything_includes_a_run_of_a_part(later: str, failed: str) -> None:
    assert covers(later, failed)


@pytest.mark.parametrize(
    ("later", "failed"),
    [
        ("python -m unittest tests.test_money", "python -m unittest tests.test_dates"),
        ("ruff check .", "mypy ."),
        ("git diff --check", "python -m unittest tests.test_dates"),
        ("pytest tests/test_money.py", "pytest tests/test_dates.py"),
    ],
)
def test_another_check_or_part_does_not_include_it(later: str, failed: str) -> None:
    assert not covers(later, failed)
