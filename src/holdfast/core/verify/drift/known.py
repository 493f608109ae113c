"""Calls that were made before: what each asked for, and whether its answer still holds."""

from collections.abc import Collection, Mapping

from msgspec import Struct

from holdfast.core.ledger.entry import EntryId, ToolCalled
from holdfast.core.ledger.jsontext import steady
from holdfast.core.observe.artifacts import Touch, arguments_of, plain_name, touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.failures import result_of, went_wrong
from holdfast.core.observe.outcomes import same_command
from holdfast.core.observe.paths import normal


class Known(Struct, frozen=True):
    """A call whose answer still holds."""

    entry: EntryId
    """The result."""
    hidden: bool
    """Whether that result is out of sight."""
    step: int


def asked_by(call: ToolCalled, touch: Touch) -> str:
    """What a call asks for, in one spelling; empty for one that changes something."""
    name = plain_name(call.tool)
    match touch.verb:
        case "read" if touch.path:
            lines = f":{touch.first}-{touch.last}" if touch.paged else ""
            return f"read {normal(touch.path)}{lines}"
        case "run" if touch.command:
            return f"run {same_command(touch.command)}"
        case "search":
            return f"{name} {steady(arguments_of(call))}"
        case _:
            return ""


def known_calls(
    scene: Scene, shown: Collection[EntryId], *, since: int | None = None
) -> tuple[dict[str, Known], int]:
    """What was asked for before and would be answered the same way now.

    A file that was written since has changed, and so has what any command would print. Also tells
    how many calls after the entry of number `since` asked for such a thing again.
    """
    found: dict[str, tuple[Known, str, int]] = {}
    written: dict[str, int] = {}
    last, again = -1, 0
    for number, pair in enumerate(scene.pairs):
        body, touch = result_of(scene, pair), touch_of(pair.body)
        if body is None or pair.result is None:
            continue
        if touch.verb in ("write", "edit"):
            written[normal(touch.path)] = last = number
            continue
        asked = asked_by(pair.body, touch)
        if asked and not went_wrong(touch, body):
            if asked in found and since is not None and scene.items[pair.call].entry.seq > since:
                again += _holds(found[asked], written, last)
            entry = scene.items[pair.result].entry.id
            known = Known(entry, entry not in shown, pair.step)
            path = normal(touch.path) if touch.verb == "read" else ""
            found[asked] = (known, path, number)
    held = {asked: one[0] for asked, one in found.items() if _holds(one, written, last)}
    return held, again


def _holds(one: tuple[Known, str, int], written: Mapping[str, int], last: int) -> bool:
    """Whether an answer still holds: the file it is about, or any file, was not written since."""
    _, path, number = one
    return (written.get(path, -1) if path else last) < number
