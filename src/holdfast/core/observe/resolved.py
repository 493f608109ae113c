"""Whether an error is gone: the same attempt went well later, or the test that failed passes."""

import re
from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.observe.artifacts import Touch, arguments_of
from holdfast.core.observe.calls import Pair
from holdfast.core.observe.failures import LOOKED_AT, PARTS, first_value

NEAR = 8
"""Later runs that went well which are set beside a failing test."""
_QUIETED = re.compile(
    r"\s{0,4}(?:\d?>&\d|2>\s{0,2}/dev/null|\|\s{0,4}(?:tail|head|tee|cat|less)\b.{0,400}"
    r"|\|\s{0,4}e?grep\b[^|]{0,100}(?:[Ee]rror|[Ff]ail|FAIL)[^|]{0,200})"
)
"""What only shortens what a command prints, and leaves its errors in."""
_FILTERED = re.compile(r"\s{0,4}\|\s{0,4}(?:e?grep|rg|sed|awk|sort|uniq|wc)\b.{0,400}")
_TRIVIAL = ("cd ", "export ", "echo ", "sleep ", "pwd", "true", "set ", "source ", "rm ", "mkdir ")
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


def attempt_of(call: ToolCalled, touch: Touch, *, failed: bool) -> tuple[str, ...]:
    """What has to go well for a failure of this call to be gone, or what did."""
    if touch.verb == "run":
        # Where only some lines were let through, silence proves nothing; a failure does.
        command = touch.command[:2_000]
        command = _FILTERED.sub("", command) if failed else command
        parts = (_steady(part) for part in PARTS.split(command))
        told = tuple(part for part in parts if part and not part.startswith(_TRIVIAL))
        return told or (_steady(touch.command[:2_000]),)
    if touch.verb in ("edit", "write"):
        return (f"change {touch.path}",)
    return (f"{call.tool} {touch.path or first_value(arguments_of(call))[:200]}",)


def _steady(part: str) -> str:
    """A command without what only shortens what it prints."""
    return " ".join(_QUIETED.sub("", part).split())


def resolutions_of(tried: Sequence[Tried]) -> dict[int, int]:
    """For each failure all of whose attempts went well later: the result that shows it."""
    passed: dict[str, int] = {}
    found: dict[int, int] = {}
    for number in range(len(tried) - 1, -1, -1):
        one = tried[number]
        if not one.failed:
            passed.update(dict.fromkeys(one.attempt, one.result))
        elif all(part in passed for part in one.attempt):
            found[number] = max(passed[part] for part in one.attempt)
    return found


def passed_in(one: Tried, test: str, later: Sequence[Tried]) -> int | None:
    """Where a test that failed is seen to fail no more."""
    for other in later:
        if _names_as_passed(test, other.body.output) or _covers(other, one):
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
