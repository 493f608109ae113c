"""Outline test runs: each failure with its reason and place, and the counts, for many runners."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, best_lines, with_noun
from holdfast.core.shrink.outline.log import row_level
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

# Places in source code: a file and a line.


PLACE_END = Pattern(r"\.\w{1,5}(?::\d+|\(\d+[,)]|\", line \d+)")
"""The end of a place: ".py:12", ".ts(12,", `.py", line 12`. The start is searched backwards from
it, because a pattern for the whole place would be slow."""
PLACE_SEPARATORS = " \t(\"'[<`,="


def place_in(row: str) -> str:
    """Return the first `file:line` in a line; empty if there is none."""
    match = PLACE_END.search(row)
    if match is None:
        return ""
    start = max(row.rfind(char, 0, match.start()) for char in PLACE_SEPARATORS) + 1
    # A path with spaces is in quotes.
    quote = row.rfind('"', 0, match.start())
    if match[0].count('"') and quote >= 0:
        start = quote + 1
    place = row[start : match.end()]
    return place.replace('", line ', ":").replace("(", ":").rstrip(",)")


# Counts of passed and failed tests, in the words of each runner.


COUNT = Pattern(
    r"\b(\d+) (passed|failed|skipped|errors?|xfailed|xpassed|ignored|passing|failing|pending"
    r"|deselected|todo|warnings?)\b"
)
DURATION = Pattern(r"(?:\bin|\bTime:|\bDuration|\() {0,12}(\d[\d.]*\s?(?:s|ms|m|seconds?))\b")
GO_RESULT = Pattern(r"^\s{0,24}--- (PASS|FAIL|SKIP): ")
UNITTEST_TOTAL = Pattern(r"^Ran (\d+) tests? in ([\d.]+s)")
UNITTEST_FAILURES = Pattern(r"\b(failures|errors|skipped)=(\d+)")
TAP_TOTAL = Pattern(r"^(?:#|ℹ) (pass|fail|skipped|todo) (\d+)")
OUTCOME_WORDS: Mapping[str, str] = {
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
"""One word for each outcome that runners call differently."""
OUTCOME_ORDER = (
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


TALLY_STARTS = frozenset("-=tTDRFO#ℹ0123456789")
"""First characters of lines that state a count: all other lines are skipped quickly."""


class RunTally(Struct, frozen=True):
    """The counts and the duration of a run."""

    counts: Mapping[str, int]
    duration: str


def tally_of(rows: Sequence[str]) -> RunTally:
    """Return the counts that the runner printed; for go, which prints none, count its results."""
    counts: Counter[str] = Counter()
    go: Counter[str] = Counter()
    duration = ""
    for row in rows:
        if row.lstrip()[:1] not in TALLY_STARTS:
            continue
        if match := GO_RESULT.match(row):
            go[OUTCOME_WORDS[match[1]]] += 1
        elif is_total(row):
            counts = _add_total(row, counts)
            duration = match[1] if (match := DURATION.search(row, 0, 300)) else duration
        elif match := UNITTEST_TOTAL.match(row):
            counts["passed"] += _number(match[1])
            duration = match[2]
        elif row.startswith(("FAILED (", "OK (")):
            _subtract_failures(row, counts)
        elif match := TAP_TOTAL.match(row):
            counts[OUTCOME_WORDS.get(match[1], match[1])] += _number(match[2])
        elif match := DURATION.match(row.strip()[:80]):
            duration = match[1]
    return RunTally(counts or go, duration)


def _number(digits: str) -> int:
    return int(digits[:9])


def is_total(row: str) -> bool:
    """Return whether a line states the counts of a run."""
    start = row.strip("= ")
    return (
        (row.startswith("=") and start[:1].isdigit())
        or row.startswith(("test result:", "Tests:", "      Tests ", "     Tests "))
        or (start[:1].isdigit() and bool(COUNT.match(start)) and len(row) < 120)
    )


def _add_total(row: str, before: Counter[str]) -> Counter[str]:
    """Add the counts of one line to those before it."""
    counts: Counter[str] = Counter()
    for number, word in COUNT.findall(row[:300]):
        counts[OUTCOME_WORDS.get(word, word)] = _number(number)
    if row.startswith("test result"):
        # Cargo reports each crate.
        return before + counts
    # Mocha and playwright print their counts on several lines; the others on one.
    return counts if row.startswith(("=", "Tests:")) else Counter({**before, **counts})


def _subtract_failures(row: str, counts: Counter[str]) -> None:
    """Move failures out of the passed tests: unittest prints the number of all tests first."""
    for word, number in UNITTEST_FAILURES.findall(row[:200]):
        counts[OUTCOME_WORDS.get(word, word)] += _number(number)
        counts["passed"] = max(counts["passed"] - _number(number), 0)


FAILURE_HEAD = Pattern(
    r"^_{3,} ([^_].{0,200}) _{3,}$"  # pytest
    r"|^\s{0,24}--- FAIL: (\S+)"  # go
    r"|^\s{0,8}● (?!Console)(.{3,240})$"  # jest
    r"|^(?:FAIL|ERROR): (\S.{0,240})$"  # unittest
    r"|^---- (\S{1,240}) stdout ----"  # cargo
    r"|^ ?(?:FAIL|×) {1,3}(\S{1,200} > .{1,240})$"  # vitest
    r"|^\s{1,8}\d{1,4}\) (\S.{2,240})$"  # mocha, playwright
    r"|^\s{0,8}not ok \d{1,6} (?:- )?(.{1,240})$"  # tap
)
FAILURE_STARTS = frozenset("_-●FE×0123456789n")
"""First characters of lines that `FAILURE_HEAD` can match: most lines are skipped quickly."""
PYTEST_LISTED = Pattern(
    r"^(?:FAILED|ERROR) ([^\s:]{1,300}::\S{1,300}|\S{1,300}\.py)(?: - (.{0,600}))?$"
)
"""Pytest's own list of failures, one a line: "FAILED tests/test_a.py::test_b - assert 1"."""
BARE_FAILURE = Pattern(
    r"^\s{1,16}[✕✗✖×] (.{2,240})$|^test (\S{1,240}) \.\.\. FAILED$"
    r"|^([^\s:]{1,300}::\S{1,200}) (?:FAILED|ERROR)\b"
)
"""A failure without a description: "  ✕ adds numbers"."""
CROSS_MARKS = frozenset("✕✗✖×")
FAILED_PACKAGE = Pattern(r"^FAIL {0,3}\t(\S+)(?:\t(.{0,80}))?$|^FAIL +(\S+\.\w+)")
BUILD_ERROR = Pattern(
    r"^# \S+$|^\S{1,200}\.\w{1,4}:\d+:\d+: |^error(?:\[E\d+\])?: |^ImportError|^E {3}\w*Error"
)
RULE_ROW = Pattern(r"^={5,}|^-{5,}$")
BLOCK_END = Pattern(
    r"^(?:ok|FAIL|\?) {0,3}\t|^=== RUN|^\s{0,24}--- (?:PASS|SKIP)|^failures:$|^(?:PASSED|SKIPPED"
    r"|XFAIL|XPASS) |^Test(?:s| Suites):|^(?:PASS|FAIL)$"
)
CLOSING_ROW = Pattern(
    r"^(?:Time|Snapshots|Ran all|Ran \d+|FAILED \(|OK\b|\s{2,8}Duration|\s{2,8}Start at)"
)
MOCHA_TOTAL = Pattern(r"^\s{1,8}\d{1,6} failing$")
GO_LINE = Pattern(r"^\s{0,24}(?:===|---) ")
PYTEST_SUMMARY = Pattern(r"^={3,} short test summary info ={3,}$")
REASON = Pattern(
    r"^E {2,8}(\S.{0,300})"
    r"|^\s{0,24}((?:[A-Za-z_.]{0,80}(?:Error|Exception|Failure|Warning)\b|assertion|panic:"
    r"|Expected|expected|Received|thrown:).{0,300})"
    r"|\b((?:[Ee]xpected|want(?:ed)?|got|should|must|mismatch|[Ff]ailed to|failed:|cannot"
    r"|unexpected|error:|not found|no such)\b.{0,200})"
)
MAX_BLOCK_ROWS = 150
"""Lines after the name of a failure that may describe it."""


