"""Test runs: what failed, why and where, and the counts, of the runners that agents call."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of
from holdfast.core.shrink.outline.log import level_of
from holdfast.core.shrink.outline.reading import Reading

# Places in source code, as tools write them: a file and a line.


PLACE = re.compile(r"\.\w{1,5}(?::\d+|\(\d+[,)]|\", line \d+)")
"""The end of a place; its start is found by looking back, so that no run is read twice."""
BEFORE = " \t(\"'[<`,="


def place_in(row: str) -> str:
    """The first `file:line` that a line names, or nothing."""
    match = PLACE.search(row)
    if match is None:
        return ""
    start = max(row.rfind(char, 0, match.start()) for char in BEFORE) + 1
    # A path with spaces stands in quotes.
    quote = row.rfind('"', 0, match.start())
    if match[0].count('"') and quote >= 0:
        start = quote + 1
    found = row[start : match.end()]
    return found.replace('", line ', ":").replace("(", ":").rstrip(",)")


# How many tests passed and failed, in the words of each runner.


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


TALLY_STARTS = frozenset("-=tTDRFO#ℹ0123456789")
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
        if row.lstrip()[:1] not in TALLY_STARTS:
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


HEAD = re.compile(
    r"^_{3,} ([^_].{0,200}) _{3,}$"  # pytest
    r"|^\s{0,24}--- FAIL: (\S+)"  # go
    r"|^\s{0,8}● (?!Console)(.{3,240})$"  # jest
    r"|^(?:FAIL|ERROR): (\S.{0,240})$"  # unittest
    r"|^---- (\S{1,240}) stdout ----"  # cargo
    r"|^ ?(?:FAIL|×) {1,3}(\S{1,200} > .{1,240})$"  # vitest
    r"|^\s{1,8}\d{1,4}\) (\S.{2,240})$"  # mocha, playwright
    r"|^\s{0,8}not ok \d{1,6} (?:- )?(.{1,240})$"  # tap
)
STARTS = frozenset("_-●FE×0123456789n")
"""How a line starts that may be one of these: most lines are let go by this alone."""
LISTED = re.compile(
    r"^(?:FAILED|ERROR) ([^\s:]{1,300}::\S{1,300}|\S{1,300}\.py)(?: - (.{0,600}))?$"
)
"""Pytest's own list of failures, one to a line."""
CROSS = re.compile(
    r"^\s{1,16}[✕✗✖×] (.{2,240})$|^test (\S{1,240}) \.\.\. FAILED$"
    r"|^([^\s:]{1,300}::\S{1,200}) (?:FAILED|ERROR)\b"
)
"""A failure with no story."""
CROSSES = frozenset("✕✗✖×")
PACKAGE = re.compile(r"^FAIL {0,3}\t(\S+)(?:\t(.{0,80}))?$|^FAIL +(\S+\.\w+)")
BUILD = re.compile(
    r"^# \S+$|^\S{1,200}\.\w{1,4}:\d+:\d+: |^error(?:\[E\d+\])?: |^ImportError|^E {3}\w*Error"
)
RULE = re.compile(r"^={5,}|^-{5,}$")
END = re.compile(
    r"^(?:ok|FAIL|\?) {0,3}\t|^=== RUN|^\s{0,24}--- (?:PASS|SKIP)|^failures:$|^(?:PASSED|SKIPPED"
    r"|XFAIL|XPASS) |^Test(?:s| Suites):|^(?:PASS|FAIL)$"
)
CLOSING = re.compile(
    r"^(?:Time|Snapshots|Ran all|Ran \d+|FAILED \(|OK\b|\s{2,8}Duration|\s{2,8}Start at)"
)
FAILING = re.compile(r"^\s{1,8}\d{1,6} failing$")
GO_LINE = re.compile(r"^\s{0,24}(?:===|---) ")
FINAL = re.compile(r"^={3,} short test summary info ={3,}$")
REASON = re.compile(
    r"^E {2,8}(\S.{0,300})"
    r"|^\s{0,24}((?:[A-Za-z_.]{0,80}(?:Error|Exception|Failure|Warning)\b|assertion|panic:"
    r"|Expected|expected|Received|thrown:).{0,300})"
    r"|\b((?:[Ee]xpected|want(?:ed)?|got|should|must|mismatch|[Ff]ailed to|failed:|cannot"
    r"|unexpected|error:|not found|no such)\b.{0,200})"
)
BLOCK = 150
"""Lines after a failure's name that may tell its story."""


