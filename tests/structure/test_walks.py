"""The walks of ARCHITECTURE.md against real runs: each names the modules that it runs through.

A walk is a section `## Walk: …`. Modules are written as paths below `src/holdfast`, between
backticks: `engine/engine.py`, or a folder with a slash, `core/observe/`, for every module in it.
"""

import re
from pathlib import Path

import pytest
from benchmarks.walks import walked

PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"
PATH = re.compile(r"`((?:\w+/)*(?:\w+\.py|\w+/))`")
SECTIONS = {"message": "a message", "compression": "a compression", "hook": "a hook"}
"""The title of each walk that the page describes."""


def section_of(page: str, title: str) -> str:
    """The text under `## Walk: title`, up to the next heading of that size."""
    _, heading, rest = page.partition(f"\n## Walk: {title}\n")
    assert heading, f"the page has no section `## Walk: {title}`"
    return rest.partition("\n## ")[0]


def paths_in(text: str) -> list[str]:
    """The modules and folders that a text names."""
    return sorted(set(PATH.findall(text)))


def covers(path: str, module: str) -> bool:
    """Whether a path is this module, or a folder that it is in."""
    return module.startswith(path) if path.endswith("/") else module == path


@pytest.mark.parametrize("walk", SECTIONS)
def test_a_walk_names_the_modules_it_runs_through_and_no_others(walk: str) -> None:
    named = paths_in(section_of(PAGE.read_text("utf-8"), SECTIONS[walk]))
    touched = walked(walk).modules
    missing = [module for module in touched if not any(covers(path, module) for path in named)]
    unused = [path for path in named if not any(covers(path, module) for module in touched)]
    assert not missing, f"run through, but not named: {', '.join(missing)}"
    assert not unused, f"named, but not run through: {', '.join(unused)}"


def test_paths_are_read_up_to_the_next_section_and_other_code_is_not_taken_for_one() -> None:
    page = """# Page

## Walk: a message

`engine/intake.py` calls `Session.append()`, then `core/observe/` and `errors.py`; `make test`.

### Detail

`stores/sqlite.py` twice: `stores/sqlite.py`.

## Walk: a hook

`surfaces/hooks/main.py`
"""
    named = ["core/observe/", "engine/intake.py", "errors.py", "stores/sqlite.py"]
    assert paths_in(section_of(page, "a message")) == named
    assert covers("core/observe/", "core/observe/files/bash.py")
    assert not covers("core/observe/", "core/observed.py")
    assert not covers("errors.py", "core/errors.py")
