"""What to send now: a window written in the format its session speaks.

What was not shrunk goes out as the bytes it came in. Only a message of which a part was replaced
or removed is written anew, and of that message only that part.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from msgspec import Struct

from holdfast.core.ledger.entry import Sighting, Source, Thought
from holdfast.core.ledger.window import Item, arrival_of
from holdfast.text.jsontext import as_object, joined_array, joined_object, members, parse
from holdfast.wire import anthropic
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES
from holdfast.wire.wire import MessageWire, TranscriptWire


class Fragment(Struct):
    """A message, or a piece of one that the transcript spread over several lines."""

    raw: bytes
    group: str = ""


def render(items: Iterable[Item], arrivals: Mapping[int, Sighting], *, wire: str) -> list[bytes]:
    """The messages of a window, each as bytes; `arrivals` are by their first entry."""
    transcript = TRANSCRIPT_WIRES.get(wire)
    speaks = MESSAGE_WIRES.get(transcript.SPEAKS if transcript else wire)
    if speaks is None:
        return []
    fragments = _fragments(items, arrivals, transcript, speaks)
    if transcript and transcript.SPLITS_MESSAGES:
        return [fragment.raw for fragment in _gathered(fragments)]
    return [fragment.raw for fragment in fragments]


def _fragments(
    items: Iterable[Item],
    arrivals: Mapping[int, Sighting],
    transcript: TranscriptWire | None,
    speaks: MessageWire,
) -> Iterator[Fragment]:
    for first, run in groupby(items, key=arrival_of):
        shown = list(run)
        if first == 0 or (transcript and not transcript.HOLDS_MESSAGES):
            yield from _told(shown, speaks)
            continue
        arrival = arrivals[first]
        raws = transcript.spoken(arrival.raw) if transcript else [arrival.raw]
        for raw in _kept(raws, _changed(shown, arrival.parts), speaks):
            yield Fragment(raw, shown[0].entry.group)


def _told(shown: Iterable[Item], speaks: MessageWire) -> Iterator[Fragment]:
    """Messages of our own that say what items say."""
    for item in shown:
        # Reasoning without its seal is none that a provider takes.
        if not isinstance(item.body, Thought):
            yield Fragment(speaks.speak(item.body), item.entry.group)


def _changed(shown: list[Item], count: int) -> dict[int, Source | None]:
    """For each part of an arrival that is not as it came: what stands there now."""
    here = {item.entry.part: item.stand_in for item in shown}
    gone: dict[int, Source | None] = {part: None for part in range(count) if part not in here}
    replaced = {part: body for part, body in here.items() if body is not None}
    return {**gone, **replaced}


def _kept(
    raws: list[bytes], changed: Mapping[int, Source | None], wire: MessageWire
) -> Iterator[bytes]:
    """The messages of an arrival, rewritten where a part of them changed."""
    start = 0
    for raw in raws:
        if not changed:
            yield raw
            continue
        end = start + len(wire.read(as_object(parse(raw)[0])))
        own = {part - start: body for part, body in changed.items() if start <= part < end}
        kept = wire.rewrite(raw, own) if own else raw
        start = end
        if kept is not None:
            yield kept


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
        newest = next((known for known in reversed(out) if known.group), None)
        return newest if newest is not None and newest.group == fragment.group else None
    if _role(fragment.raw) != b'"user"':
        return None
    if out and _role(out[-1].raw) == b'"user"':
        return out[-1]
    return _results_before(out) if _is_result(fragment.raw) else None


def _results_before(out: list[Fragment]) -> Fragment | None:
    """Where the results of the newest calls stand, when something was said in between."""
    for known in reversed(out):
        if known.group:
            return None
        if _role(known.raw) == b'"user"' and _is_result(known.raw):
            return known
    return None


def _is_result(raw: bytes) -> bool:
    return any("tool_use_id" in members(block) for block in anthropic.blocks_of(raw))


def _role(raw: bytes) -> bytes:
    return members(raw).get("role", b"")


def _merged(raw: bytes, more: bytes) -> bytes:
    parts = members(raw)
    blocks = [*anthropic.blocks_of(raw), *anthropic.blocks_of(more)]
    return joined_object({**parts, "content": joined_array(blocks)})
