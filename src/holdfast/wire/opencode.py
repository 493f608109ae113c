"""opencode sessions: messages with parts, as it exports them or as the events of its database.

An export is one document of messages, `{info, parts}`. The database keeps a log of events beside
them: `message.updated` tells who speaks, `message.part.updated` brings a part each time that it
changes, and `message.removed` takes one back. A part is read once, when it is whole.
"""

from collections.abc import Iterator, Mapping
from time import gmtime, strftime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import (
    Attached,
    Compacted,
    Compressed,
    Derived,
    Said,
    Source,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
    Used,
)
from holdfast.core.ledger.head import PRUNED
from holdfast.text.jsontext import Json, as_count, as_list, as_object, as_text, encode
from holdfast.wire.media import read_media

NAME = "opencode"
SPEAKS = "anthropic"
HOLDS_MESSAGES = False
SPLITS_MESSAGES = True

ASKED = "What did we do so far?"
"""What opencode puts before its summary when it sends it."""
CLEARED = "[Old tool result content cleared]"
"""What opencode sends in place of a result that it pruned."""
EVENTS = ("message.", "session.")
TOLD = ("role", "summary", "modelID", "time")
"""What is remembered of a message."""


def fits(line: Mapping[str, Json]) -> bool:
    """Whether a line is of an opencode session."""
    if isinstance(line.get("info"), dict) and isinstance(line.get("parts"), list):
        return "role" in as_object(line.get("info"))
    told = as_text(line.get("type")).startswith(EVENTS)
    return told and isinstance(line.get("data"), dict) and "seq" in line


def spoken(raw: bytes) -> list[bytes]:
    """No messages: a line holds none in the form a provider takes."""
    del raw
    return []


def session_of(line: Mapping[str, Json]) -> str:
    """The session that a line says it is of."""
    told = as_object(line.get("info")) or as_object(line.get("data"))
    return as_text(told.get("sessionID"))


class Pruned(Struct):
    """A result that opencode no longer sends, and since when."""

    when: int
    pos: int
    part: int
    result: ToolReturned


class State(Struct):
    """What a reader has to remember of the lines before: with it, another goes on reading."""

    seq: int = 0
    """The number of the last event; 0 where there are none."""
    infos: dict[str, dict[str, Any]] = {}
    """What is told of each message."""
    read: set[str] = set()
    """Parts that were whole."""
    places: dict[str, list[int]] = {}
    """For each message the lines that held something of it, in the order of messages."""
    trigger: str = ""
    keeps: str = ""
    """The message that a compaction keeps, and all after it."""
    follows: int | None = None
    pruned: list[Pruned] = []
    """Results that were pruned later than the last message that was read."""
    results: dict[str, tuple[int, int]] = {}
    """By part: the line and the place in it of a result that may still be pruned."""


