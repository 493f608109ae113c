"""Whether a call went wrong, as far as its result tells.

Only calls that failed and commands that ran are looked at. A file or a search that happens to hold
the word is no error, and neither is a call that the user refused.
"""

import re
from collections.abc import Mapping, Sequence

from holdfast.core.faults import rule, rule_keeping, rule_or
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.observe.files.touch import Touch
from holdfast.core.observe.scene import Pair, Scene
from holdfast.text.jsontext import Json

# How commands ended: which output shows a failure, and which failures were resolved since.


_FAILURE = re.compile(
    r"(?m)^(?:Traceback \(most recent|[\w.]{0,60}(?:Error|Exception)\b|error(?:\[|:| TS)"
    r"|FAIL(?:ED|URE)?\b|fatal:|panic:|npm ERR!|E {2,3}\S"
    r"|(?:Process )?[Ee]xit(?:ed with)? code:? [1-9])"
)
_LOOKED_AT = 20_000
"""Characters at either end of an output in which a failure shows."""


def _result_says_failed(body: ToolReturned) -> bool:
    """Whether the client itself marked a result as failed."""
    return body.failed


@rule_or(_result_says_failed)
def shows_failure(body: ToolReturned) -> bool:
    """Whether an output tells of something that went wrong."""
    if body.failed:
        return True
    text = body.output
    ends = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    return _FAILURE.search(ends) is not None


def same_command(command: str) -> str:
    """What makes two commands the same attempt: all their words, however they are spaced."""
    return " ".join(command.split())


@rule({})
def resolved(scene: Scene, touches: Sequence[Touch]) -> dict[int, int]:
    """For each failure that the same command did not meet again: where it went well."""
    passed: dict[str, int] = {}
    found: dict[int, int] = {}
    for pair, touch in reversed(list(zip(scene.pairs, touches, strict=True))):
        body = _result(scene, pair)
        if pair.result is None or body is None or touch.verb != "run":
            continue
        attempt = same_command(touch.command)
        if not shows_failure(body):
            passed[attempt] = pair.result
        elif attempt in passed:
            found[pair.result] = passed[attempt]
    return found


def _result(scene: Scene, pair: Pair) -> ToolReturned | None:
    if pair.result is None:
        return None
    body = scene.items[pair.result].body
    return body if isinstance(body, ToolReturned) else None


LOOKED_AT = 30_000
"""Characters at either end of an output in which a failure is looked for."""
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_REFUSED = (
    "The user doesn't want to",
    "[Request interrupted",
    "User rejected",
    "Operation aborted",
)
"""How a result begins that tells of the user's will, not of something that went wrong."""
_SECOND_HAND = ("Sibling tool call errored", "Command aborted")
"""What is said of a call that was stopped because of another, or by the user."""
_ENVELOPE = re.compile(
    r"(?:<tool_use_error>|</tool_use_error>|</?output>|</?error>|<returncode>\d{1,4}</returncode>)"
)
_COMPARES = re.compile(r"(?:^|[;&|\n] {0,4})(?:diff|cmp|comm|git diff)\b[^;&|\n]{0,400}$")
"""A command whose last word is a comparison: it ends with 1 when there is something to see."""
_NOTHING_NEW = re.compile(r"(?m)^nothing (?:added )?to commit\b")
"""What git says where all is committed already: it ends with 1, and nothing is wrong."""
_EXIT = re.compile(
    r"(?im)^(?:<returncode>|(?:(?:process|command) )?exit(?:ed)?(?: with)?(?: code)?:? ?)"
    r"(\d{1,4})\b"
)
FAILED_TEST = re.compile(
    r"(?m)^[ \t]{0,8}(?:(?:FAILED|ERROR) ([\w./-]{1,200}(?:::[^\s-]{1,200}){1,3}).{0,300}"
    r"|--- FAIL: ([\w/.#=-]{1,200}).{0,60}"
    r"|test ([\w:]{1,200}) \.\.\. FAILED"
    r"|(?:FAIL|ERROR): (\w{1,120} \([\w.]{1,200}\)).{0,60}"
    r"|[●✕✗×] ([^\n]{4,200} › [^\n]{1,200}))$"
)
TYPESCRIPT = re.compile(r"\berror TS\d{1,6}:")
COMPILER = re.compile(r"(?m)^error(?:\[\w{1,12}\])?: \S")
_CERTAIN = (FAILED_TEST, TYPESCRIPT, COMPILER)
"""What nobody prints but a command that went wrong."""
NOISE = re.compile(
    r"(?i)^(?:(?:process |command )?exit(?:ed)?(?: with)?(?: code)?:? ?\d{1,4}|wall time.{0,60}"
    r"|output:|\(no output\)|> .{0,200}|\$ .{0,200}|[-=~^ ]{0,200}|chunk id.{0,60}"
    r"|original token.{0,60})\s{0,4}$"
)
_BAD_START = re.compile(
    r"(?i)^\s{0,8}(?:<tool_use_error>|<error>|error\b|execution error|failed to"
    r"|apply_patch verification|string to replace not found|no replacement was"
    r"|file (?:not found|has not been read|does not exist)|invalid "
    r"|your proposed edit has introduced|could not |permission denied)"
)
_SHORT_OUTPUT = 2_000
"""An answer of a tool that is no command is an error only if it is about this short."""
_LOOKS = re.compile(
    r"grep|rg|egrep|fgrep|ag|ack|cat|bat|less|more|head|tail|sed|awk|find|ls|tree|wc|nl"
    r"|echo|printf|cd|pwd|sort|uniq|cut|tr|xargs|diff|stat|file|which|type|jq|true|test|\["
    r"|sleep|date|env|export"
)
_GIT_LOOKS = re.compile(r"log|show|diff|blame|grep|status|branch|ls-files|cat-file|rev-parse")
_QUOTED = re.compile(r"'[^']{0,1000}'|\"[^\"]{0,1000}\"")
PARTS = re.compile(r"\s{0,4}(?:&&|\|\||;|\n)\s{0,4}")


