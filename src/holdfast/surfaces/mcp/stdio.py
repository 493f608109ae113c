"""Frames over pipes: one client, which started us and takes us along when it goes.

The thread that reads answers what it can at once, so that a client that pings is never kept
waiting. What needs the ledger is worked on beside it, a few requests at a time. We end when the
client closes our input, stops reading our output, or is gone; whatever is being worked on then gets
a moment to finish and no more. That is safe: the ledger is written all or none.

Only frames go to the client. Whatever else is printed, by us, by a library or by a program that we
start, goes to stderr.
"""

import os
import select
import sys
import threading
from typing import NoReturn

from holdfast.errors import Unreadable
from holdfast.surfaces.mcp.frames import Frame, Lines, read_frames
from holdfast.surfaces.mcp.protocol import BUSY, Refusal, answer
from holdfast.surfaces.mcp.requests import Board, Work
from holdfast.surfaces.mcp.server import Peer, Place, Server, cancelled

CHUNK = 256 * 1024
HANDS = 4
"""Requests that are worked on at a time."""
LOOK = 1.0
"""Seconds between two looks at whether the client is still there."""
HINT = (
    "holdfast: agents start this server themselves (`claude mcp add holdfast -- holdfast mcp`); "
    "it waits for their requests, and Ctrl-D ends it"
)
"""What a person is told who starts it by hand."""
GRACE = 4.0
"""Seconds that each piece of work begun gets when the input has ended and the client still
reads."""


class Pipes:
    """Our end of the client's pipes, put out of reach of everything that prints."""

    def __init__(self) -> None:
        """Take them over.

        Raises:
            Unreadable: there are none.
        """
        try:
            self.input, self.output = os.dup(0), os.dup(1)
        except OSError:
            raise Unreadable("stdin", "it is closed; an agent starts this server") from None
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdout.flush()
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def read(self) -> bytes:
        """What came in; nothing when no more will."""
        try:
            return os.read(self.input, CHUNK)
        except OSError:
            return b""

    def send(self, frame: bytes) -> None:
        """Write one frame, whole; a client that stopped reading ends us."""
        left = memoryview(frame + b"\n")
        with self._lock:
            while left:
                try:
                    left = left[os.write(self.output, left) :]
                except OSError:
                    leave()


def leave(code: int = 0) -> NoReturn:
    """End at once: nothing that is still being worked on may keep us."""
    try:
        sys.stderr.flush()
    finally:
        # Whoever read our errors may be gone as well.
        os._exit(code)


class Connection:
    """One client at the other end of two pipes."""

    def __init__(self, server: Server, pipes: Pipes) -> None:
        self._server, self._pipes = server, pipes
        self._peer, self._board = Peer(), Board()
        self._hands = threading.BoundedSemaphore(HANDS)

    def serve(self) -> None:
        """Read and answer until the client goes."""
        threading.Thread(target=self._watch, args=(os.getppid(),), daemon=True).start()
        lines = Lines()
        while chunk := self._pipes.read():
            for line, lost in lines.feed(chunk):
                self._heard(line, lost)
        for line, lost in lines.end():
            self._heard(line, lost)
        self._board.finish(GRACE)

    def _heard(self, line: bytes, lost: int) -> None:
        for frame in read_frames(line, lost):
            unwanted = cancelled(frame)
            if unwanted is not None:
                self._board.drop(unwanted)
            if frame.id is not None or frame.flaw:
                self._asked(frame)

    def _asked(self, frame: Frame) -> None:
        came = self._server.heard(frame, self._peer)
        if came is not None:
            self._pipes.send(answer(frame, came))
            return
        if self._board.is_full():
            busy = Refusal(BUSY, "too many requests at once; ask again when some are answered")
            self._pipes.send(answer(frame, busy))
            return
        work = Work(frame, self._peer, self._pipes.send)
        self._board.begin(work)
        threading.Thread(target=self._worked, args=(work,), daemon=True).start()

    def _worked(self, work: Work) -> None:
        try:
            with self._hands:
                work.done(self._server)
        finally:
            self._board.end(work)

    def _watch(self, parent: int) -> None:
        """End us when the client is gone, and tell one that waits that we are at it."""
        poll = select.poll()
        poll.register(self._pipes.output, 0)
        # Nothing is asked of the pipe: only that its reader went away wakes this up.
        while not poll.poll(int(LOOK * 1000)) and os.getppid() == parent:
            self._board.beat()
        leave()


def serve(place: Place) -> NoReturn:
    """Serve the client that started us, until it goes."""
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(f"{HINT}\n")
    pipes = Pipes()
    try:
        Connection(Server(place), pipes).serve()
    except KeyboardInterrupt:
        leave(130)
    leave()