class Reader:
    """Reads one session, line by line."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or State()

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """The drafts of one line; none for what is not whole yet, or bookkeeping."""
        if "parts" in line:
            info = as_object(line.get("info"))
            # Messages of an export may have lost their names: each is one of its own.
            name = f"{as_text(info.get('id'))}@{pos}"
            self.state.infos[name] = info
            pruned = self._pruned(as_count(as_object(info.get("time")).get("created")))
            parts = [as_object(part) for part in as_list(line.get("parts"))]
            drafts = [draft for part in parts for draft in self._part(name, part, pos)]
            self._note_pruned(parts, drafts, pos)
            return (*pruned, *map(_before, drafts))
        self.state.seq = as_count(line.get("seq"))
        return tuple(self._event(as_text(line.get("type")), as_object(line.get("data")), pos))

    def _event(self, kind: str, data: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        match kind.rpartition(".")[0] if kind[-1:].isdigit() else kind:
            case "message.updated":
                info = as_object(data.get("info"))
                told = {name: info[name] for name in TOLD if name in info}
                self.state.infos[as_text(info.get("id"))] = told
            case "message.part.updated":
                part = as_object(data.get("part"))
                name = as_text(part.get("id"))
                if name not in self.state.read and self._is_whole(part):
                    self.state.read.add(name)
                    yield from self._events_of(part, pos)
                elif _pruned_at(part) and name in self.state.results:
                    yield from self._pruned_now(name, part)
            case "message.removed":
                self._remove(as_text(data.get("messageID")))
            case _:
                return

    def _events_of(self, part: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        drafts = list(self._part(as_text(part.get("messageID")), part, pos))
        if any(isinstance(draft.body, ToolReturned) for draft in drafts):
            self.state.results[as_text(part.get("id"))] = (pos, len(drafts) - 1)
        yield from drafts
        if _pruned_at(part):
            yield from self._pruned_now(as_text(part.get("id")), part)

    def _pruned_now(self, name: str, part: Mapping[str, Json]) -> Iterator[Draft]:
        """A result that was read before and is not sent any more."""
        found = [body for body in _tool(part) if isinstance(body, ToolReturned)]
        where = self.state.results.pop(name, None)
        if found and where is not None:
            yield _prune([Pruned(_pruned_at(part), *where, found[0])])

    def _note_pruned(self, parts: list[dict[str, Json]], drafts: list[Draft], pos: int) -> None:
        """Remember which results of an exported message were pruned later on."""
        told = {as_text(part.get("callID")): _pruned_at(part) for part in parts}
        sources = [draft.body for draft in drafts if not isinstance(draft.body, Derived)]
        for at, body in enumerate(sources):
            if isinstance(body, ToolReturned) and told.get(body.call):
                self.state.pruned.append(Pruned(told[body.call], pos, at, body))

    def _pruned(self, now: int) -> tuple[Draft, ...]:
        """What was pruned before a message was made."""
        due = [one for one in self.state.pruned if one.when <= now]
        self.state.pruned = [one for one in self.state.pruned if one.when > now]
        return (_prune(due),) if due else ()

    def _is_whole(self, part: Mapping[str, Json]) -> bool:
        """Whether a part will not change any more."""
        mine = self._role(as_text(part.get("messageID"))) == "assistant"
        match as_text(part.get("type")):
            case "text" | "reasoning":
                return not mine or "end" in as_object(part.get("time"))
            case "tool":
                return as_object(part.get("state")).get("status") in ("completed", "error")
            case _:
                return True

    def _role(self, message: str) -> str:
        return as_text(self.state.infos.get(message, {}).get("role"))

    def _remove(self, message: str) -> None:
        """A message was taken back: what the user says next follows what was before it."""
        if message not in self.state.places:
            return
        names = list(self.state.places)
        kept = [pos for name in names[: names.index(message)] for pos in self.state.places[name]]
        before = max(kept, default=-1)
        led = self.state.follows
        self.state.follows = before if led is None else min(before, led)
        del self.state.places[message]

    def _part(self, message: str, part: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        info = self.state.infos.get(message, {})
        match as_text(part.get("type")):
            case "compaction":
                self.state.trigger = "auto" if part.get("auto") is True else "manual"
                self.state.keeps = as_text(part.get("tail_start_id"))
            case "step-finish":
                yield from _used(info, part, message)
            case _:
                yield from self._bodies(message, info, part, pos)

    def _bodies(
        self, message: str, info: Mapping[str, Json], part: Mapping[str, Json], pos: int
    ) -> Iterator[Draft]:
        role, at = as_text(info.get("role")), _moment(part, info)
        summary = role == "assistant" and info.get("summary") is True
        bodies = list(_read(role, part))
        if not bodies or (summary and not isinstance(bodies[0], Said)):
            return
        if summary:
            yield from self._compacted(bodies, at)
        else:
            yield from self._drafts(message, role, bodies, at)
        self.state.places.setdefault(message, []).append(pos)

    def _drafts(self, message: str, role: str, bodies: list[Source], at: str) -> Iterator[Draft]:
        for body in bodies:
            asked = isinstance(body, Said) and role == "user" and not body.by
            follows = self._led_back() if asked else None
            group = message if role == "assistant" and not isinstance(body, ToolReturned) else ""
            yield Draft(body, group=group, at=at, follows=follows)

    def _led_back(self) -> int | None:
        """What the user's next words follow where something was taken back; told once."""
        follows, self.state.follows = self.state.follows, None
        return follows

    def _compacted(self, bodies: list[Source], at: str) -> Iterator[Draft]:
        names = list(self.state.places)
        since = names.index(self.state.keeps) if self.state.keeps in names else len(names)
        kept = tuple(pos for name in names[since:] for pos in self.state.places[name])
        yield Draft(Compacted(self.state.trigger or "auto"), at=at, keeps=kept)
        yield Draft(Said("user", ASKED, "summary"), at=at)
        for body in bodies:
            if isinstance(body, Said):
                yield Draft(Said("assistant", body.text, "summary"), at=at)


