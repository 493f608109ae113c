"""Compute entry ids: a hash of the meaning of an entry and of the id of its parent.

The meaning leaves out details that clients change between two requests (`cache_control`, a string
or a single text block, key order, outer white space), so a resent history gets the same ids. The
original bytes are in the sightings.
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
from holdfast.text.jsontext import NotJson, canonical_text, parse, stable_text


def meaning(body: Source) -> bytes:
    """Return a digest of the content of a body: equal for bodies that mean the same."""
    digest = sha256()
    for part in _meaning_parts(body):
        data = part.encode()
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.digest()


def _meaning_parts(body: Source) -> Iterable[str]:
    match body:
        case Said():
            return ("said", body.role, body.text.strip())
        case Thought():
            return ("thought", body.text.strip(), body.seal)
        case ToolCalled():
            return ("called", body.call, body.tool, canonical_text(body.arguments))
        case ToolReturned():
            media = (item.digest or item.kind for item in body.media)
            return ("returned", body.call, body.output.strip(), str(body.failed), *media)
        case Attached():
            return ("attached", body.role, body.media.kind, body.media.digest)
        case Opaque():
            return ("opaque", body.role, body.kind, _canonical_json(body.json))


def _canonical_json(text: str) -> str:
    try:
        value, _ = parse(text.encode())
        return stable_text(value)
    except (NotJson, RecursionError):
        return text.strip()


def source_id(parent: EntryId | None, meant: bytes, *, lane: str = "", fork: int = 0) -> EntryId:
    """Return the id of a source entry with the meaning `meant` that follows `parent`.

    `fork` separates messages that begin alike after the same entry and continue differently.
    """
    before = bytes.fromhex(parent) if parent else b"holdfast/1 " + lane.encode()
    return sha256(before + meant + (b" %d" % fork if fork else b"")).hexdigest()[:32]


def id_matches(entry: Entry) -> bool:
    """Whether the id of an entry matches its content."""
    if isinstance(entry.body, Derived):
        return entry.id == derived_id(entry.parent, entry.seq, entry.body)
    return entry.id == source_id(
        entry.parent, meaning(entry.body), lane=entry.lane, fork=entry.fork
    )


def derived_id(parent: EntryId | None, seq: int, body: Derived) -> EntryId:
    """Return the id of a derived entry: a hash of its body, its parent and its number."""
    about = (parent or "").encode()
    return sha256(b"derived %d %s " % (seq, about) + pack(body)).hexdigest()[:32]
