"""List the errors of a scene: the most informative line of each, and whether it was resolved.

A test run has one error for each failing test; any other failed call has one error.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.ledger.summary import Error
from holdfast.core.observe.files.touch import Touch, arguments_of, touch_of
from holdfast.core.observe.results.failures import (
    COMMAND_SEPARATOR,
    COMPILER_ERROR,
    FAILED_TEST,
    NOISE_LINE,
    OUTPUT_EDGE_CHARS,
    TYPESCRIPT_ERROR,
    call_failed,
    first_text_value,
    is_read_only,
    plain_output,
    was_stopped,
    whole_result_of,
)
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.scene import Pair, Scene
from holdfast.text.clip import clip, one_line
from holdfast.text.patterns import Pattern

# Resolution: the same attempt succeeded later, or failed differently, or its test passes.


MAX_LATER_RUNS = 8
"""Maximum number of later runs that are compared with a failing test."""
_OUTPUT_SHORTENER = Pattern(
    r"\s{0,4}(?:\d?>&\d|2>\s{0,2}/dev/null|\|\s{0,4}(?:tail|head|tee|cat|less)\b.{0,400}"
    r"|\|\s{0,4}e?grep\b[^|]{0,100}(?:[Ee]rror|[Ff]ail|FAIL)[^|]{0,200})"
)
"""Suffix that shortens the output of a command but keeps its errors: `2>&1 | tail -5`."""
_COMMAND_PREFIX = Pattern(
    r"(?:(?:uv|poetry|pipenv|pdm|rye|hatch|pixi) run|npx|bunx|pnpm exec|yarn exec|bundle exec|sudo"
    r"|time|env|command|[A-Z_][A-Z0-9_]{0,60}=[^\s;&|]{0,200})\s{1,4}"
)
"""Prefix that does not change what a command does: `uv run`, `sudo`, `CI=1`."""
# Pipe to a program that hides a part of the output: `| grep -v x`, `| wc -l`.
_OUTPUT_FILTER = Pattern(r"\s{0,4}\|\s{0,4}(?:e?grep|rg|sed|awk|sort|uniq|wc)\b.{0,400}")
_TRIVIAL_STARTS = (
    "cd ",
    "export ",
    "echo ",
    "sleep ",
    "pwd",
    "true",
    "set ",
    "source ",
    "rm ",
    "mkdir ",
)
_GIT_PREPARATION_STARTS = ("git add ", "git status", "git stash")
_GIT_COMMAND = Pattern(r"git (?:-C \S{1,200} )?(commit|push|pull|rebase|merge|cherry-pick|fetch)\b")
"""Git commands that are retried with other arguments: another message, `--continue`."""
# The word of a command that runs tests: `pytest`, `test` (of `go test`).
_TEST_RUNNER = Pattern(r"pytest|jest|vitest|mocha|test|\S{0,80}runtests\.py|unittest")
_NEUTRAL_TEST_WORD = Pattern(r"-vv?|-q|-x|--verbose|-count=1|2>&1|uv|run|python3?|-m|&&|\./\.\.\.")
"""Words of a test command that do not select tests."""


class Attempt(Struct, frozen=True):
    """One call with its result, and the key that repeated attempts share."""

    pair: Pair
    result: int
    body: ToolReturned
    touch: Touch
    failed: bool
    key: tuple[str, ...]


@rule(())
def attempt_key(call: ToolCalled, touch: Touch, *, failed: bool) -> tuple[str, ...]:
    """Return the parts that must succeed later to resolve a failure of this call."""
    if touch.verb == "run":
        # A filtered output proves a failure, but an empty one does not prove a success.
        command = touch.command[:2_000]
        command = _OUTPUT_FILTER.sub("", command) if failed else command
        parts = (_normalize_part(part) for part in COMMAND_SEPARATOR.split(command))
        kept_parts = tuple(part for part in parts if part and not part.startswith(_TRIVIAL_STARTS))
        kept_parts = (
            tuple(part for part in kept_parts if not part.startswith(_GIT_PREPARATION_STARTS))
            or kept_parts
        )
        return kept_parts or (_normalize_part(touch.command[:2_000]),)
    if touch.verb in ("edit", "write"):
        return (f"change {touch.path}",)
    return (f"{call.tool} {touch.path or first_text_value(arguments_of(call))[:200]}",)


def _normalize_part(part: str) -> str:
    """Return a command without prefixes and output shorteners."""
    words = " ".join(_OUTPUT_SHORTENER.sub("", part).split())
    while wrapped := _COMMAND_PREFIX.match(words):
        words = words[wrapped.end() :]
    git = _GIT_COMMAND.match(words)
    return f"git {git[1]}" if git else words


class LaterAttempts:
    """Finds for each failure the later result that shows it as resolved."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        runs = [number for number, attempt in enumerate(attempts) if attempt.touch.verb == "run"]
        self._attempts = attempts
        self._resolutions = _resolutions_of(attempts)
        self._passed_runs = [number for number in runs if not attempts[number].failed]
        self._failed_runs = [number for number in runs if attempts[number].failed]
        self._newest_by_key = {attempts[number].key: number for number in runs}
        successes = (number for number, attempt in enumerate(attempts) if not attempt.failed)
        self._last_success = max(successes, default=-1)

    def resolved_at(self, number: int, line: str, test: str) -> int | None:
        """Return the index of the result that shows a failure (a line, or a test) as resolved."""
        attempt = self._attempts[number]
        passes = self._runs_after(self._passed_runs, number)
        if test and (place := _where_passed(attempt, test, passes)) is not None:
            return place
        if number in self._resolutions:
            return self._resolutions[number]
        again = self._newest_by_key.get(attempt.key, number)
        if again > number and _is_gone_from(line, test, self._attempts[again]):
            return self._attempts[again].result
        failures = self._newest_runs_after(self._failed_runs, number)
        if test and (place := _where_rerun(attempt, test, failures)) is not None:
            return place
        last = self._last_success
        return self._attempts[last].result if last > number and _is_lookup(attempt) else None

    def _runs_after(self, numbers: Sequence[int], number: int) -> list[Attempt]:
        first = bisect_right(numbers, number)
        return [self._attempts[at] for at in numbers[first : first + MAX_LATER_RUNS]]

    def _newest_runs_after(self, numbers: Sequence[int], number: int) -> list[Attempt]:
        first = max(bisect_right(numbers, number), len(numbers) - MAX_LATER_RUNS)
        return [self._attempts[at] for at in numbers[first:]]


