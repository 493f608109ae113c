"""Pattern: a regular expression that is compiled on its first use, not on import.

A hook imports many modules and uses a few of their patterns; compiling all of them would take
longer than its work.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, AnyStr, Generic

from msgspec import Struct


class Pattern(Generic[AnyStr]):
    """A regular expression that is compiled on its first use.

    Each method is the method of the compiled pattern itself, stored on the instance when it is
    first used: a loop pays for one attribute access and no extra call.
    """

    def __init__(self, pattern: AnyStr, flags: int = 0) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[AnyStr]:
        """The pattern as `re` compiles it."""
        return re.compile(self.pattern, self._flags)

    @property
    def flags(self) -> int:
        """The flags of the compiled pattern."""
        return self.compiled.flags

    @cached_property
    def search(self):
        """`re.Pattern.search`."""
        return self.compiled.search

    @cached_property
    def match(self):
        """`re.Pattern.match`."""
        return self.compiled.match

    @cached_property
    def fullmatch(self):
        """`re.Pattern.fullmatch`."""
        return self.compiled.fullmatch

    @cached_property
    def findall(self) -> Callable[..., list[Any]]:
        """`re.Pattern.findall`; with groups in the pattern, it returns tuples of texts."""
        return self.compiled.findall

    @cached_property
    def finditer(self):
        """`re.Pattern.finditer`."""
        return self.compiled.finditer

    @cached_property
    def split(self):
        """`re.Pattern.split`."""
        return self.compiled.split

    @cached_property
    def sub(self):
        """`re.Pattern.sub`."""
        return self.compiled.sub

    def __repr__(self) -> str:
        return f"Pattern({self.pattern!r}, {self._flags})"


class Cue(Struct, frozen=True):
    """A pattern, and words of which every match contains one: a test for a word is faster."""

    words: tuple[str, ...]
    pattern: Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a text."""
        for word in self.words:
            if word in text:
                return self.pattern.search(text)
        return None


def cue(words: str, pattern: str) -> Cue:
    """Return a cue; bars separate its words, because some words contain blanks."""
    return Cue(tuple(words.split("|")), Pattern(pattern))
