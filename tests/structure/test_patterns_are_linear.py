"""No pattern may take more than linear time, whatever a tool prints or a path holds."""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import cast

import pytest

import holdfast

LOOKED_AT = ("holdfast.core.", "holdfast.files.")
SIZES = ((8_000, 32_000), (250_000, 1_000_000))
"""The small pair first: a quadratic pattern is found there before it could hang the large one."""
GROWTH = 8
"""Four times the text may take eight times as long; a quadratic pattern takes sixteen."""
HARDEST = 5
"""Runs that are tried at full size: those that cost most at a small one."""
QUICK = 0.001
"""Seconds for the smallest text; a quadratic pattern takes many times that."""


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if not module.name.startswith(LOOKED_AT):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                yield f"{module.name}.{name}", cast("re.Pattern[str]", value)


PATTERNS = {pattern.pattern: (name, pattern) for name, pattern in patterns()}


def runs_of(pattern: re.Pattern[str]) -> list[str]:
    """Short texts whose repetition is hard on the pattern: its own characters and pairs of them."""
    bare = re.sub(r"\\[a-zA-Z]|\(\?[<!:=]*|\{[\d,]+\}", "", pattern.pattern)
    chars = sorted({char for char in bare if char.isprintable()})
    pairs = [first + second for first, second in pairwise(chars)]
    words = re.findall(r"[A-Za-z]{3,}", bare)
    return [*chars, *pairs, "a", "0", " ", "\t", "\n", "a ", "1 ", "a.", *words]


def seconds(pattern: re.Pattern[str], run: str, size: int) -> float:
    """The least of three searches through a text of that run alone."""
    text = run * (size // len(run))
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        list(islice(pattern.finditer(text), 1_000))
        pattern.match(text)
        best = min(best, time.thread_time() - start)
    return best


def grows_too_fast(pattern: re.Pattern[str], run: str) -> bool:
    for small, big in SIZES:
        least = seconds(pattern, run, small)
        if least < QUICK:
            return False
        if seconds(pattern, run, big) > least * GROWTH:
            return True
    return False


def test_there_are_patterns_to_audit() -> None:
    assert len(PATTERNS) > 60


@pytest.mark.parametrize("source", PATTERNS, ids=[name for name, _ in PATTERNS.values()])
def test_a_pattern_is_linear(source: str) -> None:
    _, pattern = PATTERNS[source]
    hardest = sorted(runs_of(pattern), key=lambda run: -seconds(pattern, run, 4_000))[:HARDEST]
    slow = [run for run in hardest if grows_too_fast(pattern, run)]
    # A loaded machine may stop the clock once, not twice at the same place.
    assert [run for run in slow if grows_too_fast(pattern, run)] == []


def test_the_audit_finds_a_quadratic_pattern() -> None:
    assert grows_too_fast(re.compile(r"a+b"), "a")
