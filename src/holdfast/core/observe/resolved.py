"""Whether an error is gone: the attempt went well later, or otherwise, or its test passes."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.observe.artifacts import Touch, arguments_of
from holdfast.core.observe.calls import Pair
from holdfast.core.observe.counts import counts_in
from holdfast.core.observe.failures import LOOKED_AT, PARTS, first_value, only_looks, plain_output

NEAR = 8
"""Later runs that are set beside a failing test."""
_QUIETED = re.compile(
    r"\s{0,4}(?:\d?>&\d|2>\s{0,2}/dev/null|\|\s{0,4}(?:tail|head|tee|cat|less)\b.{0,400}"
    r"|\|\s{0,4}e?grep\b[^|]{0,100}(?:[Ee]rror|[Ff]ail|FAIL)[^|]{0,200})"
)
"""What only shortens what a command prints, and leaves its errors in."""
_WRAPPED = re.compile(
    r"(?:(?:uv|poetry|pipenv|pdm|rye|hatch|pixi) run|npx|bunx|pnpm exec|yarn exec|bundle exec|sudo"
    r"|time|env|command|[A-Z_][A-Z0-9_]{0,60}=[^\s;&|]{0,200})\s{1,4}"
)
"""What stands before a command and changes nothing about what it tries."""
_FILTERED = re.compile(r"\s{0,4}\|\s{0,4}(?:e?grep|rg|sed|awk|sort|uniq|wc)\b.{0,400}")
_TRIVIAL = ("cd ", "export ", "echo ", "sleep ", "pwd", "true", "set ", "source ", "rm ", "mkdir ")
_ADDED = ("git add ", "git status", "git stash")
_GIT = re.compile(r"git (?:-C \S{1,200} )?(commit|push|pull|rebase|merge|cherry-pick|fetch)\b")
"""What is tried again in other words: another message, another flag, `--continue`."""
_RUNNER = re.compile(r"pytest|jest|vitest|mocha|test|\S{0,80}runtests\.py|unittest")
_SAME = re.compile(r"-vv?|-q|-x|--verbose|-count=1|2>&1|uv|run|python3?|-m|&&|\./\.\.\.")
"""Words of a test command that do not say which tests it runs."""


class Tried(Struct, frozen=True):
    """One call that came back, and what makes it the same attempt as another."""

    pair: Pair
    result: int
    body: ToolReturned
    touch: Touch
    failed: bool
    attempt: tuple[str, ...]


@rule(())
def attempt_of(call: ToolCalled, touch: Touch, *, failed: bool) -> tuple[str, ...]:
    """What has to go well for a failure of this call to be gone, or what did."""
    if touch.verb == "run":
        # Where only some lines were let through, silence proves nothing; a failure does.
        command = touch.command[:2_000]
        command = _FILTERED.sub("", command) if failed else command
        parts = (_steady(part) for part in PARTS.split(command))
        told = tuple(part for part in parts if part and not part.startswith(_TRIVIAL))
        told = tuple(part for part in told if not part.startswith(_ADDED)) or told
        return told or (_steady(touch.command[:2_000]),)
    if touch.verb in ("edit", "write"):
        return (f"change {touch.path}",)
    return (f"{call.tool} {touch.path or first_value(arguments_of(call))[:200]}",)


def _steady(part: str) -> str:
    """A command without what only wraps it, or shortens what it prints."""
    told = " ".join(_QUIETED.sub("", part).split())
    while wrapped := _WRAPPED.match(told):
        told = told[wrapped.end() :]
    git = _GIT.match(told)
    return f"git {git[1]}" if git else told


class Afterwards:
    """What was tried after each failure: whether that shows it gone, and where."""

    def __init__(self, tried: Sequence[Tried]) -> None:
        runs = [number for number, one in enumerate(tried) if one.touch.verb == "run"]
        self._tried = tried
        self._gone = _resolutions_of(tried)
        self._green = [number for number in runs if not tried[number].failed]
        self._red = [number for number in runs if tried[number].failed]
        self._newest = {tried[number].attempt: number for number in runs}
        well = (number for number, one in enumerate(tried) if not one.failed)
        self._well = max(well, default=-1)

    def shows_gone(self, number: int, line: str, test: str) -> int | None:
        """Where a failure, told by a line or by the test that it names, is seen to be gone."""
        one = self._tried[number]
        if test and (where := _passed_in(one, test, self._next(self._green, number))) is not None:
            return where
        if number in self._gone:
            return self._gone[number]
        again = self._newest.get(one.attempt, number)
        if again > number and _outlived_in(line, test, self._tried[again]):
            return self._tried[again].result
        if test and (where := _rerun_in(one, test, self._last(self._red, number))) is not None:
            return where
        return self._tried[self._well].result if self._well > number and _only_looked(one) else None

    def _next(self, numbers: Sequence[int], number: int) -> list[Tried]:
        first = bisect_right(numbers, number)
        return [self._tried[at] for at in numbers[first : first + NEAR]]

    def _last(self, numbers: Sequence[int], number: int) -> list[Tried]:
        first = max(bisect_right(numbers, number), len(numbers) - NEAR)
        return [self._tried[at] for at in numbers[first:]]


def _only_looked(one: Tried) -> bool:
    """Whether a call wanted to see something: whoever has gone on since does without it."""
    looks = one.touch.verb == "run" and only_looks(one.touch.command)
    return looks or one.touch.verb in ("read", "search")


def _resolutions_of(tried: Sequence[Tried]) -> dict[int, int]:
    """For each failure all of whose attempts went well later: the result that shows it."""
    passed: dict[str, int] = {}
    found: dict[int, int] = {}
    for number in range(len(tried) - 1, -1, -1):
        one = tried[number]
        if not one.failed:
            passed.update(dict.fromkeys(one.attempt, one.result))
        elif one.attempt and all(part in passed for part in one.attempt):
            found[number] = max(passed[part] for part in one.attempt)
    return found


_FIRST_ONLY = re.compile(r"\s(?:-x|--exitfirst|--maxfail\S{0,8}|--bail|-failfast|--fail-fast)\b")


def _outlived_in(line: str, test: str, again: Tried) -> bool:
    """Whether the same attempt, made again, fails otherwise: then this is no longer what is wrong.

    A test has to have been run for that: a run that ends before its tests says nothing of them.
    """
    text = plain_output(again.body.output)
    if not test:
        return line not in text
    ran = bool(counts_in(text)) and not _FIRST_ONLY.search(again.touch.command)
    return ran and test not in text


def _passed_in(one: Tried, test: str, later: Sequence[Tried]) -> int | None:
    """Where a test that failed is seen to fail no more."""
    for other in later:
        if _names_as_passed(test, other.body.output) or _covers(other, one):
            return other.result
    return None


def _rerun_in(one: Tried, test: str, later: Sequence[Tried]) -> int | None:
    """Where other tests failed beside one that no longer does."""
    file = test.partition("::")[0]
    for other in reversed(later):
        if file in other.touch.command and _covers(other, one) and _outlived_in("", test, other):
            return other.result
    return None


def _names_as_passed(test: str, output: str) -> bool:
    told = output if len(output) <= LOOKED_AT else output[-LOOKED_AT:]
    return any(mark in told for mark in (f"--- PASS: {test} ", f"{test} PASSED", f"{test} ... ok"))


def _covers(green: Tried, failing: Tried) -> bool:
    """Whether a run that went well ran at least what a failing one did."""
    wanted = failing.touch.command[:2_000].split()
    runner = next((word for word in wanted if _RUNNER.fullmatch(word)), "")
    told = _steady(green.touch.command[:2_000]).split()
    if not runner or runner not in told:
        return False
    return all(bool(_SAME.fullmatch(word)) or _within(word, wanted) for word in told)


def _within(word: str, wanted: Sequence[str]) -> bool:
    folder = word.removesuffix("...").rstrip("/")
    return any(other == word or (folder and other.startswith(f"{folder}/")) for other in wanted)
