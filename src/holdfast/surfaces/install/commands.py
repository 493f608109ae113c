"""Find the absolute paths of our own programs, for the settings of other programs."""

import shutil
import sys
from pathlib import Path
from shlex import join


def locate_program(name: str, module: str) -> list[str]:
    """Return the words that start one of our programs from any folder and with any `PATH`."""
    sibling = Path(sys.executable).with_name(name)
    if sibling.is_file():
        return [str(sibling)]
    on_path = shutil.which(name)
    # Without an installed script, this interpreter can still run the module.
    return [str(Path(on_path).absolute())] if on_path else [sys.executable, "-m", module]


def hook_program() -> list[str]:
    """Return the words that start `holdfast-hook`."""
    return locate_program("holdfast-hook", "holdfast.surfaces.hooks.main")


def holdfast_program() -> list[str]:
    """Return the words that start `holdfast`."""
    return locate_program("holdfast", "holdfast")


def shell_line(words: list[str]) -> str:
    """Join words to a line that a shell splits into the same words."""
    return join(words)
