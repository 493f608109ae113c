"""Errors: what went wrong, in the line that says it best, and whether it still does.

What names a failing test is told test by test; everything else in one line for each call.
"""

import re
from collections.abc import Iterator

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.ledger.summary import Error
from holdfast.core.observe.artifacts import Touch, arguments_of, touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.failures import (
    COMPILER,
    FAILED_TEST,
    NOISE,
    TYPESCRIPT,
    first_value,
    plain_output,
    result_of,
    was_stopped,
    went_wrong,
)
from holdfast.core.observe.resolved import Afterwards, Tried, attempt_of

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
