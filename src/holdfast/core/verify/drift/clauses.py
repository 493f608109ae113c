"""What a message says it does, clause by clause, and what its calls do, in the same words."""

import re
from collections.abc import Iterator

from msgspec import Struct

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.observe.artifacts import touch_of
from holdfast.core.observe.failures import PARTS, only_looks
from holdfast.core.observe.overrides import DENIES, telling
from holdfast.core.observe.sentences import is_question, plain
from holdfast.core.verify.drift.move import Move

_JOINT = re.compile(
    r"[,;:()—–] {0,2}|\s--?\s| (?:but|although|though|so that|because|since|while) "
)
_QUOTED = re.compile(r"'[^']{0,1000}'|\"[^\"]{0,1000}\"")
SKIPS = re.compile(
    r"\b(?:skip(?:ping|ped)?|without|instead of|rather than|ignor(?:e|ing|ed)|bypass(?:ing|ed)?"
    r"|omit(?:ting|ted)?|leav(?:e|ing) out|drop(?:ping|ped)?|no need|disabl(?:e|ing|ed)"
    r"|remov(?:e|ing|ed)|overrid(?:e|ing)|replac(?:e|ing|ed)|away from|abandon(?:ing|ed)?"
    r"|revert(?:ing|ed)?|undo(?:ing)?|scrap(?:ping|ped)?|won't|will not|not going to|never"
    r"|don't|do not|not)\b"
)
"""Words with which something is left undone or taken back."""
HEDGES = re.compile(
    r"\b(?:if|unless|whether|should i|would you|could|might|may|you (?:said|asked|told|want)"
    r"|as (?:you|requested|instructed)|per your)\b"
)
MOST = 60


class Clause(Struct, frozen=True):
    """Something that is said or done."""

    text: str
    terms: frozenset[str]
    values: frozenset[str]
    skips: frozenset[str]
    """What the words after a cue of leaving undone are about."""
    taken: frozenset[str]
    """What the words before such a cue, or any that denies, are about; all of them without one."""
    called: bool = False


def clauses(move: Move) -> list[Clause]:
    """What a message says that it does or did; no questions, nothing that it only considers."""
    found: list[Clause] = []
    for one in move.prose:
        if one.kind == "heading" or is_question(one.text) or len(one.text) > 600:
            continue
        for piece in (one.text, *_pieces(one.text)):
            words = plain(piece)
            if not HEDGES.search(words):
                found.append(_clause(piece, words))
        if len(found) >= MOST:
            break
    return found


def _pieces(text: str) -> Iterator[str]:
    parts = _JOINT.split(text)
    if len(parts) > 1:
        yield from (part for part in parts if len(part) > 8)


def _clause(text: str, words: str) -> Clause:
    about, cue, denied = telling(words), SKIPS.search(words), DENIES.search(words)
    first = min((found.start() for found in (cue, denied) if found), default=len(words))
    return Clause(
        text,
        about.terms,
        about.values,
        telling(words[cue.end() :]).terms if cue else frozenset(),
        telling(words[:first]).terms,
    )


def deeds(call: ToolCalled) -> Iterator[Clause]:
    """What a call does, in words: what it writes to, or the commands that it runs."""
    touch = touch_of(call)
    if touch.verb in ("write", "edit"):
        words = f"edit modify change write touch {touch.path}"
        yield _deed(f"{touch.verb} {touch.path}", words)
    elif touch.verb == "run" and not only_looks(touch.command):
        for part in PARTS.split(_QUOTED.sub(" ", touch.command[:2_000])):
            if part and not only_looks(part):
                yield _deed(part, f"run use execute {part}")


def _deed(text: str, words: str) -> Clause:
    about = telling(words)
    return Clause(text, about.terms, about.values, frozenset(), about.terms, called=True)