@rule(False)
def was_stopped(output: str) -> bool:
    """Whether a call was refused or stopped: then nothing is known of how it would have ended."""
    return output.startswith(_REFUSED) or any(
        mark in output[:200] or mark in output[-200:] for mark in _SECOND_HAND
    )


def result_of(scene: Scene, pair: Pair) -> ToolReturned | None:
    """What a call came back with, whole, whatever stands in for it."""
    if pair.result is None:
        return None
    item = scene.items[pair.result]
    body = item.entry.body if len(item.covers) <= 1 else item.body
    return body if isinstance(body, ToolReturned) else None


def _is_marked_failed(touch: Touch, body: ToolReturned) -> bool:
    """Whether the client itself marked a result as failed."""
    del touch
    return body.failed


@rule_or(_is_marked_failed)
def went_wrong(touch: Touch, body: ToolReturned) -> bool:
    """Whether a call failed, as far as its result tells."""
    if touch.verb == "run":
        return _run_went_wrong(touch.command, body)
    if body.failed:
        return True
    return len(body.output) <= _SHORT_OUTPUT and _BAD_START.match(body.output) is not None


def _run_went_wrong(command: str, body: ToolReturned) -> bool:
    code = _exit_code(body.output)
    if only_looks(command):
        # A search that finds nothing ends with 1 and says nothing.
        return (body.failed or code > 0) and bool(_said(body.output)) and code != 1
    if code == 1 and _COMPARES.search(command):
        # It ran, and found what differs.
        return False
    if _NOTHING_NEW.search(body.output[-LOOKED_AT:]):
        return False
    if body.failed or code > 0:
        return True
    if code == 0 and not _hides_its_end(command):
        return False
    text = plain_output(body.output)
    shown = ToolReturned(body.call, text)
    certain = any(pattern.search(text) for pattern in _CERTAIN)
    return certain or shows_failure(shown) or _BAD_START.match(text) is not None


def _exit_code(output: str) -> int:
    """The code that a command ended with; -1 when it is not told."""
    found = _EXIT.search(output[:300]) or _EXIT.search(output[-200:])
    return int(found[1]) if found else -1


def _hides_its_end(command: str) -> bool:
    """Whether the code a command ends with is not that of what it ran."""
    return "|" in command or ";" in command or "\n" in command


@rule(False)
def only_looks(command: str) -> bool:
    """Whether a command does nothing but show what is there."""
    for part in PARTS.split(_QUOTED.sub("_", command[:2_000]).replace("|", ";")):
        words = part.split()
        if words and words[0] == "git" and len(words) > 1 and _GIT_LOOKS.fullmatch(words[1]):
            continue
        if words and not _LOOKS.fullmatch(words[0]):
            return False
    return True


@rule_keeping(0)
def plain_output(output: str) -> str:
    """An output as it reads, its middle left out when it is long."""
    if len(output) > 2 * LOOKED_AT:
        output = f"{output[:LOOKED_AT]}\n{output[-LOOKED_AT:]}"
    return _ENVELOPE.sub("", _ANSI.sub("", output)).replace("\r", "\n")


def _said(output: str) -> str:
    """What an output says besides how the command ended."""
    lines = (line.strip() for line in plain_output(output[:LOOKED_AT]).split("\n"))
    return next((line for line in lines if line and not NOISE.match(line)), "")


def first_value(arguments: Mapping[str, Json]) -> str:
    """The first argument of a call that is a text."""
    return next((value for value in arguments.values() if isinstance(value, str)), "")
