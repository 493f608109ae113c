"""Patterns that are looked for in many sentences and found in few."""

import re

from msgspec import Struct


class Cue(Struct, frozen=True):
    """A pattern, and words of which one stands in whatever it finds: a word is found sooner."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        """Where the pattern stands in a text."""
        for word in self.words:
            if word in text:
                return self.pattern.search(text)
        return None


def cue(words: str, pattern: str) -> Cue:
    """A cue; its words are parted by bars, since some hold blanks."""
    return Cue(tuple(words.split("|")), re.compile(pattern))
