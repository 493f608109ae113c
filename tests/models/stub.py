"""A provider on the loopback interface that says what it was told to say."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """What the stub sends back, and how late."""

    body: object
    status: int = 200
    wait: float = 0.0
    kind: str = "application/json"


class Stub(NamedTuple):
    """A running stub: where it is, and what it was sent."""

    url: str
    seen: list[tuple[str, dict[str, Any]]]


@contextmanager
def stub(reply: Reply) -> Generator[Stub]:
    """A server for the length of a test."""
    seen: list[tuple[str, dict[str, Any]]] = []
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            seen.append((self.path, json.loads(self.rfile.read(size))))
            stopped.wait(reply.wait)
            text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.kind)
                self.send_header("X-Should-Retry", "false")
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())
            except OSError:
                pass  # whoever asked is gone

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Stub(f"http://127.0.0.1:{server.server_address[1]}", seen)
        finally:
            stopped.set()
            server.shutdown()
            thread.join()


def chat(text: str, finish: str = "stop") -> dict[str, Any]:
    """An answer in OpenAI's chat form."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if finish == "tool_calls":
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        message["tool_calls"] = [call]
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def messages(text: str, stop: str = "end_turn") -> dict[str, Any]:
    """An answer in Anthropic's form."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if stop == "tool_use":
        blocks.append({"type": "tool_use", "id": "t", "name": "f", "input": {}})
    return {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "stub-1",
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def responses(text: str, status: str = "completed") -> dict[str, Any]:
    """An answer in the form of OpenAI's responses."""
    none: list[str] = []
    content = [{"type": "output_text", "text": text, "annotations": none}]
    cut = {"reason": "max_output_tokens"} if status == "incomplete" else None
    return {
        "id": "x",
        "object": "response",
        "created_at": 1,
        "model": "stub-1",
        "status": status,
        "incomplete_details": cut,
        "output": [
            {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 11,
            "output_tokens": 7,
            "total_tokens": 18,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
