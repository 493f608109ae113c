"""Find the line of counts at the end of a test run, for the common test runners."""

import re
from collections.abc import Sequence

from holdfast.core.faults import rule
from holdfast.text.patterns import Pattern

_OUTPUT_EDGE_CHARS = 30_000
# `=== 3 passed, 1 failed in 0.12s ===`, but not `3 passed`.
_PYTEST = Pattern(
    r"(?m)^={0,120} ?((?:\d{1,7} (?:passed|failed|errors?|skipped|xfailed|xpassed|warnings?"
    r"|deselected)(?:, )?){1,7}"
    r" ?in [\d.:]{1,12}s?[^\n=]{0,20})"
)
# `Tests:       1 failed, 3 passed, 4 total`.
_JEST = Pattern(r"(?m)^[ \t]{0,8}(Tests:?[ \t]{1,12}\d{1,7} [^\n]{3,120})$")
# `test result: ok. 3 passed; 0 failed; …`.
_CARGO = Pattern(r"(?m)^(test result: [^\n]{5,160})$")
# `Ran 3 tests in 0.012s`.
_UNITTEST = Pattern(r"(?m)^(Ran \d{1,7} tests? in [\d.]{1,12}s)$")
# `3 passing (20ms)`.
_MOCHA = Pattern(r"(?m)^[ \t]{0,8}(\d{1,7} passing(?: \([^()\n]{1,20}\))?)")
# `3 examples, 0 failures`.
_RSPEC = Pattern(r"(?m)^(\d{1,7} examples?, \d{1,7} failures?[^\n]{0,60})")
# `OK (3 tests, 5 assertions)`.
_PHPUNIT = Pattern(r"(?m)^(OK \(\d{1,7} tests?, [^\n]{3,60}\))")
# `DONE 3 tests in 0.5s`.
_GOTESTSUM = Pattern(r"(?m)^(DONE \d{1,7} tests[^\n]{0,80})")
# `3 passed (1.2s)`.
_PLAYWRIGHT = Pattern(r"(?m)^[ \t]{0,8}(\d{1,7} (?:passed|failed)(?: \([\d.]{1,8}m?s\))?)$")
_COUNT_LINES = (
    _PYTEST,
    _JEST,
    _CARGO,
    _UNITTEST,
    _MOCHA,
    _RSPEC,
    _PHPUNIT,
    _GOTESTSUM,
    _PLAYWRIGHT,
)
"""Lines of counts of the test runners, in the order of search."""
# `1 failing`.
_MOCHA_FAILING = Pattern(r"(?m)^[ \t]{0,8}(\d{1,7} failing)\b")
# `OK` and `FAILED (failures=1)` on a line of their own.
_UNITTEST_END = Pattern(r"(?m)^(OK|FAILED)(?: \([^()\n]{1,80}\))?[ \t]{0,4}$")
# `# pass 3` and `ℹ fail 0`.
_NODE = Pattern(r"(?m)^[#ℹ] (tests|pass|fail) (\d{1,7})$")
# `ok  \texample.com/pkg\t0.01s`.
_GO_OK = Pattern(r"(?m)^ok[ \t]{1,8}\S{1,300}")
# `FAIL\texample.com/pkg`, but not the last line `FAIL`.
_GO_FAIL = Pattern(r"(?m)^FAIL[ \t]{1,8}\S{1,300}")
_ANSI = Pattern(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


@rule("")
def counts_in(output: str) -> str:
    """Return the counts at the end of a test run as printed; empty if there are none."""
    if len(output) > 2 * _OUTPUT_EDGE_CHARS:
        output = f"{output[:_OUTPUT_EDGE_CHARS]}\n{output[-_OUTPUT_EDGE_CHARS:]}"
    text = _ANSI.sub("", output).replace("\r", "")
    if node := _node_counts(text):
        return node
    for pattern in _COUNT_LINES:
        if matches := pattern.findall(text):
            return _full_count([" ".join(str(match).split()) for match in matches], text)
    return _go_counts(text)


def _full_count(lines: Sequence[str], text: str) -> str:
    """Return one line of counts: of several the one with a failure, else the largest."""
    count = next((line for line in lines if "FAILED" in line), None) or max(lines, key=_largest)
    if count.startswith("Ran "):
        ended = _UNITTEST_END.search(text)
        return f"{count}: {ended[0].strip()}" if ended else count
    if count.endswith(("passing", ")")) and "passing" in count:
        failing = _MOCHA_FAILING.search(text)
        return f"{count}, {failing[1]}" if failing else count
    bare = [line for line in lines if line.split()[1:] in (["passed"], ["failed"])]
    return ", ".join(dict.fromkeys((*bare, count))) if bare else count


def _largest(count: str) -> int:
    return max((int(word) for word in re.findall(r"\d{1,7}", count)), default=0)


def _node_counts(text: str) -> str:
    counts = dict(_NODE.findall(text))
    return (
        ", ".join(f"{name} {count}" for name, count in counts.items()) if "pass" in counts else ""
    )


def _go_counts(text: str) -> str:
    ok, bad = len(_GO_OK.findall(text)), len(_GO_FAIL.findall(text))
    return f"{ok} package{'s' * (ok != 1)} ok, {bad} FAIL" if ok or bad else ""
