"""Read opencode sessions: exported messages with parts, or the events of its database.

An export is one document of messages, `{info, parts}`. The database also has a log of events:
`message.updated` has the role of a message, `message.part.updated` has a part each time it changes,
and `message.removed` removes a message. A part is read once, when it is complete.
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
from holdfast.core.ledger.head import HOST_PRUNED
from holdfast.text.jsontext import Json, as_count, as_list, as_object, as_text, encode
from holdfast.wire.media import read_media

NAME = "opencode"
SENT_AS = "anthropic"
HOLDS_MESSAGES = False
SPLITS_MESSAGES = True

SUMMARY_PROMPT = "What did we do so far?"
"""The prompt that opencode sends before its summary."""
CLEARED_RESULT = "[Old tool result content cleared]"
"""The text that opencode sends instead of a result that it pruned."""
EVENT_PREFIXES = ("message.", "session.")
INFO_KEYS = ("role", "summary", "modelID", "time")
"""Members of a message's info that a reader remembers."""


def fits(line: Mapping[str, Json]) -> bool:
    """Return whether a line belongs to an opencode session."""
    if isinstance(line.get("info"), dict) and isinstance(line.get("parts"), list):
        return "role" in as_object(line.get("info"))
    is_event = as_text(line.get("type")).startswith(EVENT_PREFIXES)
    return is_event and isinstance(line.get("data"), dict) and "seq" in line


def messages_in(raw: bytes) -> list[bytes]:
    """Return no messages: a line holds none in the format of a provider."""
    del raw
    return []


def session_of(line: Mapping[str, Json]) -> str:
    """Return the session that a line names, or an empty string."""
    info = as_object(line.get("info")) or as_object(line.get("data"))
    return as_text(info.get("sessionID"))


class PrunedResult(Struct):
    """A result that opencode no longer sends, with the time of pruning and its position."""

    when: int
    pos: int
    part: int
    result: ToolReturned


class OpencodeState(Struct):
    """What a reader remembers of earlier lines, so that another reader can continue."""

    seq: int = 0
    """The number of the last event; 0 if there are no events."""
    infos: dict[str, dict[str, Any]] = {}
    """By message id: the remembered members of its info."""
    read: set[str] = set()
    """The ids of the parts that were read."""
    places: dict[str, list[int]] = {}
    """By message id, in the order of messages: the positions of its lines."""
    trigger: str = ""
    keeps: str = ""
    """The id of the first message that a compaction keeps."""
    follows: int | None = None
    pruned: list[PrunedResult] = []
    """Results that were pruned after the last message that was read."""
    results: dict[str, tuple[int, int]] = {}
    """By part id: the line of a result that may still be pruned, and its index in the line."""


