"""Read messages as callers give them: detect the wire, apply never-store rules, make arrivals.

If a message is stored with other bytes than it was given with, the given bytes are returned beside
it, so that the messages sent stay the caller's own.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.ledger.append import Arrival, Batch, Draft
from holdfast.engine.ledger import Ledger
from holdfast.errors import MixedWires, Unreadable
from holdfast.text.jsontext import Json, NotJson, as_object, encode
from holdfast.text.utf8 import to_bytes
from holdfast.wire.detect import DEFAULT_MESSAGE_WIRE, MESSAGE_WIRES, could_be, wire_of_messages
from holdfast.wire.pieces import read_object

Message: TypeAlias = Mapping[str, object] | bytes | str | object
"""A message as callers give it: a dictionary, the JSON text of one, or an object of an SDK or a
framework that can be read whole."""

NON_REQUEST_KEYS = frozenset({"parts", "stop_reason"})
"""Members that no message of a provider's request has."""


class ReceivedMessage(Struct, frozen=True):
    """A message as the caller gave it, and as it is stored."""

    raw: bytes
    arrival: Arrival


class Intake:
    """Reads the messages of one session; remembers calls that never-store rules apply to."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._never_store_filter = ledger, ledger.never_store_filter
        self._recalled_seq = 0

    def read(self, messages: Iterable[Message]) -> tuple[str, list[ReceivedMessage]]:
        """Return the messages as they will be stored, and their wire.

        Raises:
            MixedWires: the session holds messages of another format.
            Unreadable: one of them is no message.
        """
        given = self._read_values(list(messages))
        wire = self._wire_of([value for _, value in given])
        self._recall_calls()
        return wire, [ReceivedMessage(raw, self._arrival(raw, value, wire)) for raw, value in given]

    def _read_values(self, messages: list[Message]) -> list[tuple[bytes, dict[str, Json]]]:
        """Return each message as bytes and value; a framework's object may be several."""
        if all(_is_plain(message) for message in messages):
            return [_parse_message(message) for message in messages]
        from holdfast.wire.frameworks import (  # late: hooks append dictionaries
            is_framework_message,
            turns_of,
        )
        from holdfast.wire.turns import wire_for, write_turns

        read = [
            turns_of(message) if is_framework_message(message) else _parse_message(message)
            for message in messages
        ]
        turns = [turn for part in read if isinstance(part, list) for turn in part]
        values = [part[1] for part in read if isinstance(part, tuple)]
        wire = self._known_wire() or wire_of_messages(values) or wire_for(turns)
        given: list[tuple[bytes, dict[str, Json]]] = []
        for part in read:
            if isinstance(part, tuple):
                given.append(part)
            else:
                written = write_turns(part, wire) if isinstance(part, list) else [part]
                given.extend(_parse_message(message) for message in written)
        return given

    def _recall_calls(self) -> None:
        """Read stored calls if there are rules: a result may answer another process's call."""
        if not self._never_store_filter.idle:
            new = list(self._ledger.store.read(self._ledger.name, since=self._recalled_seq))
            self._never_store_filter.remember(new)
            self._recalled_seq = max((entry.seq for entry in new), default=self._recalled_seq)

    def _known_wire(self) -> str:
        return self._ledger.raw_head().wire or self._ledger.wire

    def _wire_of(self, values: list[dict[str, Json]]) -> str:
        known = self._known_wire()
        if not known:
            return wire_of_messages(values) or self._wire_when_unsure(values)
        if known not in MESSAGE_WIRES:
            raise MixedWires(self._ledger.name, has=known, got="a message")
        if any(MESSAGE_WIRES[known].fits(value) is False for value in values):
            got = wire_of_messages(values) or "something else"
            raise MixedWires(self._ledger.name, has=known, got=got)
        return known

    def _wire_when_unsure(self, values: list[dict[str, Json]]) -> str:
        """Return the wire of messages that match none surely; empty if the default fits all.

        Raises:
            MixedWires: each message fits some wire, and no wire fits all.
            Unreadable: one of them is a message of no wire.
        """
        if could_be(DEFAULT_MESSAGE_WIRE, values):
            return ""
        known = [
            message
            for message in values
            if any(could_be(name, [message]) for name in MESSAGE_WIRES)
        ]
        if any(_lacks_role(value) for value in values if value not in known):
            reason = "it has no role; pass a message of OpenAI or Anthropic as a dictionary"
            raise Unreadable("message", reason)
        fitting = [name for name in (DEFAULT_MESSAGE_WIRE, *MESSAGE_WIRES) if could_be(name, known)]
        if not fitting:
            first = next(
                filter(None, (wire_of_messages([value]) for value in known)), DEFAULT_MESSAGE_WIRE
            )
            raise MixedWires(self._ledger.name, has=first, got="of another format")
        return "" if fitting[0] == DEFAULT_MESSAGE_WIRE else fitting[0]

    def _arrival(self, raw: bytes, value: dict[str, Json], wire: str) -> Arrival:
        stored = as_object(self._never_store_filter.apply(value))
        unchanged = stored is value and self._never_store_filter.scrub(raw) == raw
        raw = raw if unchanged else encode(stored)
        bodies = MESSAGE_WIRES[wire or DEFAULT_MESSAGE_WIRE].read(stored)
        at = self._ledger.clock()
        return Arrival(raw, tuple(Draft(body, self._ledger.agent, at=at) for body in bodies))


def _is_plain(message: Message) -> bool:
    """Return whether a wire can read the message without converting it first."""
    if isinstance(message, bytes | str):
        return True
    return isinstance(message, dict) and "role" in message and not message.keys() & NON_REQUEST_KEYS


def _lacks_role(value: Mapping[str, Json]) -> bool:
    """Return whether a message has content and no role."""
    return not value.get("role") and isinstance(value.get("content"), str | list)


def _parse_message(message: Message) -> tuple[bytes, dict[str, Json]]:
    try:
        if isinstance(message, str):
            raw = to_bytes(message)
        else:
            raw = message if isinstance(message, bytes) else encode(message)
    except NotJson as error:
        raise Unreadable("message", str(error)) from None
    piece = read_object(raw)
    if piece.value is None:
        raise Unreadable("message", piece.flaw)
    return raw, piece.value


def first_entries(batch: Batch) -> list[int]:
    """Return the number of the first entry of each message of a batch."""
    return [sighting.first for sighting in batch.sightings]


def bytes_not_stored(firsts: Sequence[int], given: Sequence[ReceivedMessage]) -> dict[int, bytes]:
    """Return the given bytes, by first entry, of the messages that are stored differently."""
    pairs = zip(firsts, given, strict=False)
    return {
        first: message.raw
        for first, message in pairs
        if first and message.raw != message.arrival.raw
    }
