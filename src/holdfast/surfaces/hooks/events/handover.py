"""A worker is about to be started: its task begins with a packet of what it has to know."""

from holdfast.core.ledger.entry import PacketRead
from holdfast.packets.deliver import hand
from holdfast.packets.make import generate
from holdfast.packets.packet import as_packet
from holdfast.packets.records import audience_of
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.session import followed, opened

WORKER = "worker"
HANDED = "What you have to know (a context packet; its constraints and decisions hold):"


def answer(happened: Happened) -> Reply:
    """Put a packet before the task; one that holds a packet already stays as it is."""
    if not happened.prompt.strip() or HANDED in happened.prompt:
        return NOTHING
    with opened(happened) as session:
        if session.policy.packets.generate != "on":
            return NOTHING
        followed(happened, session)
        made = generate(session.ledger, happened.prompt, audience=audience(happened))
        listed = hand(session.ledger, made, task=happened.prompt, act="spawn")
        session.ledger.derive(PacketRead(listed.id, listed.packet.audience, (), "prompt"))
        packet = as_packet(listed.packet).to_prompt()
    return Reply(prompt=f"{HANDED}\n\n{packet.strip()}\n\nYour task:\n{happened.prompt}")


def audience(happened: Happened) -> str:
    """What a worker is called: by its kind, which is all that is told when it ends."""
    plain = "".join(one if one.isalnum() or one in "-_." else "-" for one in happened.worker)
    return audience_of(plain[:64].strip("-") or WORKER)
