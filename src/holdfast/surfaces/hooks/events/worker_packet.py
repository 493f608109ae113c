"""A worker starts in a program that hides its task from us: a packet on what the session is about.

Its task may be sealed, as Codex seals it, so nothing can be put before it. What the worker has to
know goes along when it starts, made for what the user wants now.
"""

from msgspec.structs import replace

from holdfast.core.ledger.entry import PacketRead
from holdfast.packets.deliver import hand
from holdfast.packets.make import generate
from holdfast.packets.packet import as_packet
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.events import worker_start
from holdfast.surfaces.hooks.events.handover import HANDED, audience
from holdfast.surfaces.hooks.session import followed, opened


def answer(happened: Happened) -> Reply:
    """Tell the protocol, and what there is to know."""
    protocol = worker_start.answer(happened).context
    if not protocol:
        return NOTHING
    with opened(replace(happened, lane="")) as session:
        followed(happened, session)
        wanted = session.intent()
        task = wanted.current.text or wanted.original.text
        if not task:
            return Reply(context=protocol)
        made = generate(session.ledger, task, audience=audience(happened))
        listed = hand(session.ledger, made, task=task, act="spawn")
        session.ledger.derive(PacketRead(listed.id, listed.packet.audience, (), "start"))
        packet = as_packet(listed.packet).to_prompt()
    return Reply(context=f"{HANDED}\n\n{packet.strip()}\n\n{protocol}")
