"""Split text into words for search: prose, camel case, scripts without spaces, symbols.

The index splits text at everything except letters and digits, so any part finds `parse_args` and
`src/app.py`. This module makes extra words for text that the index cannot split: `parseArgs`,
Chinese, an emoji.
"""

from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from sys import intern

from holdfast.text.patterns import Pattern

MAX_WORD_CHARS = 80
"""Longer words are data; only their beginning counts."""
WORD = Pattern(r"[^\W_]+")
ATOM = Pattern(r"\w+")
"""A word with underscores: `read_file` is one."""
# Matches "src/app.py" and "lock-file"; not the bracket of "(src". A sign at the end is included.
TERM = Pattern(r"[A-Za-z0-9_][\w./-]{1,40}")
"""A word, path, version or hyphenated name of at least two characters."""
TERM_EDGES = "./-"
"""Signs of a term that are not part of it at its ends."""
# Matches "don't", "v1.2" and "src/app.py:3" as one; not the comma of "a,b".
COMPOUND = Pattern(r"\w{1,60}(?:[./:'-]\w{1,60}){0,8}")
"""Words joined by signs, without a sign at the end."""
COMPOUND_PART = Pattern(r"[^\W_]{2,60}")
LATIN_WORD = Pattern(r"[A-Za-z]{3,80}")
NAME_PART = Pattern(r"[A-Z]{1,40}(?![a-z])|[A-Z]?[a-z]{1,40}")
"""A part of a name: `parse` and `Args` of `parseArgs` or `parse_Args`, `HTTP` of `HTTPServer`."""
CASE_BOUNDARY = Pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""The position between two parts of a camel case word: `parse|Args`, `HTTP|Server`."""
CASE_BOUNDARY_LETTER = Pattern(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
"""The first letter of the second part; a search for a letter is faster than for a position."""
UNSPACED = Pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
SYMBOL = Pattern(r"[\u2190-\u2bff\U0001f000-\U0001faff]")
ESCAPED = Pattern(r"\\[nrt]([^\W_]+)")
"""A word behind an escaped line break or tab: `name` in `\\nname`."""
UNSPACED_OR_SYMBOL = Pattern(r"[\u2190-\U0001faff]")
"""A character that may match `UNSPACED` or `SYMBOL`."""


PREFIX_CHARS = 5
"""Letters that two long words must share to count as forms of one word."""
ENDINGS = ("ing", "ed", "es", "s", "e")


def lower_words(text: str, pattern: Pattern[str] = WORD, *, edges: str = "") -> list[str]:
    """Return all matches of a pattern in a text, in lower case and without `edges` at the ends."""
    return [word.lower().strip(edges) for word in pattern.findall(text)]


def folded_atoms(text: str) -> list[str]:
    """Return the words of a text with their underscores, independent of upper and lower case."""
    return ATOM.findall(text.casefold())


def content_words(
    words: Iterable[str], stop_words: Container[str], *, min_chars: int = 1, numbers: bool = True
) -> tuple[str, ...]:
    """Return the words that are not stop words, each once, in order.

    Words of fewer than `min_chars` characters are left out, and numbers if `numbers` is false.
    """
    return tuple(
        dict.fromkeys(
            word
            for word in words
            if word not in stop_words and len(word) >= min_chars and (numbers or not word.isdigit())
        )
    )


def stem_of(word: str) -> str:
    """Cut the ending off an English word: `locked`, `locks` and `locking` become `lock`."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def without_doubled_end(stem: str) -> str:
    """Make stems like `runn` (of `running`) equal to `run`."""
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem


def prefix_of(word: str) -> str:
    """Return the first letters of a word, which all its forms share; a short word as it is."""
    return word[:PREFIX_CHARS]


