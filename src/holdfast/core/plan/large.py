"""Decide whether a tool result is so large that tier 1 replaces it before it is first sent.

The engine passes counted tokens, a hook passes an estimate; the decision is the same.
"""

from holdfast.core.ledger.entry import ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.size import max_tokens
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.preserve import may_leave
from holdfast.core.plan.proposals import default_bound, is_exempt, offload_bound
from holdfast.text.jsontext import whole_number


def is_large(
    call: ToolCalled, result: ToolReturned, policy: Policy, limit: int, tokens: int
) -> bool:
    """Whether a result of `tokens` tokens is replaced before it is sent for the first time.

    `limit` is the size of the effective window; 0 if it is not known.
    """
    if not may_leave("offload", policy.preservation):
        return False
    touch = touch_of(call)
    reading = touch.verb == "read"
    if tokens <= offload_bound(call.tool, policy.offload, limit, reading=reading):
        return False
    # A page of a file has the size that the agent asked for, so it stays.
    paged = reading and touch.paged
    return not paged and not is_exempt(call.tool, call, result, policy.offload.never)


def may_be_large(item: Item, policy: Policy, limit: int) -> bool:
    """Whether a result or a request may be large, judged by the most tokens its bytes can have."""
    if item.covers or not (isinstance(item.body, ToolReturned) or is_request(item.body)):
        return False
    return max_tokens(item.body) > min(
        [default_bound(policy.offload, limit), *_tool_bounds(policy)]
    )


def _tool_bounds(policy: Policy) -> list[int]:
    bounds = (whole_number(row.rpartition("=")[2]) for row in policy.offload.tools)
    return [bound for bound in bounds if bound is not None]