class Failure(Struct, frozen=True):
    """A test that failed."""

    at: int
    name: str
    reason: str = ""
    place: str = ""


def outline_run(reading: Reading, lines: int, width: int) -> Sketch:
    """The failures, each with its reason and place; then what else did not run."""
    rows = reading.rows
    failures = _failures(rows)
    details = [detail for one in failures for detail in _lines(one, width)]
    details += [
        Detail(1, at * 4, f"FAIL package {match[1]}" if match[1] else f"FAIL file {match[3]}")
        for at, row in enumerate(rows)
        if row.startswith("FAIL") and (match := PACKAGE.match(row))
    ]
    details += [
        Detail(3, at * 4 + 2, f"L{reading.numbers[at]}: {rows[at].strip()}")
        for at in sorted({*_ends(rows), *(() if failures else _suspects(rows))})
    ]
    return Sketch(_summary(rows, len(failures)), chosen(details, lines))


def _failures(rows: Sequence[str]) -> list[Failure]:
    """Each test that failed, once, in order."""
    final = max((at for at, row in enumerate(rows) if FINAL.match(row)), default=len(rows))
    last = {_key(one.name) for one in _listed(rows) if one.at > final}
    merged = _merged([*_told(rows), *_listed(rows)])
    # Where pytest lists its failures at the end, all else is the output of tests that passed.
    failures = [one for one in merged if not last or _key(one.name) in last]
    return [
        one
        for one, after in zip(failures, [*failures[1:], None], strict=False)
        if one.reason or after is None or not after.name.startswith(f"{one.name}/")
    ]


def _told(rows: Sequence[str]) -> Iterator[Failure]:
    """Failures whose story is in the output."""
    listed = max((at for at, row in enumerate(rows) if FAILING.match(row)), default=-1)
    heads = [
        (at, match)
        for at, row in enumerate(rows)
        # Mocha numbers a failure where it happens and again where it tells about it.
        if row.lstrip()[:1] in STARTS
        and (match := HEAD.match(row))
        and (at > listed or not row.lstrip()[:1].isdigit())
    ]
    ends = [at for at, _ in heads[1:]]
    for (at, match), end in zip(heads, [*ends, len(rows)], strict=False):
        name = next(group for group in match.groups() if group).strip()
        block = _story(rows[at + 1 : min(end, at + BLOCK)])
        if not any(row.strip() for row in block):
            block = _before(rows, at)
        if block and listed >= 0 and block[0].rstrip().endswith(":"):
            name = f"{name} {block[0].strip(' :')}"
        yield Failure(at, name, _reason(block), _place(block))


def _before(rows: Sequence[str], at: int) -> Sequence[str]:
    """What `go test -v` printed of a test before it says that it failed."""
    start = at
    while start > max(at - BLOCK, 0) and not GO_LINE.match(rows[start - 1]):
        start -= 1
    return rows[start:at] if start and rows[start - 1].startswith("=== ") else ()


def _story(rows: Sequence[str]) -> Sequence[str]:
    for at, row in enumerate(rows):
        if END.match(row) or (at > 1 and RULE.match(row)):
            return rows[:at]
    return rows


def _reason(block: Sequence[str]) -> str:
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
    """Jest sets what it expected and what it got on two lines."""
    got = after[0].strip() if after else ""
    return f"{reason}, {got}" if reason.startswith("Expected") and got.startswith("Re") else reason


