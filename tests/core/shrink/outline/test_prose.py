from holdfast.core.shrink.outline.outline import Outline, outline


def test_headings_come_with_the_first_sentence() -> None:
    text = """\
# Guide

This guide shows how to start today. It is short.

## Install

```sh
# not a heading
```

Run the installer first, then wait. It takes long.
"""
    assert outline(text) == Outline(
        "prose",
        "Markdown, 11 lines, about 29 words, 2 headings: Guide",
        (
            "L1 # Guide",
            "L3: This guide shows how to start today.",
            "L5 ## Install",
            "L11: Run the installer first, then wait.",
        ),
    )


def test_more_headings_than_lines_are_packed() -> None:
    text = "".join(f"## Part {at}\n\nWords here.\n\n" for at in range(9))
    assert outline(text, lines=2, width=60) == Outline(
        "prose",
        "Markdown, 36 lines, about 45 words, 9 headings: Part 0",
        (
            "L1 Part 0, L5 Part 1, L9 Part 2, L13 Part 3, L17 Part 4",
            "L21 Part 5, L25 Part 6, L29 Part 7, L33 Part 8",
        ),
    )


def test_one_long_line_is_shown_in_pieces() -> None:
    text = "One two. " * 5
    assert outline(text, width=20, lines=2) == Outline(
        "prose",
        "text, 1 line, about 11 words: One two. One two. One two. One two. One two.",
        ("L1: One two. One two…", "e two. One two. One"),
    )
