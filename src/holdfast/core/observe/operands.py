"""The words of one command: its options, its files, and the lines that it is asked for."""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec.structs import replace

from holdfast.core.observe.script import Command, Word

LONGEST_HOW = 70
_SPAN = re.compile(r"(\d{1,9})(?:,(\d{1,9}|\$))?p")


def program_of(command: Command) -> str:
    """The name of the program, without its folder."""
    return command.words[0].text.rpartition("/")[2] if command.words else ""


def operands_of(words: Sequence[Word], with_value: Sequence[str] = ()) -> list[str]:
    """The words of a command that are no options and that stand as they are."""
    found: list[str] = []
    skip = plain = False
    for word in words[1:]:
        if skip:
            skip = False
        elif plain or not word.text.startswith("-") or word.text == "-":
            found += [] if word.live or not word.text else [word.text]
        elif word.text == "--":
            plain = True
        else:
            skip = takes_value(word.text, with_value)
    return found


def takes_value(option: str, with_value: Sequence[str]) -> bool:
    """Whether the word after an option belongs to it; the last letter of several decides."""
    return option in with_value or (option[1:2] != "-" and f"-{option[-1:]}" in with_value)


def letters_of(words: Sequence[Word]) -> str:
    """The letters of all short options."""
    flags = (word.text for word in words[1:] if word.text[:1] == "-" and word.text[:2] != "--")
    return "".join(flags)


def lines_asked(words: Sequence[Word]) -> int:
    """The number of lines that `head` or `tail` is asked for."""
    texts = [word.text for word in words[1:]]
    for text, after in pairwise([*texts, ""]):
        digits = after if text == "-n" else text.removeprefix("--lines=").lstrip("-n")
        if text.startswith("-") and digits.isascii() and digits.isdigit():
            return int(digits[:9])
    return 10


def lines_printed(words: Sequence[Word]) -> list[tuple[int, int]]:
    """The lines that `sed -n` prints; 0 where it goes on to the end."""
    script = next((word.text for word in words[1:] if word.text[:1].isdigit()), "")
    return [
        (int(found[1]), int(found[2] or found[1]) if found[2] != "$" else 0)
        for found in _SPAN.finditer(script[:500])
    ]


def shortened(text: str) -> str:
    """A text in one line, cut when it is long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_HOW else f"{plain[: LONGEST_HOW - 1]}…"


def after_pattern(words: Sequence[Word], with_value: Sequence[str], *, given: bool) -> list[str]:
    """The files of a command whose first operand is a pattern, unless an option gave it."""
    # The pattern may hold anything; it must not be left out as a live path would be.
    paths = operands_of([replace(word, live=False) for word in words], with_value)
    live = {word.text for word in words if word.live}
    return [path for path in (paths if given else paths[1:]) if path not in live]