def _place(block: Sequence[str]) -> str:
    named = ((row, place_in(row)) for row in block if "node_modules" not in row)
    own = [(row, place) for row, place in named if place and "site-packages" not in row]
    told = next((place for row, place in own if REASON.search(row)), "")
    if told or not own:
        return told
    # Python tells the innermost place last, the others first.
    last, place = own[-1]
    innermost_last = last.lstrip().startswith("File ") or not last.startswith(" ")
    return place if innermost_last else own[0][1]


def _listed(rows: Sequence[str]) -> Iterator[Failure]:
    """Failures that are only listed."""
    for at, row in enumerate(rows):
        if "FAIL" not in row and "ERROR" not in row and row.lstrip()[:1] not in CROSSES:
            continue
        if match := LISTED.match(row):
            yield Failure(at, match[1], match[2] or "")
        elif match := CROSS.match(row):
            yield Failure(at, (match[1] or match[2] or match[3]).strip())


def _merged(failures: Sequence[Failure]) -> list[Failure]:
    """Each failure once: its name and reason from the list, its place from the story."""
    found: dict[str, Failure] = {}
    for one in failures:
        key = _key(one.name)
        known = found.get(key)
        if known is None:
            found[key] = one
        else:
            name = one.name if "::" in one.name else known.name
            reason = known.reason if len(known.reason) >= len(one.reason) else one.reason
            found[key] = Failure(known.at, name, reason, known.place or one.place)
    return sorted(found.values(), key=lambda one: one.at)


def _key(name: str) -> str:
    """What a test is called wherever it is named."""
    bare = name.partition(" (")[0].rstrip(":")
    return bare.rpartition("::")[2].rpartition(".")[2].rpartition(" › ")[2].strip()


def _lines(failure: Failure, width: int) -> Iterator[Detail]:
    """The failure on one line, or its reason on a second."""
    place = f" ({failure.place})" if failure.place else ""
    reason = failure.reason.removeprefix(f"{failure.place}:").strip()
    line = f"FAIL {failure.name}{place}"
    at = failure.at * 4
    if len(line) + len(reason) + 3 <= width:
        yield Detail(0, at, f"{line} — {reason}" if reason else line)
        return
    yield Detail(0, at, line)
    yield Detail(1, at + 1, f"    {reason}")


def _ends(rows: Sequence[str]) -> list[int]:
    """The last lines after all that is told otherwise: how the run ended."""
    first = next((at + 1 for at in range(len(rows) - 1, -1, -1) if _is_said(rows[at])), 0)
    if first and HEAD.match(rows[first - 1]):
        # What follows is the story of a failure, which has its own line.
        return []
    return [at for at in range(first, len(rows)) if rows[at].strip()][-3:]


def _is_said(row: str) -> bool:
    patterns = (END, RULE, HEAD, PACKAGE, LISTED, CLOSING)
    return is_total(row) or any(pattern.match(row) for pattern in patterns)


def _suspects(rows: Sequence[str]) -> list[int]:
    """Of a run with no failure to be seen, the lines that may say why it failed."""
    return [at for at, row in enumerate(rows) if _is_suspect(row)]


def _is_suspect(row: str) -> bool:
    return bool(BUILD.match(row)) or (level_of(row) == 0 and not _is_said(row))


def _summary(rows: Sequence[str], failures: int) -> str:
    tally = tally_of(rows)
    counts = dict(tally.counts)
    if failures and not counts.get("failed", 0) + counts.get("errors", 0):
        counts["failed"] = failures
    parts = [f"{counts[word]:,} {word}" for word in ORDER if counts.get(word)]
    ok = sum(1 for row in rows if row.startswith("ok ") and "\t" in row)
    bad = sum(1 for row in rows if (match := PACKAGE.match(row)) and match[1])
    if ok or bad:
        parts.append(count_of(ok + bad, "package") + (f", {bad} of them failed" if bad else ""))
    told = ", ".join(parts) or "no counts"
    return f"test run: {told}" + (f" in {tally.took}" if tally.took else "")
