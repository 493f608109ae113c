"""Ghost vocabulary: names used as if they were known, that nothing in sight explains.

Some stand nowhere in the ledger: the agent made them up. Others left the window with the summary:
the agent half remembers them, and what it remembers may be wrong. A name that is in sight is never
a ghost, and neither is one that the message itself brings into being.
"""

from collections import defaultdict

from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.worth import parts_of, telling_names
from holdfast.core.verify.drift.ground import Ground, asked_by
from holdfast.core.verify.drift.message import (
    Move,
    names_in,
    outside_fences,
    referred,
    spoken_of,
    words_in,
)
from holdfast.core.verify.drift.signs import NOTHING, Finding
from holdfast.text.paths import normal

# Repetition: a message asks again for what it was told before, and nothing has changed since.


EACH = 0.25
"""What one call adds that was made before; the third since the summary is a sign."""
BEFORE = 2
"""Earlier repetitions that count, at most: one that stopped is over."""
ANEW = 0.6
"""What is left of it when the user asked for something new: then it is worth another look."""
REPEATS_SHOWN = 3


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
        evidence="; ".join(asked[:120] for asked in list(again)[:REPEATS_SHOWN]),
        ref=entry,
    )


# Working on something else: most of what a message speaks of is new to the whole record.
#
# A file next to known ones and a name made of known words are no news: agents make those all the
# time. What tells is the share of words and names that nothing in the session leads up to.


FEW_WORDS, FEW_NAMES = 6, 1
"""Added to what a message speaks of, so that a share of very little says little."""
OF_NAMES = 0.75
"""What the share of new names counts beside that of new words."""
CENTRE, WIDTH = 0.58, 1.0
"""The sum of both shares at which a message counts as astray, and how fast that changes."""
SHOWN = 6


def stray(move: Move, ground: Ground) -> Finding:
    """How foreign a message is to the record."""
    text = spoken_of(move)
    words = words_in(text)
    names = names_in(text)
    new_words = words - ground.words
    new_names = foreign(names, ground)
    share = len(new_words) / (len(words) + FEW_WORDS)
    share += OF_NAMES * len(new_names) / (len(names) + FEW_NAMES)
    strength = ground.weight * min(max(0.5 + (share - CENTRE) / WIDTH, 0.0), 1.0)
    if strength <= 0:
        return NOTHING
    shown = [*sorted(new_names), *sorted(new_words, key=lambda word: (-len(word), word))][:SHOWN]
    return Finding(
        strength=strength,
        why=f"{len(new_words)} of {len(words)} words and {len(new_names)} of {len(names)} names "
        "stand nowhere in the session",
        evidence=", ".join(shown),
        quote=ground.intent.current.text,
        ref=ground.intent.current.entry,
    )


def foreign(names: frozenset[str], ground: Ground) -> frozenset[str]:
    """Names that the record knows neither themselves, nor the folder, nor the words of."""
    return frozenset(name for name in names if not _is_kin(name, ground))


def _is_kin(name: str, ground: Ground) -> bool:
    if name in ground.names:
        return True
    folder = name.rpartition("/")[0]
    if folder and (folder in ground.names or folder.lstrip("./") in ground.names):
        return True
    parts = parts_of(name)
    return bool(parts) and parts <= ground.words


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
GHOSTS_SHOWN = 5


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
        evidence=", ".join(shown[:GHOSTS_SHOWN]),
        missing=(*sorted(set(mistaken.values())), *sorted(left))[:GHOSTS_SHOWN],
    )


def _used(move: Move) -> frozenset[str]:
    """The names that a message uses as known: in its words, and in calls that make nothing."""
    texts = [outside_fences(move.text)]
    made: set[str] = set()
    for call in move.calls:
        touch = touch_of(call)
        if touch.verb == "write":
            made |= telling_names(touch.path)
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
