"""List the errors of a scene: the line that says most of each, and whether it is over.

A test run has one error for each failing test; any other failed call has one. An error is over when
a run that includes the failed one passes or no longer shows it, when the agent says that it went
around it or that everything passes, when the user drops it, and, unless a check failed, when work
went on without it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import EntryId, Said, ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.summary import Error
from holdfast.core.observe.files.touch import (
    SHELL_TOOLS,
    Touch,
    arguments_of,
    bare_tool_name,
    touch_of,
)
from holdfast.core.observe.results.checks import Check, checks_of, includes
from holdfast.core.observe.results.choices import terms_of
from holdfast.core.observe.results.failures import (
    FAILED_TEST,
    NOISE_LINE,
    OUTPUT_EDGE_CHARS,
    call_failed,
    first_text_value,
    is_read_only,
    plain_output,
    was_stopped,
    whole_result_of,
)
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.text.clip import clip, one_line
from holdfast.text.patterns import Pattern, cue

MAX_LATER_RUNS = 16
"""Maximum number of later runs of the same name that are compared with a failed one."""
CALLS_WITHOUT = 5
"""After so many later calls that succeed, a failed call that is no check is over."""
MAX_ERROR_CHARS = 240
MAX_CALL_CHARS = 80
_MAX_TESTS_PER_RUN = 5
_MIN_TELLING_CHARS = 24
"""A shorter line, such as `Exit code 1`, may be of another error."""
# Options that stop a test run at the first failure: `-x`, `--bail`.
_FIRST_ONLY = Pattern(r"\s(?:-x|--exitfirst|--maxfail\S{0,8}|--bail|-failfast|--fail-fast)\b")
# "All 12 tests pass", "Great! All tests are now green."; not "Once all tests pass".
_ALL_PASS = cue(
    "pass|green",
    r"^\W{0,6}(?:(?:perfect|great|excellent|now|and|so|good)\W{1,4}){0,2}"
    r"(?:all |everything |the )(?:[\w,]{1,20} ){0,3}(?:tests?|checks?|suites?|everything)"
    r"(?: are| is)?(?: now)? (?:pass(?:es|ing|ed)?|green)\b(?!.{0,200}\b(?:except|but|if)\b)",
)
# "that failure is pre-existing", "I worked around it"; not "let me work on it".
_WENT_AROUND = cue(
    "around|exist|related|ignore|known|flaky",
    r"\b(?:work(?:ed|ing|s)? around|workaround|pre-?existing|(?:unrelated|not related) to"
    r"|can (?:safely )?be ignored|known issue|flaky)\b",
)
# "ignore the lint error", "never mind the build"; not "the ignored files".
_USER_DROPS = cue(
    "ignore|skip|forget|mind|bother|worry|leave",
    r"\b(?:ignore|skip|forget(?: about)?|never ?mind|do(?:n't| not) (?:bother|worry)"
    r"(?: about| with)?|leave)\b",
)


class _Attempt(Struct, frozen=True):
    """One call with its result, and what must pass later when it failed."""

    what: str
    entry: EntryId
    result: int
    """Index of the result; -1 before the scene."""
    body: ToolReturned
    touch: Touch
    failed: bool
    checks: tuple[Check, ...]

    @property
    def proves(self) -> bool:
        """Whether its success says that what it ran is in order."""
        return not self.failed and not any(check.filtered for check in self.checks)


@rule(())
def errors_of(scene: Scene, known: Sequence[Error] = ()) -> tuple[Error, ...]:
    """Return the errors of a scene, oldest first, each once with its newest status.

    Errors of an earlier part of the session come first, with their status after this part.
    """
    newest: dict[tuple[str, str], Error] = {}
    place = {item.entry.id: at for at, item in enumerate(scene.items)}
    for error in _all_errors(scene, known):
        # Another command that prints the same line shows the same error.
        key = (error.text, error.what if len(error.text) < _MIN_TELLING_CHARS else "")
        before = newest.get(key, error)
        over = place.get(before.resolved, -1) if before.resolved else len(place)
        if over < place.get(error.entry, -1):
            # It was over and came back.
            before = error
            newest.pop(key, None)
        newest[key] = replace(error, entry=before.entry)
    return tuple(newest.values())


@row_rule
def _all_errors(scene: Scene, known: Sequence[Error]) -> Iterator[Error]:
    attempts = [*map(_earlier_attempt, known), *_attempts_in(scene)]
    later = _Later(attempts)
    said = list(_statements_in(scene))
    for number, attempt in enumerate(attempts):
        if number < len(known) and known[number].resolved:
            yield known[number]
            continue
        lines = _failure_lines(attempt) if attempt.failed else ()
        for line, test in lines:
            place = later.over_at(number, line, test)
            place = _said_over(said, attempt, f"{attempt.what} {line}") if place is None else place
            resolved = "" if place is None else scene.items[place].entry.id
            yield Error(line, attempt.entry, attempt.what, resolved)


@row_rule
def _attempts_in(scene: Scene) -> Iterator[_Attempt]:
    for pair in scene.pairs:
        body = whole_result_of(scene, pair)
        if body is None or pair.result is None or was_stopped(body.output):
            continue
        touch = touch_of(pair.body)
        about = touch.path or touch.command or first_text_value(arguments_of(pair.body))
        yield _Attempt(
            describe_call(pair.body, touch),
            scene.items[pair.result].entry.id,
            pair.result,
            body,
            touch,
            call_failed(touch, body),
            _checks_of_call(pair.body.tool, touch.verb, about),
        )


def _earlier_attempt(error: Error) -> _Attempt:
    """Return the failed call of an error, as far as its description says what it was."""
    tool, _, about = error.what.partition(" ")
    ran = bare_tool_name(tool) in SHELL_TOOLS
    verb = "run" if ran else touch_of(ToolCalled("", tool, "{}")).verb
    touch = Touch(verb, command=about if ran else "")
    checks = _checks_of_call(tool, verb, about)
    return _Attempt(error.what, error.entry, -1, ToolReturned("", error.text), touch, True, checks)


def _checks_of_call(tool: str, verb: str, about: str) -> tuple[Check, ...]:
    if verb == "run":
        return checks_of(about) or (Check(about[:200]),)
    return (Check("change" if verb in ("edit", "write") else tool, (about[:200],)),)


class _Later:
    """Finds for each failure the later result that ends it."""

    def __init__(self, attempts: Sequence[_Attempt]) -> None:
        self._attempts = attempts
        self._runs: dict[str, list[int]] = {}
        """By name of a check: its runs; under an empty name those that check everything."""
        for number, attempt in enumerate(attempts):
            wide = any(check.known and not check.targets for check in attempt.checks)
            names = dict.fromkeys(check.name for check in attempt.checks)
            for name in (*names, "") if wide else names:
                self._runs.setdefault(name, []).append(number)
        self._passed = [number for number, attempt in enumerate(attempts) if not attempt.failed]

    def over_at(self, number: int, line: str, test: str) -> int | None:
        """Return the index of the result after which a failure is over; None while it is open."""
        attempt = self._attempts[number]
        tests = tuple(check for check in attempt.checks if test and check.tests)
        places = [self._place_over(check, number, line, test) for check in tests or attempt.checks]
        found = [place for place in places if place is not None]
        if found and len(found) == len(places):
            return max(found)
        if any(check.known for check in attempt.checks):
            return None
        needed = 1 if _only_looks(attempt) else CALLS_WITHOUT
        after = self._passed[bisect_right(self._passed, number) :][:needed]
        return self._attempts[after[-1]].result if len(after) == needed else None

    def _place_over(self, check: Check, number: int, line: str, test: str) -> int | None:
        wide = self._runs.get("", []) if check.known else []
        numbers = [*self._runs[check.name], *wide]
        later = sorted(at for at in dict.fromkeys(numbers) if at > number)
        for other in (self._attempts[at] for at in later[-MAX_LATER_RUNS:]):
            if _shows_over(other, check, line, test):
                return other.result
        return None


def _only_looks(attempt: _Attempt) -> bool:
    """Return whether a call only read something: any later success ends its failure."""
    looks = attempt.touch.verb == "run" and is_read_only(attempt.touch.command)
    return looks or attempt.touch.verb in ("read", "search")


def _shows_over(other: _Attempt, check: Check, line: str, test: str) -> bool:
    """Return whether a later run passed the test, or includes the check without the error."""
    if test and f"{test} PASSED" in other.body.output[-OUTPUT_EDGE_CHARS:]:
        return True
    if not any(includes(run, check) for run in other.checks):
        return False
    if not other.failed:
        return other.proves
    text = plain_output(other.body.output)
    if not test:
        return line not in text
    return (
        bool(counts_in(text)) and not _FIRST_ONLY.search(other.touch.command) and test not in text
    )


class _Statement(Struct, frozen=True):
    """A sentence that says that failures are over."""

    at: int
    kind: str
    terms: frozenset[str] = frozenset()


@row_rule
def _statements_in(scene: Scene) -> Iterator[_Statement]:
    for at, item in enumerate(scene.items):
        match item.body:
            case Said(role="assistant", by="", text=text):
                yield from _said_by_agent(at, text)
            case Said(text=text) as body if is_request(body) and len(text) < 1_000:
                parts = " ".join(own_words(text))
                if _USER_DROPS.search(parts.lower()):
                    yield _Statement(at, "dropped", terms_of(parts))
            case _:
                pass


def _said_by_agent(at: int, text: str) -> Iterator[_Statement]:
    for sentence in sentences(text):
        words = sentence.text.lower()
        if _ALL_PASS.search(words):
            yield _Statement(at, "all pass")
        elif _WENT_AROUND.search(words):
            yield _Statement(at, "around", terms_of(sentence.text))


def _said_over(said: Sequence[_Statement], failed: _Attempt, named: str) -> int | None:
    about = terms_of(named)
    for statement in said:
        if statement.at <= failed.result:
            continue
        tests = any(check.tests for check in failed.checks)
        if tests if statement.kind == "all pass" else bool(statement.terms & about):
            return statement.at
    return None


# `error TS2304:`, `a.c:10:5: error:`, `fatal: …`, `a.ts:1:5 lint/x`; not `0 errors`.
_ERROR_LINE = Pattern(
    r"(?m)\berror TS\d{1,6}:|^(?:error(?:\[\w{1,12}\])?|fatal|panic|Fatal error"
    r"|CONFLICT \([\w/ ]{1,40}\)): \S"
    r"|^[^\s:]{1,200}:\d{1,7}(?::\d{1,5})?:? (?:fatal )?(?:[Ee]rror\b|lint|parse|format)"
    r"|^[^\s:]{1,200}\.(?:go|rs|c|cc|cpp|h|java|tsx?|jsx?|rb|py):\d{1,7}:(?:\d{1,5}:?)? \S"
    r"|^E {3,7}(?:[\w.]{0,60}(?:Error|Exception)|assert)\b|^[\w.]{0,80}(?:Error|Exception)\b: \S"
    r"|^npm (?:ERR!|error) (?!code|errno|A complete|path|lifecycle)\S|\bHunk #\d{1,5} FAILED\b"
    r"|^✖ \S|^make: \*\*\* "
)
# `bash: foo: command not found`, `Segmentation fault`; not `errors.py`.
_SHELL_LINE = Pattern(
    r"(?i)\b(?:command not found|no such file or directory|permission denied|not a git repository"
    r"|cannot find|could not find|does not exist|operation not permitted|failed to|panicked at"
    r"|segmentation fault)\b"
)
# `FAIL a.test.ts` and `The build failed`; not `  0 errors`.
_SAYS_FAILED = Pattern(
    r"(?m)^[ \t]{0,8}(?:FAIL|FAILED|ERROR)\b|^[A-Za-z(\[][^\n]{0,120}\b(?:[Ff]ailed\b|[Ee]rrors?\b)"
)
_TRACEBACK = "Traceback (most recent call last)"
# `ValueError: x` and `KeyboardInterrupt`, but not an indented line.
_EXCEPTION_LINE = Pattern(r"^[A-Za-z_][\w.]{0,100}(?::[ \t]{0,3}.{0,400})?$")


@row_rule
def _failure_lines(attempt: _Attempt) -> Iterator[tuple[str, str]]:
    """Yield the lines of a failure, each with the test that it names, if any."""
    text = plain_output(attempt.body.output)
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
        read = _best_line if attempt.touch.verb == "run" and attempt.result >= 0 else _first_line
        yield read(text)[:MAX_ERROR_CHARS], ""


def _best_line(text: str) -> str:
    if raised := _last_exception(text):
        return raised
    for pattern in (_ERROR_LINE, _SHELL_LINE, _SAYS_FAILED):
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
    first, last = text.rfind("\n", 0, end) + 1, text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)].strip(" \t|")
    if len(line) <= MAX_ERROR_CHARS:
        return line
    return text[max(first, start) :].partition("\n")[0].strip()


def _last_exception(text: str) -> str:
    """Return the exception line of the last traceback."""
    _, header, rest = text.rpartition(_TRACEBACK)
    lines = rest.split("\n")[1:] if header else []
    found = (line for line in lines if line[:1].strip() and _EXCEPTION_LINE.match(line))
    return next(found, "").strip()


def _name_of_tool(call: ToolCalled, touch: Touch) -> str:
    """Return the name of the tool: the fallback of `describe_call`."""
    del touch
    return call.tool


@rule_or(_name_of_tool)
def describe_call(call: ToolCalled, touch: Touch) -> str:
    """Return a short description of a call: the tool, and its file or command."""
    about = touch.path or without_cd(touch.command) or first_text_value(arguments_of(call))
    return clip(one_line(f"{call.tool} {about}"), MAX_CALL_CHARS)


def without_cd(command: str) -> str:
    """Return a command without a leading `cd … &&`."""
    first, separator, rest = command.partition("&&")
    return rest.strip() if separator and first.strip().startswith("cd ") else command
