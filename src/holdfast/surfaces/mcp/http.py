"""Serve MCP over HTTP to clients on this machine.

One path accepts POST and answers with JSON, or with a stream of events if the client asks for
progress. There are no subscriptions and no state between requests, and so no MCP sessions.

A web page in a browser can reach this port too. So the server listens on the loopback interface
only, and refuses a request whose `Host` is not this machine, that has another origin, or whose
content type is not JSON (a page needs permission to send JSON to another origin). A token, if one
is set, keeps out other users of the machine.
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
from holdfast.surfaces.mcp.frames import MAX_FRAME_BYTES, RpcFrame, read_frames
from holdfast.surfaces.mcp.protocol import Refusal, Result, encode_answer
from holdfast.surfaces.mcp.requests import InFlight, RequestJob
from holdfast.surfaces.mcp.server import NEEDS_LEDGER, Peer, Request, Server, ServerOptions
from holdfast.text.jsontext import Json, as_text

HOST = "127.0.0.1"
MCP_PATH = "/mcp"
TOKEN_VARIABLE = "HOLDFAST_MCP_TOKEN"
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
MAX_WORKERS = 4
READ_TIMEOUT_SECONDS = 30.0
"""Longest pause of a client between two bytes."""
HEARTBEAT_SECONDS = 1.0
HEADER_MISMATCH = -32020
HTTP_STATUSES = {
    -32700: 400,
    -32600: 400,
    -32602: 400,
    HEADER_MISMATCH: 400,
    -32022: 400,
    -32601: 404,
}
"""HTTP status of each MCP error code, for requests without a handshake."""
NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class RequestRefused(Exception):
    """The request is refused before it is dispatched."""

    def __init__(self, status: int, reason: str, code: int = -32600) -> None:
        self.status, self.refusal = status, Refusal(code, reason)
        super().__init__(reason)


class HttpServer(ThreadingHTTPServer):
    """The listening socket, and what all connections share."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, server: Server, port: int, token: str) -> None:
        self.mcp, self.token = server, token
        self.in_flight, self.workers = InFlight(), threading.BoundedSemaphore(MAX_WORKERS)
        super().__init__((HOST, port), HttpConnection)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that closed the connection; print other errors to stderr."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # pyright: ignore[reportArgumentType]

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.server_address[1])