class Failure(Struct, frozen=True):
    """A test that failed."""

    at: int
    name: str
    reason: str = ""
    place: str = ""


def outline_run(reading: TextReading, lines: int, width: int) -> Sketch:
    """Show each failure with its reason and place; then packages and files that failed."""
    rows = reading.rows
    failures = _failures(rows)
    details = [detail for failure in failures for detail in _failure_details(failure, width)]
    details += [
        Detail(1, at * 4, f"FAIL package {match[1]}" if match[1] else f"FAIL file {match[3]}")
        for at, row in enumerate(rows)
        if row.startswith("FAIL") and (match := FAILED_PACKAGE.match(row))
    ]
    details += [
        Detail(3, at * 4 + 2, f"L{reading.numbers[at]}: {rows[at].strip()}")
        for at in sorted({*_last_rows(rows), *(() if failures else _suspects(rows))})
    ]
    return Sketch(_summary(rows, len(failures)), best_lines(details, lines))


def _failures(rows: Sequence[str]) -> list[Failure]:
    """Return each failed test once, in order."""
    final = max((at for at, row in enumerate(rows) if PYTEST_SUMMARY.match(row)), default=len(rows))
    listed_names = {
        _bare_name(failure.name) for failure in _listed_failures(rows) if failure.at > final
    }
    merged = _merge_failures([*_described_failures(rows), *_listed_failures(rows)])
    # If pytest lists its failures at the end, all others are output of tests that passed.
    failures = [
        failure
        for failure in merged
        if not listed_names or _bare_name(failure.name) in listed_names
    ]
    return [
        failure
        for failure, after in zip(failures, [*failures[1:], None], strict=False)
        if failure.reason or after is None or not after.name.startswith(f"{failure.name}/")
    ]


