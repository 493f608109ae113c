"""Birth: large results and large pastes in requests leave before they are ever sent.

What was never sent is in no cache, so that nothing is to be weighed: only whether it is large, and
whether it may leave.
"""

from msgspec.structs import replace

from holdfast.core.carrying import carry_out
from holdfast.core.ledger.entry import Said, ToolReturned, is_request
from holdfast.core.ledger.head import AT_BIRTH
from holdfast.core.ledger.jsontext import whole_number
from holdfast.core.ledger.size import most_tokens
from holdfast.core.ledger.window import Item
from holdfast.core.observe.artifacts import touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.pastes import pasted_share
from holdfast.core.plan.always import may_leave
from holdfast.core.plan.choose import priced
from holdfast.core.plan.cuts import may_change
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import State, fresh, look
from holdfast.core.plan.steps import PASTE_SHORT, Proposal, bound_for, by_share, is_exempt
from holdfast.core.shrink.step import Means


def at_birth(state: State, means: Means) -> Candidate | None:
    """Tier 1: large results and pastes that were not sent yet leave before they ever are."""
    items = state.window.items
    if not may_leave("offload", state.policy.preservation):
        return None
    new = [at for at in fresh(state) if items[at].entry.id not in state.spared]
    if not any(may_be_large(items[at], state.policy, state.limit) for at in new):
        return None
    looked = look(state, means.count)
    legal, scene, tokens = may_change(looked.ground), looked.scene, looked.tokens
    large = [at for at in new if legal[at] and _is_large(scene, at, tokens[at], state)]
    if not large:
        return None
    # What was never sent is in no cache: it leaves at no cost.
    unsent = replace(looked, scale=replace(looked.scale, sent=0))
    chosen = priced([_birth(scene, at, tokens[at]) for at in large], unsent.scale)
    return carry_out(state, means, unsent, chosen, AT_BIRTH)


def may_be_large(item: Item, policy: Policy, limit: int) -> bool:
    """By bytes alone: no text has more tokens than bytes."""
    if item.covers or not (isinstance(item.body, ToolReturned) or is_request(item.body)):
        return False
    return most_tokens(item.body) > min([by_share(policy.offload, limit), *_tool_bounds(policy)])


def _tool_bounds(policy: Policy) -> list[int]:
    bounds = (whole_number(row.rpartition("=")[2]) for row in policy.offload.tools)
    return [bound for bound in bounds if bound is not None]


def _is_large(scene: Scene, at: int, tokens: int, state: State) -> bool:
    body, pair = scene.items[at].body, scene.of_result.get(at)
    if isinstance(body, Said):
        return not state.hosted and _pasted(body, tokens) > by_share(
            state.policy.offload, state.limit
        )
    if not isinstance(body, ToolReturned) or pair is None:
        return False
    touch, rules = touch_of(pair.body), state.policy.offload
    reading = touch.verb == "read"
    if tokens <= bound_for(pair.body.tool, rules, state.limit, reading=reading):
        return False
    # A page of a file is what the agent asked for, at the size it chose.
    paged = reading and touch.paged
    return not paged and not is_exempt(pair.body.tool, pair.body, body, rules.never)


def _pasted(body: Said, tokens: int) -> int:
    """Tokens of the large pastes in a request, about."""
    return round(tokens * pasted_share(body.text, PASTE_SHORT)) if is_request(body) else 0


def _birth(scene: Scene, at: int, tokens: int) -> Proposal:
    body, entry = scene.items[at].body, scene.items[at].entry.id
    if isinstance(body, Said):
        stays = tokens - _pasted(body, tokens)
        reason = f"pastes of {tokens - stays:,} tokens in a request"
        return Proposal("paste", at, entry, "", tokens, min(tokens, stays + 500), reason)
    pair = scene.of_result[at]
    return Proposal(
        kind="offload",
        at=at,
        entry=entry,
        tool=pair.body.tool,
        before=tokens,
        guess=min(tokens, 500),
        reason=f"a result of {tokens:,} tokens",
        touch=touch_of(pair.body),
    )
