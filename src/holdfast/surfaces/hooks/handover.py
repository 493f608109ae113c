"""A worker is about to be started: its task begins with a packet of what it has to know."""

from holdfast.core.ledger.entry import PacketRead
from holdfast.handing.drawing import generate
from holdfast.handing.giving import hand
from holdfast.handing.listing import audience_of
from holdfast.packets import as_packet
from holdfast.surfaces.hooks.at_hand import followed, opened
from holdfast.surfaces.hooks.happening import NOTHING, Happened, Reply

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
        made = generate(session, happened.prompt, audience=audience(happened))
        listed = hand(session, made, task=happened.prompt, act="spawn")
        session.derive(PacketRead(listed.id, listed.packet.audience, (), "prompt"))
        packet = as_packet(listed.packet).to_prompt()
    return Reply(prompt=f"{HANDED}\n\n{packet.strip()}\n\nYour task:\n{happened.prompt}")


def audience(happened: Happened) -> str:
    """What a worker is called: by its kind, which is all that is told when it ends."""
    plain = "".join(one if one.isalnum() or one in "-_." else "-" for one in happened.worker)
    return audience_of(plain[:64].strip("-") or WORKER)