def _described_failures(rows: Sequence[str]) -> Iterator[Failure]:
    """Yield the failures that the output describes."""
    summary_start = max((at for at, row in enumerate(rows) if MOCHA_TOTAL.match(row)), default=-1)
    heads = [
        (at, match)
        for at, row in enumerate(rows)
        # Mocha numbers a failure where it happens and again where it describes it.
        if row.lstrip()[:1] in FAILURE_STARTS
        and (match := FAILURE_HEAD.match(row))
        and (at > summary_start or not row.lstrip()[:1].isdigit())
    ]
    ends = [at for at, _ in heads[1:]]
    for (at, match), end in zip(heads, [*ends, len(rows)], strict=False):
        name = next(group for group in match.groups() if group).strip()
        block = _until_block_end(rows[at + 1 : min(end, at + MAX_BLOCK_ROWS)])
        if not any(row.strip() for row in block):
            block = _rows_before(rows, at)
        if block and summary_start >= 0 and block[0].rstrip().endswith(":"):
            name = f"{name} {block[0].strip(' :')}"
        yield Failure(at, name, _find_reason(block), _find_place(block))


def _rows_before(rows: Sequence[str], at: int) -> Sequence[str]:
    """Return the rows that `go test -v` printed for a test before its result."""
    start = at
    while start > max(at - MAX_BLOCK_ROWS, 0) and not GO_LINE.match(rows[start - 1]):
        start -= 1
    return rows[start:at] if start and rows[start - 1].startswith("=== ") else ()


def _until_block_end(rows: Sequence[str]) -> Sequence[str]:
    for at, row in enumerate(rows):
        if BLOCK_END.match(row) or (at > 1 and RULE_ROW.match(row)):
            return rows[:at]
    return rows


def _find_reason(block: Sequence[str]) -> str:
    weak = ""
    for at, row in enumerate(block):
        if "panicked at" in row:
            return (
                block[at + 1] if row.rstrip().endswith(":") and at + 1 < len(block) else row
            ).strip()
        match = REASON.search(row)
        if match and (match[1] or match[2]):
            return _with_received((match[1] or match[2]).strip(), block[at + 1 : at + 2])
        if match and not weak:
            weak = row.strip()
    return weak or next((row.strip() for row in block if row.strip()), "")


def _with_received(reason: str, after: Sequence[str]) -> str:
    """Append the received value: Jest prints it on the line after the expected one."""
    got = after[0].strip() if after else ""
    return f"{reason}, {got}" if reason.startswith("Expected") and got.startswith("Re") else reason


