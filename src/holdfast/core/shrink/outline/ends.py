"""The two ends of a text as they stand, for a reader who wants its own words."""

from collections.abc import Iterable

from holdfast.core.shrink.outline.fitting import clip


def head_of(text: str, *, lines: int = 10, width: int = 160, total: int = 2000) -> tuple[str, ...]:
    """The first lines, cut to `width` each and `total` together."""
    most = max(lines, 0)
    rows = text.removesuffix("\n").split("\n", most)[:most] if text else []
    return _within(rows, width, total)


def tail_of(
    text: str, *, lines: int = 5, width: int = 160, total: int = 800, after: int = 0
) -> tuple[str, ...]:
    """The last lines; `after` is how many the head took, and none of those is shown again."""
    left = text.count("\n") + (not text.endswith("\n")) - after
    most = max(min(lines, left), 0) if text else 0
    rows = text.removesuffix("\n").rsplit("\n", most)[-most:] if most else []
    return tuple(reversed(_within(reversed(rows), width, total)))


def _within(rows: Iterable[str], width: int, total: int) -> tuple[str, ...]:
    kept: list[str] = []
    left = total
    for row in rows:
        if left <= 0:
            break
        # The ellipsis counts too: a line takes one character less than it may have.
        line = clip(row, min(width, left)) if len(row) <= left else clip(row, min(width, left - 1))
        kept.append(line)
        left -= len(line)
    return tuple(kept)
