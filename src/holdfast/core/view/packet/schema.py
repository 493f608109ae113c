"""The shape of a packet's file as a JSON Schema, from the values themselves."""

from collections.abc import Mapping
from typing import cast

import msgspec

from holdfast.core.ledger.packet import SCHEMA, Packet
from holdfast.core.view.packet.wire import CONTEXT, ENVELOPE, VALIDATION

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REQUIRED = ("version", "created", "creator", "target_task", "context", "checksum")


def schema(told: Mapping[str, str]) -> dict[str, object]:
    """What a packet's file holds; `told` says what each member means.

    Members that are not named are allowed anywhere: whoever reads a packet keeps them.
    """
    _, parts = msgspec.json.schema_components([Packet], ref_template="#/$defs/{name}")
    defined = cast(dict[str, dict[str, object]], parts)
    members = cast(dict[str, dict[str, object]], defined.pop("Packet")["properties"])
    named = {name: _described(member, told.get(name, "")) for name, member in members.items()}
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