def verb_forms(verb: str) -> Iterator[str]:
    """Yield the forms of a regular English verb; a few of them do not exist."""
    stem = verb[:-1] if verb.endswith(("e", "y")) else verb
    vowel = "i" if verb.endswith("y") else ""
    yield from (verb, f"{verb}s", f"{stem}{vowel}ed", f"{stem}{vowel}es")
    yield f"{verb}ing" if verb.endswith("y") else f"{stem}ing"
    yield f"{verb}{verb[-1:]}ing"


def words_in(text: str) -> list[str]:
    """Return the words of a text in order and in lower case, and the parts of camel case words."""
    words: list[str] = []
    for word in WORD.findall(text):
        lowered = word.lower()
        words.append(lowered[:MAX_WORD_CHARS])
        if is_camel_case(word, lowered):
            words.extend(part.lower() for part in CASE_BOUNDARY.split(word))
    return words


def is_camel_case(word: str, lowered: str) -> bool:
    """Whether a word has several parts, such as `parseArgs`; `lowered` is its lower case."""
    return word != lowered and not word.isupper() and word[1:] != lowered[1:]


def extra_index_words(text: str) -> str:
    """Return words that the index would not find: parts of camel case, pairs of signs, symbols."""
    parts = [
        part for word in _camel_case_words(text) for part in _split_word(word[:MAX_WORD_CHARS])
    ]
    return " ".join([*parts, *extra_sign_words(text)])


def split_camel_case(text: str) -> str:
    """Insert a space between the parts of every camel case word of a text."""
    return CASE_BOUNDARY_LETTER.sub(r" \g<0>", text)


def extra_sign_words(text: str) -> list[str]:
    """Return the words behind escapes, the pairs of signs and the names of symbols in a text."""
    words = ESCAPED.findall(text) if "\\" in text else []
    signs = dict.fromkeys(UNSPACED_OR_SYMBOL.findall(text)) if not text.isascii() else ()
    if not signs:
        return words
    if not all(map(SYMBOL.match, signs)):
        for run in UNSPACED.findall(text):
            words.extend(pairs_of(run))
    words.extend(symbol_name(sign) for sign in signs if SYMBOL.match(sign))
    return words


def _camel_case_words(text: str) -> dict[str, None]:
    """Return the camel case words of a text, each once."""
    words: dict[str, None] = {}
    end = 0
    for joint in CASE_BOUNDARY_LETTER.finditer(text):
        at = joint.start()
        if at < end:
            continue
        while at and text[at - 1].isalnum():
            at -= 1
        word = WORD.match(text, at)
        if word is not None:
            words[word.group()] = None
            end = word.end()
    return words


@lru_cache(maxsize=20_000)
def _split_word(word: str) -> tuple[str, ...]:
    """Cached, because the names of a project repeat."""
    return tuple(CASE_BOUNDARY.split(word))


@lru_cache(maxsize=1 << 13)
def name_parts(name: str) -> frozenset[str]:
    """Return the parts of a name with more than two letters, in lower case."""
    parts = NAME_PART.findall(name[:200])
    # Names share their parts: interned, each is in memory once.
    return frozenset([intern(part.lower()) for part in parts if len(part) > 2])


def name_parts_in(text: str) -> frozenset[str]:
    """Return the parts of all Latin words and names in a text, in lower case."""
    return frozenset[str]().union(*map(name_parts, set(LATIN_WORD.findall(text))))


def pairs_of(run: str) -> list[str]:
    """Return overlapping pairs of signs, because the script does not separate words."""
    return [run[at : at + 2] for at in range(len(run) - 1)]


def symbol_name(symbol: str) -> str:
    """Return a symbol as a word, such as `u1f680`."""
    return f"u{ord(symbol):x}"


def is_code(word: str) -> bool:
    """Whether a word of a query is a name from code: a path, an identifier, a version."""
    inside = word[1:-1]
    if any(sign in inside for sign in "_/\\.:-#@=") and any(map(str.isalnum, word)):
        return True
    if any(map(str.isdigit, word)) and len(word) > 3:
        return True
    return is_camel_case(word, word.lower()) and word.isalnum()
