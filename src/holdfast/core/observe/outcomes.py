"""How commands ended: which output shows a failure, and which failures were resolved since."""

import re
from collections.abc import Sequence

from holdfast.core.faults import rule, rule_or
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.observe.artifacts import Touch
from holdfast.core.observe.calls import Pair, Scene

_FAILURE = re.compile(
    r"(?m)^(?:Traceback \(most recent|[\w.]{0,60}(?:Error|Exception)\b|error(?:\[|:| TS)"
    r"|FAIL(?:ED|URE)?\b|fatal:|panic:|npm ERR!|E {2,3}\S"
    r"|(?:Process )?[Ee]xit(?:ed with)? code:? [1-9])"
)
_LOOKED_AT = 20_000
"""Characters at either end of an output in which a failure shows."""


def _is_marked_failed(body: ToolReturned) -> bool:
    """Whether the client itself marked a result as failed."""
    return body.failed


@rule_or(_is_marked_failed)
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
