"""Words as a reader looks for them: of prose, of code, of writing without spaces, and symbols.

The index splits text at everything that is no letter or digit, so `parse_args` and `src/app.py` are
found by any of their parts. What it cannot split is spelled out here: `parseArgs`, a run of
Chinese, a rocket.
"""

import re
from functools import lru_cache

LONGEST = 80
"""Characters of a word that count: what is longer is no word but data."""
WORD = re.compile(r"[^\W_]+")
INNER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word written in one goes on with the next."""
JOINT = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
"""The letter with which it goes on; what begins with one letter is looked for quickest."""
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
SYMBOL = re.compile(r"[\u2190-\u2bff\U0001f000-\U0001faff]")
ESCAPED = re.compile(r"\\[nrt]([^\W_]+)")
"""A word behind the sign for a line's end, in a text that was written as data."""
FURTHER = re.compile(r"[\u2190-\U0001faff]")
"""A sign that may be of the two above."""


def words_in(text: str) -> list[str]:
    """The words of a text in order, in small letters; of a word written in one, its parts too."""
    found: list[str] = []
    for word in WORD.findall(text):
        small = word.lower()
        found.append(small[:LONGEST])
        if is_joined(word, small):
            found.extend(part.lower() for part in INNER.split(word))
    return found


def is_joined(word: str, small: str) -> bool:
    """Whether a word is several written in one, as `parseArgs` is."""
    return word != small and not word.isupper() and word[1:] != small[1:]


def spelled_out(text: str) -> str:
    """What the index would not find by itself: parts of joined words, pairs of signs, symbols."""
    found = [part for word in _joined(text) for part in _parts(word[:LONGEST])]
    return " ".join([*found, *signs_in(text)])


def parted(text: str) -> str:
    """A text with a space wherever a joined word goes on: quicker than to look for each."""
    return JOINT.sub(r" \g<0>", text)


def signs_in(text: str) -> list[str]:
    """Words behind escapes, pairs of signs, names of symbols."""
    found = ESCAPED.findall(text) if "\\" in text else []
    signs = dict.fromkeys(FURTHER.findall(text)) if not text.isascii() else ()
    if not signs:
        return found
    if not all(map(SYMBOL.match, signs)):
        for run in UNSPACED.findall(text):
            found.extend(pairs_of(run))
    found.extend(name_of(sign) for sign in signs if SYMBOL.match(sign))
    return found


def _joined(text: str) -> dict[str, None]:
    """Words of a text that are several written in one, each once."""
    found: dict[str, None] = {}
    end = 0
    for joint in JOINT.finditer(text):
        at = joint.start()
        if at < end:
            continue
        while at and text[at - 1].isalnum():
            at -= 1
        word = WORD.match(text, at)
        if word is not None:
            found[word.group()] = None
            end = word.end()
    return found


@lru_cache(maxsize=20_000)
def _parts(word: str) -> tuple[str, ...]:
    """Remembered, because the names of a project come again and again."""
    return tuple(INNER.split(word))


def pairs_of(run: str) -> list[str]:
    """A run of signs as overlapping pairs: nothing says where its words end."""
    return [run[at : at + 2] for at in range(len(run) - 1)]


def name_of(symbol: str) -> str:
    """A symbol as a word."""
    return f"u{ord(symbol):x}"


def is_code(word: str) -> bool:
    """Whether a word of a question is a name from code: a path, an identifier, a version."""
    inside = word[1:-1]
    if any(sign in inside for sign in "_/\\.:-#@=") and any(map(str.isalnum, word)):
        return True
    if any(map(str.isdigit, word)) and len(word) > 3:
        return True
    return is_joined(word, word.lower()) and word.isalnum()
