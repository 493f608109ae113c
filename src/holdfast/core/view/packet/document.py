"""Convert a packet to and from its nested document, seal it, verify it, and describe its schema.

One table defines the place of each field. Unknown fields, from a newer version or a person, are
kept with their places and written back there.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import cast

import msgspec
from msgspec.structs import replace

from holdfast.core.ledger.packet import SCHEMA, Packet
from holdfast.text.jsontext import SURROGATE, whole_number
from holdfast.text.utf8 import to_bytes
from holdfast.text.yaml import to_yaml as written

ENVELOPE = (
    *("version", "created", "creator", "target_task", "audience", "session", "upto", "task_type"),
    *("depth", "layers", "revision", "changelog", "edited", "stale_after"),
)
CONTEXT = (
    *("goal", "success_criteria", "constraints", "decisions", "state", "codebase"),
    *("failed_attempts", "pivots", "open_questions", "prior_session", "not_included", "refs"),
)
VALIDATION = ("over_budget", "token_count", "checksum", "signature")
SEALS = ("checksum", "signature")
ALWAYS = frozenset({"version", "created", "creator", "target_task", "revision", "goal"})
"""Fields that are written even when they are empty."""


class InvalidPacket(ValueError):
    """Raised when a document is not a valid packet; the message says why."""


def packet_document(packet: Packet) -> dict[str, object]:
    """Return a packet as its nested document."""
    plain = cast(dict[str, object], msgspec.to_builtins(packet))
    full = {name: getattr(packet, name) for name in ALWAYS}
    held = {**full, **plain}
    document = _picked(held, ENVELOPE)
    document["context"] = _picked(held, CONTEXT)
    document.update(_picked(held, VALIDATION))
    whole = cast(dict[str, object], _whole(document))
    for place, text in packet.extra.items():
        _put_back(whole, place.split("/"), msgspec.json.decode(text.encode()))
    return whole


def _picked(held: Mapping[str, object], names: tuple[str, ...]) -> dict[str, object]:
    return {name: held[name] for name in names if name in held}


def _whole(value: object) -> object:
    """A value whose texts hold no half characters: what is sealed is what a file gives back."""
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list() | tuple():
            return [_whole(one) for one in cast(list[object], value)]
        case dict():
            rows = cast(dict[str, object], value)
            return {cast(str, _whole(key)): _whole(one) for key, one in rows.items()}
        case _:
            return value


def _put_back(value: object, place: list[str], extra: object) -> None:
    name, *rest = place
    name = name.replace("~1", "/").replace("~0", "~")
    if isinstance(value, dict):
        rows = cast(dict[str, object], value)
        if rest:
            _put_back(rows.setdefault(name, {}), rest, extra)
        else:
            rows.setdefault(name, extra)
    elif isinstance(value, list) and (place_in_list := whole_number(name)) is not None:
        # The row may have gone since; then nothing says where this belongs.
        items = cast(list[object], value)
        if rest and place_in_list < len(items):
            _put_back(items[place_in_list], rest, extra)


def packet_from_document(document: Mapping[str, object]) -> Packet:
    """Return the packet that a document contains; unknown fields are kept.

    Raises:
        InvalidPacket: a field is missing or has the wrong type.
    """
    version = document.get("version")
    if version != SCHEMA or isinstance(version, bool):
        raise InvalidPacket(f"it has version {version!r}, and this program reads version {SCHEMA}")
    context = document.get("context")
    if not isinstance(context, dict):
        raise InvalidPacket("it has no `context`")
    flat: dict[str, object] = {}
    extra: dict[str, str] = {}
    _sort(document, (*ENVELOPE, *VALIDATION, "context"), "", flat, extra)
    _sort(cast(dict[str, object], context), CONTEXT, "context/", flat, extra)
    flat.pop("context", None)
    try:
        packet = msgspec.convert(flat, Packet)
    except msgspec.ValidationError as error:
        raise InvalidPacket(_readable(str(error))) from None
    known = cast(dict[str, object], msgspec.to_builtins(packet))
    for name, value in flat.items():
        _leftover(value, known.get(name), _place(name), extra)
    return replace(packet, extra=extra)


def _place(name: str) -> str:
    return f"context/{name}" if name in CONTEXT else name


def _sort(
    table: Mapping[str, object],
    known: tuple[str, ...],
    prefix: str,
    flat: dict[str, object],
    extra: dict[str, str],
) -> None:
    for name, value in table.items():
        if name in known:
            flat[name] = value
        else:
            extra[prefix + _escaped(name)] = _json(value)


def _leftover(value: object, known: object, place: str, extra: dict[str, str]) -> None:
    """Keep what stands in a row besides the members that are known."""
    if isinstance(value, list) and isinstance(known, list | tuple):
        rows = zip(cast(list[object], value), cast(list[object], known), strict=False)
        for at, (one, other) in enumerate(rows):
            _leftover(one, other, f"{place}/{at}", extra)
    elif isinstance(value, dict):
        held = cast(dict[str, object], known) if isinstance(known, dict) else {}
        for name, one in cast(dict[str, object], value).items():
            inner = f"{place}/{_escaped(str(name))}"
            if name in held:
                _leftover(one, held[name], inner, extra)
            elif name not in MEMBERS:
                extra[inner] = _json(one)


MEMBERS = frozenset(
    {
        *("choice", "reason", "made_by", "refs", "superseded", "path", "summary", "change"),
        *("relevant_files", "patterns", "examples", "anti_patterns", "approach", "reason_failed"),
        *("revision", "what", "at"),
    }
)
"""Known fields of rows: one that is missing in the output was empty."""


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _readable(error: str) -> str:
    """What a decoder says, in the words of the document."""
    told, _, place = error.partition(" - at `$")
    where = place.rstrip("`").lstrip(".") or "it"
    name = where.partition("[")[0].partition(".")[0]
    where = f"context.{where}" if name in CONTEXT else where
    quote = "; a text that looks like a number takes quotes" if "Expected `str`" in told else ""
    return f"`{where}` is not what it has to be: {told[:1].lower()}{told[1:]}{quote}"


def canonical_bytes(document: Mapping[str, object]) -> bytes:
    """Return everything but the seals as bytes that do not depend on formatting."""
    bare = {name: value for name, value in document.items() if name not in SEALS}
    return msgspec.json.encode(_whole(bare), order="sorted")


def checksum_of(document: Mapping[str, object]) -> str:
    """Return the checksum of a document's content."""
    return f"sha256:{sha256(canonical_bytes(document)).hexdigest()}"


