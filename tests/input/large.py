"""A Claude Code transcript of any length: requests, calls with their results, compactions."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

WORDS = [f"word{number}" for number in range(5_000)]
STEPS = 20
"""Calls of a request."""


class Writer:
    """Writes one line after the other, each hanging on the one before."""

    def __init__(self) -> None:
        self.count, self.parent, self._draw = 0, None, Random(7)

    def text(self, size: int) -> str:
        """Words, ten to a line."""
        lines = size // 75 + 1
        return "\n".join(" ".join(self._draw.choices(WORDS, k=10)) for _ in range(lines))[:size]

    def line(self, kind: str, parent: str | None = "", **more: Any) -> bytes:
        """A line; it hangs on the last one unless it says otherwise."""
        self.count += 1
        uuid = f"{self.count:08x}-0000-4000-8000-{self.count:012x}"
        at = self.count % 86_400
        value = {
            "parentUuid": self.parent if parent == "" else parent,
            "isSidechain": False,
            "type": kind,
            **more,
            "uuid": uuid,
            "timestamp": f"2026-01-01T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.000Z",
            "sessionId": "large",
            "cwd": "/project",
            "version": "2.1.0",
        }
        self.parent = uuid
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"

    def said(self, words: str, **more: Any) -> bytes:
        """What a user said."""
        return self.line("user", message={"role": "user", "content": words}, **more)

    def answered(self, *blocks: dict[str, Any]) -> bytes:
        """What the agent answered, and what the provider reported."""
        usage = {"input_tokens": 10, "cache_read_input_tokens": 90_000, "output_tokens": 20}
        usage["cache_creation_input_tokens"] = 100
        message = {"id": f"msg_{self.count}", "role": "assistant", "model": "claude-opus-4"}
        return self.line("assistant", message={**message, "content": blocks, "usage": usage})

    def ran(self, size: int) -> Iterator[bytes]:
        """A command, and what it printed."""
        call = f"toolu_{self.count}"
        command = {"command": f"cat f{self.count}.txt"}
        yield self.answered({"type": "tool_use", "id": call, "name": "Bash", "input": command})
        result = {"type": "tool_result", "tool_use_id": call, "content": self.text(size)}
        yield self.line("user", message={"role": "user", "content": [result]})

    def compacted(self) -> Iterator[bytes]:
        """Where the program itself made its window small."""
        told = {"trigger": "auto", "preTokens": 160_000}
        boundary = {"subtype": "compact_boundary", "content": "Conversation compacted"}
        yield self.line("system", None, **boundary, compactMetadata=told)
        yield self.said("What was done so far: much.", isCompactSummary=True)


def transcript(lines: int, size: int, turns: int) -> Iterator[bytes]:
    """So many lines, results of so many characters, and a compaction after so many turns."""
    made, turn = Writer(), 0
    while made.count < lines:
        turn += 1
        yield made.said(f"Please look at part {turn}: {made.text(60)}")
        for _ in range(STEPS):
            yield from made.ran(size)
        yield made.answered({"type": "text", "text": "Done with it."})
        if turn % turns == 0:
            yield from made.compacted()