def _is_lookup(attempt: Attempt) -> bool:
    """Return whether a call only read something: any later success resolves its failure."""
    looks = attempt.touch.verb == "run" and is_read_only(attempt.touch.command)
    return looks or attempt.touch.verb in ("read", "search")


def _resolutions_of(attempts: Sequence[Attempt]) -> dict[int, int]:
    """Return, by failed attempt, the result that shows that all its parts succeeded later."""
    passed_at: dict[str, int] = {}
    resolutions: dict[int, int] = {}
    for number in range(len(attempts) - 1, -1, -1):
        attempt = attempts[number]
        if not attempt.failed:
            passed_at.update(dict.fromkeys(attempt.key, attempt.result))
        elif attempt.key and all(part in passed_at for part in attempt.key):
            resolutions[number] = max(passed_at[part] for part in attempt.key)
    return resolutions


# Options that stop a test run at the first failure: `-x`, `--bail`.
_FIRST_ONLY = Pattern(r"\s(?:-x|--exitfirst|--maxfail\S{0,8}|--bail|-failfast|--fail-fast)\b")


def _is_gone_from(line: str, test: str, again: Attempt) -> bool:
    """Return whether a later attempt no longer shows this error, even if it failed.

    A failed test counts as gone only if the later attempt really ran its tests to the end.
    """
    text = plain_output(again.body.output)
    if not test:
        return line not in text
    ran = bool(counts_in(text)) and not _FIRST_ONLY.search(again.touch.command)
    return ran and test not in text


def _where_passed(failing: Attempt, test: str, later: Sequence[Attempt]) -> int | None:
    """Return the result of a successful run that contains the failed test."""
    for other in later:
        if _names_as_passed(test, other.body.output) or _runs_at_least(other, failing):
            return other.result
    return None


def _where_rerun(failing: Attempt, test: str, later: Sequence[Attempt]) -> int | None:
    """Return the result of a failed run of the same tests that no longer names this test."""
    file = test.partition("::")[0]
    for other in reversed(later):
        if (
            file in other.touch.command
            and _runs_at_least(other, failing)
            and _is_gone_from("", test, other)
        ):
            return other.result
    return None


def _names_as_passed(test: str, output: str) -> bool:
    tail = output if len(output) <= OUTPUT_EDGE_CHARS else output[-OUTPUT_EDGE_CHARS:]
    return any(mark in tail for mark in (f"--- PASS: {test} ", f"{test} PASSED", f"{test} ... ok"))


