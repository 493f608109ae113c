"""List what stays in the window after a plan, with the reason for each group."""

from holdfast.core.ledger.entry import Said, Source, Thought, ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.results.failures import shows_failure
from holdfast.core.observe.scene import name_kind
from holdfast.core.plan.cuts import may_change
from holdfast.core.plan.plan import KeptItem
from holdfast.core.plan.proposals import is_exempt
from holdfast.core.plan.state import Survey


def kept_items(
    survey: Survey, taken: set[int], exempt_tools: tuple[str, ...] = ()
) -> tuple[KeptItem, ...]:
    """Return what stays, grouped by kind and reason, the most tokens first."""
    scene = survey.scene
    legal = may_change(survey.context)
    proposed = {proposal.at for proposal in survey.proposals}
    tools = {pair.body.call: pair.body.tool for pair in scene.pairs}
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for at, item in enumerate(scene.items):
        if at not in taken:
            why = _keep_reason(survey, at, item, legal[at], proposed, exempt_tools)
            key = (name_kind(item.body, tools), why)
            count, total = sums.get(key, (0, 0))
            sums[key] = (count + 1, total + survey.tokens[at])
    rows = (KeptItem(what, count, total, why) for (what, why), (count, total) in sums.items())
    return tuple(sorted(rows, key=lambda row: (-row.tokens, row.what, row.reason)))


def _keep_reason(
    survey: Survey,
    at: int,
    item: Item,
    legal: bool,
    proposed: set[int],
    exempt_tools: tuple[str, ...],
) -> str:
    if item.covers:
        return "stands in already"
    if isinstance(item.body, Said) and at not in proposed:
        return "the user's words" if is_request(item.body) else "words are not cut"
    if at >= survey.tail:
        return "recent"
    if not legal:
        return "the provider wants it as it was sent"
    if at in proposed:
        return "would not pay"
    return _why_not_proposed(survey, at, item.body, exempt_tools)


def _why_not_proposed(survey: Survey, at: int, body: Source, exempt_tools: tuple[str, ...]) -> str:
    match body:
        case ToolReturned():
            call = survey.scene.by_result[at].body
            if is_exempt(call.tool, call, body, exempt_tools):
                return "exempt"
            return "an error that is still open" if shows_failure(body) else "too small"
        case ToolCalled():
            writes = touch_of(body).verb in ("write", "edit")
            return "too small, or not seen on disk" if writes else "no write"
        case Thought():
            return "part of the loop under way"
        case _:
            return "not ours to shorten"