def signature_of(document: Mapping[str, object], key: str) -> str:
    """Return the HMAC signature of a document."""
    made = hmac.new(to_bytes(key), canonical_bytes(document), sha256)
    return f"hmac-sha256:{made.hexdigest()}"


def seal_packet(packet: Packet, key: str = "") -> Packet:
    """Return the packet with its checksum and, if there is a key, its signature."""
    bare = replace(packet, checksum="", signature="")
    document = packet_document(bare)
    signature = signature_of(document, key) if key else ""
    return replace(bare, checksum=checksum_of(document), signature=signature)


def verify_seal(document: Mapping[str, object], key: str = "") -> None:
    """Verify the checksum of a document and, if there is a key, its signature.

    Raises:
        InvalidPacket: the checksum or signature is missing or belongs to other content.
    """
    told, found = document.get("checksum"), checksum_of(document)
    if not told:
        raise InvalidPacket("it has no checksum")
    if told != found:
        raise InvalidPacket(
            f"its checksum is {short_checksum(told)}, and its content comes to "
            f"{short_checksum(found)}"
        )
    if not key:
        return
    signature = document.get("signature")
    if not isinstance(signature, str) or not signature:
        raise InvalidPacket("it is not signed, and a key is set")
    if not hmac.compare_digest(signature.encode(), signature_of(document, key).encode()):
        raise InvalidPacket("it is signed with another key")


def short_checksum(checksum: object) -> str:
    """Return the beginning of a checksum, for messages."""
    return f"{str(checksum)[:19]}…"


def packet_yaml(packet: Packet) -> str:
    """Render a packet as the YAML of a worker's file."""
    return written(packet_document(packet))


# The shape of a packet's file as a JSON Schema, from the values themselves.


DIALECT = "https://json-schema.org/draft/2020-12/schema"
REQUIRED = ("version", "created", "creator", "target_task", "context", "checksum")


def packet_schema(descriptions: Mapping[str, str]) -> dict[str, object]:
    """Return the JSON Schema of a packet's file; `descriptions` is by field.

    Unknown fields are allowed everywhere, because readers keep them.
    """
    _, parts = msgspec.json.schema_components([Packet], ref_template="#/$defs/{name}")
    defined = cast(dict[str, dict[str, object]], parts)
    members = cast(dict[str, dict[str, object]], defined.pop("Packet")["properties"])
    named = {
        name: _described(member, descriptions.get(name, "")) for name, member in members.items()
    }
    named["version"] = {"const": SCHEMA}
    context = {name: named[name] for name in CONTEXT}
    return {
        "$schema": DIALECT,
        "$comment": "Written by `python -m tools.reference` from the code.",
        "title": "Context packet",
        "type": "object",
        "required": list(REQUIRED),
        "properties": {
            **{name: named[name] for name in ENVELOPE},
            "context": {"type": "object", "required": ["goal"], "properties": context},
            **{name: named[name] for name in VALIDATION},
        },
        "$defs": defined,
    }


def _described(member: Mapping[str, object], text: str) -> dict[str, object]:
    return {**member, "description": text} if text else dict(member)
