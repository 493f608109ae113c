"""What a span holds that a row may rest on: its entries by reference, its words, its names.

A paraphrase may use words of its own, but no name, number or path that the span does not have.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.shrink.ask.prompts import Redact, as_it_is, who_said, wording
from holdfast.core.shrink.step import ref_of
from holdfast.text.language import FEW_LETTERS, sample

ATOM = re.compile(r"\w+")
INNER = re.compile(r"\w[./\\:@]\w|^[./~]")
"""What tells a path, an address or a version from a word."""

STEM = 5
SHARED = 0.4
"""The part of a row's longer words whose beginnings the span must have too."""
EDGES = ".,;:!?()[]{}<>\"'`*…"


class Grounded(Struct, frozen=True):
    """An entry of the span, with its words as the model may know them."""

    id: str
    who: str
    text: str


class Grounds(Struct, frozen=True):
    """All that rows about a span may rest on."""

    entries: dict[str, Grounded]
    """By the reference that the model was shown."""
    atoms: frozenset[str]
    stems: frozenset[str]
    said: str
    """What the user and the agent themselves said and did; no tool's words."""
    spoken: str
    """A sample of their prose, to tell the language by."""
    size: int
    """Characters in all."""


def grounds_of(span: Iterable[Item], known: Summary, redact: Redact = as_it_is) -> Grounds:
    """Read a span, and what is known besides, as what rows may rest on."""
    entries: dict[str, Grounded] = {}
    for item in span:
        one = Grounded(item.entry.id, who_said(item.body), wording(item.body, redact))
        entries.setdefault(ref_of(one.id), one)
    told = list(entries.values())
    atoms: set[str] = set()
    for text in (*(one.text for one in told), *_known_names(known)):
        atoms.update(ATOM.findall(text.casefold()))
    prose = sample(one.text for one in told if one.who in ("user", "assistant", "thinking"))
    return Grounds(
        entries=entries,
        atoms=frozenset(atoms),
        stems=frozenset(atom[:STEM] for atom in atoms),
        said="\n".join(one.text for one in told if one.who not in ("result", "host", "other")),
        spoken=prose if len(prose) >= FEW_LETTERS else sample(one.text for one in told),
        size=sum(len(one.text) for one in told),
    )


def _known_names(known: Summary) -> Iterable[str]:
    """What the model was shown besides the span."""
    yield from (known.intent.original.text, known.intent.current.text, known.progress.phase)
    yield from (one.path for one in known.files)
    yield from (one.choice for one in known.decisions)


def holds_quote(entry: Grounded, quote: str) -> bool:
    """Whether an entry has these words; a crumb of it is no quote unless it is all there is."""
    words = quote.strip()
    if len(words) < 8 and words != entry.text.strip():
        return False
    return words in entry.text


def is_founded(text: str, grounds: Grounds) -> bool:
    """Whether a text names nothing that the span does not have, and shares its words."""
    return names_only_known(text, grounds) and _shares_words(text, grounds)


def names_only_known(text: str, grounds: Grounds) -> bool:
    """Whether every name, number, path and address of a text stands in the span."""
    for token in text.split():
        core = token.strip(EDGES)
        if "://" in core and core not in grounds.said:
            # An address that only a tool printed is not one to hand on.
            return False
        whole = INNER.search(core) is not None
        for atom in ATOM.findall(core):
            if (whole or _is_name(atom)) and not _is_known(atom, grounds):
                return False
    return True


def _is_known(atom: str, grounds: Grounds) -> bool:
    # Single characters are list marks, counts and the pieces of "e.g.".
    return len(atom) < 2 or atom.casefold() in grounds.atoms


def _is_name(atom: str) -> bool:
    mixed = atom[1:] != atom[1:].lower() and atom[1:] != atom[1:].upper()
    return mixed or "_" in atom or any(char.isdigit() for char in atom)


def _shares_words(text: str, grounds: Grounds) -> bool:
    stems = [atom[:STEM] for atom in ATOM.findall(text.casefold()) if len(atom) >= STEM]
    if len(stems) < 3:
        return True
    return sum(stem in grounds.stems for stem in stems) >= len(stems) * SHARED
