"""Working on something else: most of what a message speaks of is new to the whole record.

A file next to known ones and a name made of known words are no news: agents make those all the
time. What tells is the share of words and names that nothing in the session leads up to.
"""

from holdfast.core.observe.likely import parts_of
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.move import Move, names_in, spoken_of, words_in
from holdfast.core.verify.drift.signs import NOTHING, Finding

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
