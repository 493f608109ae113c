"""Read Gemini CLI chats: a log of operations, one JSON object a line.

A message is written again, whole, whenever something is added to it: calls, results, usage. `$set`
may replace all messages (resuming and compressing do that), `$rewindTo` removes the messages from
one on. Only new parts become entries. Older versions of Gemini CLI write the same messages as one
JSON document.

Hooks do not receive the program's id of a call, so the id of a call is derived from its tool and
arguments: it is the same in a hook and in the transcript.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import (
    Attached,
    Compacted,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    Used,
)
from holdfast.text.jsontext import Json, as_count, as_list, as_object, as_text, canonical, encode
from holdfast.text.patterns import Pattern
from holdfast.wire.media import read_media

NAME = "gemini"
SENT_AS = "anthropic"
HOLDS_MESSAGES = False
SPLITS_MESSAGES = True

SPEAKER_TYPES = ("user", "gemini")
MESSAGE_TYPES = (*SPEAKER_TYPES, "info", "warning", "error")
"""Types of messages; the last three are shown to the user and not sent to the model."""
INJECTED = ("<session_context>", "<hook_context>", "<state_snapshot>", "This is the Gemini CLI.")
"""Beginnings of texts in a user message that the user did not write."""
# Matches "<hook_context>…</hook_context>\n" at the start; must not match it later in the text.
HOOK_CONTEXT = Pattern(r"\A<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""Text that a hook inserted before the user's prompt."""
FINISHED = ("success", "error", "cancelled")


def fits(line: Mapping[str, Json]) -> bool:
    """Return whether a line belongs to a Gemini CLI chat."""
    if "projectHash" in line and "sessionId" in line:
        return True
    if isinstance(line.get("$set"), dict) or isinstance(line.get("$rewindTo"), str):
        return True
    is_message = line.get("type") in MESSAGE_TYPES and "content" in line
    return is_message and isinstance(line.get("id"), str) and isinstance(line.get("timestamp"), str)


def messages_in(raw: bytes) -> list[bytes]:
    """Return no messages: a line holds none in the format of a provider."""
    del raw
    return []


def session_of(line: Mapping[str, Json]) -> str:
    """Return the session that a line names, or an empty string."""
    return as_text(line.get("sessionId"))


def call_id(tool: str, arguments: Json) -> str:
    """Return the id of a call, derived from its tool and arguments."""
    request = f"{tool}\0".encode() + canonical(arguments)
    return f"{tool}-{sha256(request).hexdigest()[:12]}"


class GeminiState(Struct):
    """What a reader remembers of earlier lines, so that another reader can continue."""

    standing: list[str] = []
    """The ids of the messages that are in the chat now."""
    places: dict[str, set[int]] = {}
    """By message id: the positions of the lines that held something new of it."""
    known: set[tuple[str, str]] = set()
    """The parts that were read: texts and reasoning by message, calls and results by id."""
    calls: dict[str, str] = {}
    """By the program's id of a call: the derived id."""
    asked: dict[str, int] = {}
    follows: int | None = None
    instead: list[dict[str, Any]] = []
    """Messages that replace all others when the next message arrives. They wait because a program
    that resumes first writes an empty list and then the full one."""


