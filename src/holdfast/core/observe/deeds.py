"""Deeds: what was done outside of the files, and must not be done twice.

Commits, pushes and pull requests are told by what git and its hosts answered; calls of tools that
change something elsewhere, an order or a booking, by what they were asked for. Only calls that went
well count, and only names that say what they do: of a tool that is not understood nothing is told.
"""

import re
from collections.abc import Iterator

from holdfast.core.faults import row_rule
from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.ledger.jsontext import SURROGATE, Json
from holdfast.core.observe.artifacts import arguments_of, touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.failures import plain_output, result_of, was_stopped, went_wrong

_LONGEST = 160
_LONGEST_VALUE = 60
_LOOKED_AT = 4_000
"""Characters at either end of an output: git tells at its end, and hooks print before it."""
_COMMITTED = re.compile(
    r"(?m)^\[([^\s\]]{1,120})(?: \([^()\n]{1,40}\))? ([0-9a-f]{7,40})\] ([^\n]{1,200})$"
)
_PUSHED = re.compile(
    r"(?m)^ [ *+!-] {0,2}(?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) {1,12}"
    r"\S{1,200} -> (\S{1,200})"
)
_URL = re.compile(r"https://[^\s\"'<>]{1,120}/(?:pull|merge_requests|issues)/\d{1,9}\b")
_HOSTED = re.compile(r"\b(?:gh|glab) (pr|mr|issue) (create|merge|close|reopen|comment|review)\b")
_CHANGES = re.compile(
    r"(?:create|update|delete|remove|cancel|book|modify|send|issue|add|transfer|exchange|return"
    r"|pay|refund|charge|reset|enable|disable|grant|revoke|submit|post|approve|reject|assign|close"
    r"|merge|publish|deploy|upload|schedule|change|rename|archive|restore|order|purchase|reserve)"
    r"(?:_[a-z0-9_]{1,80})"
)
"""Names of tools that say that they change something, and what."""


@row_rule
def deeds_of(scene: Scene) -> Iterator[tuple[int, str]]:
    """What was done outside of the files, the newest first, each with where its result stands."""
    for pair in reversed(scene.pairs):
        body = result_of(scene, pair)
        if body is None or pair.result is None or was_stopped(body.output):
            continue
        touch = touch_of(pair.body)
        if touch.verb not in ("run", "") or went_wrong(touch, body):
            continue
        told = _run(touch.command, body) if touch.verb else _asked(pair.body)
        yield from ((pair.result, SURROGATE.sub("\ufffd", one)) for one in told)


def _run(command: str, body: ToolReturned) -> Iterator[str]:
    """What a command did that its output vouches for, the last thing first."""
    hosted = _HOSTED.search(command)
    if not hosted and "git " not in command:
        return
    text = plain_output(body.output)
    text = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    if hosted and (url := _URL.search(text)):
        yield f"{hosted[1]} {hosted[2]}: {url[0]}"
    if "push" in command:
        for found in _PUSHED.finditer(text):
            yield f"pushed {found[1]}"
    if "commit" in command:
        for found in reversed(list(_COMMITTED.finditer(text))):
            yield f"committed {found[2]} on {found[1]}: {found[3].strip()}"[:_LONGEST]


def _asked(call: ToolCalled) -> Iterator[str]:
    name = call.tool.rsplit("__", 1)[-1]
    if _CHANGES.fullmatch(name):
        values = (f"{key}={_value(value)}" for key, value in arguments_of(call).items())
        yield " ".join((name, *values))[:_LONGEST]


def _value(value: Json) -> str:
    match value:
        case list() | dict():
            return f"({len(value)})"
        case _:
            return " ".join(str(value).split())[:_LONGEST_VALUE]
