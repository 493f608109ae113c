"""Gemini CLI chats: a log of operations, one JSON object a line.

A message comes again, whole, whenever something is added to it: its calls, their results, what it
cost. `$set` may put other messages in place of all of them (resuming does, and compressing does),
`$rewindTo` drops those from one on. Only what is new becomes entries. Older versions keep the same
messages as one JSON document.

Hooks are not told how the program names a call, so a call is named by what it asks for: the same
in a hook and in the transcript.
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
from holdfast.wire.media import read_media

NAME = "gemini"
SPEAKS = "anthropic"
HOLDS_MESSAGES = False
SPLITS_MESSAGES = True

SPEAKERS = ("user", "gemini")
TOLD = (*SPEAKERS, "info", "warning", "error")
"""Types of messages; the last three are for the user's eyes."""
INJECTED = ("<session_context>", "<hook_context>", "<state_snapshot>", "This is the Gemini CLI.")
"""How texts begin that stand in the user's place and are not the user's."""
HOOKED = re.compile(r"\A<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""What a hook put before the user's own words."""
SNAPSHOT = "<state_snapshot>"
DONE = ("success", "error", "cancelled")


def fits(line: Mapping[str, Json]) -> bool:
    """Whether a line is of a Gemini CLI chat."""
    if "projectHash" in line and "sessionId" in line:
        return True
    if isinstance(line.get("$set"), dict) or isinstance(line.get("$rewindTo"), str):
        return True
    told = line.get("type") in TOLD and "content" in line
    return told and isinstance(line.get("id"), str) and isinstance(line.get("timestamp"), str)


def spoken(raw: bytes) -> list[bytes]:
    """No messages: a line holds none in the form a provider takes."""
    del raw
    return []


def session_of(line: Mapping[str, Json]) -> str:
    """The session that a line says it is of."""
    return as_text(line.get("sessionId"))


def call_named(tool: str, arguments: Json) -> str:
    """The name of a call: what it asks for."""
    asked = f"{tool}\0".encode() + canonical(arguments)
    return f"{tool}-{sha256(asked).hexdigest()[:12]}"


class State(Struct):
    """What a reader has to remember of the lines before: with it, another goes on reading."""

    standing: list[str] = []
    """The messages that are in the chat now."""
    places: dict[str, set[int]] = {}
    """For each message the positions of the lines that held something new of it."""
    known: set[tuple[str, str]] = set()
    """What was read: texts and reasoning by message, calls and results by their name."""
    calls: dict[str, str] = {}
    """How we name the program's calls."""
    asked: dict[str, int] = {}
    follows: int | None = None
    instead: list[dict[str, Any]] = []
    """Messages for all that stand there, once somebody speaks: a program that starts again
    first writes that nothing was said, and then that everything was."""


class Reader:
    """Reads one chat, line by line, remembering which messages stand in it and what is known."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or State()

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """The drafts of one line; none for what is known or bookkeeping."""
        if "$rewindTo" in line:
            self._rewind(as_text(line.get("$rewindTo")))
            return ()
        changed = as_object(line.get("$set"))
        if isinstance(changed.get("messages"), list):
            messages = [as_object(one) for one in as_list(changed.get("messages"))]
            return tuple(self._replaced(messages, pos))
        if line.get("type") not in SPEAKERS:
            return ()
        return (*self._compacted(pos), *self._message(line, pos))

    def _rewind(self, message: str) -> None:
        if message not in self.state.standing:
            return
        kept = self.state.standing[: self.state.standing.index(message)]
        places = [pos for name in kept for pos in self.state.places.get(name, ())]
        self.state.standing, self.state.follows = kept, max(places, default=-1)

    def _replaced(self, messages: list[dict[str, Json]], pos: int) -> Iterator[Draft]:
        """Other messages for all that stood there: more of them, or fewer."""
        names = {as_text(one.get("id")) for one in messages}
        # What only repeats something else is not missed.
        state = self.state
        fewer = not names.issuperset(name for name in state.standing if name in state.places)
        self.state.instead = messages if fewer else []
        if not fewer:
            for one in messages:
                yield from self._message(one, pos)

    def _compacted(self, pos: int) -> Iterator[Draft]:
        """What the program put in place of what it dropped, and what it kept of it."""
        instead, self.state.instead = self.state.instead, []
        if not instead:
            return
        names = {as_text(one.get("id")) for one in instead}
        kept = [name for name in self.state.standing if name in names]
        places = sorted(p for name in kept for p in self.state.places.get(name, ()))
        self.state.standing = kept
        yield Draft(Compacted("auto"), keeps=tuple(places))
        for one in instead:
            fresh = () if as_text(one.get("id")) in kept else self._message(one, pos)
            yield from map(_as_summary, fresh)

    def _message(self, line: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        name, at = as_text(line.get("id")), as_text(line.get("timestamp"))
        if name not in self.state.standing:
            self.state.standing.append(name)
        mine = line.get("type") == "gemini"
        bodies = list(self._spoken(line, name) if mine else self._heard(line, name))
        used = self._used(line, name)
        if bodies:
            self.state.places.setdefault(name, set()).add(pos)
        if used is not None:
            yield Draft(used, at=at)
        for body in bodies:
            asked = isinstance(body, Said) and body.role == "user" and not body.by
            follows = self._led_back() if asked else None
            group = name if mine and not isinstance(body, ToolReturned) else ""
            yield Draft(body, group=group, at=at, follows=follows)

    def _led_back(self) -> int | None:
        """What the user's next words follow where something was taken back; told once."""
        follows, self.state.follows = self.state.follows, None
        return follows

    def _heard(self, line: Mapping[str, Json], name: str) -> Iterator[Source]:
        """What stands in the user's place: words, and what tools answered."""
        for at, part in enumerate(_parts(line.get("content"))):
            if "functionResponse" in part:
                yield from self._returned(as_object(part.get("functionResponse")), failed=False)
            elif self._is_new(f"{name}/{at}", "said"):
                yield from _words(part)

    def _spoken(self, line: Mapping[str, Json], name: str) -> Iterator[Source]:
        """What the model said, thought and asked for."""
        for at, thought in enumerate(as_list(line.get("thoughts"))):
            if self._is_new(f"{name}/{at}", "thought"):
                told = as_object(thought)
                words = (as_text(told.get(key)) for key in ("subject", "description"))
                yield Thought("\n".join(filter(None, words)), unsent=True)
        for at, part in enumerate(_parts(line.get("content"))):
            text = as_text(part.get("text"))
            if "functionCall" in part:
                yield from self._called(as_object(part.get("functionCall")))
            elif text and part.get("thought") is not True and self._is_new(f"{name}/{at}", "said"):
                yield Said("assistant", text)
        calls = [as_object(call) for call in as_list(line.get("toolCalls"))]
        for call in calls:
            yield from self._called(call)
        for call in calls:
            if as_text(call.get("status")) in DONE:
                failed = call.get("status") != "success"
                for part in _parts(call.get("result")):
                    yield from self._returned(as_object(part.get("functionResponse")), failed)

    def _called(self, call: Mapping[str, Json]) -> Iterator[ToolCalled]:
        theirs, tool = as_text(call.get("id")), as_text(call.get("name"))
        if not theirs or theirs in self.state.calls:
            return
        arguments = as_object(call.get("args"))
        ours = call_named(tool, arguments)
        again = self.state.asked[ours] = self.state.asked.get(ours, 0) + 1
        self.state.calls[theirs] = ours if again == 1 else f"{ours}-{again}"
        yield ToolCalled(self.state.calls[theirs], tool, encode(arguments).decode())

    def _returned(self, response: Mapping[str, Json], failed: bool) -> Iterator[ToolReturned]:
        call = as_text(response.get("id"))
        ours = self.state.calls.get(call, call)
        if not ours or not self._is_new(ours, "returned"):
            return
        output, wrong = _output(as_object(response.get("response")))
        yield ToolReturned(ours, output, failed or wrong)

    def _used(self, line: Mapping[str, Json], name: str) -> Used | None:
        """What was reported for the request that a message answers, once."""
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
    given = content if isinstance(content, list) else [content]
    return [{"text": one} if isinstance(one, str) else as_object(one) for one in given]


def _words(part: Mapping[str, Json]) -> Iterator[Source]:
    """What the user said, without what hooks put before it."""
    data = as_object(part.get("inlineData") or part.get("fileData"))
    if data:
        kind = "image" if as_text(data.get("mimeType")).startswith("image/") else "document"
        source = {"media_type": data.get("mimeType"), "data": data.get("data")}
        yield Attached("user", read_media(kind, source))
    text = as_text(part.get("text"))
    while hooked := HOOKED.match(text):
        yield Said("user", hooked[0], "host")
        text = text[hooked.end() :]
    if text:
        yield Said("user", text, "host" if text.lstrip().startswith(INJECTED) else "")


def _output(response: Mapping[str, Json]) -> tuple[str, bool]:
    """What a tool answered, and whether that is an error."""
    for key in ("output", "error"):
        if isinstance(response.get(key), str):
            return as_text(response.get(key)), key == "error"
    return (encode(response).decode() if response else ""), False
