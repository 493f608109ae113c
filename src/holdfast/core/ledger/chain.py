"""Names: each source entry is named by its meaning and by what came before it.

Meaning ignores what clients flip between two requests (`cache_control`, a string or a single
text block, key order, outer white space), so a resent history gets the names it had. The bytes
are kept elsewhere.
"""

from collections.abc import Iterable
from hashlib import sha256

from holdfast.core.ledger.entry import (
    Attached,
    Derived,
    Entry,
    EntryId,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    pack,
)
from holdfast.text.jsontext import NotJson, parse, same_spelling, steady


def meaning(body: Source) -> bytes:
    """What a body says, as a digest: equal for bodies that mean the same."""
    digest = sha256()
    for word in _words(body):
        data = word.encode()
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.digest()


def _words(body: Source) -> Iterable[str]:
    match body:
        case Said():
            return ("said", body.role, body.text.strip())
        case Thought():
            return ("thought", body.text.strip(), body.seal)
        case ToolCalled():
            return ("called", body.call, body.tool, same_spelling(body.arguments))
        case ToolReturned():
            media = (item.digest or item.kind for item in body.media)
            return ("returned", body.call, body.output.strip(), str(body.failed), *media)
        case Attached():
            return ("attached", body.role, body.media.kind, body.media.digest)
        case Opaque():
            return ("opaque", body.role, body.kind, _steady(body.json))


def _steady(text: str) -> str:
    try:
        value, _ = parse(text.encode())
        return steady(value)
    except (NotJson, RecursionError):
        return text.strip()


def link(parent: EntryId | None, meant: bytes, *, lane: str = "", fork: int = 0) -> EntryId:
    """The name of an entry that means `meant` and follows `parent`.

    `fork` tells apart messages that begin alike after the same entry and go on differently.
    """
    before = bytes.fromhex(parent) if parent else b"holdfast/1 " + lane.encode()
    return sha256(before + meant + (b" %d" % fork if fork else b"")).hexdigest()[:32]


def is_true(entry: Entry) -> bool:
    """Whether an entry says what its name says."""
    if isinstance(entry.body, Derived):
        return entry.id == name_derived(entry.parent, entry.seq, entry.body)
    return entry.id == link(entry.parent, meaning(entry.body), lane=entry.lane, fork=entry.fork)


def name_derived(parent: EntryId | None, seq: int, body: Derived) -> EntryId:
    """The name of a derived entry: what it says, about what, and when in the session."""
    about = (parent or "").encode()
    return sha256(b"derived %d %s " % (seq, about) + pack(body)).hexdigest()[:32]
