"""The counts with which a run of tests ends, whatever ran them."""

import re
from collections.abc import Sequence

from holdfast.core.faults import rule

_LOOKED_AT = 30_000
_PYTEST = re.compile(
    r"(?m)^={0,120} ?((?:\d{1,7} (?:passed|failed|errors?|skipped|xfailed|xpassed|warnings?"
    r"|deselected)(?:, )?){1,7}"
    r" ?in [\d.:]{1,12}s?[^\n=]{0,20})"
)
_JEST = re.compile(r"(?m)^[ \t]{0,8}(Tests:?[ \t]{1,12}\d{1,7} [^\n]{3,120})$")
_CARGO = re.compile(r"(?m)^(test result: [^\n]{5,160})$")
_UNITTEST = re.compile(r"(?m)^(Ran \d{1,7} tests? in [\d.]{1,12}s)$")
_MOCHA = re.compile(r"(?m)^[ \t]{0,8}(\d{1,7} passing(?: \([^()\n]{1,20}\))?)")
_RSPEC = re.compile(r"(?m)^(\d{1,7} examples?, \d{1,7} failures?[^\n]{0,60})")
_PHPUNIT = re.compile(r"(?m)^(OK \(\d{1,7} tests?, [^\n]{3,60}\))")
_GOTESTSUM = re.compile(r"(?m)^(DONE \d{1,7} tests[^\n]{0,80})")
_PLAYWRIGHT = re.compile(r"(?m)^[ \t]{0,8}(\d{1,7} (?:passed|failed)(?: \([\d.]{1,8}m?s\))?)$")
_COUNTS = (
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
"""The lines with which runners of tests tell their counts."""
_FAILING = re.compile(r"(?m)^[ \t]{0,8}(\d{1,7} failing)\b")
_UNITTEST_END = re.compile(r"(?m)^(OK|FAILED)(?: \([^()\n]{1,80}\))?[ \t]{0,4}$")
_NODE = re.compile(r"(?m)^[#ℹ] (tests|pass|fail) (\d{1,7})$")
_GO_OK = re.compile(r"(?m)^ok[ \t]{1,8}\S{1,300}")
_GO_FAIL = re.compile(r"(?m)^FAIL[ \t]{1,8}\S{1,300}")
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


@rule("")
def counts_in(output: str) -> str:
    """The counts with which a run of tests ends, in its own words."""
    if len(output) > 2 * _LOOKED_AT:
        output = f"{output[:_LOOKED_AT]}\n{output[-_LOOKED_AT:]}"
    text = _ANSI.sub("", output).replace("\r", "")
    if node := _node_counts(text):
        return node
    for pattern in _COUNTS:
        if found := pattern.findall(text):
            return _whole_count([" ".join(str(one).split()) for one in found], text)
    return _go_counts(text)


def _whole_count(found: Sequence[str], text: str) -> str:
    """One line of counts: of several, the one that tells of a failure, else the largest."""
    count = next((one for one in found if "FAILED" in one), None) or max(found, key=_largest)
    if count.startswith("Ran "):
        ended = _UNITTEST_END.search(text)
        return f"{count}: {ended[0].strip()}" if ended else count
    if count.endswith(("passing", ")")) and "passing" in count:
        failing = _FAILING.search(text)
        return f"{count}, {failing[1]}" if failing else count
    bare = [one for one in found if one.split()[1:] in (["passed"], ["failed"])]
    return ", ".join(dict.fromkeys((*bare, count))) if bare else count


def _largest(count: str) -> int:
    return max((int(word) for word in re.findall(r"\d{1,7}", count)), default=0)


def _node_counts(text: str) -> str:
    told = dict(_NODE.findall(text))
    return ", ".join(f"{name} {count}" for name, count in told.items()) if "pass" in told else ""


def _go_counts(text: str) -> str:
    ok, bad = len(_GO_OK.findall(text)), len(_GO_FAIL.findall(text))
    return f"{ok} package{'s' * (ok != 1)} ok, {bad} FAIL" if ok or bad else ""
