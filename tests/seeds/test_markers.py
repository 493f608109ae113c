"""Shows that the scan sees real markers only; without it an empty scan would pass unnoticed."""

from pathlib import Path

from tests.seeds.markers import by_clause, has_test, marked_pairs, misplaced, render

SOURCE = """
import pytest

# @pytest.mark.seed("R001")
TEXT = '@pytest.mark.seed("R002")'

@pytest.mark.parametrize("n", [1])
@pytest.mark.seed("R024", "R025")
def test_one(n): ...

@pytest.mark.seed("R024")
async def test_two(): ...

@pytest.mark.seed(TEXT)
def test_named_by_a_variable(): ...

@pytest.mark.seed("R003")
def helper(): ...

class TestGroup:
    @pytest.mark.seed("R004")
    def test_inside(self): ...
"""
ONE = "tests/core/test_it.py::test_one"
TWO = "tests/core/test_it.py::test_two"
RENDERED = """{
    "R024": (
        "tests/core/test_it.py::test_one",
        "tests/core/test_it.py::test_two",
    ),
    "R025": ("tests/core/test_it.py::test_one",),
}
"""


def suite_in(folder: Path) -> Path:
    """Lay out a repository with one test file."""
    file = folder / "tests" / "core" / "test_it.py"
    file.parent.mkdir(parents=True)
    file.write_text(SOURCE, encoding="utf-8")
    return folder


def test_only_markers_on_top_level_tests_are_counted(tmp_path: Path) -> None:
    expected = {("R024", ONE), ("R025", ONE), ("R024", TWO)}
    assert marked_pairs(suite_in(tmp_path)) == expected


def test_a_marker_that_cannot_be_counted_is_reported(tmp_path: Path) -> None:
    lines = [f"tests/core/test_it.py:{line}" for line in (14, 17, 21)]
    assert misplaced(suite_in(tmp_path)) == lines


def test_a_node_id_is_looked_up_without_its_parameters(tmp_path: Path) -> None:
    root = suite_in(tmp_path)
    assert has_test(root, f"{ONE}[1]")
    assert not has_test(root, "tests/core/test_it.py::test_inside")
    assert not has_test(root, "tests/core/test_gone.py::test_one")


def test_the_rendered_file_is_sorted_and_laid_out_as_formatted() -> None:
    rendered = render(by_clause([("R025", ONE), ("R024", TWO), ("R024", ONE)]))
    assert rendered.partition(" = ")[2] == RENDERED
