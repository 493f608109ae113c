"""Read Claude Code transcripts: one JSON object a line, linked by `parentUuid`.

An assistant message is written as one line per content block, all with the same `message.id` and
the same usage. Parallel calls make the links look like forks; a fork is a rewind only if two
prompts of the user share a parent. Sub-agents (sidechains) are lanes of their own.

The format is undocumented and changes: a line that is not a message is stored and not read.
"""

from collections.abc import Mapping

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Compacted, Said, Source, Used
from holdfast.core.ledger.marks import is_sent_summary
from holdfast.text.jsontext import (
    Json,
    as_count,
    as_list,
    as_object,
    as_text,
    join_object,
    members,
    parse,
)
from holdfast.wire import anthropic

NAME = "claude_code"
SENT_AS = "anthropic"
HOLDS_MESSAGES = True
SPLITS_MESSAGES = True

LINK_KEYS = ("uuid", "parentUuid", "leafUuid", "messageId")

INJECTED = (
    "<task-notification>",
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<system-reminder>",
    "<bash-stdout>",
    "Caveat: The messages below",
    "[Request interrupted by user",
    *(f"<command-name>/{name}<" for name in ("clear", "compact", "context", "model", "resume")),
)
"""Beginnings of texts in a user message that the user did not write, or that are commands to the
program and not to the agent."""


def fits(line: Mapping[str, Json]) -> bool:
    """Return whether a line belongs to a Claude Code transcript."""
    if not isinstance(line.get("type"), str) or "payload" in line:
        return False
    return "sessionId" in line or any(key in line for key in LINK_KEYS)


class Reader:
    """Reads one transcript line by line, and remembers how its lines are linked."""

    def __init__(self) -> None:
        self._positions: dict[str, int | None] = {}
        """By uuid of a line: the position of the message that it continues."""
        self._lanes: dict[str, str] = {}
        self._prompt_parents: set[int] = set()
        self._reported_usage: dict[str, tuple[int, int]] = {}

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """Return the drafts of one line; none for a bookkeeping line."""
        lane, parent = self._lane_of(line), self._parent_position(line)
        drafts = self._drafts(line, lane, parent)
        uuid = as_text(line.get("uuid"))
        if uuid:
            # A line without a message gets the position of its parent; a compaction gets its own.
            has_body = any(not isinstance(draft.body, Used) for draft in drafts)
            self._positions[uuid] = pos if has_body else parent
            self._lanes[uuid] = lane
        return drafts

    def _parent_position(self, line: Mapping[str, Json]) -> int | None:
        """Return the position of the message that a line follows: -1 for none, None if unknown."""
        uuid = line.get("parentUuid")
        return -1 if uuid is None else self._positions.get(as_text(uuid))

    def _lane_of(self, line: Mapping[str, Json]) -> str:
        if line.get("isSidechain") is not True:
            return ""
        own = as_text(line.get("agentId")) or self._lanes.get(as_text(line.get("parentUuid")), "")
        return own or as_text(line.get("uuid"))

    def _drafts(self, line: Mapping[str, Json], lane: str, parent: int | None) -> tuple[Draft, ...]:
        timestamp = as_text(line.get("timestamp"))
        match as_text(line.get("type")):
            case "assistant" if isinstance(line.get("message"), dict):
                return self._assistant_drafts(line, lane, timestamp)
            case "user" if isinstance(line.get("message"), dict):
                return self._user_drafts(line, lane, timestamp, parent)
            case "system" if line.get("subtype") == "compact_boundary":
                return (
                    self._compaction_draft(as_object(line.get("compactMetadata")), lane, timestamp),
                )
            case "attachment":
                return tuple(Draft(body, lane, at=timestamp) for body in _attachment_bodies(line))
            case _:
                return ()

    def _assistant_drafts(
        self, line: Mapping[str, Json], lane: str, timestamp: str
    ) -> tuple[Draft, ...]:
        message = as_object(line.get("message"))
        group = as_text(message.get("id"))
        bodies = anthropic.read(message)
        if line.get("isApiErrorMessage") is True:
            bodies = [_with_speaker("host", body) for body in bodies]
        drafts = tuple(Draft(body, lane, group, timestamp) for body in bodies)
        usage = self._new_usage(message, as_text(line.get("requestId")) or group)
        return (Draft(usage, lane, at=timestamp), *drafts) if usage else drafts

    def _new_usage(self, message: Mapping[str, Json], request: str) -> Used | None:
        """Return the usage of a request, unless the same usage was returned before."""
        usage = as_object(message.get("usage"))
        read = as_count(usage.get("cache_read_input_tokens"))
        write = as_count(usage.get("cache_creation_input_tokens"))
        size = as_count(usage.get("input_tokens")) + read + write
        output = as_count(usage.get("output_tokens"))
        if not size or self._reported_usage.get(request) == (size, output):
            return None
        self._reported_usage[request] = (size, output)
        model = as_text(message.get("model"))
        return Used(size, size, output, read, write, model, request)

    def _user_drafts(
        self, line: Mapping[str, Json], lane: str, timestamp: str, parent: int | None
    ) -> tuple[Draft, ...]:
        bodies = anthropic.read(as_object(line.get("message")))
        speaker = _speaker(line)
        bodies = [_with_speaker(speaker, body) for body in bodies]
        follows = None
        is_prompt = any(isinstance(body, Said) and not body.by for body in bodies)
        if is_prompt and parent is not None and not lane:
            follows = parent if parent in self._prompt_parents else None
            self._prompt_parents.add(parent)
        first, *rest = (Draft(body, lane, at=timestamp) for body in bodies)
        return (Draft(first.body, lane, at=timestamp, follows=follows), *rest)

    def _compaction_draft(self, data: Mapping[str, Json], lane: str, timestamp: str) -> Draft:
        uuids = as_list(as_object(data.get("preservedMessages")).get("uuids"))
        positions = (self._positions.get(as_text(uuid)) for uuid in uuids)
        body = Compacted(as_text(data.get("trigger")))
        return Draft(
            body, lane, at=timestamp, keeps=tuple(pos for pos in positions if pos is not None)
        )