class Reader:
    """Reads one session line by line."""

    def __init__(self, state: OpencodeState | None = None) -> None:
        self.state = state or OpencodeState()

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """Return the drafts of one line; none for an incomplete part or a bookkeeping line."""
        if "parts" in line:
            info = as_object(line.get("info"))
            # Messages of an export may have no id, so the position makes each of them unique.
            name = f"{as_text(info.get('id'))}@{pos}"
            self.state.infos[name] = info
            pruned = self._take_pruned_before(as_count(as_object(info.get("time")).get("created")))
            parts = [as_object(part) for part in as_list(line.get("parts"))]
            drafts = [draft for part in parts for draft in self._read_part(name, part, pos)]
            self._remember_pruned(parts, drafts, pos)
            return (*pruned, *map(_size_before_answer, drafts))
        self.state.seq = as_count(line.get("seq"))
        return tuple(self._read_event(as_text(line.get("type")), as_object(line.get("data")), pos))

    def _read_event(self, kind: str, data: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        match kind.rpartition(".")[0] if kind[-1:].isdigit() else kind:
            case "message.updated":
                info = as_object(data.get("info"))
                remembered = {name: info[name] for name in INFO_KEYS if name in info}
                self.state.infos[as_text(info.get("id"))] = remembered
            case "message.part.updated":
                part = as_object(data.get("part"))
                name = as_text(part.get("id"))
                if name not in self.state.read and self._is_whole(part):
                    self.state.read.add(name)
                    yield from self._read_new_part(part, pos)
                elif _pruned_at(part) and name in self.state.results:
                    yield from self._prune_known_result(name, part)
            case "message.removed":
                self._remove_message(as_text(data.get("messageID")))
            case _:
                return

    def _read_new_part(self, part: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        drafts = list(self._read_part(as_text(part.get("messageID")), part, pos))
        if any(isinstance(draft.body, ToolReturned) for draft in drafts):
            self.state.results[as_text(part.get("id"))] = (pos, len(drafts) - 1)
        yield from drafts
        if _pruned_at(part):
            yield from self._prune_known_result(as_text(part.get("id")), part)

    def _prune_known_result(self, name: str, part: Mapping[str, Json]) -> Iterator[Draft]:
        """Yield the draft that prunes a result which was read before."""
        results = [body for body in _tool_bodies(part) if isinstance(body, ToolReturned)]
        position = self.state.results.pop(name, None)
        if results and position is not None:
            yield _prune_draft([PrunedResult(_pruned_at(part), *position, results[0])])

    def _remember_pruned(self, parts: list[dict[str, Json]], drafts: list[Draft], pos: int) -> None:
        """Remember which results of an exported message were pruned later."""
        pruned_at = {as_text(part.get("callID")): _pruned_at(part) for part in parts}
        sources = [draft.body for draft in drafts if not isinstance(draft.body, Derived)]
        for index, body in enumerate(sources):
            if isinstance(body, ToolReturned) and pruned_at.get(body.call):
                self.state.pruned.append(PrunedResult(pruned_at[body.call], pos, index, body))

    def _take_pruned_before(self, now: int) -> tuple[Draft, ...]:
        """Return the draft for the results that were pruned up to `now`, and forget them."""
        due = [result for result in self.state.pruned if result.when <= now]
        self.state.pruned = [result for result in self.state.pruned if result.when > now]
        return (_prune_draft(due),) if due else ()

    def _is_whole(self, part: Mapping[str, Json]) -> bool:
        """Return whether a part is complete and will not change."""
        by_model = self._role(as_text(part.get("messageID"))) == "assistant"
        match as_text(part.get("type")):
            case "text" | "reasoning":
                return not by_model or "end" in as_object(part.get("time"))
            case "tool":
                return as_object(part.get("state")).get("status") in ("completed", "error")
            case _:
                return True

    def _role(self, message: str) -> str:
        return as_text(self.state.infos.get(message, {}).get("role"))

    def _remove_message(self, message: str) -> None:
        """Remove a message; the next prompt then follows the line before it."""
        if message not in self.state.places:
            return
        names = list(self.state.places)
        positions = [
            pos for name in names[: names.index(message)] for pos in self.state.places[name]
        ]
        before = max(positions, default=-1)
        earlier = self.state.follows
        self.state.follows = before if earlier is None else min(before, earlier)
        del self.state.places[message]

    def _read_part(self, message: str, part: Mapping[str, Json], pos: int) -> Iterator[Draft]:
        info = self.state.infos.get(message, {})
        match as_text(part.get("type")):
            case "compaction":
                self.state.trigger = "auto" if part.get("auto") is True else "manual"
                self.state.keeps = as_text(part.get("tail_start_id"))
            case "step-finish":
                yield from _usage_drafts(info, part, message)
            case _:
                yield from self._read_bodies(message, info, part, pos)

    def _read_bodies(
        self, message: str, info: Mapping[str, Json], part: Mapping[str, Json], pos: int
    ) -> Iterator[Draft]:
        role, time = as_text(info.get("role")), _time_of(part, info)
        summary = role == "assistant" and info.get("summary") is True
        bodies = list(_bodies_of(role, part))
        if not bodies or (summary and not isinstance(bodies[0], Said)):
            return
        if summary:
            yield from self._compaction_drafts(bodies, time)
        else:
            yield from self._drafts(message, role, bodies, time)
        self.state.places.setdefault(message, []).append(pos)

    def _drafts(self, message: str, role: str, bodies: list[Source], time: str) -> Iterator[Draft]:
        for body in bodies:
            is_prompt = isinstance(body, Said) and role == "user" and not body.by
            follows = self._take_rewind_position() if is_prompt else None
            group = message if role == "assistant" and not isinstance(body, ToolReturned) else ""
            yield Draft(body, group=group, at=time, follows=follows)

    def _take_rewind_position(self) -> int | None:
        """Return the position that the next prompt follows after a removal, once; else None."""
        follows, self.state.follows = self.state.follows, None
        return follows

    def _compaction_drafts(self, bodies: list[Source], time: str) -> Iterator[Draft]:
        names = list(self.state.places)
        since = names.index(self.state.keeps) if self.state.keeps in names else len(names)
        positions = tuple(pos for name in names[since:] for pos in self.state.places[name])
        yield Draft(Compacted(self.state.trigger or "auto"), at=time, keeps=positions)
        yield Draft(Said("user", SUMMARY_PROMPT, "summary"), at=time)
        for body in bodies:
            if isinstance(body, Said):
                yield Draft(Said("assistant", body.text, "summary"), at=time)


def _usage_drafts(
    info: Mapping[str, Json], part: Mapping[str, Json], request: str
) -> Iterator[Draft]:
    """Yield the usage that the provider reported for a step."""
    tokens = as_object(part.get("tokens"))
    cache = as_object(tokens.get("cache"))
    read, write = as_count(cache.get("read")), as_count(cache.get("write"))
    prompt = as_count(tokens.get("input")) + read + write
    output = as_count(tokens.get("output")) + as_count(tokens.get("reasoning"))
    # The usage of a summary request does not measure the window after it.
    if prompt and info.get("summary") is not True:
        model = as_text(info.get("modelID"))
        # The report comes after the answer, so the window size includes the answer.
        usage = Used(prompt + output, prompt, output, read, write, model, request)
        yield Draft(usage, at=_time_of(part, info))


def _pruned_at(part: Mapping[str, Json]) -> int:
    """Return the time when opencode pruned a result; 0 if it did not."""
    return as_count(as_object(as_object(part.get("state")).get("time")).get("compacted"))


def _prune_draft(results: list[PrunedResult]) -> Draft:
    """Return a compression by the host that replaces the pruned results."""
    steps = tuple(
        Step(
            (), HOST_PRUNED, ToolReturned(pruned.result.call, CLEARED_RESULT, pruned.result.failed)
        )
        for pruned in results
    )
    return Draft(
        Compressed(steps, 0, 0, by="host", trigger=HOST_PRUNED),
        hides=tuple((pruned.pos, pruned.part) for pruned in results),
        hidden=tuple(pruned.result for pruned in results),
    )


def _size_before_answer(draft: Draft) -> Draft:
    """Return a usage draft whose size excludes the answer, as it precedes the answer in a line."""
    usage = draft.body
    return (
        replace(draft, body=replace(usage, size=usage.input)) if isinstance(usage, Used) else draft
    )


def _bodies_of(role: str, part: Mapping[str, Json]) -> Iterator[Source]:
    """Yield the bodies of a part; none for bookkeeping."""
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
            yield from _tool_bodies(part)
        case _:
            return


def _tool_bodies(part: Mapping[str, Json]) -> Iterator[Source]:
    """Yield a tool call, and its result if there is one."""
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
    """Return whether a command exited with an error, which opencode also marks as completed."""
    code = as_object(state.get("metadata")).get("exit")
    return isinstance(code, int) and not isinstance(code, bool) and code != 0


def _time_of(part: Mapping[str, Json], info: Mapping[str, Json]) -> str:
    """Return the creation time of a part, or else of its message; empty if neither has one."""
    times = as_object(part.get("time")) or as_object(as_object(part.get("state")).get("time"))
    start = times.get("start") or as_object(info.get("time")).get("created")
    milliseconds = as_count(start)
    if not milliseconds:
        return ""
    return (
        f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(milliseconds // 1000))}.{milliseconds % 1000:03d}Z"
    )
