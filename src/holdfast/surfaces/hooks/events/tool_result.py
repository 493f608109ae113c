"""Answer a tool result: store a large one, and replace it before the model sees it.

The number of bytes decides in most cases. Otherwise tokens are estimated here and counted exactly
when the transcript is read, because loading a vocabulary takes longer than everything else. A
failed result is stored too: the host shortens it and keeps no other copy.
"""

from holdfast.core.ledger.entry import Entry, ToolCalled, ToolReturned
from holdfast.core.measure.tokens import estimate_tokens
from holdfast.core.plan.large import is_large
from holdfast.core.plan.policy import Policy
from holdfast.core.shrink.offload import OriginalLocation, offload
from holdfast.core.shrink.step import ref_of
from holdfast.engine.never_store import NeverStoreFilter
from holdfast.engine.originals import OriginalFacts, original_note, original_ref
from holdfast.engine.redact import Redactor
from holdfast.project.layout import copy_path
from holdfast.project.write import write_copy
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply
from holdfast.surfaces.hooks.session import open_event_session, policy_of
from holdfast.text.jsontext import Json
from holdfast.text.utf8 import to_bytes

UNKNOWN_WINDOW = 0
"""The window's size is stored in the session, which is opened only for a large result."""


def answer(event: HookEvent) -> HookReply:
    """Offload a large result; store a failed one."""
    body = ToolReturned(event.call, event.output, event.failed)
    call = ToolCalled(event.call, event.tool, event.arguments)
    if not body.output or not body.call:
        return NOTHING
    policy = policy_of(event)
    before = large_tokens(call, body, policy) if not event.is_output_fixed else 0
    if not (before or body.failed) or not _may_be_stored(call, body, policy):
        return NOTHING
    with open_event_session(event, policy) as session:
        return _offload(session, call, body, before) if before else _archive(session, call, body)


def large_tokens(call: ToolCalled, body: ToolReturned, policy: Policy) -> int:
    """Estimate the tokens of a result if it is large; return 0 if it is not."""
    # A text never has more tokens than bytes, and counting bytes is fast.
    most_tokens = len(to_bytes(body.output))
    if not is_large(call, body, policy, UNKNOWN_WINDOW, most_tokens):
        return 0
    tokens = estimate_tokens(body.output)
    return tokens if is_large(call, body, policy, UNKNOWN_WINDOW, tokens) else 0


def _may_be_stored(call: ToolCalled, body: ToolReturned, policy: Policy) -> bool:
    """Whether `never_store` allows all of a result; if not, it must stay in the window."""
    rules = NeverStoreFilter(policy.never_store)
    if rules.idle:
        return True
    use: Json = {"type": "tool_use", "id": call.call, "name": call.tool, "input": call.arguments}
    result: Json = {"type": "tool_result", "tool_use_id": body.call, "content": body.output}
    whole: Json = [use, result]
    return rules.apply(whole) is whole


def _archive(session: Session, call: ToolCalled, body: ToolReturned) -> HookReply:
    """Store a failed result, of which the host keeps no complete copy."""
    ref = original_ref(session.name, session.agent, body)
    session.ledger.derive(original_note(body, OriginalFacts(call.tool, ref)))
    return NOTHING


def _offload(session: Session, call: ToolCalled, body: ToolReturned, before: int) -> HookReply:
    """Store a result and write a copy of it, and only then return its stand-in."""
    ref = original_ref(session.name, session.agent, body)
    entry = Entry(ref, None, body, 0, lane=session.agent, at=session.ledger.now())
    file = copy_path(entry, "offload", call.tool, session.policy.layout)
    redacted = _redacted(session, entry)
    stand_in = offload(
        redacted,
        tool=call.tool,
        location=OriginalLocation(ref_of(ref), file),
        rules=session.policy.offload,
        count=estimate_tokens,
        before=before,
        estimated=True,
    )
    after = estimate_tokens(stand_in.output)
    if after >= before:
        return NOTHING
    session.ledger.derive(original_note(body, OriginalFacts(call.tool, ref, before, after, file)))
    write_copy(session.root, file, to_bytes(redacted.output))
    return HookReply(output=stand_in.output)


def _redacted(session: Session, entry: Entry) -> ToolReturned:
    """Return a result without its secrets."""
    redactor = Redactor(session.policy.redact)
    redactor.learn_from([entry])
    body = redactor.entries([entry])[0].body
    assert isinstance(body, ToolReturned)
    return body
