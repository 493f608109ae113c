"""Decide from a tool result whether the call failed, and which failures were resolved later.

Only failed calls and executed commands count. A file or search result that contains the word
"error" is not a failure, and neither is a call that the user refused.
"""

from collections.abc import Mapping, Sequence

from holdfast.core.faults import rule, rule_keeping, rule_or
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.observe.files.touch import Touch
from holdfast.core.observe.scene import Pair, Scene
from holdfast.text.jsontext import Json
from holdfast.text.patterns import Pattern

# `ValueError: x`, `FAILED tests/…`, `test a ... FAILED`, `a.ts(1,1): error TS1: x`, `fatal: …`,
# `exit code 1`; not `0 errors` or `exit code 0`.
_FAILURE_LINE = Pattern(
    r"(?m)^(?:Traceback \(most recent|[\w.]{0,60}(?:Error|Exception)\b|error(?:\[|:| TS)"
    r"|[ \t]{0,8}(?:FAIL(?:ED|URE)?\b|--- FAIL:|ERROR(?: [\w./-]{1,200}::|: \w{1,120} \())"
    r"|fatal:|panic:|npm ERR!|E {2,3}\S"
    r"|(?:Process )?[Ee]xit(?:ed with)? code:? [1-9]|test \S{1,200} \.\.\. FAILED"
    r"|[ \t]{0,8}[●✕✗×] [^\n]{4,200} › )|\berror TS\d{1,6}:"
)
_FAILURE_EDGE_CHARS = 20_000
"""Characters at either end of an output that are searched by `shows_failure`."""


def _result_says_failed(body: ToolReturned) -> bool:
    """Return whether the client marked the result as failed."""
    return body.failed


@rule_or(_result_says_failed)
def shows_failure(body: ToolReturned) -> bool:
    """Return whether an output shows a failure."""
    if body.failed:
        return True
    ends = body.output
    if len(ends) > 2 * _FAILURE_EDGE_CHARS:
        ends = f"{ends[:_FAILURE_EDGE_CHARS]}\n{ends[-_FAILURE_EDGE_CHARS:]}"
    return _FAILURE_LINE.search(ends) is not None


def normalize_command(command: str) -> str:
    """Return a command with single spaces, to compare two attempts."""
    return " ".join(command.split())


@rule({})
def resolved_failures(scene: Scene, touches: Sequence[Touch]) -> dict[int, int]:
    """Return, by failed result, the next success of the same command (both as indexes)."""
    passed_at: dict[str, int] = {}
    resolutions: dict[int, int] = {}
    for pair, touch in reversed(list(zip(scene.pairs, touches, strict=True))):
        body = _shown_result(scene, pair)
        if pair.result is None or body is None or touch.verb != "run":
            continue
        attempt = normalize_command(touch.command)
        if not shows_failure(body):
            passed_at[attempt] = pair.result
        elif attempt in passed_at:
            resolutions[pair.result] = passed_at[attempt]
    return resolutions


def _shown_result(scene: Scene, pair: Pair) -> ToolReturned | None:
    if pair.result is None:
        return None
    body = scene.items[pair.result].body
    return body if isinstance(body, ToolReturned) else None


