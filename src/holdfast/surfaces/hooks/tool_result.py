"""A tool answered: a large result is stored whole and leaves before the model ever sees it.

It is decided by bytes as long as they settle it; the tokenizer is only loaded for what may be
large. What fails is kept as well: a host cuts it short and keeps nothing of the rest.
"""

from holdfast.core.ledger.entry import Entry, ToolCalled, ToolReturned
from holdfast.core.observe.artifacts import touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.steps import bound_for, is_exempt
from holdfast.session import Session
from holdfast.surfaces.hooks.at_hand import opened, policy_of
from holdfast.surfaces.hooks.happening import NOTHING, Happened, Reply


def answer(happened: Happened) -> Reply:
    """Offload a large result; keep one that failed."""
    body = ToolReturned(happened.call, happened.output, happened.failed)
    call = ToolCalled(happened.call, happened.tool, happened.arguments)
    if not body.output or not body.call:
        return NOTHING
    policy = policy_of(happened)
    if not _is_large(call, body, policy) or not _may_be_stored(call, body, policy):
        return NOTHING
    with opened(happened, policy) as session:
        return Reply(output=_offloaded(session, call, body))


def _is_large(call: ToolCalled, body: ToolReturned, policy: Policy) -> bool:
    touch = touch_of(call)
    reading = touch.verb == "read"
    bound = bound_for(call.tool, policy.offload, reading=reading)
    if len(body.output.encode("utf-8", "surrogatepass")) <= bound:
        return False
    # A page of a file is what the agent asked for, at the size it chose.
    if (reading and touch.paged) or is_exempt(call.tool, call, body, policy.offload.never):
        return False
    return _tokens(body.output) > bound


def _tokens(text: str) -> int:
    from holdfast.core.measure.models import Model
    from holdfast.vocabularies import counter  # late: most results are small by their bytes

    return counter(Model("").vocabulary)(text)


def _may_be_stored(call: ToolCalled, body: ToolReturned, policy: Policy) -> bool:
    """Whether all of a result may be stored: what may not must not leave the window either."""
    from holdfast.withhold import Withholder

    rules = Withholder(policy.never_store)
    if rules.idle:
        return True
    use = {"type": "tool_use", "id": call.call, "name": call.tool, "input": call.arguments}
    result = {"type": "tool_result", "tool_use_id": body.call, "content": body.output}
    whole = [use, result]
    return rules.apply(whole) is whole


def _offloaded(session: Session, call: ToolCalled, body: ToolReturned) -> str | None:
    raise NotImplementedError


def _stored(session: Session, call: ToolCalled, body: ToolReturned) -> Entry:
    raise NotImplementedError
