"""Find the names in a text: paths, identifiers, ids and numbers, but not words of prose."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from holdfast.text.patterns import Pattern

# A set finds Latin letters faster if it lists them: `\w` alone asks the tables of Unicode.
TOKEN = Pattern(
    r"(?:[A-Z]?+[a-z]{0,30}+[^A-Za-z0-9_\w./@~-]++)++"
    r"|((?:\.{1,2}/|\.)?[A-Za-z0-9_~@/][A-Za-z0-9_\w./@~-]{2,119})"
)
"""A word that may be a name: `../src/app.py`, `parse_args`, `Parse2`, but not `a` or `=>`.

The first branch, which has no group, takes a run of plain words such as `Parse the file` at once.
"""
INNER_CAPITAL = Pattern(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
"""A capital letter inside a word: `parseArgs`, `HTTPServer`, but not `Parse`."""
# Matches "1.5-2", "200ms" and "read-only"; not "v1.2", "src/app.py" or "parse_args".
ORDINARY = Pattern(r"[\d.,:-]{1,120}|\d{1,12}[A-Za-z]{1,3}|[A-Za-z]{1,40}(?:-[A-Za-z]{1,40}){1,6}")
"""A number, a number with its unit, or words that hyphens join."""
TRAILING_CHARS = "./-~@"
"""Characters that a name may contain but not end with."""
NAME_CACHE_SIZE = 1 << 13
"""Words whose result is cached, because a session repeats the same ones."""


def names_in(text: str) -> Iterator[str]:
    """Yield the names of a text, and of a path also the file that it ends with."""
    return chain.from_iterable(map(names_of, set(TOKEN.findall(text))))


@lru_cache(maxsize=NAME_CACHE_SIZE)
def names_of(token: str) -> tuple[str, ...]:
    """Return a token as a name, and the file that a path ends with; nothing for a plain word."""
    name = token.rstrip(TRAILING_CHARS)
    if not is_name(name):
        return ()
    return (name, name.rsplit("/", 1)[-1]) if "/" in name else (name,)


def is_ordinary(name: str) -> bool:
    """Whether a name is only a number, a number with its unit, or words that hyphens join."""
    return ORDINARY.fullmatch(name) is not None


def is_name(word: str) -> bool:
    """Whether a word is a name: a number, or letters that are not those of a plain word."""
    if len(word) < 3:
        return False
    if word.isdigit():
        return True
    if word.isalpha():
        return INNER_CAPITAL.search(word) is not None
    return True
