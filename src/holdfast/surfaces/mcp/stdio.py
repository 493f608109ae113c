"""Serve MCP over stdin and stdout to the client that started this process.

The reading thread answers simple requests itself, so that a ping never waits. Requests that need
the ledger run in other threads, a few at a time. The process ends when the client closes our input,
stops reading our output, or ends; running requests then get a few seconds to finish. That is safe,
because writes to the ledger are atomic.

Only frames go to the client. All other output, of this program, of libraries and of child
processes, goes to stderr.
"""

import os
import select
import sys
import threading
from typing import NoReturn

from holdfast.errors import Unreadable
from holdfast.surfaces.mcp.frames import LineBuffer, RpcFrame, read_frames
from holdfast.surfaces.mcp.protocol import BUSY, Refusal, encode_answer
from holdfast.surfaces.mcp.requests import InFlight, RequestJob
from holdfast.surfaces.mcp.server import Peer, Server, ServerOptions, cancelled_id

READ_BYTES = 256 * 1024
MAX_WORKERS = 4
"""Requests that run at the same time."""
POLL_SECONDS = 1.0
"""Seconds between two checks whether the client still runs."""
MANUAL_START_HINT = (
    "holdfast: agents start this server themselves (`claude mcp add holdfast -- holdfast mcp`); "
    "it waits for their requests, and Ctrl-D ends it"
)
"""Printed if a person starts the server in a terminal."""
GRACE_SECONDS = 4.0
"""Seconds that a running request gets after the end of the input, if the client still reads."""


class ClientPipes:
    """The pipes to the client, moved to other descriptors so that `print` cannot reach them."""

    def __init__(self) -> None:
        """Take over stdin and stdout.

        Raises:
            Unreadable: they are closed.
        """
        try:
            self.input, self.output = os.dup(0), os.dup(1)
        except OSError:
            raise Unreadable("stdin", "it is closed; an agent starts this server") from None
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        sys.stdout.flush()
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def read(self) -> bytes:
        """Read the available input; empty at its end."""
        try:
            return os.read(self.input, READ_BYTES)
        except OSError:
            return b""

    def send(self, frame: bytes) -> None:
        """Write one frame completely; exit if the client has stopped reading."""
        remaining = memoryview(frame + b"\n")
        with self._lock:
            while remaining:
                try:
                    remaining = remaining[os.write(self.output, remaining) :]
                except OSError:
                    exit_now()


def exit_now(code: int = 0) -> NoReturn:
    """End the process at once, without waiting for running threads."""
    try:
        sys.stderr.flush()
    finally:
        # The reader of stderr may have ended as well.
        os._exit(code)


class StdioConnection:
    """The connection to one client over two pipes."""

    def __init__(self, server: Server, pipes: ClientPipes) -> None:
        self._server, self._pipes = server, pipes
        self._peer, self._in_flight = Peer(), InFlight()
        self._workers = threading.BoundedSemaphore(MAX_WORKERS)

    def serve(self) -> None:
        """Read and answer requests until the input ends."""
        threading.Thread(target=self._watch_client, args=(os.getppid(),), daemon=True).start()
        lines = LineBuffer()
        while chunk := self._pipes.read():
            for line, dropped in lines.feed(chunk):
                self._handle_line(line, dropped)
        for line, dropped in lines.flush():
            self._handle_line(line, dropped)
        self._in_flight.wait(GRACE_SECONDS)

    def _handle_line(self, line: bytes, dropped: int) -> None:
        for frame in read_frames(line, dropped):
            cancelled = cancelled_id(frame)
            if cancelled is not None:
                self._in_flight.cancel(cancelled)
            if frame.id is not None or frame.flaw:
                self._handle_request(frame)

    def _handle_request(self, frame: RpcFrame) -> None:
        result = self._server.answer_now(frame, self._peer)
        if result is not None:
            self._pipes.send(encode_answer(frame, result))
            return
        if self._in_flight.is_full():
            busy = Refusal(BUSY, "too many requests at once; ask again when some are answered")
            self._pipes.send(encode_answer(frame, busy))
            return
        job = RequestJob(frame, self._peer, self._pipes.send)
        self._in_flight.add(job)
        threading.Thread(target=self._run_job, args=(job,), daemon=True).start()

    def _run_job(self, job: RequestJob) -> None:
        try:
            with self._workers:
                job.run(self._server)
        finally:
            self._in_flight.remove(job)

    def _watch_client(self, parent: int) -> None:
        """Exit when the client has ended; until then, report the progress of running requests."""
        poll = select.poll()
        poll.register(self._pipes.output, 0)
        # With no event requested, `poll` wakes up only when the reader has closed the pipe.
        while not poll.poll(int(POLL_SECONDS * 1000)) and os.getppid() == parent:
            self._in_flight.heartbeat()
        exit_now()


def serve(place: ServerOptions) -> NoReturn:
    """Serve the client that started this process, and exit when it ends."""
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(f"{MANUAL_START_HINT}\n")
    pipes = ClientPipes()
    try:
        StdioConnection(Server(place), pipes).serve()
    except KeyboardInterrupt:
        exit_now(130)
    exit_now()