def _runs_at_least(later: Attempt, failing: Attempt) -> bool:
    """Return whether the later run includes all tests of the failing one."""
    failing_words = failing.touch.command[:2_000].split()
    runner = next((word for word in failing_words if _TEST_RUNNER.fullmatch(word)), "")
    words = _normalize_part(later.touch.command[:2_000]).split()
    if not runner or runner not in words:
        return False
    return all(
        bool(_NEUTRAL_TEST_WORD.fullmatch(word)) or _is_within_any(word, failing_words)
        for word in words
    )


def _is_within_any(word: str, words: Sequence[str]) -> bool:
    folder = word.removesuffix("...").rstrip("/")
    return any(other == word or (folder and other.startswith(f"{folder}/")) for other in words)


MAX_ERROR_CHARS = 240
"""Maximum characters of an error line."""
MAX_CALL_CHARS = 80
_MAX_TESTS_PER_RUN = 5
"""Maximum number of failing tests listed for one run."""
# `src/a.c:10:5: error: …`, but not `src/a.c:10:5: warning: …`.
_COMPILER_POSITION = Pattern(r"(?m)^[^\s:]{1,200}:\d{1,7}(?::\d{1,5})?: (?:fatal )?[Ee]rror\b")
# `main.go:10:5: unused variable`.
_LINTER_LINE = Pattern(
    r"(?m)^[^\s:]{1,200}\.(?:go|rs|c|cc|cpp|h|java|tsx?|jsx?|rb|py):\d{1,7}:(?:\d{1,5}:?)? \S"
)
# `fatal: not a repository` and `CONFLICT (content): …`.
_FATAL_LINE = Pattern(r"(?m)^(?:fatal|panic|[Ff]atal error|CONFLICT \([\w/ ]{1,40}\)): \S")
# `E   ValueError: x` and `E       assert 1 == 2`.
_PYTEST_ERROR = Pattern(r"(?m)^E {3,7}(?:[\w.]{0,60}(?:Error|Exception)|assert)\b")
# `module.ValueError: x`, but not `ValueError` alone.
_EXCEPTION_WITH_MESSAGE = Pattern(r"(?m)^[\w.]{0,80}(?:Error|Exception)\b: \S")
# `npm ERR! missing script: x`, but not `npm ERR! code ELIFECYCLE`.
_NPM_ERROR = Pattern(r"(?m)^npm (?:ERR!|error) (?!code|errno|A complete|path|lifecycle)\S")
# `src/a.ts:10:5 lint/style/useConst`.
_BIOME_ERROR = Pattern(r"(?m)^\S{1,200}:\d{1,7}:\d{1,5} (?:lint|parse|format|assist)")
_SHELL_ERROR = Pattern(
    r"(?i)\b(?:command not found|no such file or directory|permission denied"
    r"|not a git repository|cannot find|could not find|does not exist|operation not permitted)\b"
)
# `Hunk #1 FAILED` and `✖ message`.
_FAILED_HUNK = Pattern(r"\bHunk #\d{1,5} FAILED\b|(?m:^✖ \S)")
# A line that starts with `FAIL`, `FAILED` or `ERROR`.
_FAILURE_WORD = Pattern(r"(?m)^[ \t]{0,8}(?:FAIL|FAILED|ERROR)\b")
# `Build error: x` within a line that starts with a letter or bracket.
_SAYS_ERROR = Pattern(r"(?m)^[A-Za-z(\[][^\n]{0,120}\b[Ee]rror: \S")
# `The build failed` and `2 errors`-like words in a line that starts with a letter.
_SPEAKS_OF_ERROR = Pattern(r"(?m)^[A-Za-z(][^\n]{0,120}\b(?:[Ff]ailed|[Ee]rrors?)\b")
_ERROR_LINES = (
    TYPESCRIPT_ERROR,
    COMPILER_ERROR,
    _COMPILER_POSITION,
    _LINTER_LINE,
    _FATAL_LINE,
    _PYTEST_ERROR,
    _EXCEPTION_WITH_MESSAGE,
    _NPM_ERROR,
    _BIOME_ERROR,
    _SHELL_ERROR,
    _FAILED_HUNK,
    _FAILURE_WORD,
    _SAYS_ERROR,
    _SPEAKS_OF_ERROR,
)
"""Patterns of error lines, most informative first; the first matching line is the error."""
_TRACEBACK = "Traceback (most recent call last)"
# `ValueError: x` and `KeyboardInterrupt`, but not an indented line.
_EXCEPTION_LINE = Pattern(r"^[A-Za-z_][\w.]{0,100}(?::[ \t]{0,3}.{0,400})?$")


