"""Count the tokens of texts; a vocabulary is loaded when the first text is counted."""

from functools import cache

from holdfast.core.measure.tokens import CountTokens
from holdfast.errors import BadSetting
from holdfast.text.jsontext import without_surrogates

VOCABULARIES = ("o200k_base", "cl100k_base")
CHUNK_CHARS = 1024 * 1024
"""Characters counted at a time, to limit memory."""
SPECIAL_TOKEN_MARK = "<|"
"""The beginning of every special token of these vocabularies; in a text it is ordinary."""
TOKEN_BYTES = 4
"""Bytes of a token in a flat buffer."""


@cache
def counter(vocabulary: str) -> CountTokens:
    """Return a function that counts the tokens of a text in a vocabulary.

    A session without entries has an empty vocabulary name: then the first vocabulary is used.

    Raises:
        BadSetting: there is no such vocabulary.
    """
    vocabulary = vocabulary or VOCABULARIES[0]
    if vocabulary not in VOCABULARIES:
        choices = ", ".join(VOCABULARIES)
        raise BadSetting("vocabulary", f"{vocabulary!r} is not one of {choices}", origin="model")
    import splintr  # late: loading a vocabulary takes longer than most hooks run

    tokenizer = splintr.Tokenizer.from_pretrained(vocabulary)
    encode, encode_flat = tokenizer.encode_ordinary, tokenizer.encode_flat

    def tokens(text: str) -> int:
        try:
            # A buffer takes a third less time and a tenth of the memory, but has special tokens.
            if SPECIAL_TOKEN_MARK not in text:
                return len(encode_flat(text)) // TOKEN_BYTES
            return len(encode(text))
        except UnicodeEncodeError:
            # Half of a surrogate pair: count the text as it would be sent.
            return len(encode(str(without_surrogates(text))))

    def count(text: str) -> int:
        if len(text) <= CHUNK_CHARS:
            return tokens(text)
        return sum(tokens(part) for part in split_for_counting(text))

    return count


def split_for_counting(text: str) -> list[str]:
    """Split a long text where no token spans the cut, so that the counts add up.

    A part without a line end or a space is cut anywhere.
    """
    parts: list[str] = []
    start = 0
    while len(text) - start > CHUNK_CHARS:
        end = _safe_cut(text, start + CHUNK_CHARS // 2, start + CHUNK_CHARS)
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def _safe_cut(text: str, first: int, last: int) -> int:
    """Return the last offset before `last` that no token spans; `last` if there is none."""
    for mark, after in (("\n", 1), (" ", 0)):
        at = last
        while (at := text.rfind(mark, first, at)) >= 0:
            # No vocabulary has a token that joins a line end to a letter, or a letter to a space.
            if text[at - 1].isalnum() and text[at + 1].isalnum():
                return at + after
    return last
