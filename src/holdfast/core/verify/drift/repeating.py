"""Repetition: a message asks again for what it was told before, and nothing has changed since."""

from holdfast.core.observe.artifacts import touch_of
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.known import asked_by
from holdfast.core.verify.drift.move import Move
from holdfast.core.verify.drift.signs import NOTHING, Finding

EACH = 0.25
"""What one call adds that was made before; the third since the summary is a sign."""
BEFORE = 2
"""Earlier repetitions that count, at most: one that stopped is over."""
ANEW = 0.6
"""What is left of it when the user asked for something new: then it is worth another look."""
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
    count = len(again) + min(ground.repeated, BEFORE)
    hidden = sum(ground.calls[asked].hidden for asked in again)
    return Finding(
        strength=(1 - (1 - EACH) ** count) * (ANEW if ground.anew else 1.0),
        why=f"{len(again)} calls were made before with the same answer to be had"
        + (f", {hidden} of them out of sight now" if hidden else ""),
        evidence="; ".join(asked[:120] for asked in list(again)[:SHOWN]),
        ref=entry,
    )
