"""Entry, Sighting and every body: the persisted types of the ledger, and their encoding.

An entry never changes once it is written. A compression does not edit older entries: it appends
one more entry, `Compressed`, with the stand-ins that readers see in place of older ones. So
nothing is lost, and an undo appends one more entry.

There are two groups of bodies. *Source* bodies are the messages of the agent, the user and the
tools; they form the chain. *Derived* bodies are records about them; they point at a source entry
and are not part of the chain, so a client that resends its history still matches.

The original bytes are not in an entry: a `Sighting` has the bytes of one message or line.
"""

from collections.abc import Iterable
from typing import TypeAlias

import msgspec
from msgspec import Struct

from holdfast.core.ledger.packet import Feedback, Packet
from holdfast.core.ledger.summary import Phase, Summary

EntryId: TypeAlias = str
"""32 hex digits: a hash of the meaning of an entry and of everything before it."""
HOLDFAST = "holdfast"
"""The author (`Said.by`) of text that Holdfast inserted."""


class Media(Struct, frozen=True, omit_defaults=True):
    """A picture, document or sound: its type and size, without its bytes."""

    kind: str
    type: str = ""
    digest: str = ""
    size: int = 0
    width: int = 0
    height: int = 0


class Said(Struct, frozen=True, tag="said", omit_defaults=True):
    """A text message of the user, the assistant or the system."""

    role: str
    text: str
    by: str = ""
    """The author if it is not the role: `host` for text that the agent's program inserted,
    `summary` for the summary that it wrote when it compacted, `holdfast` for text that Holdfast
    inserted. Empty if the author is the role."""


class Thought(Struct, frozen=True, tag="thought", omit_defaults=True):
    """Reasoning of the model; sealed reasoning is sent back unchanged or not at all."""

    text: str
    seal: str = ""
    """The provider's signature or ciphertext."""
    unsent: bool = False
    """Whether the agent's program only shows it and never sends it: then it counts no tokens."""


class ToolCalled(Struct, frozen=True, tag="called", omit_defaults=True):
    """A tool call of the assistant."""

    call: str
    """The id that connects the call and its result; providers reject one without the other."""
    tool: str
    arguments: str
    """JSON, as the model wrote it."""


class ToolReturned(Struct, frozen=True, tag="returned", omit_defaults=True):
    """The result of a tool call."""

    call: str
    output: str
    failed: bool = False
    media: tuple[Media, ...] = ()


class Attached(Struct, frozen=True, tag="attached", omit_defaults=True):
    """A picture, document or sound in a message."""

    role: str
    media: Media


class Opaque(Struct, frozen=True, tag="opaque", omit_defaults=True):
    """A block or line of an unknown kind: it is stored, counted and returned unchanged."""

    role: str
    kind: str
    json: str


class Step(Struct, frozen=True, omit_defaults=True):
    """One change of a compression: the entries that it hides, and their stand-in."""

    hides: tuple[EntryId, ...]
    reason: str
    stand_in: "Source | None" = None
    """None if the step only removes entries."""
    tier: int = 0
    before: int = 0
    after: int = 0
    """Raw tokens that the window shows at its place, before and after it."""
    kind: str = ""
    """The kind of change: offload, truncate, read, debug, thinking, intermediate, mask, paste,
    request, summary."""
    file: str = ""
    """The path of a readable copy of the hidden entries, as the stand-in names it."""


