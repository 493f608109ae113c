"""Claude Code transcripts: one JSON object a line, linked by `parentUuid`.

An assistant message comes as one line per content block, all with the same `message.id` and the
same usage. Parallel calls make the links look like forks; a fork is a rewind only where two of
the user's own messages share a parent. Sub-agents (sidechains) are lanes of their own.

The format is internal to its maker and moves: whatever is not a message is kept and not read.
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
    joined_object,
    members,
    parse,
)
from holdfast.wire import anthropic

NAME = "claude_code"
SPEAKS = "anthropic"
HOLDS_MESSAGES = True
SPLITS_MESSAGES = True

LINKS = ("uuid", "parentUuid", "leafUuid", "messageId")

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
"""How texts begin that stand in the user's place and are not the user's; what the program itself is
told by a command is not asked of the agent."""


def fits(line: Mapping[str, Json]) -> bool:
    """Whether a line is of a Claude Code transcript."""
    if not isinstance(line.get("type"), str) or "payload" in line:
        return False
    return "sessionId" in line or any(key in line for key in LINKS)


class Reader:
    """Reads one transcript, line by line, remembering how its lines hang together."""

    def __init__(self) -> None:
        self._places: dict[str, int | None] = {}
        """For each line the position of the message it leads back to."""
        self._lanes: dict[str, str] = {}
        self._prompted: set[int] = set()
        self._reported: dict[str, tuple[int, int]] = {}

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """The drafts of one line; none for what is bookkeeping."""
        lane, parent = self._lane(line), self._parent(line)
        drafts = self._drafts(line, lane, parent)
        uuid = as_text(line.get("uuid"))
        if uuid:
            # A line with nothing in it leads on to the one it follows; a compaction starts afresh.
            holds = any(not isinstance(draft.body, Used) for draft in drafts)
            self._places[uuid] = pos if holds else parent
            self._lanes[uuid] = lane
        return drafts

    def _parent(self, line: Mapping[str, Json]) -> int | None:
        """The place of the message a line follows: -1 for none, None when it cannot be told."""
        uuid = line.get("parentUuid")
        return -1 if uuid is None else self._places.get(as_text(uuid))

    def _lane(self, line: Mapping[str, Json]) -> str:
        if line.get("isSidechain") is not True:
            return ""
        own = as_text(line.get("agentId")) or self._lanes.get(as_text(line.get("parentUuid")), "")
        return own or as_text(line.get("uuid"))

    def _drafts(self, line: Mapping[str, Json], lane: str, parent: int | None) -> tuple[Draft, ...]:
        at = as_text(line.get("timestamp"))
        match as_text(line.get("type")):
            case "assistant" if isinstance(line.get("message"), dict):
                return self._assistant(line, lane, at)
            case "user" if isinstance(line.get("message"), dict):
                return self._user(line, lane, at, parent)
            case "system" if line.get("subtype") == "compact_boundary":
                return (self._boundary(as_object(line.get("compactMetadata")), lane, at),)
            case "attachment":
                return tuple(Draft(body, lane, at=at) for body in _rendered(line))
            case _:
                return ()

    def _assistant(self, line: Mapping[str, Json], lane: str, at: str) -> tuple[Draft, ...]:
        message = as_object(line.get("message"))
        group = as_text(message.get("id"))
        bodies = anthropic.read(message)
        if line.get("isApiErrorMessage") is True:
            bodies = [_by("host", body) for body in bodies]
        spoken = tuple(Draft(body, lane, group, at) for body in bodies)
        used = self._used(message, as_text(line.get("requestId")) or group)
        return (Draft(used, lane, at=at), *spoken) if used else spoken

    def _used(self, message: Mapping[str, Json], request: str) -> Used | None:
        """What was reported for the request, once; again only when a later line says otherwise."""
        usage = as_object(message.get("usage"))
        read = as_count(usage.get("cache_read_input_tokens"))
        write = as_count(usage.get("cache_creation_input_tokens"))
        size = as_count(usage.get("input_tokens")) + read + write
        output = as_count(usage.get("output_tokens"))
        if not size or self._reported.get(request) == (size, output):
            return None
        self._reported[request] = (size, output)
        model = as_text(message.get("model"))
        return Used(size, size, output, read, write, model, request)

    def _user(
        self, line: Mapping[str, Json], lane: str, at: str, parent: int | None
    ) -> tuple[Draft, ...]:
        bodies = anthropic.read(as_object(line.get("message")))
        speaker = _speaker(line)
        bodies = [_by(speaker, body) for body in bodies]
        follows = None
        asked = any(isinstance(body, Said) and not body.by for body in bodies)
        if asked and parent is not None and not lane:
            follows = parent if parent in self._prompted else None
            self._prompted.add(parent)
        first, *rest = (Draft(body, lane, at=at) for body in bodies)
        return (Draft(first.body, lane, at=at, follows=follows), *rest)

    def _boundary(self, data: Mapping[str, Json], lane: str, at: str) -> Draft:
        kept = as_list(as_object(data.get("preservedMessages")).get("uuids"))
        places = (self._places.get(as_text(uuid)) for uuid in kept)
        body = Compacted(as_text(data.get("trigger")))
        return Draft(body, lane, at=at, keeps=tuple(pos for pos in places if pos is not None))


def _speaker(line: Mapping[str, Json]) -> str:
    if line.get("isCompactSummary") is True:
        return "summary"
    return "host" if line.get("isMeta") is True else ""


def _by(speaker: str, body: Source) -> Source:
    if not isinstance(body, Said):
        return body
    injected = "host" if body.text.lstrip().startswith(INJECTED) else ""
    # A program that lets us compact writes our summary down as if the user had said it.
    summed = "summary" if is_sent_summary(body) else ""
    return Said(body.role, body.text, speaker or summed or injected)


def _rendered(line: Mapping[str, Json]) -> list[Source]:
    """What an attachment put before the model, when the transcript tells."""
    role = as_text(line.get("renderedRole")) or "user"
    texts = (as_object(item).get("content") for item in as_list(line.get("rendered")))
    return [Said(role, as_text(text), "host") for text in texts if isinstance(text, str)]


def spoken(raw: bytes) -> list[bytes]:
    """The provider messages that a line holds."""
    line = members(raw)
    kind = line.get("type", b"").strip(b'"')
    if kind == b"attachment":
        value = as_object(parse(raw)[0])
        return [anthropic.speak(body) for body in _rendered(value)]
    message = line.get("message", b"")
    if kind != b"assistant":
        return [message] if kind == b"user" else []
    parts = members(message)
    return [joined_object({"role": b'"assistant"', "content": parts.get("content", b'""')})]


def session_of(line: Mapping[str, Json]) -> str:
    """The session that a line says it is of."""
    return as_text(line.get("sessionId"))


def is_sub_agents(line: Mapping[str, Json]) -> bool | None:
    """Whether a line is a sub-agent's; None for one that does not tell."""
    return line["isSidechain"] is True if "isSidechain" in line else None