def _speaker(line: Mapping[str, Json]) -> str:
    if line.get("isCompactSummary") is True:
        return "summary"
    return "host" if line.get("isMeta") is True else ""


def _with_speaker(speaker: str, body: Source) -> Source:
    if not isinstance(body, Said):
        return body
    host = "host" if body.text.lstrip().startswith(INJECTED) else ""
    # A program that lets Holdfast compact records the summary as a message of the user.
    summary = "summary" if is_sent_summary(body) else ""
    return Said(body.role, body.text, speaker or summary or host)


def _attachment_bodies(line: Mapping[str, Json]) -> list[Source]:
    """Return the texts that an attachment added to the request, if the transcript has them."""
    role = as_text(line.get("renderedRole")) or "user"
    texts = (as_object(item).get("content") for item in as_list(line.get("rendered")))
    return [Said(role, as_text(text), "host") for text in texts if isinstance(text, str)]


def messages_in(raw: bytes) -> list[bytes]:
    """Return the provider messages that a line holds."""
    line = members(raw)
    kind = line.get("type", b"").strip(b'"')
    if kind == b"attachment":
        value = as_object(parse(raw)[0])
        return [anthropic.new_message(body) for body in _attachment_bodies(value)]
    message = line.get("message", b"")
    if kind != b"assistant":
        return [message] if kind == b"user" else []
    parts = members(message)
    return [join_object({"role": b'"assistant"', "content": parts.get("content", b'""')})]


def session_of(line: Mapping[str, Json]) -> str:
    """Return the session that a line names, or an empty string."""
    return as_text(line.get("sessionId"))


def is_of_sub_agent(line: Mapping[str, Json]) -> bool | None:
    """Return whether a line was written by a sub-agent; None if the line does not say."""
    return line["isSidechain"] is True if "isSidechain" in line else None
