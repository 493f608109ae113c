"""Tokenizers, loaded when the first text has to be counted and not before."""

from functools import cache

from holdfast.core.measure.tokens import CountTokens
from holdfast.errors import BadSetting

VOCABULARIES = ("o200k_base", "cl100k_base")
CHUNK = 256 * 1024
"""Characters counted at a time: bounds memory, and costs at most one token a chunk."""


@cache
def counter(vocabulary: str) -> CountTokens:
    """A function that counts the tokens of a text in a vocabulary."""
    if vocabulary not in VOCABULARIES:
        choices = ", ".join(VOCABULARIES)
        raise BadSetting("vocabulary", f"{vocabulary!r} is not one of {choices}", origin="model")
    import splintr  # late: loading a vocabulary takes longer than most of what a hook does

    encode = splintr.Tokenizer.from_pretrained(vocabulary).encode_ordinary

    def count(text: str) -> int:
        if len(text) <= CHUNK:
            return len(encode(text))
        return sum(len(encode(part)) for part in chunks(text))

    return count


def chunks(text: str) -> list[str]:
    """A long text in pieces that end where a word does, if one ends near."""
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = min(start + CHUNK, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start, end), text.rfind(" ", start, end))
            end = cut if cut > start + CHUNK // 2 else end
        parts.append(text[start:end])
        start = end
    return parts