class Reader:
    """Reads one chat line by line, and remembers its current messages and the known parts."""

    def __init__(self, state: GeminiState | None = None) -> None:
        self.state = state or GeminiState()

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """Return the drafts of one line; none for known parts or a bookkeeping line."""
        if "$rewindTo" in line:
            self._rewind(as_text(line.get("$rewindTo")))
            return ()
        changed = as_object(line.get("$set"))
        if isinstance(changed.get("messages"), list):
            messages = [as_object(message) for message in as_list(changed.get("messages"))]
            return tuple(self._replace_all(messages, pos))
        if line.get("type") not in SPEAKER_TYPES:
            return ()
        return (*self._apply_replacement(pos), *self._read_message(line, pos))

    def _rewind(self, message: str) -> None:
        if message not in self.state.standing:
            return
        before = self.state.standing[: self.state.standing.index(message)]
        positions = [pos for name in before for pos in self.state.places.get(name, ())]
        self.state.standing, self.state.follows = before, max(positions, default=-1)

    def _replace_all(self, messages: list[dict[str, Json]], pos: int) -> Iterator[Draft]:
        """Replace all messages: at once if none is missing, else with the next message."""
        names = {as_text(message.get("id")) for message in messages}
        # A message that added nothing new has no position and need not be present.
        state = self.state
        fewer = not names.issuperset(name for name in state.standing if name in state.places)
        self.state.instead = messages if fewer else []
        if not fewer:
            for message in messages:
                yield from self._read_message(message, pos)

    def _apply_replacement(self, pos: int) -> Iterator[Draft]:
        """Yield a compaction and its summary for messages that replaced others, if any wait."""
        messages, self.state.instead = self.state.instead, []
        if not messages:
            return
        names = {as_text(message.get("id")) for message in messages}
        kept_names = [name for name in self.state.standing if name in names]
        positions = sorted(p for name in kept_names for p in self.state.places.get(name, ()))
        self.state.standing = kept_names
        yield Draft(Compacted("auto"), keeps=tuple(positions))
        for message in messages:
            drafts = (
                () if as_text(message.get("id")) in kept_names else self._read_message(message, pos)
            )
            yield from map(_as_summary, drafts)

    def _read_message(self, line: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        name, timestamp = as_text(line.get("id")), as_text(line.get("timestamp"))
        if name not in self.state.standing:
            self.state.standing.append(name)
        by_model = line.get("type") == "gemini"
        bodies = list(
            self._read_model_message(line, name)
            if by_model
            else self._read_user_message(line, name)
        )
        usage = self._read_usage(line, name)
        if bodies:
            self.state.places.setdefault(name, set()).add(pos)
        if usage is not None:
            yield Draft(usage, at=timestamp)
        for body in bodies:
            is_prompt = isinstance(body, Said) and body.role == "user" and not body.by
            follows = self._take_rewind_position() if is_prompt else None
            group = name if by_model and not isinstance(body, ToolReturned) else ""
            yield Draft(body, group=group, at=timestamp, follows=follows)

    def _take_rewind_position(self) -> int | None:
        """Return the position that the next prompt follows after a rewind, once; else None."""
        follows, self.state.follows = self.state.follows, None
        return follows

    def _read_user_message(self, line: Mapping[str, Json], name: str) -> Iterator[Source]:
        """Yield the texts and tool results of a user message."""
        for index, part in enumerate(_parts(line.get("content"))):
            if "functionResponse" in part:
                yield from self._read_result(as_object(part.get("functionResponse")), failed=False)
            elif self._is_new(f"{name}/{index}", "said"):
                yield from _read_user_part(part)

    def _read_model_message(self, line: Mapping[str, Json], name: str) -> Iterator[Source]:
        """Yield the texts, reasoning, calls and results of a model message."""
        for index, thought in enumerate(as_list(line.get("thoughts"))):
            if self._is_new(f"{name}/{index}", "thought"):
                members = as_object(thought)
                words = (as_text(members.get(key)) for key in ("subject", "description"))
                yield Thought("\n".join(filter(None, words)), unsent=True)
        for index, part in enumerate(_parts(line.get("content"))):
            text = as_text(part.get("text"))
            if "functionCall" in part:
                yield from self._read_call(as_object(part.get("functionCall")))
            elif (
                text and part.get("thought") is not True and self._is_new(f"{name}/{index}", "said")
            ):
                yield Said("assistant", text)
        calls = [as_object(call) for call in as_list(line.get("toolCalls"))]
        for call in calls:
            yield from self._read_call(call)
        for call in calls:
            if as_text(call.get("status")) in FINISHED:
                failed = call.get("status") != "success"
                for part in _parts(call.get("result")):
                    yield from self._read_result(as_object(part.get("functionResponse")), failed)

    def _read_call(self, call: Mapping[str, Json]) -> Iterator[ToolCalled]:
        program_id, tool = as_text(call.get("id")), as_text(call.get("name"))
        if not program_id or program_id in self.state.calls:
            return
        arguments = as_object(call.get("args"))
        own_id = call_id(tool, arguments)
        count = self.state.asked[own_id] = self.state.asked.get(own_id, 0) + 1
        self.state.calls[program_id] = own_id if count == 1 else f"{own_id}-{count}"
        yield ToolCalled(self.state.calls[program_id], tool, encode(arguments).decode())

    def _read_result(self, response: Mapping[str, Json], failed: bool) -> Iterator[ToolReturned]:
        call = as_text(response.get("id"))
        own_id = self.state.calls.get(call, call)
        if not own_id or not self._is_new(own_id, "returned"):
            return
        output, is_error = _result_text(as_object(response.get("response")))
        yield ToolReturned(own_id, output, failed or is_error)

    def _read_usage(self, line: Mapping[str, Json], name: str) -> Used | None:
        """Return the usage that was reported with a message, once."""
        tokens = as_object(line.get("tokens"))
        size = as_count(tokens.get("input"))
        if not size or not self._is_new(name, "used"):
            return None
        cached, output = as_count(tokens.get("cached")), as_count(tokens.get("output"))
        return Used(size, size, output, cached, 0, as_text(line.get("model")), name)

    def _is_new(self, name: str, what: str) -> bool:
        known = (name, what) in self.state.known
        self.state.known.add((name, what))
        return not known


def _as_summary(draft: Draft) -> Draft:
    body = draft.body
    if not isinstance(body, Said):
        return draft
    return Draft(Said(body.role, body.text, "summary"), group=draft.group, at=draft.at)


def _parts(content: Json) -> list[dict[str, Json]]:
    if isinstance(content, str):
        return [{"text": content}] if content else []
    items = content if isinstance(content, list) else [content]
    return [{"text": item} if isinstance(item, str) else as_object(item) for item in items]


def _read_user_part(part: Mapping[str, Json]) -> Iterator[Source]:
    """Yield the bodies of a user part; text inserted by hooks is marked as the host's."""
    data = as_object(part.get("inlineData") or part.get("fileData"))
    if data:
        kind = "image" if as_text(data.get("mimeType")).startswith("image/") else "document"
        source = {"media_type": data.get("mimeType"), "data": data.get("data")}
        yield Attached("user", read_media(kind, source))
    text = as_text(part.get("text"))
    while hooked := HOOK_CONTEXT.match(text):
        yield Said("user", hooked[0], "host")
        text = text[hooked.end() :]
    if text:
        yield Said("user", text, "host" if text.lstrip().startswith(INJECTED) else "")


def _result_text(response: Mapping[str, Json]) -> tuple[str, bool]:
    """Return the text of a tool result, and whether it is an error."""
    for key in ("output", "error"):
        if isinstance(response.get(key), str):
            return as_text(response.get(key)), key == "error"
    return (encode(response).decode() if response else ""), False