@rule(())
def errors_of(scene: Scene) -> tuple[Error, ...]:
    """Return the errors of a scene, oldest first, each once with its newest status."""
    newest: dict[tuple[str, str], Error] = {}
    for error in _all_errors(scene):
        known = newest.get((error.text, error.what))
        entry = known.entry if known else error.entry
        newest[error.text, error.what] = Error(error.text, entry, error.what, error.resolved)
    return tuple(newest.values())


@row_rule
def _all_errors(scene: Scene) -> Iterator[Error]:
    attempts = _attempts_in(scene)
    later = LaterAttempts(attempts)
    for number, attempt in enumerate(attempts):
        if not attempt.failed:
            continue
        what = describe_call(attempt.pair.body, attempt.touch)
        entry = scene.items[attempt.result].entry.id
        for line, test in _failure_lines(attempt.body, ran=attempt.touch.verb == "run"):
            place = later.resolved_at(number, line, test)
            resolved = "" if place is None else scene.items[place].entry.id
            yield Error(line, entry, what, resolved)


def _attempts_in(scene: Scene) -> list[Attempt]:
    attempts: list[Attempt] = []
    for pair in scene.pairs:
        body = whole_result_of(scene, pair)
        if body is None or pair.result is None or was_stopped(body.output):
            continue
        touch = touch_of(pair.body)
        failed = call_failed(touch, body)
        attempts.append(
            Attempt(
                pair, pair.result, body, touch, failed, attempt_key(pair.body, touch, failed=failed)
            )
        )
    return attempts


@row_rule
def _failure_lines(body: ToolReturned, *, ran: bool) -> Iterator[tuple[str, str]]:
    """Yield the lines of a failure, each with the test that it names, if any."""
    text = plain_output(body.output)
    tests: dict[str, str] = {}
    for match in FAILED_TEST.finditer(text):
        name = next(group for group in match.groups() if group)
        tests.setdefault(name, match[0].strip())
    # Go also lists the parent of a failing subtest, which adds nothing.
    parents = {name.rpartition("/")[0] for name in tests}
    inner = [name for name in tests if name not in parents]
    for name in inner[:_MAX_TESTS_PER_RUN]:
        yield tests[name][:MAX_ERROR_CHARS], name
    if not inner:
        yield (_best_line(text) if ran else _first_line(text))[:MAX_ERROR_CHARS], ""


def _best_line(text: str) -> str:
    if raised := _last_exception(text):
        return raised
    for pattern in _ERROR_LINES:
        if match := pattern.search(text):
            return _line_at(text, match.start(), match.end())
    return _first_line(text)


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return next(
        (line for line in lines if not NOISE_LINE.match(line)), lines[0] if lines else "failed"
    )


def _line_at(text: str, start: int, end: int) -> str:
    """Return the line around a match; of a very long line only the part from the match on."""
    first = text.rfind("\n", 0, end) + 1
    last = text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)].strip(" \t|")
    return (
        line
        if len(line) <= MAX_ERROR_CHARS
        else text[max(first, start) :].partition("\n")[0].strip()
    )


def _last_exception(text: str) -> str:
    """Return the exception line of the last traceback."""
    _, header, rest = text.rpartition(_TRACEBACK)
    if not header:
        return ""
    for line in rest.split("\n")[1:]:
        if line[:1].strip() and _EXCEPTION_LINE.match(line):
            return line.strip()
    return ""


def _name_of_tool(call: ToolCalled, touch: Touch) -> str:
    """Return the name of the tool: the fallback of `describe_call`."""
    del touch
    return call.tool


@rule_or(_name_of_tool)
def describe_call(call: ToolCalled, touch: Touch) -> str:
    """Return a short description of a call: the tool, and its file or command."""
    about = touch.path or _without_cd(touch.command) or first_text_value(arguments_of(call))
    return clip(one_line(f"{call.tool} {about}"), MAX_CALL_CHARS)


def _without_cd(command: str) -> str:
    """Return a command without a leading `cd … &&`."""
    first, separator, rest = command.partition("&&")
    return rest.strip() if separator and first.strip().startswith("cd ") else command
