"""Run requests and track those in flight: progress reports, cancellation, waiting for the end."""

import threading
from collections.abc import Callable
from time import monotonic

from holdfast.surfaces.mcp.frames import Id, RpcFrame
from holdfast.surfaces.mcp.protocol import (
    Refusal,
    Result,
    encode_answer,
    encode_notification,
    log_level,
    progress_token,
)
from holdfast.surfaces.mcp.server import LOG_LEVELS, Peer, Request, Server

PROGRESS_AFTER_SECONDS = 1.0
"""Seconds after which a running request starts to report its progress."""


MAX_IN_FLIGHT = 64
"""Most requests that wait or run at the same time."""


class RequestJob:
    """One request that needs the ledger, from its arrival to its answer."""

    def __init__(self, frame: RpcFrame, peer: Peer, send: Callable[[bytes], None]) -> None:
        self.frame, self._peer, self._send = frame, peer, send
        self.cancelled = False
        """Whether the client has cancelled the request."""
        self._started, self._progress, self._stage = monotonic(), 0.0, "working"
        self._lock = threading.Lock()
        self._finished = False

    def run(self, server: Server) -> None:
        """Run the request and send its answer, unless it was cancelled."""
        if self.cancelled:
            return
        result = self._result(server)
        with self._lock:
            self._finished = True
        if not self.cancelled:
            self._send(encode_answer(self.frame, result))

    def _result(self, server: Server) -> Result | Refusal:
        level = log_level(self.frame) or self._peer.level
        request = Request(self.frame, self._peer, self._set_stage)
        if level not in LOG_LEVELS:
            return server.answer_from_ledger(request)
        from holdfast.surfaces.mcp.log_messages import forward_logs  # late: few clients ask for it

        with forward_logs(level, self._send):
            return server.answer_from_ledger(request)

    def _set_stage(self, stage: str) -> None:
        self._stage = stage
        self._send_progress()

    def heartbeat(self) -> None:
        """Report progress if the request has been running for a while."""
        if monotonic() - self._started >= PROGRESS_AFTER_SECONDS:
            self._send_progress()

    def _send_progress(self) -> None:
        token = progress_token(self.frame)
        with self._lock:
            if token is None or self._finished or self.cancelled:
                return
            # MCP requires increasing values, and the total is unknown: send the elapsed seconds.
            self._progress = max(self._progress + 0.001, round(monotonic() - self._started, 3))
            params = {"progressToken": token, "progress": self._progress, "message": self._stage}
            self._send(encode_notification("notifications/progress", {**params}))


class InFlight:
    """The requests that wait or run."""

    def __init__(self) -> None:
        self._jobs: list[RequestJob] = []
        self._changed = threading.Condition()

    def add(self, job: RequestJob) -> None:
        """Add a request."""
        with self._changed:
            self._jobs.append(job)

    def remove(self, job: RequestJob) -> None:
        """Remove a request that has ended."""
        with self._changed:
            self._jobs.remove(job)
            self._changed.notify_all()

    def is_full(self) -> bool:
        """Whether another request has to be refused."""
        with self._changed:
            return len(self._jobs) >= MAX_IN_FLIGHT

    def cancel(self, request_id: Id) -> None:
        """Mark a request as cancelled by the client."""
        with self._changed:
            for job in self._jobs:
                job.cancelled = job.cancelled or job.frame.id == request_id

    def heartbeat(self) -> None:
        """Report the progress of all requests."""
        with self._changed:
            waiting = list(self._jobs)
        for job in waiting:
            job.heartbeat()

    def wait(self, seconds: float) -> None:
        """Wait until all requests have ended, or until none ends within so many seconds."""
        with self._changed:
            while left := len(self._jobs):
                if not self._changed.wait_for(lambda: len(self._jobs) < left, timeout=seconds):
                    return
