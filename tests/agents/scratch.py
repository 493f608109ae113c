"""A home, a project and an environment that hold nothing of the user's."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.agents.clients import Client

WAIT = 120
"""Seconds after which a client is taken for one that hangs."""


class Ran(Struct, frozen=True):
    """What a program did."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of its output that are JSON objects."""
        lines = (line for line in self.out.splitlines() if line.startswith("{"))
        return [json.loads(line) for line in lines]


class Scratch:
    """A user who has never used anything, in a project with nothing in it but git."""

    patience: float = WAIT

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()
        self.environment: dict[str, str] = {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": str(self.home),
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            # Bytecode of the product is shared by all tests; a fresh home must not slow it down.
            "TMPDIR": str(folder),
        }
        self.run("git", "init", "-q", "-b", "main", ".")

    def run(self, *words: str, wait: float = WAIT, **more: str) -> Ran:
        """Run a program in the project."""
        done = subprocess.run(
            words,
            cwd=self.project,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            timeout=wait,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, client: Client, words: Sequence[str], **more: str) -> Ran:
        """Run a client in the project."""
        return self.run(str(client.path), *words, wait=self.patience, **more)

    def end(self) -> None:
        """End what clients left running in this home: some start servers that outlive them."""
        mine = f"HOME={self.home}".encode()
        for process in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                if mine in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)

    def holdfast(self, *words: str) -> Ran:
        """Run our own command in the project; it has to succeed."""
        done = self.run("holdfast", *words)
        assert done.code == 0, done.err or done.out
        return done

    def told(self, *words: str) -> dict[str, Any]:
        """What our own command tells as JSON."""
        return json.loads(self.holdfast(*words, "--json").out)

    def write(self, path: Path | str, text: str) -> Path:
        """A file below the project, or anywhere when the path says so."""
        place = self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place
