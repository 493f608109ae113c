"""Repetition: a message asks again for what it was told before, and nothing has changed since."""

from holdfast.core.observe.artifacts import touch_of
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.known import asked_by
from holdfast.core.verify.drift.move import Move
from holdfast.core.verify.drift.signs import NOTHING, Finding

EACH = 0.3
"""What one call adds that was made before; two in one message are a sign."""
SHOWN = 3


def repeat(move: Move, ground: Ground) -> Finding:
    """The calls of a message whose answer is known and still holds."""
    again: dict[str, str] = {}
    for call in move.calls:
        asked = asked_by(call, touch_of(call))
        known = ground.calls.get(asked) if asked else None
        if known is not None:
            again[asked] = known.entry
    if not again:
        return NOTHING
    entry = next(iter(again.values()))
    hidden = sum(ground.calls[asked].hidden for asked in again)
    return Finding(
        strength=1 - (1 - EACH) ** len(again),
        why=f"{len(again)} calls were made before with the same answer to be had"
        + (f", {hidden} of them out of sight now" if hidden else ""),
        evidence="; ".join(asked[:120] for asked in list(again)[:SHOWN]),
        ref=entry,
    )
