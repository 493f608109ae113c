"""No pattern may take more than linear time, whatever a tool prints or a path holds."""

import re

import pytest
from msgspec import Struct

from holdfast.text.patterns import Pattern
from tests.structure.patterns import (
    HARDEST,
    audited,
    cost,
    found,
    held,
    runs_of,
    slow_runs,
)

PATTERNS = found()
TINY = (1_000, 4_000)
"""Sizes at which a quadratic pattern is found in a moment."""


def test_there_are_patterns_to_audit() -> None:
    assert len(PATTERNS) > 200


class Row(Struct):
    """Something that holds a pattern."""

    shape: re.Pattern[str] | Pattern[str]


def test_patterns_are_found_inside_of_what_holds_them() -> None:
    deep = {"a": ({"b": [re.compile("one")]}, frozenset({re.compile("two")}))}
    rows = [Row(re.compile("three")), Row(Pattern("four"))]
    inside = [*held("m", deep), *held("m", rows)]
    assert [pattern.pattern for _, pattern in inside] == ["one", "two", "three", "four"]


def test_a_pattern_that_is_not_in_the_list_is_linear() -> None:
    known = audited()
    new = [row for name, row in PATTERNS.items() if name not in known]
    assert {place: runs for place, one in new if (runs := slow_runs(one))} == {}


def test_the_list_of_audited_patterns_holds_none_that_is_gone() -> None:
    assert audited() - PATTERNS.keys() == set(), "run python -m tests.structure.patterns"


@pytest.mark.slow
@pytest.mark.parametrize("name", PATTERNS, ids=[place for place, _ in PATTERNS.values()])
def test_a_pattern_is_linear(name: str) -> None:
    assert slow_runs(PATTERNS[name][1]) == []


def test_the_audit_finds_a_quadratic_pattern() -> None:
    assert slow_runs(re.compile(r"a+b"), TINY) != []


def test_the_audit_passes_a_linear_pattern() -> None:
    assert slow_runs(re.compile(r"a[bc]"), TINY) == []


def test_the_run_that_is_hardest_on_a_pattern_is_among_those_looked_at() -> None:
    pattern = re.compile(r"[xyz]{1,3}|[0-9]+ [a-f]*;|k+w")
    hardest = sorted(runs_of(pattern), key=lambda run: -cost(pattern, run))[:HARDEST]
    assert "k" in hardest
