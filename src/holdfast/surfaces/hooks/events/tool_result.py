"""A tool answered: a large result is stored whole and leaves before the model ever sees it.

It is decided by bytes as long as they settle it. What may be large is counted about, and exactly
when the transcript is read: loading a vocabulary takes longer than all the rest. What fails is kept
as well: a host cuts it short and keeps nothing of the rest.
"""

from holdfast.core.ledger.entry import Entry, ToolCalled, ToolReturned
from holdfast.core.measure.tokens import about
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.preserve import may_leave
from holdfast.core.plan.proposals import bound_for, is_exempt
from holdfast.core.shrink.offload import Source, offload
from holdfast.core.shrink.step import ref_of
from holdfast.engine.never_store import Withholder
from holdfast.engine.originals import Told, as_note, reference
from holdfast.engine.redact import Redactor
from holdfast.project.layout import path_of
from holdfast.project.write import project
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.session import opened, policy_of
from holdfast.text.jsontext import Json


def answer(happened: Happened) -> Reply:
    """Offload a large result; keep one that failed."""
    body = ToolReturned(happened.call, happened.output, happened.failed)
    call = ToolCalled(happened.call, happened.tool, happened.arguments)
    if not body.output or not body.call:
        return NOTHING
    policy = policy_of(happened)
    before = _large(call, body, policy) if not happened.fixed else 0
    if not (before or body.failed) or not _may_be_stored(call, body, policy):
        return NOTHING
    with opened(happened, policy) as session:
        return _offloaded(session, call, body, before) if before else _archived(session, call, body)


def _large(call: ToolCalled, body: ToolReturned, policy: Policy) -> int:
    """Tokens of a result that is to leave; 0 for one that stays."""
    touch = touch_of(call)
    reading = touch.verb == "read"
    bound = bound_for(call.tool, policy.offload, reading=reading)
    if len(body.output.encode("utf-8", "surrogatepass")) <= bound:
        return 0
    # A page of a file is what the agent asked for, at the size it chose.
    if (reading and touch.paged) or is_exempt(call.tool, call, body, policy.offload.never):
        return 0
    if not may_leave("offload", policy.preservation):
        return 0
    tokens = about(body.output)
    return tokens if tokens > bound else 0


def _may_be_stored(call: ToolCalled, body: ToolReturned, policy: Policy) -> bool:
    """Whether all of a result may be stored: what may not must not leave the window either."""
    rules = Withholder(policy.never_store)
    if rules.idle:
        return True
    use: Json = {"type": "tool_use", "id": call.call, "name": call.tool, "input": call.arguments}
    result: Json = {"type": "tool_result", "tool_use_id": body.call, "content": body.output}
    whole: Json = [use, result]
    return rules.apply(whole) is whole


def _archived(session: Session, call: ToolCalled, body: ToolReturned) -> Reply:
    """Keep what failed: its host cuts it short and writes it nowhere else."""
    ref = reference(session.name, session.agent, body)
    session.ledger.derive(as_note(body, Told(call.tool, ref)))
    return NOTHING


def _offloaded(session: Session, call: ToolCalled, body: ToolReturned, before: int) -> Reply:
    """Store a result whole, write a copy of it, and only then say what stands there instead."""
    ref = reference(session.name, session.agent, body)
    entry = Entry(ref, None, body, 0, lane=session.agent, at=session.ledger.now())
    file = path_of(entry, "offload", call.tool, session.policy.layout)
    shown = _shown(session, entry)
    stand_in = offload(
        shown,
        tool=call.tool,
        source=Source(ref_of(ref), file),
        rules=session.policy.offload,
        count=about,
        before=before,
        estimated=True,
    )
    after = about(stand_in.output)
    if after >= before:
        return NOTHING
    session.ledger.derive(as_note(body, Told(call.tool, ref, before, after, file)))
    project(session.root, file, shown.output.encode("utf-8", "surrogatepass"))
    return Reply(output=stand_in.output)


def _shown(session: Session, entry: Entry) -> ToolReturned:
    """A result as anyone may see it."""
    redactor = Redactor(session.policy.redact)
    redactor.take([entry])
    body = redactor.entries([entry])[0].body
    assert isinstance(body, ToolReturned)
    return body
