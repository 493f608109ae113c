"""Benchmarks are run by hand: that they can be is seen here."""

from importlib import import_module
from pathlib import Path

import pytest
from benchmarks.__main__ import BENCHMARKS

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_can_be_begun(name: str) -> None:
    made = import_module(f"benchmarks.{name}")
    assert callable(made.run)
    assert made.__doc__


def test_every_file_that_can_be_run_has_its_name_on_the_list() -> None:
    able = {path.stem for path in FOLDER.glob("*.py") if "\ndef run(" in path.read_text("utf-8")}
    assert able == set(BENCHMARKS)
