"""Check whether the entries that a model names support its sentence.

A sentence may use words of its own, but most must be in the entries that it names, and no name,
number or path may be one that the model was not shown.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import is_request, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.observe.requests.intent import has_substance
from holdfast.core.shrink.ask.prompts import SPEAKERS, Prompt, PromptEntry
from holdfast.core.shrink.summary.quoting import NAME_CHARS
from holdfast.text.clip import one_line
from holdfast.text.language import COMMON_WORDS, MIN_LETTERS, take_sample
from holdfast.text.patterns import Pattern
from holdfast.text.words import ATOM, UNSPACED, folded_atoms, pairs_of, prefix_of, stem_of, words_in

PATH_LIKE = Pattern(r"\w[./\\:@]\w|^[./~]")
"""Matches inside a path, an address or a version ("src/a.py", "1.2"); must not match "word"."""

MIN_SUPPORT = 0.51
"""The share of the content words of a sentence that the entries it names must have: on recorded
sessions it was 0.56 to 1 for most true sentences, and at most 0.4 for false ones."""
MIN_STEM_CHARS = 3
PUNCTUATION = ".,;:!?()[]{}<>\"'`*…"


class Evidence(Struct, frozen=True):
    """What a model was shown: its rows are checked against that."""

    entries: Sequence[PromptEntry]
    words: frozenset[str]
    said: str
    """The texts of the user and the agent; not those of tools or hosts."""
    prose_sample: str
    """A sample of what was said, to detect the language."""
    newest_request: int
    """The number of the newest request that stays in the window; 0 if none does."""

    @property
    def size(self) -> int:
        """Characters of the moments that the model was shown."""
        return sum(len(entry.text) for entry in self.entries)

    def find(self, ref: str) -> PromptEntry | None:
        """Return the entry of a reference; None if none or several were shown that begin so."""
        found = [entry for entry in self.entries if entry.id.startswith(ref)]
        return found[0] if len(ref) >= NAME_CHARS and len(found) == 1 else None

    def is_stale(self, cited: Iterable[PromptEntry]) -> bool:
        """Return whether the user asked for something newer than all of these entries."""
        return all(entry.seq < self.newest_request for entry in cited)


def evidence_of(prompt: Prompt, stays: Iterable[Item]) -> Evidence:
    """Collect the evidence of a question; `stays` are the items that stay in the window."""
    requests = (
        item.entry.seq
        for item in stays
        if is_request(item.body) and has_substance(text_of(item.body))
    )
    spoken = [entry.said for entry in prompt.entries if entry.who in SPEAKERS]
    prose = take_sample(spoken)
    return Evidence(
        entries=prompt.entries,
        words=frozenset(folded_atoms(prompt.ask.prompt)),
        said="\n".join(spoken),
        prose_sample=prose
        if len(prose) >= MIN_LETTERS
        else take_sample(entry.text for entry in prompt.entries),
        newest_request=max(requests, default=0),
    )


def holds_quote(entry: PromptEntry, quote: str) -> bool:
    """Return whether an entry contains these words: at least 8 characters, or all of it."""
    words = one_line(quote)
    if len(words) < 8 and words != entry.said:
        return False
    return words in entry.said


def is_supported(
    text: str, cited: Iterable[PromptEntry], evidence: Evidence, least: float = MIN_SUPPORT
) -> bool:
    """Return whether entries have enough content words of a text, and all of its names are known.

    They must have the share `least` of the words; a text without content words is not supported.
    """
    stems = content_stems(text)
    found = stems & frozenset[str]().union(*(content_stems(entry.text) for entry in cited))
    return bool(stems) and len(found) >= least * len(stems) and names_only_known(text, evidence)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text; pairs of signs where no space parts words.

    A name in camel case counts as its parts as well.
    """
    runs = () if text.isascii() else UNSPACED.findall(text)
    words = words_in(UNSPACED.sub(" ", text) if runs else text)
    kept = (word for word in words if len(word) >= MIN_STEM_CHARS and word not in COMMON_WORDS)
    stems = (prefix_of(stem_of(word)) for word in kept)
    return frozenset((*stems, *(pair for run in runs for pair in pairs_of(run))))


def names_only_known(text: str, evidence: Evidence) -> bool:
    """Return whether the model was shown every name, number, path and address of a text."""
    for token in text.split():
        core = token.strip(PUNCTUATION)
        if "://" in core and core not in evidence.said:
            # A URL that only a tool printed may be an attack, so it is not passed on.
            return False
        whole = PATH_LIKE.search(core) is not None
        for word in ATOM.findall(core):
            if (whole or _is_name(word)) and not _is_known(word, evidence):
                return False
    return True


def _is_known(word: str, evidence: Evidence) -> bool:
    # Single characters are list marks, counts and the pieces of "e.g.".
    return len(word) < 2 or word.casefold() in evidence.words


def _is_name(word: str) -> bool:
    mixed = word[1:] != word[1:].lower() and word[1:] != word[1:].upper()
    return mixed or "_" in word or any(char.isdigit() for char in word)
