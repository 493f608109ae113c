"""Cut a text to a length, put it on one line, name the first few of many.

`clip` counts the ellipsis as part of the limit, `clip_and_mark` adds a mark behind it.
"""

from collections.abc import Callable, Sequence

FOREIGN_LINE_CHARS = 220
MAX_JOINED = 6


def clip(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, of which the last is an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def clip_and_mark(text: str, limit: int, mark: str = "…") -> str:
    """Cut a text after `limit` characters and append a mark.

    A mark that begins with a blank replaces the blanks before it.
    """
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip() if mark.startswith(' ') else text[:limit]}{mark}"


def clip_words(
    text: str, limit: int, mark: str = "", *, within: int | None = None, split: bool = True
) -> str:
    """Cut a text at the end of a word and append a mark, if it has more than `limit` characters.

    The last blank of the first `within` characters ends it: by default the mark counts as a part
    of the limit. A first word that is longer is split, or left out if `split` is false.
    """
    if len(text) <= limit:
        return text
    whole = text[: limit + 1 - len(mark) if within is None else within].rpartition(" ")[0]
    return f"{whole or (text[:limit] if split else '')}{mark}"


def clip_middle(text: str, head: int, tail: int, gap: str) -> str:
    """Cut out the middle of a text of more than `head + tail` characters.

    Args:
        text: The text.
        head: Characters to keep from its beginning.
        tail: Characters to keep from its end.
        gap: Replaces the middle; a format string that gets the number of removed characters.
    """
    left = len(text) - head - tail
    return f"{text[:head]}{gap.format(left)}{text[len(text) - tail :]}" if left > 0 else text


def most_that_fit(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to `limit` that fits; 0 is not tried, and smaller ones fit."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def one_line(text: str) -> str:
    """Make every run of white space a single blank."""
    return " ".join(text.split())


def without_controls(text: str, instead: str = "") -> str:
    """Replace every character that does not print."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else instead for char in text)


def clip_line(text: str, limit: int) -> str:
    """Cut the beginning of a text to one line that is safe to print; controls stay visible."""
    return clip(without_controls(one_line(text[: limit * 4]), "\ufffd"), limit)


def clip_foreign(text: str, limit: int = FOREIGN_LINE_CHARS) -> str:
    """Cut a text from a file of others to one line; controls become blanks."""
    return clip(one_line(without_controls(text, " ")), limit)


def and_more(count: int) -> str:
    """Return " and `count` more", or nothing if there are no more."""
    return f" and {count} more" if count > 0 else ""


def join_few(parts: Sequence[str]) -> str:
    """Join the first few texts of others, and say how many more there are."""
    return f"{clip_foreign('; '.join(parts[:MAX_JOINED]))}{and_more(len(parts) - MAX_JOINED)}"
