"""What stays in sight, and why: what is protected, and what could not be made smaller."""

from holdfast.core.ledger.entry import Said, Source, Thought, ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.results.failures import shows_failure
from holdfast.core.observe.scene import kind_of
from holdfast.core.plan.cuts import may_change
from holdfast.core.plan.plan import Kept
from holdfast.core.plan.proposals import is_exempt
from holdfast.core.plan.state import Looked


def kept_of(looked: Looked, taken: set[int], never: tuple[str, ...] = ()) -> tuple[Kept, ...]:
    """What stays, the largest share first."""
    scene = looked.scene
    legal = may_change(looked.ground)
    proposed = {one.at for one in looked.proposals}
    tools = {pair.body.call: pair.body.tool for pair in scene.pairs}
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for at, item in enumerate(scene.items):
        if at not in taken:
            why = _why(looked, at, item, legal[at], proposed, never)
            key = (kind_of(item.body, tools), why)
            count, total = sums.get(key, (0, 0))
            sums[key] = (count + 1, total + looked.tokens[at])
    rows = (Kept(what, count, total, why) for (what, why), (count, total) in sums.items())
    return tuple(sorted(rows, key=lambda row: (-row.tokens, row.what, row.reason)))


def _why(
    looked: Looked,
    at: int,
    item: Item,
    legal: bool,
    proposed: set[int],
    never: tuple[str, ...],
) -> str:
    if item.covers:
        return "stands in already"
    if isinstance(item.body, Said) and at not in proposed:
        return "the user's words" if is_request(item.body) else "words are not cut"
    if at >= looked.tail:
        return "recent"
    if not legal:
        return "the provider wants it as it was sent"
    if at in proposed:
        return "would not pay"
    return _why_not_proposed(looked, at, item.body, never)


def _why_not_proposed(looked: Looked, at: int, body: Source, never: tuple[str, ...]) -> str:
    match body:
        case ToolReturned():
            call = looked.scene.of_result[at].body
            if is_exempt(call.tool, call, body, never):
                return "exempt"
            return "an error that is still open" if shows_failure(body) else "too small"
        case ToolCalled():
            writes = touch_of(body).verb in ("write", "edit")
            return "too small, or not seen on disk" if writes else "no write"
        case Thought():
            return "part of the loop under way"
        case _:
            return "not ours to shorten"
