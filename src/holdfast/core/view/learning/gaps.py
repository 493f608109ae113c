"""Gaps that workers report, counted by what is missing and not by how they put it."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.observe.common import COMMON
from holdfast.core.view.search.ranking import Stems
from holdfast.core.view.search.words import WORD

LEAD = re.compile(
    r"(?i)^\W{0,4}(?:needed|need|missing|received|unused|gap|lacked|wanted)\b\s{0,3}:?\s{0,3}"
)
ASIDE = re.compile(r"\([^()]{0,200}\)")
"""What stands in brackets explains; it names nothing else."""
NOTHING = re.compile(r"(?i)^\W{0,4}(?:none|nothing|no(?: context)?(?: gaps?)?|n/?a|-)\W{0,4}$")
"""Words that say that there is no gap."""
_EMPTY = """
about actual additional approach clear context convention conventions current description detail
details documentation existing explanation exact guidance idea info information knowledge list
lack lacked missing more need needed overview pattern patterns project relevant section sense
specific style didn reference referenced
used using way where which
"""
EMPTY = frozenset(_EMPTY.split())
"""Words that say that something is missing, not what."""
ALIKE = 0.5
"""The share of words in common from which two wordings mean the same."""
LONGEST_LABEL = 6
"""Words by which a gap is called."""


class Gap(Struct, frozen=True):
    """Something that was missing, in all its wordings."""

    label: str
    stems: frozenset[str]
    wordings: tuple[str, ...]


def bare(text: str) -> str:
    """A wording without its `Needed:`."""
    return LEAD.sub("", " ".join(text.split())[:500]).strip(" .-")


def is_none(text: str) -> bool:
    """Whether a wording says that nothing is missing."""
    return not text.strip() or NOTHING.match(text) is not None or not bare(text)


def key_of(text: str, stems: Stems) -> frozenset[str]:
    """The words that say what is missing, as stems; all of them when none says more than others."""
    words = [word.lower() for word in WORD.findall(ASIDE.sub(" ", bare(text)))]
    telling = [word for word in words if word not in COMMON and word not in EMPTY]
    return frozenset(stem for word in telling or words for stem in stems(word)[:1])


def label_of(text: str) -> str:
    """How a gap is called: its telling words, as they were put."""
    words = WORD.findall(ASIDE.sub(" ", bare(text)))
    kept = [word for word in words if word.lower() not in COMMON]
    while len(kept) > 1 and kept[0].lower() in EMPTY:
        kept = kept[1:]
    if len(kept) > 2 and kept[-1].lower() in EMPTY:
        kept = kept[:-1]
    return " ".join(kept[:LONGEST_LABEL]).lower() or bare(text)[:60]


def counted_as_one(wordings: Iterable[str], stems: Stems) -> tuple[Gap, ...]:
    """The gaps that some wordings name: those that share most of their words are one.

    The same wordings in another order give the same gaps: the shortest come first.
    """
    told = {text: key_of(text, stems) for text in wordings if not is_none(text)}
    groups: list[tuple[frozenset[str], list[str]]] = []
    for text in sorted(told, key=lambda one: (len(told[one]), one)):
        found = next((group for group in groups if _same(group[0], told[text])), None)
        if found is None:
            groups.append((told[text], [text]))
        else:
            found[1].append(text)
    return tuple(Gap(label_of(texts[0]), key, tuple(texts)) for key, texts in groups)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return one == other
    shared = len(one & other)
    # All of a short wording in a longer one is the same gap told at length.
    return shared == min(len(one), len(other)) or shared / len(one | other) >= ALIKE


def gap_of(text: str, gaps: Sequence[Gap]) -> str:
    """The label of the gap that a wording belongs to; empty when it names none."""
    return next((gap.label for gap in gaps if text in gap.wordings), "")
