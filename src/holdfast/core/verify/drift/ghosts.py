"""Ghost vocabulary: names used as if they were known, that nothing in sight explains.

Some stand nowhere in the ledger: the agent made them up. Others left the window with the summary:
the agent half remembers them, and what it remembers may be wrong. A name that is in sight is never
a ghost, and neither is one that the message itself brings into being.
"""

from collections import defaultdict

from holdfast.core.observe.artifacts import touch_of
from holdfast.core.observe.paths import normal
from holdfast.core.observe.worth import telling
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.move import Move, names_in, outside_fences, referred
from holdfast.core.verify.drift.signs import NOTHING, Finding
from holdfast.core.verify.drift.straying import foreign

SHORTEST = 5
"""Characters of a name that can be taken for another by mistake."""
PREFIX = 4
COMPARED = 40
"""Names with the same beginning that one is compared with."""
NOWHERE, LEFT, MISTAKEN = 0.17, 0.03, 0.25
"""What one such name adds."""
MANY = 12
"""Names from which on a message is a report: it may well coin some."""
MOST = 0.95
SHOWN = 5


def ghosts(move: Move, ground: Ground) -> Finding:
    """The names of a message that nothing in sight explains."""
    used = _used(move)
    names = frozenset(name for name in used if name not in ground.in_sight)
    if not names:
        return NOTHING
    left = names & ground.names
    nowhere = foreign(names - left, ground)
    mistaken = _mistaken(names - left, left_out=ground.names - ground.in_sight)
    share = len(nowhere) / (len(used) + 2)
    strength = LEFT * min(len(left), 6) + min(1.0, MANY / len(used)) * (
        2 * share * NOWHERE * min(len(nowhere), 6) + MISTAKEN * min(len(mistaken), 2)
    )
    shown = [*(f"{wrong} (was {right}?)" for wrong, right in sorted(mistaken.items()))]
    shown += [*sorted(nowhere - mistaken.keys()), *sorted(left)]
    return Finding(
        strength=min(strength, MOST) * ground.weight,
        why=f"{len(nowhere)} names stand nowhere in the ledger, {len(left)} left the window"
        + (f", {len(mistaken)} look like ones that left" if mistaken else ""),
        evidence=", ".join(shown[:SHOWN]),
        missing=(*sorted(set(mistaken.values())), *sorted(left))[:SHOWN],
    )


def _used(move: Move) -> frozenset[str]:
    """The names that a message uses as known: in its words, and in calls that make nothing."""
    texts = [outside_fences(move.text)]
    made: set[str] = set()
    for call in move.calls:
        touch = touch_of(call)
        if touch.verb == "write":
            made |= telling(touch.path)
            made.add(normal(touch.path))
        else:
            texts.append(referred(call))
    return names_in("\n".join(texts)) - made


def _mistaken(names: frozenset[str], *, left_out: frozenset[str]) -> dict[str, str]:
    """Names that stand nowhere, with the one out of sight that each nearly is."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for name in left_out:
        if len(name) >= SHORTEST:
            alike[name[:PREFIX].lower()].append(name)
    found: dict[str, str] = {}
    for name in sorted(names):
        near = alike.get(name[:PREFIX].lower(), []) if len(name) >= SHORTEST else []
        right = next((other for other in sorted(near)[:COMPARED] if _nearly(name, other)), "")
        if right:
            found[name] = right
    return found


def _nearly(one: str, other: str) -> bool:
    """Whether two names differ by one character that is no number and makes no plural."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while (
        end < min(len(one), len(other)) - start
        and one[len(one) - 1 - end] == other[len(other) - 1 - end]
    ):
        end += 1
    middle = one[start : len(one) - end], other[start : len(other) - end]
    plural = end == 0 and "s" in middle
    return max(map(len, middle)) <= 1 and not plural and not any(map(str.isdigit, middle))
