"""A client in a terminal of its own: what it shows is read off a screen, what is typed goes in."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread
from time import monotonic
from typing import Any, Self

import pyte
from msgspec import Struct

from tests.agents.driving import (
    ClaudeCode,
    Codex,
    Driven,
    Gemini,
    OlderClaudeCode,
    trust_hooks,
)
from tests.agents.script import Call, Request, Turn

COLUMNS, ROWS = 150, 50
PATIENCE = 90
"""Seconds after which what is waited for does not come any more."""
CALM = 0.3
"""Seconds without a change after which a screen stands still."""
OPENS = 'exec "$@" <>"$0" >&0 2>&0'
"""Whoever leads a session gets the terminal that it opens first as its own."""
UNKNOWN = re.compile(rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]|\x1b[P_^X].*?\x1b\\", re.DOTALL)
"""What newer terminals are told, and our screen would print."""
UNFINISHED = re.compile(rb"\x1b(\[[<=>]?[0-9;:]*[ -/]*|[P_^X](?:(?!\x1b\\).)*)?\Z", re.DOTALL)
"""The beginning of such a thing, whose end has not arrived."""


class Screen(pyte.Screen):
    """What a terminal shows; it answers what programs ask a terminal."""

    def __init__(self, answer: Callable[[str], None]) -> None:
        super().__init__(COLUMNS, ROWS)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        self._answer(data)

    def report_device_status(self, mode: int, **_: bool) -> None:
        super().report_device_status(mode)

    def select_graphic_rendition(self, *attrs: int, private: bool = False) -> None:
        if not private:
            super().select_graphic_rendition(*attrs)


class Window:
    """A client as a person has it before them."""

    def __init__(self, agent: Driven, *words: str) -> None:
        self.provider = agent.provider
        self._ours, self._theirs = pty.openpty()
        size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, size)
        self._screen = Screen(self.press)
        self._stream = pyte.ByteStream(self._screen)
        self._changed, self._at, self._rest = Condition(), monotonic(), b""
        self._reader = Thread(target=self._read, daemon=True)
        self._process = subprocess.Popen(
            ["sh", "-c", OPENS, os.ttyname(self._theirs), str(agent.client.path), *words],
            cwd=agent.project,
            env={**agent.environment, "TERM": "xterm-256color"},
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(20)
        os.close(self._theirs)
        self._reader.join()
        os.close(self._ours)

    def _read(self) -> None:
        while piece := self._piece():
            with self._changed:
                self._show(piece)
                self._changed.notify_all()

    def _piece(self) -> bytes:
        try:
            return os.read(self._ours, 65536)
        except OSError:  # nobody has the terminal any more
            return b""

    def _show(self, piece: bytes) -> None:
        whole = self._rest + piece
        found = UNFINISHED.search(whole)
        cut = found.start() if found else len(whole)
        self._rest = whole[cut:]
        self._stream.feed(UNKNOWN.sub(b"", whole[:cut]))
        self._at = monotonic()

    @property
    def lines(self) -> list[str]:
        """What can be read on the screen, from above to below, less what is empty."""
        with self._changed:
            shown = [line.rstrip() for line in self._screen.display]
        return [line for line in shown if line]

    @property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.lines)

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds, here or at the provider."""
        end = monotonic() + PATIENCE
        while not holds():
            assert monotonic() < end, f"in vain; the screen shows\n{self.text}"
            with self._changed:
                self._changed.wait(0.1)

    def shows(self, *words: str) -> None:
        """Wait until all of this can be read."""
        self.until(lambda: all(word in self.text for word in words))

    def calm(self) -> None:
        """Wait until the screen stands still."""
        self.until(lambda: monotonic() - self._at > CALM)

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def say(self, text: str) -> None:
        """Type something, and send it off."""
        before = self.text.count(text)  # a hint may name the very command
        self.press(f"\x1b[200~{text}\x1b[201~")
        self.until(lambda: self.text.count(text) > before)
        self.calm()  # a return that follows at once would be taken for a part of what was pasted
        self.press("\r")

    def answer(self, *turns: Turn) -> None:
        """Have the provider say this next."""
        self.calm()
        self.provider.say(*turns)

    def ask(self, text: str, answer: str) -> Request:
        """Say something, wait for the answer, and give back the first request that it took."""
        before = len(self.provider.asked("turn"))
        self.say(text)
        self.shows(answer)
        return self.provider.asked("turn")[before]


class Manner(Struct, frozen=True, kw_only=True):
    """How a client is used in its own window, and what it shows there."""

    kind: type[Driven]
    install: tuple[str, ...]
    """What is said behind `holdfast install`."""
    prepare: Callable[[Any], None]
    """Answer beforehand what it would ask a user of whom it knows nothing."""
    words: tuple[str, ...] = ()
    ready: str
    """Shown once it can be typed to."""
    path: str
    """Where its requests go."""
    tool: str
    argument: str
    """How it runs a command."""
    compact: str = "/compact"
    compacted: str
    """Shown once a compaction is done."""
    refused: str
    """Shown once a request was too long."""

    def look(self, command: str) -> Call:
        """The call that runs a command."""
        return Call(self.tool, {self.argument: command, **self.besides})

    @property
    def besides(self) -> dict[str, Any]:
        """What a call says besides."""
        return {} if self.kind is Codex else {"description": "look"}

    def open(self, agent: Driven) -> Window:
        """The client with Holdfast in it, in a window."""
        agent.holdfast("install", *self.install)
        self.prepare(agent)
        return Window(agent, *self.words)


def _known_to_claude(agent: ClaudeCode) -> None:
    key = agent.environment["ANTHROPIC_API_KEY"]
    known: dict[str, Any] = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "projects": {str(agent.project): {"hasTrustDialogAccepted": True}},
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
    }
    agent.write(agent.home / ".claude.json", json.dumps(known))


def _known_to_codex(agent: Codex) -> None:
    known = (
        f'\n[projects."{agent.project}"]\ntrust_level = "trusted"\n'
        '\n[notice.model_migrations]\n"gpt-5.5" = "gpt-6-sol"\n'
    )
    agent.settings.write_text(agent.settings.read_text() + known)
    trust_hooks(agent)


def _known_to_gemini(agent: Gemini) -> None:
    """Everything is in its settings already."""


def _claude(kind: type[ClaudeCode]) -> Manner:
    return Manner(
        kind=kind,
        install=("claude-code",),
        prepare=_known_to_claude,
        words=("--allowedTools", "Bash"),
        ready="holdfast 0%",
        path="/v1/messages",
        tool="Bash",
        argument="command",
        compacted="Compacted",
        refused="Context limit reached",
    )


NEWER, OLDER = _claude(ClaudeCode), _claude(OlderClaudeCode)
IN_CODEX = Manner(
    kind=Codex,
    install=("codex", "--user"),
    prepare=_known_to_codex,
    ready="Ask Codex to do anything",
    path="/v1/responses",
    tool="exec_command",
    argument="cmd",
    compacted="Context compacted",
    refused="exceeds the context window",
)
IN_GEMINI = Manner(
    kind=Gemini,
    install=("gemini", "--user"),
    prepare=_known_to_gemini,
    words=("--yolo", "--skip-trust", "--model", "gemini-2.5-pro"),
    ready="Type your message",
    path="/v1beta/models/gemini-2.5-pro",
    tool="run_shell_command",
    argument="command",
    compact="/compress",
    compacted="Chat history compressed",
    refused="exceeds the maximum number",
)