def _find_place(block: Sequence[str]) -> str:
    named = ((row, place_in(row)) for row in block if "node_modules" not in row)
    own = [(row, place) for row, place in named if place and "site-packages" not in row]
    reason_place = next((place for row, place in own if REASON.search(row)), "")
    if reason_place or not own:
        return reason_place
    # Python prints the innermost place last, the others first.
    last, place = own[-1]
    innermost_last = last.lstrip().startswith("File ") or not last.startswith(" ")
    return place if innermost_last else own[0][1]


def _listed_failures(rows: Sequence[str]) -> Iterator[Failure]:
    """Yield the failures of lists, which have no description."""
    for at, row in enumerate(rows):
        if "FAIL" not in row and "ERROR" not in row and row.lstrip()[:1] not in CROSS_MARKS:
            continue
        if match := PYTEST_LISTED.match(row):
            yield Failure(at, match[1], match[2] or "")
        elif match := BARE_FAILURE.match(row):
            yield Failure(at, (match[1] or match[2] or match[3]).strip())


def _merge_failures(failures: Sequence[Failure]) -> list[Failure]:
    """Merge failures of the same test: the full name, the longer reason, the first place."""
    by_name: dict[str, Failure] = {}
    for failure in failures:
        key = _bare_name(failure.name)
        known = by_name.get(key)
        if known is None:
            by_name[key] = failure
        else:
            name = failure.name if "::" in failure.name else known.name
            reason = known.reason if len(known.reason) >= len(failure.reason) else failure.reason
            by_name[key] = Failure(known.at, name, reason, known.place or failure.place)
    return sorted(by_name.values(), key=lambda failure: failure.at)


def _bare_name(name: str) -> str:
    """Return the name of a test without file, class and suite."""
    bare = name.partition(" (")[0].rstrip(":")
    return bare.rpartition("::")[2].rpartition(".")[2].rpartition(" › ")[2].strip()


def _failure_details(failure: Failure, width: int) -> Iterator[Detail]:
    """Yield a failure as one line, or with its reason on a second one."""
    place = f" ({failure.place})" if failure.place else ""
    reason = failure.reason.removeprefix(f"{failure.place}:").strip()
    line = f"FAIL {failure.name}{place}"
    at = failure.at * 4
    if len(line) + len(reason) + 3 <= width:
        yield Detail(0, at, f"{line} — {reason}" if reason else line)
        return
    yield Detail(0, at, line)
    yield Detail(1, at + 1, f"    {reason}")


def _last_rows(rows: Sequence[str]) -> list[int]:
    """Return the last rows after those of the runner: they may say how the run ended."""
    first = next((at + 1 for at in range(len(rows) - 1, -1, -1) if _is_runner_row(rows[at])), 0)
    if first and FAILURE_HEAD.match(rows[first - 1]):
        # The rows after it describe a failure, which has its own line.
        return []
    return [at for at in range(first, len(rows)) if rows[at].strip()][-3:]


def _is_runner_row(row: str) -> bool:
    patterns = (BLOCK_END, RULE_ROW, FAILURE_HEAD, FAILED_PACKAGE, PYTEST_LISTED, CLOSING_ROW)
    return is_total(row) or any(pattern.match(row) for pattern in patterns)


def _suspects(rows: Sequence[str]) -> list[int]:
    """Return the rows that may say why a run without a visible failure failed."""
    return [at for at, row in enumerate(rows) if _is_suspect(row)]


def _is_suspect(row: str) -> bool:
    return bool(BUILD_ERROR.match(row)) or (row_level(row) == 0 and not _is_runner_row(row))


def _summary(rows: Sequence[str], failures: int) -> str:
    tally = tally_of(rows)
    counts = dict(tally.counts)
    if failures and not counts.get("failed", 0) + counts.get("errors", 0):
        counts["failed"] = failures
    parts = [f"{counts[word]:,} {word}" for word in OUTCOME_ORDER if counts.get(word)]
    ok = sum(1 for row in rows if row.startswith("ok ") and "\t" in row)
    bad = sum(1 for row in rows if (match := FAILED_PACKAGE.match(row)) and match[1])
    if ok or bad:
        parts.append(with_noun(ok + bad, "package") + (f", {bad} of them failed" if bad else ""))
    shown = ", ".join(parts) or "no counts"
    return f"test run: {shown}" + (f" in {tally.duration}" if tally.duration else "")
