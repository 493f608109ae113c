"""Our own commands as another program has to call them: by where they are, not by luck."""

import shutil
import sys
from pathlib import Path
from shlex import join


def command(name: str, module: str) -> list[str]:
    """How one of our commands is called from anywhere, whatever the caller's path says."""
    beside = Path(sys.executable).with_name(name)
    if beside.is_file():
        return [str(beside)]
    found = shutil.which(name)
    # Where there is no script, the interpreter that runs this one knows the package.
    return [str(Path(found).absolute())] if found else [sys.executable, "-m", module]


def hook() -> list[str]:
    """`holdfast-hook`."""
    return command("holdfast-hook", "holdfast.surfaces.hooks.main")


def holdfast() -> list[str]:
    """`holdfast`."""
    return command("holdfast", "holdfast")


def in_shell(words: list[str]) -> str:
    """Words as a shell takes them."""
    return join(words)
