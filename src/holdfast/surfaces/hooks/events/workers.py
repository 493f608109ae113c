"""Answer the start and the end of a worker: give it a packet, read its feedback.

The packet is put before the worker's task. If the program does not show us the task, as Codex does
not, the packet is made for the user's current request and is given when the worker starts.
"""

from msgspec.structs import replace

from holdfast.core.ledger.entry import PacketRead
from holdfast.errors import BadFeedback
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply
from holdfast.surfaces.hooks.session import follow_transcript, open_event_session, policy_of

DEFAULT_AUDIENCE = "worker"
PACKET_INTRODUCTION = (
    "What you have to know (a context packet; its constraints and decisions hold):"
)


def hand_over(event: HookEvent) -> HookReply:
    """Put a packet before the task, unless the task has one already."""
    if not event.prompt.strip() or PACKET_INTRODUCTION in event.prompt:
        return NOTHING
    with open_event_session(event) as session:
        if session.policy.packets.generate != "on":
            return NOTHING
        follow_transcript(event, session)
        packet = _packet_for(event, session, event.prompt, how="prompt")
    return HookReply(
        prompt=f"{PACKET_INTRODUCTION}\n\n{packet.strip()}\n\nYour task:\n{event.prompt}"
    )


def _packet_for(event: HookEvent, session: Session, task: str, *, how: str) -> str:
    """Make a packet for a worker's task, record it as read, and return its text."""
    from holdfast.packets.deliver import (
        deliver_packet,  # late: most workers get only the protocol
    )
    from holdfast.packets.make import generate_packet
    from holdfast.packets.packet import as_packet

    made = generate_packet(session.ledger, task, audience=_audience(event))
    listed = deliver_packet(session.ledger, made, task=task, act="spawn")
    session.ledger.derive(PacketRead(listed.id, listed.packet.audience, (), how))
    return as_packet(listed.packet).to_prompt()


def _audience(event: HookEvent) -> str:
    """Name a worker by its kind: at its end nothing else is known."""
    from holdfast.packets.records import audience_of  # late: as above

    plain = "".join(
        character if character.isalnum() or character in "-_." else "-"
        for character in event.worker
    )
    return audience_of(plain[:64].strip("-") or DEFAULT_AUDIENCE)


def start_with_packet(event: HookEvent) -> HookReply:
    """Return a packet for the user's current request, and the protocol."""
    protocol = start(event).context
    if not protocol:
        return NOTHING
    with open_event_session(replace(event, lane="")) as session:
        follow_transcript(event, session)
        intent = session.intent()
        task = intent.current.text or intent.original.text
        if not task:
            return HookReply(context=protocol)
        packet = _packet_for(event, session, task, how="start")
    return HookReply(context=f"{PACKET_INTRODUCTION}\n\n{packet.strip()}\n\n{protocol}")


PROTOCOL = """\
Your task may begin with a context packet: decisions in it are made (do not decide them again), and
constraints hold exactly. Something is missing: ask context_query before you decide it yourself.
End your answer with what you lacked and what you did not need, in these words (leave lists empty
where nothing was missing):

```yaml
context_gaps: []
context_unused: []
outcome: done
```"""


def start(event: HookEvent) -> HookReply:
    """Return the protocol for packets, if the worker was given a task."""
    if not event.worker or policy_of(event).packets.generate != "on":
        return NOTHING
    return HookReply(context=PROTOCOL)


FEEDBACK_WORDS = ("context_gaps", "context_unused", "gaps:", "unused:")
"""Words of an answer that has feedback on its packet."""


def stop(event: HookEvent) -> HookReply:
    """Store the feedback in the worker's last message or in its file."""
    from holdfast.packets.feedback import (  # late: workers end seldom
        collect_feedback,
        parse_feedback,
        record_feedback,
    )

    with open_event_session(replace(event, lane="")) as session:
        follow_transcript(event, session)
        if any(word in event.last_message for word in FEEDBACK_WORDS):
            try:
                feedback = parse_feedback(event.last_message, "the worker's answer")
            except BadFeedback:
                return NOTHING
            record_feedback(session.ledger, replace(feedback, pane=_audience(event)))
        collect_feedback(session.ledger)
    return NOTHING
