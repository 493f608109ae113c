"""Trouble made on purpose: what a broken, slow or dying Holdfast looks like to an agent."""

import os
import signal
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Any

import apsw


def break_ledger(project: Path) -> None:
    """Leave a ledger behind that is none."""
    folder = project / ".holdfast"
    folder.mkdir(exist_ok=True)
    (folder / "ledger.db").write_bytes(b"this is no database\n" * 500)


def lose_program(*settings: Path) -> None:
    """Have settings name a program that is not there any more."""
    for path in settings:
        text = path.read_text()
        assert "holdfast-hook" in text
        path.write_text(text.replace("/holdfast-hook", "/gone/holdfast-hook"))


class Held:
    """A ledger that somebody else writes to for a very long time."""

    def __init__(self, project: Path) -> None:
        self._path = project / ".holdfast" / "ledger.db"
        self._ledger: Any = None

    def begin(self) -> None:
        """From now on, whoever wants to write has to wait until it gives up."""
        self._ledger = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        self._ledger.set_busy_timeout(10_000)  # hooks of an earlier turn may still be writing
        self._ledger.execute("begin exclusive")

    def end(self) -> None:
        """Let go of it."""
        self._ledger.execute("rollback")

    def close(self) -> None:
        """Be done with it."""
        if self._ledger is not None:
            self._ledger.close()


def held_ledger(project: Path) -> AbstractContextManager[Held]:
    """The ledger of a project, to be held from some moment on."""
    return closing(Held(project))


def kill_servers(project: Path) -> int:
    """Kill the servers that a client started in a project, and nothing else; how many."""
    killed = 0
    for process in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            here = os.path.realpath(process / "cwd") == os.path.realpath(project)
            if here and b"mcp" in words and any(b"holdfast" in word for word in words):
                os.kill(int(process.name), signal.SIGKILL)
                killed += 1
    return killed
