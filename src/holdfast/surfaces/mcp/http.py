"""Frames over HTTP, for clients on this machine only.

One address takes requests by POST and answers each with JSON, or with a stream of events when the
client wants to hear of its progress. There is nothing to subscribe to and nothing is remembered
between two requests, so there are no sessions to end.

A page in a browser can reach this port too. So the server listens on the loopback alone, and takes
a request only if it names this machine as its host, comes from no other origin, and is declared to
be JSON, which no page can send elsewhere without asking. Other users of the machine are kept out by
a token, if one is set.
"""

import os
import sys
import threading
from base64 import b64decode
from contextlib import suppress
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NoReturn, cast
from urllib.parse import urlsplit

from holdfast.errors import BadSetting
from holdfast.surfaces.mcp import protocol
from holdfast.surfaces.mcp.frames import LONGEST, Frame, read_frames
from holdfast.surfaces.mcp.protocol import Refusal, Result, answer
from holdfast.surfaces.mcp.requests import Board, Work
from holdfast.surfaces.mcp.server import NEEDS_LEDGER, Peer, Place, Request, Server
from holdfast.text.jsontext import Json, as_text

HOST = "127.0.0.1"
PATH = "/mcp"
TOKEN = "HOLDFAST_MCP_TOKEN"
LOCAL = ("127.0.0.1", "localhost", "[::1]")
HANDS = 4
PATIENCE = 30.0
"""Seconds that a client may take between two bytes."""
LOOK = 1.0
MISMATCH = -32020
STATUS = {-32700: 400, -32600: 400, -32602: 400, MISMATCH: 400, -32022: 400, -32601: 404}
"""How HTTP says what went wrong, for requests without a handshake."""
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Turned(Exception):
    """A request that is not looked into; the status says why."""

    def __init__(self, status: int, why: str, code: int = -32600) -> None:
        self.status, self.refusal = status, Refusal(code, why)
        super().__init__(why)


