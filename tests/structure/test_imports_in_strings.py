"""Scripts that tests and benchmarks run as strings import only names that exist."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for name in ("tests", "benchmarks") for path in (ROOT / name).rglob("*.py"))
# Matches `from holdfast.text.clip import clip, one_line`; not `import holdfast`.
FROM = re.compile(r"\bfrom (holdfast(?:\.\w+)*) import ((?:\w+(?: as \w+)?, ?)*\w+)")
# Matches `holdfast.stores.sqlite` in `import holdfast, holdfast.stores.sqlite`.
MODULE = re.compile(r"(?<=[ ,])holdfast(?:\.\w+)+(?=,|\\n|\n)")
IMPORT = re.compile(r"\bimport holdfast[\w., ]*(?:\\n|\n)")


def missing_names(text: str) -> list[str]:
    """Return the modules and names that a text imports from the package and that do not exist."""
    missing = [
        module
        for line in IMPORT.findall(text)
        for module in MODULE.findall(line)
        if find_spec(module) is None
    ]
    for module, names in FROM.findall(text):
        for name in (part.split(" as ")[0].strip() for part in names.split(",")):
            if not hasattr(import_module(module), name) and not find_spec(f"{module}.{name}"):
                missing.append(f"{module}.{name}")
    return missing


def test_a_missing_module_is_noticed() -> None:
    package = "holdfast"
    assert missing_names(f"import {package}, {package}.opening\n") == [f"{package}.opening"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_import_names_something_that_exists(path: Path) -> None:
    assert missing_names(path.read_text("utf-8")) == []
