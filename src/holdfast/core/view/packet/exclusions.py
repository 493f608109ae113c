"""What a packet does not hold, and where it is: a worker that misses something can ask."""

from msgspec import Struct

from holdfast.core.ledger.packet import Packet

LAYER = {2: "decisions", 3: "code", 4: "failures"}
"""What the layers that were not asked for hold, in a word."""
TAGS = 6
"""Words for old decisions that are named."""


class Left(Struct, frozen=True):
    """How much was left out."""

    task: int = 0
    """Tokens of the task."""
    decisions: int = 0
    tags: tuple[str, ...] = ()
    files: int = 0
    failures: int = 0
    entries: int = 0
    """Entries of the conversation, all of them."""


def exclusions(packet: Packet, left: Left) -> tuple[str, ...]:
    """What was left out, and where it is, in as few words as can be."""
    task = f"{left.task:,} tokens of the task (`target_task`)" if left.task > 0 else ""
    layers = [name for number, name in LAYER.items() if number not in packet.layers]
    tags = f"old decisions ({', '.join(left.tags[:TAGS])})" if left.tags else ""
    talk = "the conversation" if left.entries else ""
    told = ", ".join(one for one in (task, *_counted(packet, left), tags, *layers, talk) if one)
    if not told:
        return ()
    return (f"{told}: `holdfast recover QUERY`",) if left.entries else (told,)


def _counted(packet: Packet, left: Left) -> list[str]:
    shown: list[str] = []
    if left.decisions > 0 and 2 in packet.layers:
        shown.append(f"{left.decisions} more decision{'s' * (left.decisions > 1)}")
    if left.files > 0 and 3 in packet.layers:
        shown.append(f"{left.files} more file{'s' * (left.files > 1)}")
    return shown