class Serving(ThreadingHTTPServer):
    """The socket, and what its connections share."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, server: Server, port: int, token: str) -> None:
        self.mcp, self.token = server, token
        self.board, self.hands = Board(), threading.BoundedSemaphore(HANDS)
        super().__init__((HOST, port), Connection)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is none of our business; the rest goes to stderr."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # pyright: ignore[reportArgumentType]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])


class Connection(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "holdfast", ""
    timeout = PATIENCE

    @property
    def serving(self) -> Serving:
        """What all connections share."""
        return cast(Serving, self.server)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: who asks for what stays here."""

    def do_POST(self) -> None:
        """A request, a notification, or several."""
        try:
            self._check()
            self._check_token()
            frames = read_frames(self._body())
            self._check_headers(frames)
        except Turned as turned:
            self.close_connection = True  # what is left of its body is not to be read as a request
            self._send(turned.status, answer(Frame(), turned.refusal))
            return
        self._answer(frames)

    def do_GET(self) -> None:
        """There is nothing to listen to; every other method is unknown."""
        try:
            self._check()
        except Turned as turned:
            status, came = turned.status, turned.refusal
        else:
            status, came = 405, Refusal(-32600, "only POST is answered here")
        self.close_connection = True
        self._send(status, answer(Frame(), came))

    def _check(self) -> None:
        """Whether this is a request of somebody who may ask at all.

        Raises:
            Turned: it is not.
        """
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not _is_here(hosts[0], self.serving.port):
            raise Turned(421, "this server answers to this machine's own name only")
        origins = self.headers.get_all("Origin") or []
        if len(origins) > 1 or not all(_is_local(origin) for origin in origins):
            raise Turned(403, "requests of other origins are not answered")
        if urlsplit(self.path).path.rstrip("/") != PATH:
            raise Turned(404, f"there is nothing here but {PATH}")

    def _check_token(self) -> None:
        wanted, given = self.serving.token, self.headers.get("Authorization", "")
        if wanted and not compare_digest(given.encode(), f"Bearer {wanted}".encode()):
            raise Turned(401, f"a token is needed: Authorization: Bearer, as {TOKEN} has it")

    def _body(self) -> bytes:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Turned(415, "a request is application/json")
        sizes = self.headers.get_all("Content-Length") or []
        if self.headers.get("Transfer-Encoding") or len(sizes) != 1 or not _is_count(sizes[0]):
            raise Turned(411, "a request tells its length")
        if int(sizes[0]) > LONGEST:
            raise Turned(413, f"a request has {LONGEST:,} bytes at the most")
        return self.rfile.read(int(sizes[0]))

    def _check_headers(self, frames: list[Frame]) -> None:
        """What stands in the headers as well as in the body is the same in both."""
        version = self.headers.get("MCP-Protocol-Version")
        if len(frames) != 1 or not protocol.is_enveloped(frames[0]):
            known = (*protocol.HANDSHAKES, *protocol.ENVELOPES)
            if version is not None and version not in known:
                raise Turned(400, f"version {version[:40]} is not spoken here")
            return
        frame = frames[0]
        wanted: dict[str, Json] = {
            "MCP-Protocol-Version": protocol.meta_of(frame).get(protocol.VERSION),
            "Mcp-Method": frame.method,
        }
        if frame.params.get(NAMED.get(frame.method, "")) is not None:
            wanted["Mcp-Name"] = frame.params[NAMED[frame.method]]
        for name, value in wanted.items():
            if _decoded(self.headers.get(name)) != value:
                raise Turned(400, f"the header {name} is not what the request says", MISMATCH)

    def _answer(self, frames: list[Frame]) -> None:
        asked = [frame for frame in frames if frame.id is not None or frame.flaw]
        if not asked:
            self._send(202, b"")
        elif len(frames) > 1:
            answers = [answer(frame, self._came_of(frame)) for frame in asked]
            self._send(200, b"[" + b",".join(answers) + b"]")
        elif self._is_streamed(asked[0]):
            self._stream(asked[0])
        else:
            came = self._came_of(asked[0])
            self._send(_status_of(asked[0], came), answer(asked[0], came))

    def _is_streamed(self, frame: Frame) -> bool:
        wants = "text/event-stream" in self.headers.get("Accept", "")
        told = protocol.progress_token(frame) is not None
        return wants and told and not frame.flaw and frame.method in NEEDS_LEDGER

    def _came_of(self, frame: Frame) -> Result | Refusal:
        peer = Peer()
        came = self.serving.mcp.heard(frame, peer)
        if came is not None:
            return came
        with self.serving.hands:
            return self.serving.mcp.worked(Request(frame, peer, lambda stage: None))

    def _stream(self, frame: Frame) -> None:
        """Answer with events: how far it has come, and then what came of it."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        work = Work(frame, Peer(), self._event)
        self.serving.board.begin(work)
        try:
            with self.serving.hands:
                work.done(self.serving.mcp)
        finally:
            self.serving.board.end(work)

    def _event(self, frame: bytes) -> None:
        # Whoever asked may be gone; what was begun is done all the same.
        with suppress(OSError):
            self.wfile.write(b"event: message\ndata: " + frame + b"\n\n")
            self.wfile.flush()

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", "POST")
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _is_here(host: str, port: int) -> bool:
    return host.strip().lower() in {f"{name}:{port}" for name in LOCAL}


def _is_local(origin: str) -> bool:
    """Whether a page of this machine sent it; where it came from is then the user's business."""
    try:
        parts = urlsplit(origin.strip().lower())
        plain = parts.scheme in ("http", "https") and not (parts.path or parts.username)
        return plain and parts.hostname in ("127.0.0.1", "localhost", "::1")
    except ValueError:
        return False


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def _decoded(value: str | None) -> str | None:
    """A header as it was meant: text that a header cannot hold comes in base64."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[len("=?base64?") : -2], validate=True).decode()
    except ValueError:
        return None


def _status_of(frame: Frame, came: Result | Refusal) -> int:
    """How HTTP says what came of a request."""
    if frame.flaw:
        return 400
    if not isinstance(came, Refusal) or not protocol.is_enveloped(frame):
        return 200
    return STATUS.get(came.code, 200)


def serve(place: Place, port: int) -> NoReturn:
    """Serve clients of this machine until we are told to stop.

    Raises:
        BadSetting: the port is taken.
    """
    try:
        serving = Serving(Server(place), port, as_text(os.environ.get(TOKEN)))
    except OSError as error:
        reason = f"port {port} cannot be used ({error.strerror or error})"
        raise BadSetting("http", reason, origin="--http") from None
    sys.stderr.write(f"holdfast: serving http://{HOST}:{serving.port}{PATH}\n")
    sys.stderr.flush()
    threading.Thread(target=_beat, args=(serving.board,), daemon=True).start()
    try:
        serving.serve_forever()
    except KeyboardInterrupt:
        serving.server_close()
        os._exit(130)
    os._exit(0)


def _beat(board: Board) -> NoReturn:
    pause = threading.Event()
    while True:
        pause.wait(LOOK)
        board.beat()
