"""Write a window as the messages to send, in the wire of its session.

An unchanged message is sent as the bytes it was received in. If a part was replaced or removed,
only that part of its message is rewritten.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from msgspec import Struct

from holdfast.core.ledger.entry import Sighting, Source, Thought
from holdfast.core.ledger.window import Item, arrival_of
from holdfast.text.jsontext import as_object, join_array, join_object, members, parse
from holdfast.wire import anthropic
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES
from holdfast.wire.wire import MessageWire, TranscriptWire


class Fragment(Struct):
    """A message, or a part of a message that a transcript splits over several lines."""

    raw: bytes
    group: str = ""


def render(items: Iterable[Item], arrivals: Mapping[int, Sighting], *, wire: str) -> list[bytes]:
    """Return the messages of a window as bytes; `arrivals` has sightings by first entry number."""
    transcript = TRANSCRIPT_WIRES.get(wire)
    message_wire = MESSAGE_WIRES.get(transcript.SENT_AS if transcript else wire)
    if message_wire is None:
        return []
    fragments = _fragments(items, arrivals, transcript, message_wire)
    if transcript and transcript.SPLITS_MESSAGES:
        return [fragment.raw for fragment in _merge_fragments(fragments)]
    return [fragment.raw for fragment in fragments]


def _fragments(
    items: Iterable[Item],
    arrivals: Mapping[int, Sighting],
    transcript: TranscriptWire | None,
    message_wire: MessageWire,
) -> Iterator[Fragment]:
    for first, run in groupby(items, key=arrival_of):
        shown = list(run)
        if first == 0 or (transcript and not transcript.HOLDS_MESSAGES):
            yield from _new_messages(shown, message_wire)
            continue
        arrival = arrivals[first]
        raws = transcript.messages_in(arrival.raw) if transcript else [arrival.raw]
        for raw in _rewrite_messages(raws, _changed_parts(shown, arrival.parts), message_wire):
            yield Fragment(raw, shown[0].entry.group)


def _new_messages(items: Iterable[Item], message_wire: MessageWire) -> Iterator[Fragment]:
    """Yield a new message for each item."""
    for item in items:
        # Providers refuse reasoning without its signature.
        if not isinstance(item.body, Thought):
            yield Fragment(message_wire.new_message(item.body), item.entry.group)


def _changed_parts(shown: list[Item], count: int) -> dict[int, Source | None]:
    """Return the stand-in, or None if removed, for each part of an arrival that has changed."""
    here = {item.entry.part: item.stand_in for item in shown}
    removed: dict[int, Source | None] = {part: None for part in range(count) if part not in here}
    replaced = {part: body for part, body in here.items() if body is not None}
    return {**removed, **replaced}


def _rewrite_messages(
    raws: list[bytes], changed: Mapping[int, Source | None], wire: MessageWire
) -> Iterator[bytes]:
    """Yield the messages of an arrival, rewritten if a part of them has changed."""
    start = 0
    for raw in raws:
        if not changed:
            yield raw
            continue
        end = start + len(wire.read(as_object(parse(raw)[0])))
        own_changes = {part - start: body for part, body in changed.items() if start <= part < end}
        rewritten = wire.rewrite(raw, own_changes) if own_changes else raw
        start = end
        if rewritten is not None:
            yield rewritten


def _merge_fragments(fragments: Iterable[Fragment]) -> list[Fragment]:
    """Merge fragments into messages: one assistant message a group, then its results."""
    merged: list[Fragment] = []
    for fragment in fragments:
        target = _merge_target(merged, fragment)
        if target is None:
            merged.append(fragment)
        else:
            target.raw = _append_blocks(target.raw, fragment.raw)
    return merged


def _merge_target(merged: list[Fragment], fragment: Fragment) -> Fragment | None:
    if fragment.group:
        # The results of earlier calls of the same message may follow it already.
        newest = next((earlier for earlier in reversed(merged) if earlier.group), None)
        return newest if newest is not None and newest.group == fragment.group else None
    if _role(fragment.raw) != b'"user"':
        return None
    if merged and _role(merged[-1].raw) == b'"user"':
        return merged[-1]
    return _results_before(merged) if _is_result(fragment.raw) else None


def _results_before(merged: list[Fragment]) -> Fragment | None:
    """Return the message with the results of the newest calls, if other messages came after it."""
    for earlier in reversed(merged):
        if earlier.group:
            return None
        if _role(earlier.raw) == b'"user"' and _is_result(earlier.raw):
            return earlier
    return None


def _is_result(raw: bytes) -> bool:
    return any("tool_use_id" in members(block) for block in anthropic.blocks_of(raw))


def _role(raw: bytes) -> bytes:
    return members(raw).get("role", b"")


def _append_blocks(raw: bytes, more: bytes) -> bytes:
    parts = members(raw)
    blocks = [*anthropic.blocks_of(raw), *anthropic.blocks_of(more)]
    return join_object({**parts, "content": join_array(blocks)})
