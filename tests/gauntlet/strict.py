"""Rules that raise instead of losing their result: a fault is then an exception with its trace."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


@contextmanager
def strictly() -> Generator[None]:
    """Let every rule raise that runs inside, also outside of a session.

    Checkouts from before there were faults have nothing to make strict.
    """
    try:
        faults: Any = import_module("holdfast.core.faults")
    except ModuleNotFoundError:
        yield
        return
    with faults.collecting(faults.Faults(strict=True)):
        yield
