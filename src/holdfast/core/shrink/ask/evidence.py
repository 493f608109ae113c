"""Check whether a span supports a model's text: collect its entries, words and names.

A paraphrase may use words of its own, but no name, number or path that the span does not contain.
"""

from collections.abc import Iterable

from msgspec import Struct

from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.shrink.ask.prompts import Redact, body_text, no_redaction, who_said
from holdfast.core.shrink.step import ref_of
from holdfast.text.language import MIN_LETTERS, take_sample
from holdfast.text.patterns import Pattern
from holdfast.text.words import ATOM, PREFIX_CHARS, folded_atoms, prefix_of

PATH_LIKE = Pattern(r"\w[./\\:@]\w|^[./~]")
"""Matches inside a path, an address or a version ("src/a.py", "1.2"); must not match "word"."""

MIN_SHARED_STEMS = 0.4
"""The share of a row's longer words whose stems must occur in the span."""
PUNCTUATION = ".,;:!?()[]{}<>\"'`*…"


class EvidenceEntry(Struct, frozen=True):
    """An entry of the span, with its redacted text."""

    id: str
    who: str
    text: str


class SpanEvidence(Struct, frozen=True):
    """The contents of a span against which rows are checked."""

    entries: dict[str, EvidenceEntry]
    """Entries by the reference that the model was shown."""
    words: frozenset[str]
    stems: frozenset[str]
    participants_text: str
    """The texts of the user and the agent, their calls included; not those of tools or hosts."""
    prose_sample: str
    """A sample of their prose, to detect the language."""
    size: int
    """Characters in all."""


def evidence_of(
    span: Iterable[Item], known: Summary, redact: Redact = no_redaction
) -> SpanEvidence:
    """Collect the evidence of a span and of the rows known already."""
    entries: dict[str, EvidenceEntry] = {}
    for item in span:
        entry = EvidenceEntry(item.entry.id, who_said(item.body), body_text(item.body, redact))
        entries.setdefault(ref_of(entry.id), entry)
    evidence = list(entries.values())
    words: set[str] = set()
    for text in (*(entry.text for entry in evidence), *_known_names(known)):
        words.update(folded_atoms(text))
    prose = take_sample(
        entry.text for entry in evidence if entry.who in ("user", "assistant", "thinking")
    )
    return SpanEvidence(
        entries=entries,
        words=frozenset(words),
        stems=frozenset(map(prefix_of, words)),
        participants_text="\n".join(
            entry.text for entry in evidence if entry.who not in ("result", "host", "other")
        ),
        prose_sample=prose
        if len(prose) >= MIN_LETTERS
        else take_sample(entry.text for entry in evidence),
        size=sum(len(entry.text) for entry in evidence),
    )


def _known_names(known: Summary) -> Iterable[str]:
    """Yield the texts of known rows that the model was shown besides the span."""
    yield from (known.intent.original.text, known.intent.current.text, known.progress.phase)
    yield from (file.path for file in known.files)
    yield from (decision.choice for decision in known.decisions)


def holds_quote(entry: EvidenceEntry, quote: str) -> bool:
    """Return whether an entry contains these words: at least 8 characters, or all of it."""
    words = quote.strip()
    if len(words) < 8 and words != entry.text.strip():
        return False
    return words in entry.text


def is_supported(text: str, evidence: SpanEvidence) -> bool:
    """Return whether a text has only names of the span, and enough of its words."""
    return names_only_known(text, evidence) and _shares_words(text, evidence)


def names_only_known(text: str, evidence: SpanEvidence) -> bool:
    """Return whether every name, number, path and address of a text occurs in the span."""
    for token in text.split():
        core = token.strip(PUNCTUATION)
        if "://" in core and core not in evidence.participants_text:
            # A URL that only a tool printed may be an attack, so it is not passed on.
            return False
        whole = PATH_LIKE.search(core) is not None
        for word in ATOM.findall(core):
            if (whole or _is_name(word)) and not _is_known(word, evidence):
                return False
    return True


def _is_known(word: str, evidence: SpanEvidence) -> bool:
    # Single characters are list marks, counts and the pieces of "e.g.".
    return len(word) < 2 or word.casefold() in evidence.words


def _is_name(word: str) -> bool:
    mixed = word[1:] != word[1:].lower() and word[1:] != word[1:].upper()
    return mixed or "_" in word or any(char.isdigit() for char in word)


def _shares_words(text: str, evidence: SpanEvidence) -> bool:
    stems = [prefix_of(word) for word in folded_atoms(text) if len(word) >= PREFIX_CHARS]
    if len(stems) < 3:
        return True
    return sum(stem in evidence.stems for stem in stems) >= len(stems) * MIN_SHARED_STEMS
