"""Messages as callers give them become arrivals: their format found, what is never stored left out.

The bytes of a message that is stored otherwise than it was given are told beside it, so that what
is sent stays what the caller has.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.ledger.append import Arrival, Batch, Draft
from holdfast.core.ledger.head import Head
from holdfast.engine.never_store import Withholder
from holdfast.errors import MixedWires, Unreadable
from holdfast.stores.store import Store
from holdfast.text.jsontext import Json, NotJson, as_object, encode
from holdfast.wire.detect import MESSAGE_WIRES, PLAIN, could_be, wire_of_messages
from holdfast.wire.pieces import read_object

Message: TypeAlias = Mapping[str, object] | bytes | str | object
"""A message as callers give it: a dictionary, the JSON text of one, or an object of an SDK or a
framework that can be read whole."""

ODD = frozenset({"parts", "stop_reason"})
"""Members that no message of a provider's request has."""


class Given(Struct, frozen=True):
    """A message as the caller gave it, and as it is stored."""

    raw: bytes
    arrival: Arrival


class Intake:
    """Takes the messages of one session; remembers its calls where something is never stored."""

    def __init__(
        self,
        store: Store,
        session: str,
        *,
        agent: str,
        wire: str,
        clock: Callable[[], str],
        withholder: Withholder,
    ) -> None:
        self._store, self._session, self._agent = store, session, agent
        self._wire, self._clock, self._withholder = wire, clock, withholder
        self._recalled = 0

    def arrivals(self, messages: Iterable[Message]) -> tuple[str, list[Given]]:
        """Messages as they will be stored, and their format.

        Raises:
            MixedWires: the session holds messages of another format.
            Unreadable: one of them is no message.
        """
        given = self._read(list(messages))
        wire = self._wire_of([value for _, value in given])
        self._recall_calls()
        return wire, [Given(raw, self._arrival(raw, value, wire)) for raw, value in given]

    def _read(self, messages: list[Message]) -> list[tuple[bytes, dict[str, Json]]]:
        """Each message as bytes and value; an object of a framework may be several."""
        if all(_is_plain(message) for message in messages):
            return [_given(message) for message in messages]
        from holdfast.wire.frameworks import is_foreign, turns_of  # late: hooks append dictionaries
        from holdfast.wire.turns import wire_for, written

        read = [turns_of(one) if is_foreign(one) else _given(one) for one in messages]
        turns = [turn for one in read if isinstance(one, list) for turn in one]
        values = [one[1] for one in read if isinstance(one, tuple)]
        wire = self._known_wire() or wire_of_messages(values) or wire_for(turns)
        given: list[tuple[bytes, dict[str, Json]]] = []
        for one in read:
            if isinstance(one, tuple):
                given.append(one)
            else:
                made = written(one, wire) if isinstance(one, list) else [one]
                given.extend(_given(message) for message in made)
        return given

    def _recall_calls(self) -> None:
        """When there are rules: a result may answer a call that another process recorded."""
        if not self._withholder.idle:
            new = list(self._store.read(self._session, since=self._recalled))
            self._withholder.remember(new)
            self._recalled = max((entry.seq for entry in new), default=self._recalled)

    def _known_wire(self) -> str:
        return (self._store.head(self._session) or Head()).wire or self._wire

    def _wire_of(self, values: list[dict[str, Json]]) -> str:
        known = self._known_wire()
        if not known:
            return wire_of_messages(values) or self._unsure(values)
        if known not in MESSAGE_WIRES:
            raise MixedWires(self._session, has=known, got="a message")
        if any(MESSAGE_WIRES[known].fits(value) is False for value in values):
            got = wire_of_messages(values) or "something else"
            raise MixedWires(self._session, has=known, got=got)
        return known

    def _unsure(self, values: list[dict[str, Json]]) -> str:
        """The wire of messages that are surely of none: empty while plain words fit them all.

        Raises:
            MixedWires: each may be of some wire, and no wire has room for all.
            Unreadable: one of them is a message of no wire.
        """
        if could_be(PLAIN, values):
            return ""
        known = [one for one in values if any(could_be(name, [one]) for name in MESSAGE_WIRES)]
        if any(_is_word_of_nobody(value) for value in values if value not in known):
            reason = "it has no role; pass a message of OpenAI or Anthropic as a dictionary"
            raise Unreadable("message", reason)
        fitting = [name for name in (PLAIN, *MESSAGE_WIRES) if could_be(name, known)]
        if not fitting:
            first = next(filter(None, (wire_of_messages([value]) for value in known)), PLAIN)
            raise MixedWires(self._session, has=first, got="of another format")
        return "" if fitting[0] == PLAIN else fitting[0]

    def _arrival(self, raw: bytes, value: dict[str, Json], wire: str) -> Arrival:
        kept = as_object(self._withholder.apply(value))
        whole = kept is value and self._withholder.scrub(raw) == raw
        raw = raw if whole else encode(kept)
        bodies = MESSAGE_WIRES[wire or PLAIN].read(kept)
        at = self._clock()
        return Arrival(raw, tuple(Draft(body, self._agent, at=at) for body in bodies))


def _is_plain(message: Message) -> bool:
    """Whether a wire reads it as it is; anything else is looked at more closely."""
    if isinstance(message, bytes | str):
        return True
    return isinstance(message, dict) and "role" in message and not message.keys() & ODD


def _is_word_of_nobody(value: Mapping[str, Json]) -> bool:
    """Whether something is said in it, and not by whom."""
    return not value.get("role") and isinstance(value.get("content"), str | list)


def _given(message: Message) -> tuple[bytes, dict[str, Json]]:
    try:
        if isinstance(message, str):
            raw = message.encode("utf-8", "surrogatepass")
        else:
            raw = message if isinstance(message, bytes) else encode(message)
    except NotJson as error:
        raise Unreadable("message", str(error)) from None
    piece = read_object(raw)
    if piece.value is None:
        raise Unreadable("message", piece.flaw)
    return raw, piece.value


def firsts_of(batch: Batch) -> list[int]:
    """The first entry of each message of a batch."""
    return [sighting.first for sighting in batch.sightings]


def withheld(firsts: Sequence[int], given: Sequence[Given]) -> dict[int, bytes]:
    """By its first entry: the bytes of each message that is not stored as it was given."""
    pairs = zip(firsts, given, strict=False)
    return {first: one.raw for first, one in pairs if first and one.raw != one.arrival.raw}
