"""Errors: what went wrong, in the line that says it best, and whether it still does.

What names a failing test is told test by test; everything else in one line for each call.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.ledger.summary import Error
from holdfast.core.observe.files.touch import Touch, arguments_of, touch_of
from holdfast.core.observe.results.failures import (
    COMPILER,
    FAILED_TEST,
    LOOKED_AT,
    NOISE,
    PARTS,
    TYPESCRIPT,
    first_value,
    only_looks,
    plain_output,
    result_of,
    was_stopped,
    went_wrong,
)
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.scene import Pair, Scene

# Whether an error is gone: the attempt went well later, or otherwise, or its test passes.


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


LONGEST = 240
"""Characters of the line that tells of an error."""
LONGEST_CALL = 80
_MOST_TESTS = 5
"""Failing tests that one run is told by."""
_PLACED = re.compile(r"(?m)^[^\s:]{1,200}:\d{1,7}(?::\d{1,5})?: (?:fatal )?[Ee]rror\b")
_LINTED = re.compile(
    r"(?m)^[^\s:]{1,200}\.(?:go|rs|c|cc|cpp|h|java|tsx?|jsx?|rb|py):\d{1,7}:(?:\d{1,5}:?)? \S"
)
_FATAL = re.compile(r"(?m)^(?:fatal|panic|[Ff]atal error|CONFLICT \([\w/ ]{1,40}\)): \S")
_ASSERTED = re.compile(r"(?m)^E {3,7}(?:[\w.]{0,60}(?:Error|Exception)|assert)\b")
_RAISES = re.compile(r"(?m)^[\w.]{0,80}(?:Error|Exception)\b: \S")
_NPM = re.compile(r"(?m)^npm (?:ERR!|error) (?!code|errno|A complete|path|lifecycle)\S")
_BIOME = re.compile(r"(?m)^\S{1,200}:\d{1,7}:\d{1,5} (?:lint|parse|format|assist)")
_SHELL = re.compile(
    r"(?i)\b(?:command not found|no such file or directory|permission denied"
    r"|not a git repository|cannot find|could not find|does not exist|operation not permitted)\b"
)
_PATCHED = re.compile(r"\bHunk #\d{1,5} FAILED\b|(?m:^✖ \S)")
_FAILS = re.compile(r"(?m)^[ \t]{0,8}(?:FAIL|FAILED|ERROR)\b")
_SAYS_ERROR = re.compile(r"(?m)^[A-Za-z(\[][^\n]{0,120}\b[Ee]rror: \S")
_SPEAKS_OF_ERROR = re.compile(r"(?m)^[A-Za-z(][^\n]{0,120}\b(?:[Ff]ailed|[Ee]rrors?)\b")
_TELLING = (
    TYPESCRIPT,
    COMPILER,
    _PLACED,
    _LINTED,
    _FATAL,
    _ASSERTED,
    _RAISES,
    _NPM,
    _BIOME,
    _SHELL,
    _PATCHED,
    _FAILS,
    _SAYS_ERROR,
    _SPEAKS_OF_ERROR,
)
"""What says it, best first; the line in which it stands is what is told."""
_TRACEBACK = "Traceback (most recent call last)"
_RAISED = re.compile(r"^[A-Za-z_][\w.]{0,100}(?::[ \t]{0,3}.{0,400})?$")


@rule(())
def errors_of(scene: Scene) -> tuple[Error, ...]:
    """The errors of a scene, oldest first, each told once with its newest status."""
    told: dict[tuple[str, str], Error] = {}
    for error in _all(scene):
        known = told.get((error.text, error.what))
        entry = known.entry if known else error.entry
        told[error.text, error.what] = Error(error.text, entry, error.what, error.resolved)
    return tuple(told.values())


@row_rule
def _all(scene: Scene) -> Iterator[Error]:
    tried = _tried(scene)
    afterwards = Afterwards(tried)
    for number, one in enumerate(tried):
        if not one.failed:
            continue
        what = what_of(one.pair.body, one.touch)
        entry = scene.items[one.result].entry.id
        for line, test in _lines(one.body, ran=one.touch.verb == "run"):
            where = afterwards.shows_gone(number, line, test)
            resolved = "" if where is None else scene.items[where].entry.id
            yield Error(line, entry, what, resolved)


def _tried(scene: Scene) -> list[Tried]:
    found: list[Tried] = []
    for pair in scene.pairs:
        body = result_of(scene, pair)
        if body is None or pair.result is None or was_stopped(body.output):
            continue
        touch = touch_of(pair.body)
        failed = went_wrong(touch, body)
        found.append(
            Tried(
                pair, pair.result, body, touch, failed, attempt_of(pair.body, touch, failed=failed)
            )
        )
    return found


@row_rule
def _lines(body: ToolReturned, *, ran: bool) -> Iterator[tuple[str, str]]:
    """The lines that tell of a failure, each with the test it names, if any."""
    text = plain_output(body.output)
    tests: dict[str, str] = {}
    for found in FAILED_TEST.finditer(text):
        name = next(group for group in found.groups() if group)
        tests.setdefault(name, found[0].strip())
    # Go names the parent of a failing subtest as well, and it says no more.
    parents = {name.rpartition("/")[0] for name in tests}
    inner = [name for name in tests if name not in parents]
    for name in inner[:_MOST_TESTS]:
        yield tests[name][:LONGEST], name
    if not inner:
        yield (_best(text) if ran else _first(text))[:LONGEST], ""


def _best(text: str) -> str:
    if raised := _raised(text):
        return raised
    for pattern in _TELLING:
        if found := pattern.search(text):
            return _line_at(text, found.start(), found.end())
    return _first(text)


def _first(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return next((line for line in lines if not NOISE.match(line)), lines[0] if lines else "failed")


def _line_at(text: str, start: int, end: int) -> str:
    """The line in which something stands; of a very long one, the part from there on."""
    first = text.rfind("\n", 0, end) + 1
    last = text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)].strip(" \t|")
    return line if len(line) <= LONGEST else text[max(first, start) :].partition("\n")[0].strip()


def _raised(text: str) -> str:
    """The exception that the last traceback ends with."""
    _, found, rest = text.rpartition(_TRACEBACK)
    if not found:
        return ""
    for line in rest.split("\n")[1:]:
        if line[:1].strip() and _RAISED.match(line):
            return line.strip()
    return ""


def _tool_of(call: ToolCalled, touch: Touch) -> str:
    """The bare name of a tool."""
    del touch
    return call.tool


@rule_or(_tool_of)
def what_of(call: ToolCalled, touch: Touch) -> str:
    """A call in a few words: the tool, and the file or the command."""
    about = touch.path or _parts(touch.command) or first_value(arguments_of(call))
    whole = " ".join(f"{call.tool} {about}".split())
    return whole if len(whole) <= LONGEST_CALL else f"{whole[: LONGEST_CALL - 1]}…"


def _parts(command: str) -> str:
    """A command without the change of folder before it."""
    first, found, rest = command.partition("&&")
    return rest.strip() if found and first.strip().startswith("cd ") else command
