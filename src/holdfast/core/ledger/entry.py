"""What happened in a session, as values.

An entry never changes once written. Shrinking a session does not edit it: it appends one more
entry, `Compressed`, which says what readers see in place of older ones. So nothing is ever lost,
and undoing a compression is appending one more still.

Bodies are of two lanes. *Source* bodies are what the agent and its world said; they form the
chain. *Derived* bodies are what was noted about them; they point at a source entry and are no
link of the chain, so a client that resends its history still matches.

The bytes as they arrived are not here: a `Sighting` keeps them beside the entries they hold.
"""

from typing import TypeAlias

import msgspec
from msgspec import Struct

from holdfast.core.ledger.packet import Feedback, Packet
from holdfast.core.ledger.summary import Phase, Summary

EntryId: TypeAlias = str
"""32 hex digits: the meaning of an entry and of everything before it."""
OURS = "holdfast"
"""Who speaks in words that we put in ourselves."""


class Media(Struct, frozen=True, omit_defaults=True):
    """A picture, document or sound: what it is and how big, never its bytes."""

    kind: str
    type: str = ""
    digest: str = ""
    size: int = 0
    width: int = 0
    height: int = 0


class Said(Struct, frozen=True, tag="said", omit_defaults=True):
    """Someone said something in words."""

    role: str
    text: str
    by: str = ""
    """Who really spoke when the role hides it: `host` for text that the agent's program put in,
    `summary` for the summary it wrote when it compacted, `holdfast` for what we put in ourselves.
    Empty when the role tells the truth."""


class Thought(Struct, frozen=True, tag="thought", omit_defaults=True):
    """The model reasoned; sealed reasoning goes back as it came or not at all."""

    text: str
    seal: str = ""
    """The provider's signature or ciphertext."""
    unsent: bool = False
    """Set when the agent's program only shows it and never sends it: it takes no room."""


class ToolCalled(Struct, frozen=True, tag="called", omit_defaults=True):
    """The assistant asked for a tool."""

    call: str
    """Joins the call to its result; providers reject one without the other."""
    tool: str
    arguments: str
    """JSON, as the model wrote it."""


class ToolReturned(Struct, frozen=True, tag="returned", omit_defaults=True):
    """A tool answered."""

    call: str
    output: str
    failed: bool = False
    media: tuple[Media, ...] = ()


class Attached(Struct, frozen=True, tag="attached", omit_defaults=True):
    """A picture, document or sound stood in a message."""

    role: str
    media: Media


class Opaque(Struct, frozen=True, tag="opaque", omit_defaults=True):
    """A block or line of a kind nobody here knows: it is carried, counted and given back."""

    role: str
    kind: str
    json: str


class Step(Struct, frozen=True, omit_defaults=True):
    """One change of a compression: what it hides, and what stands there instead."""

    hides: tuple[EntryId, ...]
    reason: str
    stand_in: "Source | None" = None
    """Nothing stands in when the step only removes."""
    tier: int = 0
    before: int = 0
    after: int = 0
    """Raw tokens in sight where it acts, before and after it."""
    kind: str = ""
    """What was done: offload, truncate, read, debug, thinking, intermediate, mask, paste, request,
    summary."""
    file: str = ""
    """Where a readable copy of what it hides was written, as the stand-in names it."""


class Compressed(Struct, frozen=True, tag="compressed", omit_defaults=True):
    """From here on, readers see each step's stand-in where they saw what it hides."""

    steps: tuple[Step, ...]
    generation: int
    """The generation of the window it was planned on."""
    watermark: int
    """The last entry known when it was planned; nothing later may be hidden."""
    by: str = "holdfast"
    """`host` when the agent's own program did it and we only take note."""
    trigger: str = ""
    """Why now, in the words of the log."""
    before: int = 0
    after: int = 0
    """Tokens of the whole window before and after, as they were estimated then."""
    raw: int = 0
    """Raw tokens in sight after it."""
    intent: bool = True
    """Whether the first request stood in the window, word for word, when it was written."""
    summary: Summary | None = None
    """What the summary that it puts in sight is made of."""
    quality: dict[str, float] = {}
    """How the summary did on probes, by dimension, from 0 to 5."""
    mark: str = ""
    """`insufficient`, `below_target` or `unpreserved` when it was made although it missed that."""
    phases: tuple[Phase, ...] = ()
    """What a summary went through: what was checked, locked, taken out and verified."""


class Restored(Struct, frozen=True, tag="restored", omit_defaults=True):
    """The compression named is lifted; what it hid is in sight again."""

    compressed: EntryId
    generation: int
    returns: int = 0
    """Raw tokens that come back into sight."""
    raw: int = 0
    """Raw tokens in sight after it."""


class Compacted(Struct, frozen=True, tag="compacted", omit_defaults=True):
    """The agent's own program dropped what came before from its window."""

    trigger: str = ""
    keeps: tuple[EntryId, ...] = ()
    """What it kept in sight all the same."""


