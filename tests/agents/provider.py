"""A provider on loopback: it says what it is told to say, and keeps every request.

It speaks the Messages, Responses, chat and generateContent APIs; the path tells which.
"""

import gzip
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from msgspec.structs import replace

from tests.agents import anthropic, gemini, openai
from tests.agents.script import Refusal, Reply, Request, Turn

SUMMARY = "<summary>\nThe work went on as planned.\n</summary>"


class Provider:
    """Answers clients from scripts: one for the main thread, others for what stands beside it."""

    def __init__(
        self,
        turns: Sequence[Reply] = (),
        *,
        workers: Sequence[Reply] = (),
        summaries: Sequence[Reply] = (),
        summary: str = SUMMARY,
    ) -> None:
        self._scripts = {
            "turn": iter(turns),
            "worker": iter(workers),
            "compact": iter(summaries),
        }
        self._last = {"compact": Turn(summary), "aside": Turn("A title")}
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.failures: list[Exception] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def asked(self, *kinds: str) -> list[Request]:
        """The requests of a kind, in the order they came."""
        if self.failures:
            raise self.failures[0]
        return [request for request in self.requests if request.kind in kinds]

    def say(self, *turns: Reply) -> None:
        """Say these next in the main thread, and nothing that was left to say before."""
        with self._lock:
            self._scripts["turn"] = iter(turns)

    def say_as_worker(self, *turns: Reply) -> None:
        """Say these next to sub-agents."""
        with self._lock:
            self._scripts["worker"] = iter(turns)

    def summarize(self, summary: str) -> None:
        """Answer with this whenever a client asks for a summary."""
        self._last["compact"] = Turn(summary)

    def reply(self, request: Request) -> tuple[Request, Turn]:
        """Keep a request, and tell what is said to it."""
        known = replace(request, kind=_kind_of(request))
        with self._lock:
            self.requests.append(known)
            said = next(self._scripts.get(known.kind, iter(())), None)
        if said is None:
            said = self._last.get(known.kind, Turn("Done."))
        return known, said if isinstance(said, Turn) else self._found_out(said, known)

    def _found_out(self, reply: Callable[[Request], Turn], request: Request) -> Turn:
        """What to say; what goes wrong in a script is raised where the scenario looks at it."""
        try:
            return reply(request)
        except Exception as error:  # noqa: BLE001  The scenario gets it, not the client.
            self.failures.append(error)
            return Turn("The script failed.")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(_Handler):
            def answer_from(self, request: Request) -> tuple[Request, Turn]:
                return provider.reply(request)

        return Handler


def _kind_of(request: Request) -> str:
    path = request.path.partition("?")[0]
    if request.method != "POST":
        return "other"
    if "/messages" in path:
        return anthropic.kind_of(request)
    if path.endswith(("/responses", "/chat/completions")):
        return openai.kind_of(request)
    return gemini.kind_of(request) if "models/" in path else "other"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer_from(self, request: Request) -> tuple[Request, Turn]:
        """What to say to a request."""
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._answered()
        self._send(200, "text/plain", b"")

    def do_GET(self) -> None:
        self._answered()
        self._refuse(Refusal(404, {"error": {"message": "not here", "type": "not_found_error"}}))

    def do_POST(self) -> None:
        request, turn = self._answered()
        path = request.path.partition("?")[0]
        if turn.refusal is not None:
            return self._refuse(turn.refusal)
        if request.kind == "count":
            size = max(1, len(json.dumps(request.body)) // 4)
            return self._json(200, {"input_tokens": size, "totalTokens": size})
        if path.endswith("/messages"):
            return self._stream(_named(anthropic.events(turn, request)))
        if path.endswith("/responses"):
            return self._stream(_named(openai.response_events(turn, request)))
        if path.endswith("/chat/completions"):
            return self._stream(
                [*map(_line, openai.chat_chunks(turn, request)), b"data: [DONE]\n\n"]
            )
        if "models/" in path:
            whole = gemini.answer(turn, request)
            streamed = "stream" in path
            return self._stream([_line(whole)]) if streamed else self._json(200, whole)
        return self._refuse(Refusal(404, {"error": {"message": "not here"}}))

    def _answered(self) -> tuple[Request, Turn]:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body: dict[str, Any] = json.loads(raw) if raw.startswith(b"{") else {}
        return self.answer_from(Request(self.command, self.path, headers, body))

    def _refuse(self, refusal: Refusal) -> None:
        self._json(refusal.status, refusal.body)

    def _json(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _stream(self, chunks: Iterable[bytes]) -> None:
        self._send(200, "text/event-stream", b"".join(chunks))

    def _send(self, status: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client was stopped while it was answered


def _named(events: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[bytes]:
    for number, (name, data) in enumerate(events):
        whole = {"type": name, "sequence_number": number, **data}
        yield f"event: {name}\ndata: {json.dumps(whole)}\n\n".encode()


def _line(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