class Compressed(Struct, frozen=True, tag="compressed", omit_defaults=True):
    """A compression: from here on, the window shows each stand-in instead of its hidden entries."""

    steps: tuple[Step, ...]
    generation: int
    """The generation of the window it was planned on."""
    watermark: int
    """The number of the last entry when it was planned; a later entry cannot be hidden."""
    by: str = "holdfast"
    """`host` if the agent's own program did it and Holdfast only recorded it."""
    trigger: str = ""
    """The reason for its time, as the log shows it."""
    before: int = 0
    after: int = 0
    """Estimated tokens of the whole window before and after it."""
    raw: int = 0
    """Raw tokens in the window after it."""
    intent: bool = True
    """Whether the window had the first request word for word when it was written."""
    summary: Summary | None = None
    """The rows of the summary that it shows."""
    quality: dict[str, float] = {}
    """The scores of the summary on probes, by dimension, from 0 to 5."""
    mark: str = ""
    """`insufficient`, `below_target` or `unpreserved` if it missed a goal and was still written."""
    phases: tuple[Phase, ...] = ()
    """The checks of the phases in which the summary was made."""


class Restored(Struct, frozen=True, tag="restored", omit_defaults=True):
    """An undo: the window shows the entries again that a compression hid."""

    compressed: EntryId
    generation: int
    returns: int = 0
    """Raw tokens that return to the window."""
    raw: int = 0
    """Raw tokens in the window after it."""


class Compacted(Struct, frozen=True, tag="compacted", omit_defaults=True):
    """A compaction by the agent's own program, which dropped earlier entries from its window."""

    trigger: str = ""
    keeps: tuple[EntryId, ...] = ()
    """The earlier entries that stay in the window."""


class Used(Struct, frozen=True, tag="used", omit_defaults=True):
    """The token usage that a provider reported for one request."""

    size: int
    """Tokens of the window before this entry, as reported."""
    input: int = 0
    """Tokens of the whole prompt: fresh, read from the cache and written to it."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    model: str = ""
    request: str = ""
    """The id of the request; a later report for the same request replaces the earlier one."""


class Noted(Struct, frozen=True, tag="noted", omit_defaults=True):
    """A note of a client, a tool or the user."""

    what: str
    """The name of its kind: one of `core/ledger/notes.py`, or any other that a client chose."""
    facts: dict[str, str] = {}


class Checkpointed(Struct, frozen=True, tag="checkpoint", omit_defaults=True):
    """A checkpoint: the state that a fresh session needs to continue from here."""

    summary: Summary
    generation: int = 0
    """The generation of the window it was made on."""
    upto: int = 0
    """The number of the last entry that it covers."""
    trigger: str = ""
    """The reason for it, as the log shows it."""
    tokens: int = 0
    limit: int = 0
    """The size of the window and its limit at that time."""
    run: str = ""
    """The text about an unattended run; empty if there was none."""
    file: str = ""
    """The path of a readable copy; empty if none was written."""


class Resumed(Struct, frozen=True, tag="resumed", omit_defaults=True):
    """This session continues another one."""

    session: str
    checkpoint: EntryId = ""
    """The checkpoint of the other session that it starts from."""
    summary: Summary = Summary()
    """The summary of the other session."""


class PacketSent(Struct, frozen=True, tag="packet", omit_defaults=True):
    """A packet was made for a worker, or a new revision of it."""

    packet: Packet
    act: str = "generate"
    """The action that made it: generate, spawn, refresh, edit or push."""
    file: str = ""
    """The file in which the worker reads it; empty if it was only sent as text."""
    budget: int = 0
    """The token budget; 0 for the budget of its depth."""


class PacketCleared(Struct, frozen=True, tag="packet_cleared", omit_defaults=True):
    """The file of a packet was removed; the packet itself stays in the ledger."""

    packet: EntryId
    reason: str = ""


class PacketRead(Struct, frozen=True, tag="packet_read", omit_defaults=True):
    """A worker read its packet."""

    packet: EntryId
    """The id of the `PacketSent` entry."""
    reader: str = ""
    """The worker, as the packet names its audience."""
    layers: tuple[int, ...] = ()
    """The layers that it requested; empty for the whole packet."""
    way: str = ""
    """The channel: file, prompt, mcp or cli."""


class PacketReported(Struct, frozen=True, tag="feedback", omit_defaults=True):
    """A worker's feedback: the gaps in its packet and the parts that it did not need."""

    feedback: Feedback
    file: str = ""
    """The file it was read from; empty if it was sent as text."""


