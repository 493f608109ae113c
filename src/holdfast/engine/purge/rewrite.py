"""Purging: what the user wants gone leaves the ledger, and everything that quotes it.

A whole session goes with all its rows. Of a session that stays, one message at a time is emptied:
its entries keep their names and places, so that the window stays legal, and say that they were
purged. Summaries, stand-ins and notes lose what they quoted of it, word by word.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from holdfast.core.ledger.append import derived
from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    Said,
    Sighting,
    Source,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
    is_ours,
    text_of,
)
from holdfast.core.ledger.erased import emptied_body, emptied_raw, notice_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.replay import replay
from holdfast.core.ledger.window import fold
from holdfast.core.measure.recount import Tally
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.shrink.unquote import only_in, quotes, unquoted
from holdfast.engine.originals import repeats, without_words
from holdfast.engine.redact import Redactor
from holdfast.errors import NotRecorded
from holdfast.models.tokenizers import counter
from holdfast.stores.store import REWRITTEN, Erasure, Store, Tombstone, retried
from holdfast.wire.detect import MESSAGE_WIRES, PLAIN

PURGED, EXPIRED = "purged", "expired"
LABEL = 80
"""Characters of a command that is named to be run again."""


def size_of(entries: Iterable[Entry]) -> int:
    """Bytes of what entries say."""
    return sum(_size(entry) for entry in entries)


def _size(entry: Entry) -> int:
    if isinstance(entry.body, Derived):
        return 0
    return len(text_of(entry.body).encode("utf-8", "surrogatepass"))


def erase_session(store: Store, session: str, policy: Policy, *, reason: str, at: str) -> int:
    """Erase all of a session; returns the bytes of what its entries said.

    Raises:
        NotRecorded: there is no such session.
    """

    def attempt() -> int:
        head = store.head(session)
        if head is None:
            raise NotRecorded("session", session)
        entries = list(store.read(session))
        again = _labels(entries, policy) if reason == EXPIRED else _tools(entries)
        stones = _stones(session, entries, reason, at, again)
        store.erase(session, Erasure(head.seq, stones, whole=True))
        return sum(one.size for one in stones)

    return retried(session, attempt)


def erase_message(store: Store, session: str, entry: EntryId, policy: Policy, *, at: str) -> int:
    """Erase the message that an entry came in; returns the bytes of what it said."""

    def attempt() -> int:
        erasure = _emptying(store, session, entry, policy, at)
        store.erase(session, erasure)
        return sum(one.size for one in erasure.tombstones)

    return retried(session, attempt)


def message_of(entries: Sequence[Entry], entry: EntryId) -> list[Entry]:
    """The source entries that came in the same message or line."""
    wanted = next(one for one in entries if one.id == entry)
    if isinstance(wanted.body, Derived):
        raise NotRecorded("message", entry[:12])
    first = wanted.seq - wanted.part
    after = [one for one in entries if one.seq >= first and not isinstance(one.body, Derived)]
    return [one for at, one in enumerate(after) if one.seq == first + at and one.part == at]


def _emptying(store: Store, session: str, entry: EntryId, policy: Policy, at: str) -> Erasure:
    head = store.head(session) or Head()
    entries = list(store.read(session))
    gone = message_of(entries, entry)
    names = {one.id for one in gone}
    notice = notice_of(size_of(gone))
    same = {one.id: without_words(one, notice) for one in entries if repeats(one, gone)}
    rest = [one for one in entries if one.id not in names and one.id not in same]
    lost = only_in(gone, rest)
    emptied = {one.id: replace(one, body=_emptied(one, notice)) for one in gone}
    told = [one for one in rest if is_ours(one.body)]
    ours = {one.id: unquoted(one, names, lost, notice) for one in told}
    tally = Tally(counter(head.vocabulary), [*gone, *told], {**emptied, **ours})
    quoting = dict(same)
    for one in rest:
        changed = tally.take(one, unquoted(one, names, lost, notice))
        if changed is not one:
            quoting[one.id] = changed
    now = [emptied.get(one.id) or quoting.get(one.id) or one for one in entries]
    added = _added(head, now, gone, at)
    stones = (
        *_stones(session, gone, PURGED, at, _labels_for(entries, gone, policy)),
        *_unnamed(store, session, entries, gone),
        *(Tombstone(session, one.seq, one.id, 0, REWRITTEN, at) for one in quoting.values()),
    )
    return Erasure(
        seq=head.seq,
        tombstones=stones,
        entries=(*emptied.values(), *quoting.values()),
        sightings=(
            *_pieces(store, session, gone, lost, notice),
            *told_anew(store, session, quoting.values()),
        ),
        # The counts went with the entries: whoever needs sums makes them again.
        head=replace(replay([*now, *added], {}, head), stale=True),
        added=added,
    )


def _emptied(entry: Entry, notice: str) -> Source:
    assert not isinstance(entry.body, Derived)
    return emptied_body(entry.body, notice)


def _added(head: Head, now: Sequence[Entry], gone: Sequence[Entry], at: str) -> tuple[Entry, ...]:
    """What is noted of it: that it happened, and that sealed thoughts are no longer sent."""
    lane = gone[0].lane
    end = head.lane(lane).end
    note = Noted(PURGED, {"entries": " ".join(one.id for one in gone)})
    added = [derived(head.seq + 1, note, parent=end, lane=lane, at=at)]
    thoughts = [one for one in gone if isinstance(one.body, Thought)]
    window = fold(now, lane=lane)
    shown = {item.entry.id for item in window.items if item.stand_in is None}
    steps = tuple(
        Step((one.id,), "purged", None, 2, kind="thinking") for one in thoughts if one.id in shown
    )
    if steps:
        hidden = Compressed(steps, window.generation, head.seq, trigger="purge")
        added.append(derived(head.seq + 2, hidden, parent=end, lane=lane, at=at))
    return tuple(added)


def _pieces(
    store: Store, session: str, gone: Sequence[Entry], lost: frozenset[str], notice: str
) -> Iterable[Sighting]:
    """The bytes of what goes, in every version, and of lines that hold no entry but quote it."""
    first = gone[0].seq
    for piece in store.pieces(session):
        if piece.first == first or (not piece.first and quotes(piece.raw, lost)):
            yield replace(piece, raw=emptied_raw(piece.raw, notice))


def told_anew(store: Store, session: str, entries: Iterable[Entry]) -> Iterable[Sighting]:
    """The bytes of words of ours, as they are after something was taken out of them."""
    changed = {one.seq: one.body for one in entries if is_ours(one.body)}
    wire = (store.head(session) or Head()).wire
    for piece in store.pieces(session) if changed else ():
        body = changed.get(piece.first)
        if isinstance(body, Said):
            yield replace(piece, raw=MESSAGE_WIRES[wire or PLAIN].speak(body))


def _stones(
    session: str, entries: Iterable[Entry], reason: str, at: str, again: Mapping[EntryId, str]
) -> tuple[Tombstone, ...]:
    return tuple(
        Tombstone(session, one.seq, one.id, _size(one), reason, at, again.get(one.id, ""))
        for one in entries
        if not isinstance(one.body, Derived)
    )


def _results(entries: Iterable[Entry], label: "Callable[[ToolCalled], str]") -> dict[EntryId, str]:
    """By result: how the call that brought it is called."""
    calls: dict[str, str] = {}
    named: dict[EntryId, str] = {}
    for entry in entries:
        if isinstance(entry.body, ToolCalled):
            calls[entry.body.call] = label(entry.body)
        elif isinstance(entry.body, ToolReturned) and entry.body.call in calls:
            named[entry.id] = calls[entry.body.call]
    return named


def _tools(entries: Iterable[Entry]) -> dict[EntryId, str]:
    """Only which tool it was: what it was asked went with it."""
    return _results(entries, lambda call: f"the call of {call.tool}")


def _labels(entries: Sequence[Entry], policy: Policy) -> dict[EntryId, str]:
    """The calls themselves, as anyone may see them."""
    redactor = Redactor(policy.redact)
    redactor.take(entries)
    return _results(redactor.entries(entries), _label)


def _labels_for(
    entries: Sequence[Entry], gone: Sequence[Entry], policy: Policy
) -> dict[EntryId, str]:
    """The calls of results that go; only their tools where the calls go as well."""
    return {**_labels(entries, policy), **_tools(gone)}


def _unnamed(
    store: Store, session: str, entries: Iterable[Entry], gone: Sequence[Entry]
) -> Iterable[Tombstone]:
    """Tombstones of results that went before, and name a call that goes now."""
    known = {one.id: one for one in store.tombstones(session) if one.reason != REWRITTEN}
    results = [one for one in entries if one.id in known]
    for name, tool in _tools([*gone, *results]).items():
        if name in known:
            yield replace(known[name], again=tool)


def _label(call: ToolCalled) -> str:
    touch = touch_of(call)
    what = " ".join(touch.command.split()) or touch.path
    short = what if len(what) <= LABEL else f"{what[: LABEL - 1]}…"
    return f"{call.tool} `{short}`" if short else f"the call of {call.tool}"