def _used(info: Mapping[str, Json], part: Mapping[str, Json], request: str) -> Iterator[Draft]:
    """What a step took, as its provider reported it."""
    tokens = as_object(part.get("tokens"))
    cache = as_object(tokens.get("cache"))
    read, write = as_count(cache.get("read")), as_count(cache.get("write"))
    prompt = as_count(tokens.get("input")) + read + write
    output = as_count(tokens.get("output")) + as_count(tokens.get("reasoning"))
    # What a summary took says nothing of the window that it leaves behind.
    if prompt and info.get("summary") is not True:
        model = as_text(info.get("modelID"))
        # The report follows the answer, so the window it speaks of holds the answer too.
        used = Used(prompt + output, prompt, output, read, write, model, request)
        yield Draft(used, at=_moment(part, info))


def _pruned_at(part: Mapping[str, Json]) -> int:
    """When opencode stopped sending a result; 0 while it sends it."""
    return as_count(as_object(as_object(part.get("state")).get("time")).get("compacted"))


def _prune(some: list[Pruned]) -> Draft:
    """The host's own compression: what it sends in place of the results that it pruned."""
    steps = tuple(
        Step((), PRUNED, ToolReturned(one.result.call, CLEARED, one.result.failed)) for one in some
    )
    return Draft(
        Compressed(steps, 0, 0, by="host", trigger=PRUNED),
        hides=tuple((one.pos, one.part) for one in some),
        hidden=tuple(one.result for one in some),
    )


def _before(draft: Draft) -> Draft:
    """What a report tells of when it stands before the answer, as it does in one line with it."""
    used = draft.body
    return replace(draft, body=replace(used, size=used.input)) if isinstance(used, Used) else draft


def _read(role: str, part: Mapping[str, Json]) -> Iterator[Source]:
    """What a part says; nothing for what is bookkeeping."""
    text = as_text(part.get("text"))
    match as_text(part.get("type")):
        case "text" if text and part.get("ignored") is not True:
            yield Said(role, text, "host" if part.get("synthetic") is True else "")
        case "reasoning" if text:
            yield Thought(text, unsent=True)
        case "file":
            kind = "image" if as_text(part.get("mime")).startswith("image/") else "document"
            yield Attached(role, read_media(kind, as_text(part.get("url"))))
        case "tool":
            yield from _tool(part)
        case _:
            return


def _tool(part: Mapping[str, Json]) -> Iterator[Source]:
    """A call, and what came of it."""
    state, call = as_object(part.get("state")), as_text(part.get("callID"))
    arguments = encode(as_object(state.get("input"))).decode()
    yield ToolCalled(call, as_text(part.get("tool")), arguments)
    match as_text(state.get("status")):
        case "completed":
            yield ToolReturned(call, as_text(state.get("output")), _failed(state))
        case "error":
            yield ToolReturned(call, as_text(state.get("error")), failed=True)
        case _:
            return


def _failed(state: Mapping[str, Json]) -> bool:
    """Whether a command ended badly: opencode completes it all the same."""
    code = as_object(state.get("metadata")).get("exit")
    return isinstance(code, int) and not isinstance(code, bool) and code != 0


def _moment(part: Mapping[str, Json], info: Mapping[str, Json]) -> str:
    """When a part was made, as far as it tells; else its message."""
    times = as_object(part.get("time")) or as_object(as_object(part.get("state")).get("time"))
    told = times.get("start") or as_object(info.get("time")).get("created")
    count = as_count(told)
    if not count:
        return ""
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(count // 1000))}.{count % 1000:03d}Z"
