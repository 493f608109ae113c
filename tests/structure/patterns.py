"""Finds every pattern of the package and measures whether its time grows with the text or faster.

A measurement takes seconds of processor time a pattern, so the patterns that passed are listed by
name in `audited.txt` and only others are measured in `make test`. A pattern that changes has
another name. `python -m tests.structure.patterns` measures those that are not listed and writes
the list; `make test-slow` measures all of them again.
"""

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice, pairwise, permutations
from pathlib import Path
from typing import cast

from msgspec import Struct

import holdfast
from holdfast.text.patterns import Pattern

AUDITED = Path(__file__).with_name("audited.txt")
SMALL, LARGE = (8_000, 32_000), (32_000, 1_000_000)
"""The small pair first: a quadratic pattern is found there before it could hang the large one."""
GROWTH = 2
"""Four times the text may take eight times as long; a quadratic pattern takes sixteen."""
SIFTED = 4_000
HARDEST = 5
"""Runs that are looked at closely: those that cost most at the size they are sifted at."""
MOST_SIGNS = 14
"""Signs of a pattern of which all pairs are tried."""
LARGEST = 2
"""Runs of those that are tried at full size."""
QUICK = 0.000_000_05
"""Seconds for a character: whatever takes less than that cannot be called slow."""


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if not name.startswith("__"):
                yield from held(f"{module.name}.{name}", value)


def held(name: str, value: object) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns that a value is, or holds however deep."""
    if isinstance(value, Pattern):
        yield from held(name, cast("Pattern[str] | Pattern[bytes]", value).compiled)
    elif isinstance(value, re.Pattern):
        yield name, as_text(cast("re.Pattern[str] | re.Pattern[bytes]", value))
    elif isinstance(value, Mapping):
        rows = cast("Mapping[object, object]", value)
        for key, one in rows.items():
            yield from held(f"{name}[{key}]", key)
            yield from held(f"{name}[{key}]", one)
    elif isinstance(value, tuple | list | set | frozenset):
        for at, one in enumerate(cast("Iterable[object]", value)):
            yield from held(f"{name}[{at}]", one)
    elif isinstance(value, Struct):
        for field in value.__struct_fields__:
            yield from held(f"{name}.{field}", getattr(value, field))


def as_text(pattern: re.Pattern[str] | re.Pattern[bytes]) -> re.Pattern[str]:
    """A pattern that can be tried with texts; one over bytes takes the same time."""
    source = pattern.pattern
    if isinstance(source, str):
        return cast("re.Pattern[str]", pattern)
    return re.compile(source.decode("latin-1"), pattern.flags)


def name_of(pattern: re.Pattern[str]) -> str:
    """What a pattern is listed as: another name for every change of it or of its flags."""
    return sha256(f"{pattern.flags} {pattern.pattern!a}".encode()).hexdigest()[:16]


def found() -> dict[str, tuple[str, re.Pattern[str]]]:
    """Every pattern by its name in the list, with the place where it is."""
    return {name_of(pattern): (place, pattern) for place, pattern in patterns()}


def audited() -> set[str]:
    """The names of the patterns that passed."""
    return set(AUDITED.read_text().split())


def runs_of(pattern: re.Pattern[str]) -> list[str]:
    """Short texts whose repetition is hard on the pattern: its own characters and pairs of them.

    Of the signs every pair in both orders: an escaped quote opens a string again and again.
    """
    bare = re.sub(r"\\[a-zA-Z]|\(\?[<!:=]*|\{[\d,]+\}", "", pattern.pattern)
    chars = sorted({char for char in bare if char.isprintable()})
    pairs = [first + second for first, second in pairwise(chars)]
    signs = [char for char in chars if not char.isalnum()][:MOST_SIGNS]
    pairs += [first + second for first, second in permutations(signs, 2)]
    words = re.findall(r"[A-Za-z]{3,}", bare)
    return list(dict.fromkeys([*chars, *pairs, *"a0 \t\n", "a ", "1 ", "a.", *words]))


def seconds(pattern: re.Pattern[str], run: str, size: int, *, times: int = 3) -> float:
    """The least of some searches through a text of that run alone."""
    text = run * (size // len(run))
    best = float("inf")
    for _ in range(times):
        start = time.thread_time()
        list(islice(pattern.finditer(text), 1_000))
        pattern.match(text)
        best = min(best, time.thread_time() - start)
    return best


AGAIN = 4


def grows_too_fast(pattern: re.Pattern[str], run: str, sizes: tuple[int, int] = SMALL) -> bool:
    small, big = sizes
    # Whatever disturbs a clock makes it run longer: a search that was quick once is enough.
    took = seconds(pattern, run, big, times=1)
    if took <= big * QUICK:
        return False
    most = GROWTH * big / small
    # A machine that is busy for a while is busy for more than one search: ask again, and again.
    return took > seconds(pattern, run, small) * most and all(
        seconds(pattern, run, big) > seconds(pattern, run, small) * most for _ in range(AGAIN)
    )


def cost(pattern: re.Pattern[str], run: str) -> float:
    return seconds(pattern, run, SIFTED, times=2)  # one may be disturbed, hardly both


def slow_runs(pattern: re.Pattern[str], sizes: tuple[int, int] = SMALL) -> list[str]:
    """The runs for which a pattern takes more than linear time."""
    hardest = sorted(runs_of(pattern), key=lambda run: -cost(pattern, run))[:HARDEST]
    small = [run for run in hardest if grows_too_fast(pattern, run, sizes)]
    # The large text would hang a pattern that fails with the small one.
    return small or [run for run in hardest[:LARGEST] if grows_too_fast(pattern, run, LARGE)]


def main() -> int:
    """Measure what is not listed, list what passes, drop what is gone."""
    known, present = audited(), found()
    failed = {
        name: f"{place} {runs!r}"
        for name, (place, pattern) in present.items()
        if name not in known and (runs := slow_runs(pattern))
    }
    AUDITED.write_text("".join(f"{name}\n" for name in sorted(present.keys() - failed.keys())))
    for line in failed.values():
        print(f"more than linear time: {line}", file=sys.stderr)
    print(f"{len(present.keys() - known)} measured, {len(known - present.keys())} dropped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
