"""How many tests passed and failed, in the words of each runner."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

TOTAL = re.compile(
    r"\b(\d+) (passed|failed|skipped|errors?|xfailed|xpassed|ignored|passing|failing|pending"
    r"|deselected|todo|warnings?)\b"
)
TIME = re.compile(r"(?:\bin|\bTime:|\bDuration|\() {0,12}(\d[\d.]*\s?(?:s|ms|m|seconds?))\b")
GO = re.compile(r"^\s{0,24}--- (PASS|FAIL|SKIP): ")
PLAIN = re.compile(r"^Ran (\d+) tests? in ([\d.]+s)")
PLAIN_BAD = re.compile(r"\b(failures|errors|skipped)=(\d+)")
TAP = re.compile(r"^(?:#|ℹ) (pass|fail|skipped|todo) (\d+)")
WORDS: Mapping[str, str] = {
    "passing": "passed",
    "failing": "failed",
    "error": "errors",
    "pending": "skipped",
    "ignored": "skipped",
    "warning": "warnings",
    "pass": "passed",
    "fail": "failed",
    "failures": "failed",
    "PASS": "passed",
    "FAIL": "failed",
    "SKIP": "skipped",
}
"""One word for what runners call differently."""
ORDER = (
    "failed",
    "errors",
    "passed",
    "skipped",
    "xfailed",
    "xpassed",
    "deselected",
    "todo",
    "warnings",
)


STARTS = frozenset("-=tTDRFO#ℹ0123456789")
"""How a line starts that states a count: the others are let go by this alone."""


class Tally(Struct, frozen=True):
    """The counts of a run and how long it took."""

    counts: Mapping[str, int]
    took: str


def tally_of(rows: Sequence[str]) -> Tally:
    """The counts that the runner printed; of go, which prints none, the lines counted."""
    counts: Counter[str] = Counter()
    go: Counter[str] = Counter()
    took = ""
    for row in rows:
        if row.lstrip()[:1] not in STARTS:
            continue
        if match := GO.match(row):
            go[WORDS[match[1]]] += 1
        elif is_total(row):
            counts = _total(row, counts)
            took = match[1] if (match := TIME.search(row, 0, 300)) else took
        elif match := PLAIN.match(row):
            counts["passed"] += _number(match[1])
            took = match[2]
        elif row.startswith(("FAILED (", "OK (")):
            _correct(row, counts)
        elif match := TAP.match(row):
            counts[WORDS.get(match[1], match[1])] += _number(match[2])
        elif match := TIME.match(row.strip()[:80]):
            took = match[1]
    return Tally(counts or go, took)


def _number(digits: str) -> int:
    return int(digits[:9])


def is_total(row: str) -> bool:
    """Whether a line states the counts of a run."""
    start = row.strip("= ")
    return (
        (row.startswith("=") and start[:1].isdigit())
        or row.startswith(("test result:", "Tests:", "      Tests ", "     Tests "))
        or (start[:1].isdigit() and bool(TOTAL.match(start)) and len(row) < 120)
    )


def _total(row: str, before: Counter[str]) -> Counter[str]:
    """The counts after a line that states some."""
    found: Counter[str] = Counter()
    for number, word in TOTAL.findall(row[:300]):
        found[WORDS.get(word, word)] = _number(number)
    if row.startswith("test result"):
        # Cargo reports each crate.
        return before + found
    # Mocha and playwright spread their counts over lines; the others tell all in one.
    return found if row.startswith(("=", "Tests:")) else Counter({**before, **found})


def _correct(row: str, counts: Counter[str]) -> None:
    """Unittest counts all tests first, then those that did not pass."""
    for word, number in PLAIN_BAD.findall(row[:200]):
        counts[WORDS.get(word, word)] += _number(number)
        counts["passed"] = max(counts["passed"] - _number(number), 0)