class Used(Struct, frozen=True, tag="used", omit_defaults=True):
    """What a provider reported for one request."""

    size: int
    """Tokens of the window before this entry, as reported."""
    input: int = 0
    """All of the prompt: fresh, read from cache and written to it."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    model: str = ""
    request: str = ""
    """A later report for the same request replaces the earlier."""


class Noted(Struct, frozen=True, tag="noted", omit_defaults=True):
    """Something that a client, a tool or the user told the ledger."""

    what: str
    facts: dict[str, str] = {}


class Checkpointed(Struct, frozen=True, tag="checkpoint", omit_defaults=True):
    """Where the work stood: what a fresh session needs to go on from here."""

    summary: Summary
    generation: int = 0
    """The generation of the window it was made on."""
    upto: int = 0
    """The last entry that it tells of."""
    trigger: str = ""
    """Why it was made, in the words of the log."""
    tokens: int = 0
    limit: int = 0
    """How full the window was."""
    run: str = ""
    """What was to be said of an unattended run."""
    file: str = ""
    """Where a readable copy is; empty when none was written."""


class Resumed(Struct, frozen=True, tag="resumed", omit_defaults=True):
    """The session goes on from another one."""

    session: str
    checkpoint: EntryId = ""
    """The checkpoint of that session that it starts from."""
    summary: Summary = Summary()
    """What was known there."""


class Handed(Struct, frozen=True, tag="packet", omit_defaults=True):
    """A packet was made for a worker, or a new revision of it."""

    packet: Packet
    act: str = "generate"
    """How it came about: generate, spawn, refresh, edit or push."""
    file: str = ""
    """Where the worker reads it; empty when it was only handed over in words."""
    budget: int = 0
    """Tokens that it was to take; zero for what its depth takes."""


class PacketCleared(Struct, frozen=True, tag="packet_cleared", omit_defaults=True):
    """The file of a packet was taken away; the packet itself stays on record."""

    packet: EntryId
    reason: str = ""


class PacketRead(Struct, frozen=True, tag="packet_read", omit_defaults=True):
    """A worker looked at its packet."""

    packet: EntryId
    """The `Handed` entry that it looked at."""
    reader: str = ""
    """Who, as the packet names its audience."""
    layers: tuple[int, ...] = ()
    """Which layers it asked for; none for the packet as it is."""
    way: str = ""
    """How it came to it: file, prompt, mcp or cli."""


class PacketReported(Struct, frozen=True, tag="feedback", omit_defaults=True):
    """A worker said what was missing and what was not needed."""

    feedback: Feedback
    file: str = ""
    """The file it was read from; empty when it was told."""


class Unread(Struct, frozen=True, tag="unread"):
    """A derived entry written by a newer version; kept, not understood."""

    kind: str
    data: bytes


Source: TypeAlias = Said | Thought | ToolCalled | ToolReturned | Attached | Opaque
About: TypeAlias = Handed | PacketCleared | PacketRead | PacketReported
"""What became of packets."""
Derived: TypeAlias = (
    Compressed | Restored | Compacted | Used | Noted | Checkpointed | Resumed | About | Unread
)
Body: TypeAlias = Source | Derived


class Entry(Struct, frozen=True, omit_defaults=True):
    """One thing that happened, with its name and its place."""

    id: EntryId
    parent: EntryId | None
    """Source: what came before it. Derived: the source end it is about."""
    body: Body
    seq: int
    """Its number in the session; order is by this, never by time."""
    lane: str = ""
    """Which agent's: empty for the main one, else the sub-agent's own name."""
    message: int = 0
    """The number of the first entry of the message it came in."""
    part: int = 0
    """Which block it is of the message or line it arrived in."""
    fork: int = 0
    """Which telling of the same words after the same entry it is."""
    group: str = ""
    """The provider's id of that message, when it comes in pieces."""
    at: str = ""
    """When, as the source said; empty when it did not."""


class Sighting(Struct, frozen=True):
    """The bytes of one message or line as they arrived, and which entries they hold."""

    source: str
    """Which document: empty for the session's own, else a sub-agent's."""
    pos: int
    version: int
    """The same place seen again with other bytes gets the next version."""
    raw: bytes
    lead: bytes = b""
    """What stood between the one before and this: white space, a comma, the wrapper's beginning."""
    first: int = 0
    parts: int = 0
    """The number of the first source entry it holds, and how many; zeros when it holds none."""


def role_of(body: Source) -> str:
    """Who a body counts as, in the words of the providers."""
    match body:
        case Said() | Attached() | Opaque():
            return body.role
        case Thought() | ToolCalled():
            return "assistant"
        case ToolReturned():
            return "tool"


def is_request(body: Body) -> bool:
    """Whether this is the user's own words: what starts a turn."""
    return isinstance(body, Said) and body.role == "user" and not body.by


def is_ours(body: Body) -> bool:
    """Whether these are words that we put in ourselves, in the user's role."""
    return isinstance(body, Said) and body.by == OURS


def text_of(body: Source) -> str:
    """The words of a body: what a model reads and a tokenizer counts."""
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


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Body)


def pack(body: Body) -> bytes:
    """A body as stored."""
    return body.data if isinstance(body, Unread) else _encoder.encode(body)


def unpack(data: bytes) -> Body:
    """A stored body; one of a kind that only a newer version knows comes back as `Unread`."""
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError:
        kind = msgspec.msgpack.decode(data).get("type", "")
        return Unread(kind=str(kind), data=data)