OUTPUT_EDGE_CHARS = 30_000
"""Characters at either end of an output that `plain_output` keeps."""
# Escape codes of colors: `ESC[31m`.
_ANSI = Pattern(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_REFUSAL_STARTS = (
    "The user doesn't want to",
    "[Request interrupted",
    "User rejected",
    "Operation aborted",
)
"""Beginnings of results that report a refusal by the user, not a failure."""
_STOPPED_MARKS = ("Sibling tool call errored", "Command aborted")
"""Marks in the result of a call that was stopped by the user or because of another call."""
# Tags that hosts put around output: `<output>`, `<returncode>1</returncode>`.
_WRAPPER_TAG = Pattern(
    r"(?:<tool_use_error>|</tool_use_error>|</?output>|</?error>|<returncode>\d{1,4}</returncode>)"
)
_COMPARISON_COMMAND = Pattern(r"(?:^|[;&|\n] {0,4})(?:diff|cmp|comm|git diff)\b[^;&|\n]{0,400}$")
"""A command that ends with a comparison: exit code 1 means that there are differences."""
_NOTHING_TO_COMMIT = Pattern(r"(?m)^nothing (?:added )?to commit\b")
"""Message of git if everything is committed: exit code 1 is not a failure."""
# `Exit code: 1` and `Process exited with code 1` at the start of a line, but not `on exit 1`.
_EXIT_CODE = Pattern(
    r"(?im)^(?:<returncode>|(?:(?:process|command) )?exit(?:ed)?(?: with)?(?: code)?:? ?)"
    r"(\d{1,4})\b"
)
# `FAILED tests/a.py::test_b`, `--- FAIL: TestB`, `test b ... FAILED`; not `FAILED (failures=1)`.
FAILED_TEST = Pattern(
    r"(?m)^[ \t]{0,8}(?:(?:FAILED|ERROR) ([\w./-]{1,200}(?:::[^\s-]{1,200}){1,3}).{0,300}"
    r"|--- FAIL: ([\w/.#=-]{1,200}).{0,60}"
    r"|test ([\w:]{1,200}) \.\.\. FAILED"
    r"|(?:FAIL|ERROR): (\w{1,120} \([\w.]{1,200}\)).{0,60}"
    r"|[●✕✗×] ([^\n]{4,200} › [^\n]{1,200}))$"
)
# Lines that only state how a command ran: `exit code 1`, `Wall time: 2 s`, `=====`, `$ make`.
NOISE_LINE = Pattern(
    r"(?i)^(?:(?:process |command )?exit(?:ed)?(?: with)?(?: code)?:? ?\d{1,4}|wall time.{0,60}"
    r"|output:|\(no output\)|> .{0,200}|\$ .{0,200}|[-=~^ ]{0,200}|chunk id.{0,60}"
    r"|original token.{0,60})\s{0,4}$"
)
# `Error: …`, `File not found`, `Invalid …`, but not `No errors`.
_ERROR_START = Pattern(
    r"(?i)^\s{0,8}(?:<tool_use_error>|<error>|error\b|execution error|failed to"
    r"|apply_patch verification|string to replace not found|no replacement was"
    r"|file (?:not found|has not been read|does not exist)|invalid "
    r"|your proposed edit has introduced|could not |permission denied)"
)
_MAX_ERROR_CHARS = 2_000
"""Maximum length of an error message of a tool that is not a shell."""
# Programs that only read or print: `grep`, `ls`; not `rm`, `make`.
_READ_ONLY_PROGRAM = Pattern(
    r"grep|rg|egrep|fgrep|ag|ack|cat|bat|less|more|head|tail|sed|awk|find|ls|tree|wc|nl"
    r"|echo|printf|cd|pwd|sort|uniq|cut|tr|xargs|diff|stat|file|which|type|jq|true|test|\["
    r"|sleep|date|env|export"
)
# Subcommands of git that only read: `log`, `diff`; not `commit`.
_READ_ONLY_GIT = Pattern(r"log|show|diff|blame|grep|status|branch|ls-files|cat-file|rev-parse")
# A quoted argument, whose `|` and `;` do not separate commands.
_QUOTED_TEXT = Pattern(r"'[^']{0,1000}'|\"[^\"]{0,1000}\"")
# `&&`, `||`, `;` and line ends between commands, but not `|`.
COMMAND_SEPARATOR = Pattern(r"\s{0,4}(?:&&|\|\||;|\n)\s{0,4}")


@rule(False)
def was_stopped(output: str) -> bool:
    """Return whether a call was refused or stopped, so that its outcome is unknown."""
    return output.startswith(_REFUSAL_STARTS) or any(
        mark in output[:200] or mark in output[-200:] for mark in _STOPPED_MARKS
    )


def whole_result_of(scene: Scene, pair: Pair) -> ToolReturned | None:
    """Return the uncompressed result of a call, also if a stand-in replaces it."""
    if pair.result is None:
        return None
    item = scene.items[pair.result]
    body = item.entry.body if len(item.covers) <= 1 else item.body
    return body if isinstance(body, ToolReturned) else None


def _is_marked_failed(touch: Touch, body: ToolReturned) -> bool:
    """Return whether the client marked the result as failed."""
    del touch
    return body.failed


@rule_or(_is_marked_failed)
def call_failed(touch: Touch, body: ToolReturned) -> bool:
    """Return whether a call failed according to its result."""
    if touch.verb == "run":
        return _command_failed(touch.command, body)
    if body.failed:
        return True
    return len(body.output) <= _MAX_ERROR_CHARS and _ERROR_START.match(body.output) is not None


def _command_failed(command: str, body: ToolReturned) -> bool:
    code = _exit_code(body.output)
    if is_read_only(command):
        # A search without matches ends with 1 and prints nothing.
        return (body.failed or code > 0) and bool(_first_message(body.output)) and code != 1
    if code == 1 and _COMPARISON_COMMAND.search(command):
        # It succeeded and found differences.
        return False
    if _NOTHING_TO_COMMIT.search(body.output[-OUTPUT_EDGE_CHARS:]):
        return False
    if body.failed or code > 0:
        return True
    if code == 0 and not _hides_exit_code(command):
        return False
    text = plain_output(body.output)
    return shows_failure(ToolReturned(body.call, text)) or _ERROR_START.match(text) is not None


def _exit_code(output: str) -> int:
    """Return the exit code of a command; -1 if the output does not state it."""
    match = _EXIT_CODE.search(output[:300]) or _EXIT_CODE.search(output[-200:])
    return int(match[1]) if match else -1


def _hides_exit_code(command: str) -> bool:
    """Return whether a pipe or list hides the exit code of the main command."""
    return "|" in command or ";" in command or "\n" in command


@rule(False)
def is_read_only(command: str) -> bool:
    """Return whether all programs of a command only read or print."""
    for part in COMMAND_SEPARATOR.split(_QUOTED_TEXT.sub("_", command[:2_000]).replace("|", ";")):
        words = part.split()
        if words and words[0] == "git" and len(words) > 1 and _READ_ONLY_GIT.fullmatch(words[1]):
            continue
        if words and not _READ_ONLY_PROGRAM.fullmatch(words[0]):
            return False
    return True


@rule_keeping(0)
def plain_output(output: str) -> str:
    """Return an output without escape codes and wrapper tags; of a long one only both ends."""
    if len(output) > 2 * OUTPUT_EDGE_CHARS:
        output = f"{output[:OUTPUT_EDGE_CHARS]}\n{output[-OUTPUT_EDGE_CHARS:]}"
    return _WRAPPER_TAG.sub("", _ANSI.sub("", output)).replace("\r", "\n")


def _first_message(output: str) -> str:
    """Return the first line of an output that is not a mere exit status."""
    lines = (line.strip() for line in plain_output(output[:OUTPUT_EDGE_CHARS]).split("\n"))
    return next((line for line in lines if line and not NOISE_LINE.match(line)), "")


def first_text_value(arguments: Mapping[str, Json]) -> str:
    """Return the first argument that is a text."""
    return next((value for value in arguments.values() if isinstance(value, str)), "")
