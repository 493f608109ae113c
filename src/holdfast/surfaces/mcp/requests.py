"""Requests that are being worked on: who waits for them, and what they are told meanwhile."""

import threading
from collections.abc import Callable
from time import monotonic

from holdfast.surfaces.mcp.frames import Frame, Id
from holdfast.surfaces.mcp.protocol import (
    Refusal,
    Result,
    answer,
    log_level,
    notification,
    progress_token,
)
from holdfast.surfaces.mcp.server import LEVELS, Peer, Request, Server

FIRST_WORD = 1.0
"""Seconds of work from which on a client that wants to know is told that it goes on."""


MOST = 64
"""Requests that wait or are worked on."""


class Work:
    """One request that is being worked on."""

    def __init__(self, frame: Frame, peer: Peer, send: Callable[[bytes], None]) -> None:
        self.frame, self._peer, self._send = frame, peer, send
        self.unwanted = False
        """Whether the client said that it no longer waits."""
        self._begun, self._told, self._stage = monotonic(), 0.0, "working"
        self._lock = threading.Lock()
        self._over = False

    def done(self, server: Server) -> None:
        """Do it, and send what came of it, unless nobody waits any more."""
        if self.unwanted:
            return
        came = self._came_of(server)
        with self._lock:
            self._over = True
        if not self.unwanted:
            self._send(answer(self.frame, came))

    def _came_of(self, server: Server) -> Result | Refusal:
        level = log_level(self.frame) or self._peer.level
        request = Request(self.frame, self._peer, self._reached)
        if level not in LEVELS:
            return server.worked(request)
        from holdfast.surfaces.mcp.log_messages import overheard  # late: few clients ask for it

        with overheard(level, self._send):
            return server.worked(request)

    def _reached(self, stage: str) -> None:
        self._stage = stage
        self._tell()

    def beat(self) -> None:
        """Say that it goes on, once it has taken a while."""
        if monotonic() - self._begun >= FIRST_WORD:
            self._tell()

    def _tell(self) -> None:
        token = progress_token(self.frame)
        with self._lock:
            if token is None or self._over or self.unwanted:
                return
            # It has to grow, and nobody knows how far there is to go: so it is the time.
            self._told = max(self._told + 0.001, round(monotonic() - self._begun, 3))
            told = {"progressToken": token, "progress": self._told, "message": self._stage}
            self._send(notification("notifications/progress", {**told}))


class Board:
    """All that is being worked on."""

    def __init__(self) -> None:
        self._open: list[Work] = []
        self._changed = threading.Condition()

    def begin(self, work: Work) -> None:
        """Something is to be done."""
        with self._changed:
            self._open.append(work)

    def end(self, work: Work) -> None:
        """It is done, or given up."""
        with self._changed:
            self._open.remove(work)
            self._changed.notify_all()

    def is_full(self) -> bool:
        """Whether so much is to be done that more has to wait elsewhere."""
        with self._changed:
            return len(self._open) >= MOST

    def drop(self, name: Id) -> None:
        """Nobody waits for this request any more."""
        with self._changed:
            for work in self._open:
                work.unwanted = work.unwanted or work.frame.id == name

    def beat(self) -> None:
        """Tell everyone who waits that it goes on."""
        with self._changed:
            waiting = list(self._open)
        for work in waiting:
            work.beat()

    def finish(self, seconds: float) -> None:
        """Wait until all is done; each piece may take so long after the one before it."""
        with self._changed:
            while left := len(self._open):
                if not self._changed.wait_for(lambda: len(self._open) < left, timeout=seconds):
                    return