class HttpConnection(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "holdfast", ""
    timeout = READ_TIMEOUT_SECONDS

    @property
    def http_server(self) -> HttpServer:
        """The server, with what all connections share."""
        return cast(HttpServer, self.server)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, so that requests do not appear in logs."""

    def do_POST(self) -> None:
        """Answer a request, a notification, or a batch."""
        try:
            self._check_sender()
            self._check_token()
            frames = read_frames(self._read_body())
            self._check_headers(frames)
        except RequestRefused as refused:
            self.close_connection = True  # the unread body must not be taken for a request
            self._send(refused.status, encode_answer(RpcFrame(), refused.refusal))
            return
        self._answer(frames)

    def do_GET(self) -> None:
        """Answer 405: there is no event stream to open; only POST is supported."""
        try:
            self._check_sender()
        except RequestRefused as refused:
            status, refusal = refused.status, refused.refusal
        else:
            status, refusal = 405, Refusal(-32600, "only POST is answered here")
        self.close_connection = True
        self._send(status, encode_answer(RpcFrame(), refusal))

    def _check_sender(self) -> None:
        """Check the host, the origin and the path of a request.

        Raises:
            RequestRefused: one of them is not allowed.
        """
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not _is_own_host(hosts[0], self.http_server.port):
            raise RequestRefused(421, "this server answers to this machine's own name only")
        origins = self.headers.get_all("Origin") or []
        if len(origins) > 1 or not all(_is_local_origin(origin) for origin in origins):
            raise RequestRefused(403, "requests of other origins are not answered")
        if urlsplit(self.path).path.rstrip("/") != MCP_PATH:
            raise RequestRefused(404, f"there is nothing here but {MCP_PATH}")

    def _check_token(self) -> None:
        token, given = self.http_server.token, self.headers.get("Authorization", "")
        if token and not compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise RequestRefused(
                401, f"a token is needed: Authorization: Bearer, as {TOKEN_VARIABLE} has it"
            )

    def _read_body(self) -> bytes:
        content_type = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise RequestRefused(415, "a request is application/json")
        sizes = self.headers.get_all("Content-Length") or []
        if self.headers.get("Transfer-Encoding") or len(sizes) != 1 or not _is_count(sizes[0]):
            raise RequestRefused(411, "a request tells its length")
        if int(sizes[0]) > MAX_FRAME_BYTES:
            raise RequestRefused(413, f"a request has {MAX_FRAME_BYTES:,} bytes at the most")
        return self.rfile.read(int(sizes[0]))

    def _check_headers(self, frames: list[RpcFrame]) -> None:
        """Check that headers which repeat a member of the body have the same value."""
        version = self.headers.get("MCP-Protocol-Version")
        if len(frames) != 1 or not protocol.is_enveloped(frames[0]):
            supported = (*protocol.HANDSHAKE_VERSIONS, *protocol.ENVELOPE_VERSIONS)
            if version is not None and version not in supported:
                raise RequestRefused(400, f"version {version[:40]} is not spoken here")
            return
        frame = frames[0]
        expected: dict[str, Json] = {
            "MCP-Protocol-Version": protocol.meta_of(frame).get(protocol.VERSION_KEY),
            "Mcp-Method": frame.method,
        }
        if frame.params.get(NAME_PARAMETERS.get(frame.method, "")) is not None:
            expected["Mcp-Name"] = frame.params[NAME_PARAMETERS[frame.method]]
        for name, value in expected.items():
            if _decode_header(self.headers.get(name)) != value:
                raise RequestRefused(
                    400, f"the header {name} is not what the request says", HEADER_MISMATCH
                )

    def _answer(self, frames: list[RpcFrame]) -> None:
        requests = [frame for frame in frames if frame.id is not None or frame.flaw]
        if not requests:
            self._send(202, b"")
        elif len(frames) > 1:
            answers = [encode_answer(frame, self._result(frame)) for frame in requests]
            self._send(200, b"[" + b",".join(answers) + b"]")
        elif self._is_streamed(requests[0]):
            self._stream(requests[0])
        else:
            result = self._result(requests[0])
            self._send(_http_status(requests[0], result), encode_answer(requests[0], result))

    def _is_streamed(self, frame: RpcFrame) -> bool:
        accepts_events = "text/event-stream" in self.headers.get("Accept", "")
        wants_progress = protocol.progress_token(frame) is not None
        return accepts_events and wants_progress and not frame.flaw and frame.method in NEEDS_LEDGER

    def _result(self, frame: RpcFrame) -> Result | Refusal:
        peer = Peer()
        result = self.http_server.mcp.answer_now(frame, peer)
        if result is not None:
            return result
        with self.http_server.workers:
            return self.http_server.mcp.answer_from_ledger(Request(frame, peer, lambda stage: None))

    def _stream(self, frame: RpcFrame) -> None:
        """Answer with a stream of events: progress reports, then the result."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        job = RequestJob(frame, Peer(), self._send_event)
        self.http_server.in_flight.add(job)
        try:
            with self.http_server.workers:
                job.run(self.http_server.mcp)
        finally:
            self.http_server.in_flight.remove(job)

    def _send_event(self, frame: bytes) -> None:
        # The client may have closed the connection; the request runs to its end anyway.
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


def _is_own_host(host: str, port: int) -> bool:
    return host.strip().lower() in {f"{name}:{port}" for name in LOCAL_HOSTS}


def _is_local_origin(origin: str) -> bool:
    """Whether an origin is a page served by this machine."""
    try:
        parts = urlsplit(origin.strip().lower())
        plain = parts.scheme in ("http", "https") and not (parts.path or parts.username)
        return plain and parts.hostname in ("127.0.0.1", "localhost", "::1")
    except ValueError:
        return False


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def _decode_header(value: str | None) -> str | None:
    """Decode a header value; text that a header cannot hold is sent as `=?base64?...?=`."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[len("=?base64?") : -2], validate=True).decode()
    except ValueError:
        return None


def _http_status(frame: RpcFrame, result: Result | Refusal) -> int:
    """Return the HTTP status of an answer."""
    if frame.flaw:
        return 400
    if not isinstance(result, Refusal) or not protocol.is_enveloped(frame):
        return 200
    return HTTP_STATUSES.get(result.code, 200)


def serve(place: ServerOptions, port: int) -> NoReturn:
    """Serve clients of this machine until the process is interrupted.

    Raises:
        BadSetting: the port is taken.
    """
    try:
        http_server = HttpServer(Server(place), port, as_text(os.environ.get(TOKEN_VARIABLE)))
    except OSError as error:
        reason = f"port {port} cannot be used ({error.strerror or error})"
        raise BadSetting("http", reason, origin="--http") from None
    sys.stderr.write(f"holdfast: serving http://{HOST}:{http_server.port}{MCP_PATH}\n")
    sys.stderr.flush()
    threading.Thread(target=_send_heartbeats, args=(http_server.in_flight,), daemon=True).start()
    try:
        http_server.serve_forever()
    except KeyboardInterrupt:
        http_server.server_close()
        os._exit(130)
    os._exit(0)


def _send_heartbeats(in_flight: InFlight) -> NoReturn:
    pause = threading.Event()
    while True:
        pause.wait(HEARTBEAT_SECONDS)
        in_flight.heartbeat()
