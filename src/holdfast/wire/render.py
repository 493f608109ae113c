"""What to send now: a window written in the format its session speaks.

What was not shrunk goes out as the bytes it came in. Only a message of which a part was replaced
or removed is written anew, and of that message only that part.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from msgspec import Struct

from holdfast.core.ledger.entry import Sighting, Source
from holdfast.core.ledger.jsontext import joined_array, joined_object, members
from holdfast.core.ledger.window import Item
from holdfast.wire import anthropic, claude_code
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES
from holdfast.wire.jsonl import json_of


class Fragment(Struct):
    """A message, or a piece of one that the transcript spread over several lines."""

    raw: bytes
    group: str = ""


def render(items: Iterable[Item], arrivals: Mapping[int, Sighting], *, wire: str) -> list[bytes]:
    """The messages of a window, each as bytes; `arrivals` are by their first entry."""
    speaks = TRANSCRIPT_WIRES[wire].SPEAKS if wire in TRANSCRIPT_WIRES else wire
    if speaks not in MESSAGE_WIRES:
        return []
    fragments = _fragments(items, arrivals, wire, speaks)
    if wire == claude_code.NAME:
        return [fragment.raw for fragment in _gathered(fragments)]
    return [fragment.raw for fragment in fragments]


def _fragments(
    items: Iterable[Item], arrivals: Mapping[int, Sighting], wire: str, speaks: str
) -> Iterator[Fragment]:
    for first, run in groupby(items, key=_arrival):
        shown = list(run)
        if first == 0:
            for item in shown:
                yield Fragment(MESSAGE_WIRES[speaks].speak(item.body))
            continue
        changed = _changed(shown, arrivals[first].parts)
        for raw in _spoken(arrivals[first].raw, wire):
            kept = MESSAGE_WIRES[speaks].rewrite(raw, changed) if changed else raw
            if kept is not None:
                yield Fragment(kept, shown[0].entry.group)


def _arrival(item: Item) -> int:
    """The first entry of the arrival an item belongs to; 0 for one that stands for several."""
    return 0 if len(item.covers) > 1 else item.entry.seq - item.entry.part


def _changed(shown: list[Item], count: int) -> dict[int, Source | None]:
    """For each part of an arrival that is not as it came: what stands there now."""
    here = {item.entry.part: item.stand_in for item in shown}
    gone: dict[int, Source | None] = {part: None for part in range(count) if part not in here}
    replaced = {part: body for part, body in here.items() if body is not None}
    return {**gone, **replaced}


def _spoken(raw: bytes, wire: str) -> list[bytes]:
    if wire not in TRANSCRIPT_WIRES:
        return [raw.strip()]
    return TRANSCRIPT_WIRES[wire].spoken(json_of(raw))


def _gathered(fragments: Iterable[Fragment]) -> list[Fragment]:
    """Messages put together again: one assistant message a group, its results right after it."""
    out: list[Fragment] = []
    for fragment in fragments:
        home = _home(out, fragment)
        if home is None:
            out.append(fragment)
        else:
            home.raw = _merged(home.raw, fragment.raw)
    return out


def _home(out: list[Fragment], fragment: Fragment) -> Fragment | None:
    if fragment.group:
        # The results of earlier calls of the same message may already stand behind it.
        return next((known for known in out[-2:] if known.group == fragment.group), None)
    if out and not out[-1].group and _role(out[-1].raw) == _role(fragment.raw) == b'"user"':
        return out[-1]
    return None


def _role(raw: bytes) -> bytes:
    return members(raw).get("role", b"")


def _merged(raw: bytes, more: bytes) -> bytes:
    parts = members(raw)
    blocks = [*anthropic.blocks_of(raw), *anthropic.blocks_of(more)]
    return joined_object({**parts, "content": joined_array(blocks)})
