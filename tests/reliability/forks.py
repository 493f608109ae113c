"""Real processes, cheaply: one small process imports the product once and forks a child per task.

A child talks over a socket, one JSON list a line. What it said before it was killed can still be
read, and the end of what it says is the end of the child.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import msgspec

Word: TypeAlias = int | str
Words: TypeAlias = list[Word]

PROJECT = Path(__file__).parents[2]
FAILED = "failed"


class Line:
    """One end of the conversation between a test and a child."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""

    def tell(self, *words: Word) -> None:
        """Say something; when this returns, the other side can read it whatever happens here."""
        self._end.sendall(json.dumps(words).encode() + b"\n")

    def hear(self) -> Words | None:
        """What the other side says next; None when it is gone."""
        while b"\n" not in self._rest:
            data = _received(self._end)
            if not data:
                return None
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        words = msgspec.json.decode(line, type=Words)
        assert words[0] != FAILED, words[1]
        return words

    def has_more(self, seconds: float) -> bool:
        """Whether the other side says something (or ends) within a time."""
        if b"\n" in self._rest:
            return True
        return bool(select.select([self._end], [], [], max(seconds, 0))[0])

    def fileno(self) -> int:
        """For `select`."""
        return self._end.fileno()

    def close(self) -> None:
        """Hang up."""
        self._end.close()


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(1 << 16)
    except ConnectionResetError:
        # The child was killed before it read everything that was said to it.
        return b""


class Child(Line):
    """A forked process, seen from the test."""

    def __init__(self, end: socket.socket, pid: int, forks: "Forks") -> None:
        super().__init__(end)
        self.pid, self._forks = pid, forks
        self.ended = False

    def rest(self) -> Iterator[Words]:
        """Everything it still says."""
        while (words := self.hear()) is not None:
            yield words

    def within(self, seconds: float) -> Iterator[Words]:
        """What it says in a time."""
        end = time.monotonic() + seconds
        while self.has_more(end - time.monotonic()):
            words = self.hear()
            if words is None:
                return
            yield words

    def kill(self) -> list[Words]:
        """SIGKILL; returns what it said up to then."""
        self._forks.ask("kill", self.pid)
        return self._gone(list(self.rest()))

    def finish(self) -> list[Words]:
        """Wait until it ends by itself, in good order; returns what it said."""
        said = list(self.rest())
        code = self._forks.ask("wait", self.pid)
        assert code == 0, f"a child ended with {code}"
        return self._gone(said)

    def release(self) -> None:
        """Hang up, whereupon a child that listens ends by itself."""
        self.close()
        self._forks.ask("wait", self.pid)
        self._gone([])

    def _gone(self, said: list[Words]) -> list[Words]:
        self.ended = True
        self.close()
        return said

    def put_away(self) -> None:
        """End it if a test that failed left it running."""
        if not self.ended:
            self._forks.ask("kill", self.pid)
            self._gone([])


class Forks:
    """The process that forks."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.reliability.server", str(theirs.fileno())]
        self._server = subprocess.Popen(command, cwd=PROJECT, pass_fds=[theirs.fileno()])
        theirs.close()
        self._line = ours
        self._children: list[Child] = []

    def __enter__(self) -> "Forks":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._line.close()
        self._server.wait()

    def start(self, task: str, *words: Word) -> Child:
        """A child that runs a function of `tests.reliability.tasks`."""
        ours, theirs = socket.socketpair()
        socket.send_fds(
            self._line, [json.dumps(["start", task, *words]).encode()], [theirs.fileno()]
        )
        theirs.close()
        child = Child(ours, self._answer(), self)
        self._children.append(child)
        return child

    def put_away(self) -> None:
        """End what a test left running."""
        for child in self._children:
            child.put_away()
        self._children.clear()

    def ask(self, what: str, pid: int) -> int:
        """Have a child killed or waited for; returns how it ended."""
        self._line.sendall(json.dumps([what, pid]).encode())
        return self._answer()

    def _answer(self) -> int:
        data = self._line.recv(1 << 16)
        assert data, "the forking process is gone"
        return int(data)


def exit_now(code: int) -> None:
    """Leave a forked child without running what its parent left to be run at exit."""
    sys.stderr.flush()
    os._exit(code)
