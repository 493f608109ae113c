"""Words from files that others write, as a summary may carry them: short, and in one line."""

from collections.abc import Sequence

LONGEST = 220
SHOWN = 6


def in_a_line(text: str, most: int = LONGEST) -> str:
    """A text without line breaks and without what does not print, cut at so many characters."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def joined(parts: Sequence[str]) -> str:
    """The first few by name, and how many more there are."""
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return f"{in_a_line('; '.join(parts[:SHOWN]))}{more}"
