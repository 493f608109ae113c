"""Names and docstrings use plain words: one meaning each, and none that has to be translated."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "holdfast"
REBUILT = (
    "core/observe/requests/",
    "core/observe/worth.py",
    "core/shrink/summary/",
    "core/view/packet/",
    "core/view/levels.py",
)
"""Parts that read and choose content: they are about to be replaced, and keep their inner names."""
PRINTED = {
    "core/plan/preserve.py": {"told"},
    "engine/purge/purge.py": {"heirs"},
}
"""Fields that `--json` prints under these names."""
SENT = {"core/shrink/ask/prompts.py": {"Question"}}
"""Docstrings that are sent to a model as the description of a row."""
UNCLEAR = re.compile(
    r"\b(?:told|anew|whoever|nobody|heirs?|laid|comes? to|in sight|put down|stands)\b",
    re.IGNORECASE,
)
"""Matches "what was told to the agent"; not "the agent was asked" and not "standard"."""
UNCLEAR_NAME = re.compile(r"(?:^|_)(?:told|anew|heirs?|laid|whoever|nobody)(?:_|$)", re.IGNORECASE)
"""Matches `_told` and `told_in`; not `_stolen`."""
MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))


def test_the_patterns_match_what_they_are_for() -> None:
    assert UNCLEAR.search("what was told to the agent")
    assert not UNCLEAR.search("standard input, as the agent was asked")
    assert UNCLEAR_NAME.search("_told")
    assert not UNCLEAR_NAME.search("_stolen")


def documented(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The name and the docstring of a module and of everything public in it."""
    yield "module", ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, ast.get_docstring(node) or ""


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Every name that a module binds: functions, classes, parameters and variables."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case _:
                pass


@pytest.mark.parametrize("module", MODULES)
def test_public_docstrings_use_plain_words(module: str) -> None:
    tree = ast.parse((SOURCE / module).read_text("utf-8"))
    found = {name for name, text in documented(tree) if UNCLEAR.search(text)}
    assert found == SENT.get(module, set())


@pytest.mark.parametrize("module", [name for name in MODULES if not name.startswith(REBUILT)])
def test_names_use_plain_words(module: str) -> None:
    tree = ast.parse((SOURCE / module).read_text("utf-8"))
    found = {name for name in bound_names(tree) if name == "one" or UNCLEAR_NAME.search(name)}
    assert found == PRINTED.get(module, set())