class Unread(Struct, frozen=True, tag="unread"):
    """A derived entry that only a newer version can read; its bytes are kept."""

    kind: str
    data: bytes


Source: TypeAlias = Said | Thought | ToolCalled | ToolReturned | Attached | Opaque
PacketEvent: TypeAlias = PacketSent | PacketCleared | PacketRead | PacketReported
"""The bodies about packets."""
Derived: TypeAlias = (
    Compressed | Restored | Compacted | Used | Noted | Checkpointed | Resumed | PacketEvent | Unread
)
Body: TypeAlias = Source | Derived


class Entry(Struct, frozen=True, omit_defaults=True):
    """One record of the ledger: a body with its id, its parent and its number."""

    id: EntryId
    parent: EntryId | None
    """For a source entry: the source entry before it. For a derived one: the entry it is about."""
    body: Body
    seq: int
    """Its number in the session; entries are ordered by this, never by time."""
    lane: str = ""
    """The agent it belongs to: empty for the main agent, else the name of the sub-agent."""
    message: int = 0
    """The number of the first entry of its message."""
    part: int = 0
    """The index of its block in the message or line that it arrived in."""
    fork: int = 0
    """Separates entries with the same meaning after the same parent."""
    group: str = ""
    """The provider's id of its message, if the message arrives in pieces."""
    at: str = ""
    """The time that the source names; empty if it names none."""


class Sighting(Struct, frozen=True):
    """The original bytes of one message or line, and the entries that were read from it."""

    source: str
    """The document: empty for the session's own, else the one of a sub-agent."""
    pos: int
    version: int
    """Other bytes at the same position get the next version."""
    raw: bytes
    lead: bytes = b""
    """The bytes between the previous sighting and this: white space, a comma, a wrapper's start."""
    first: int = 0
    parts: int = 0
    """The number of its first source entry, and how many it has; zeros if it has none."""


def role_of(body: Source) -> str:
    """Return the role of a body, as providers name it."""
    match body:
        case Said() | Attached() | Opaque():
            return body.role
        case Thought() | ToolCalled():
            return "assistant"
        case ToolReturned():
            return "tool"


def is_request(body: Body) -> bool:
    """Whether a body is a message that the user wrote: it starts a turn."""
    return isinstance(body, Said) and body.role == "user" and not body.by


def is_ours(body: Body) -> bool:
    """Whether a body is text that Holdfast inserted."""
    return isinstance(body, Said) and body.by == HOLDFAST


def text_of(body: Source) -> str:
    """Return the text of a body that a model reads and a tokenizer counts."""
    match body:
        case Said() | Thought():
            return body.text
        case ToolCalled():
            return f"{body.tool}{body.arguments}"
        case ToolReturned():
            return body.output
        case Attached():
            return ""
        case Opaque():
            return body.json


def kind_of(body: Body) -> str:
    """Return the tag under which a body is stored."""
    return body.kind if isinstance(body, Unread) else str(body.__struct_config__.tag)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Body)
_TAG_KEY = _encoder.encode("type")


def pack(body: Body) -> bytes:
    """Encode a body for the store."""
    return body.data if isinstance(body, Unread) else _encoder.encode(body)


def may_be_of(start: bytes, kinds: Iterable[str]) -> bool:
    """Return whether an encoded body that starts with these bytes may have one of these tags."""
    _, key, tag = start.partition(_TAG_KEY)
    tags = (_encoder.encode(kind) for kind in kinds)
    return not key or any(tag[: len(each)] == each[: len(tag)] for each in tags)


def unpack(data: bytes) -> Body:
    """Decode a stored body; return `Unread` for a kind that only a newer version can read."""
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError:
        kind = msgspec.msgpack.decode(data).get("type", "")
        return Unread(kind=str(kind), data=data)
