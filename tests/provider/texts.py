"""Long texts of every kind a tool returns or an agent writes, cheap to make and never the same.

Each maker takes a size and a seed: a unit of size is a few hundred tokens.
"""

import json
from collections.abc import Callable

ZWJ = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
HANGUL = "\u1112\u1161\u11ab\u1100\u1173\u11af한글"
COMBINING = "e\u0301a\u0308\u0323o\u0302\u0301"


def rows(size: int, seed: int) -> str:
    """JSON: a list of objects."""
    made = [
        {"id": seed * 1000 + at, "name": f"item-{at}", "ok": at % 3 > 0, "tags": ["a", "b\\n"]}
        for at in range(size * 12)
    ]
    return json.dumps(made, indent=2 if seed % 2 else None)


def log(size: int, seed: int) -> str:
    """A log with an error somewhere in it."""
    lines = [
        f"2026-11-15T10:{at % 60:02}:00Z INFO worker-{seed} handled request {at} in {at % 7} ms"
        for at in range(size * 14)
    ]
    lines[len(lines) * 2 // 3] = f"ERROR worker-{seed} ConnectionRefused: port {5000 + seed}"
    return "\n".join(lines)


def code(size: int, seed: int) -> str:
    """A Python file."""
    return "\n".join(
        f'def step_{seed}_{at}(value: int) -> int:\n    """Add {at}."""\n    return value + {at}\n'
        for at in range(size * 12)
    )


def line(size: int, seed: int) -> str:
    """One giant line, as of a minified file."""
    return f"var a{seed}=1;" + "".join(f"f({seed},{at});" for at in range(size * 60))


def unicode(size: int, seed: int) -> str:
    """Letters that are more than one code point."""
    return f"{seed} " + f"{ZWJ}{HANGUL} {COMBINING}\u2028\r\n\t\ufeff" * (size * 10)


def broken_unicode(size: int, seed: int) -> str:
    """Half letters and a NUL: no provider takes the halves."""
    return f"{seed} " + f"{ZWJ[0]}\udc00 \ud83d{ZWJ}\0 " * (size * 12)


def numbered(size: int, seed: int, start: int = 1) -> str:
    """A part of a file as a read tool shows it."""
    lines = code(size, seed).split("\n")
    return "\n".join(f"{at:6}→{text}" for at, text in enumerate(lines[start - 1 :], start))


def patch(size: int, seed: int) -> str:
    """A patch in the form of apply_patch."""
    body = "".join(f"-old {at}\n+new {seed} {at}\n" for at in range(size * 20))
    return f"*** Begin Patch\n*** Update File: src/m{seed}.py\n@@\n{body}*** End Patch"


def run_of_tests(size: int, seed: int, *, passed: bool) -> str:
    """What a test command prints."""
    if passed:
        return f"{'.' * size * 20}\n{size * 20} passed in 0.{seed}1s"
    lines = [
        f"FAILED tests/test_{seed}.py::test_{at} - AssertionError: assert {at} == {at + 1}"
        for at in range(size * 8)
    ]
    return "\n".join([*lines, f"{size * 8} failed in 0.{seed}2s"])


BIG: tuple[Callable[[int, int], str], ...] = (rows, log, code, line, unicode)
