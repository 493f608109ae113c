"""Tokenizers, loaded when the first text has to be counted and not before."""

from functools import cache

from holdfast.core.measure.tokens import CountTokens
from holdfast.errors import BadSetting
from holdfast.text.jsontext import cleaned

VOCABULARIES = ("o200k_base", "cl100k_base")
CHUNK = 1024 * 1024
"""Characters counted at a time: bounds the memory that counting takes."""


@cache
def counter(vocabulary: str) -> CountTokens:
    """A function that counts the tokens of a text in a vocabulary.

    A session to which nothing was added names none yet: then the first one counts.
    """
    vocabulary = vocabulary or VOCABULARIES[0]
    if vocabulary not in VOCABULARIES:
        choices = ", ".join(VOCABULARIES)
        raise BadSetting("vocabulary", f"{vocabulary!r} is not one of {choices}", origin="model")
    import splintr  # late: loading a vocabulary takes longer than most of what a hook does

    encode = splintr.Tokenizer.from_pretrained(vocabulary).encode_ordinary

    def tokens(text: str) -> int:
        try:
            return len(encode(text))
        except UnicodeEncodeError:
            # Half a letter: counted as it would be sent.
            return len(encode(str(cleaned(text))))

    def count(text: str) -> int:
        if len(text) <= CHUNK:
            return tokens(text)
        return sum(tokens(part) for part in chunks(text))

    return count


def chunks(text: str) -> list[str]:
    """A long text in pieces that have the tokens of the whole, wherever it has a line or a word."""
    parts: list[str] = []
    start = 0
    while len(text) - start > CHUNK:
        end = _cut(text, start + CHUNK // 2, start + CHUNK)
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def _cut(text: str, least: int, most: int) -> int:
    """The last place before `most` that no token spans; `most` itself when there is none."""
    for mark, after in (("\n", 1), (" ", 0)):
        at = most
        while (at := text.rfind(mark, least, at)) >= 0:
            # No vocabulary joins a line's end to a letter, nor a letter to the space behind it.
            if text[at - 1].isalnum() and text[at + 1].isalnum():
                return at + after
    return most
