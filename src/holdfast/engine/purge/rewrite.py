"""Erase a session or a message from the ledger, and everything that quotes it.

A whole session is erased with all its rows. If a session remains, one message is emptied: its
entries keep their names and positions, so that the window stays legal, and say that they were
purged. Summaries, stand-ins and notes lose the words that they quoted of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    EntryId,
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
from holdfast.core.ledger.erased import erase_body, erase_raw, purge_notice
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.notes import Purged, encode
from holdfast.core.ledger.replay import replay_ledger
from holdfast.core.ledger.window import fold
from holdfast.core.measure.recount import CompressionRecount
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.shrink.unquote import holds_any_word, purge_quotes, words_only_in
from holdfast.engine.originals import repeats_erased, without_text
from holdfast.engine.redact import Redactor
from holdfast.errors import NotRecorded
from holdfast.models.tokenizers import counter
from holdfast.stores.store import REWRITTEN, Erasure, Store, Tombstone, retry_on_conflict
from holdfast.text.clip import clip, one_line
from holdfast.text.utf8 import to_bytes
from holdfast.wire.detect import DEFAULT_MESSAGE_WIRE, MESSAGE_WIRES

PURGED, EXPIRED = "purged", "expired"
MAX_LABEL_CHARS = 80
"""Characters of a command in the label that says how to get a result again."""


def text_bytes(entries: Iterable[Entry]) -> int:
    """Return the bytes of the entries' text."""
    return sum(_entry_bytes(entry) for entry in entries)


def _entry_bytes(entry: Entry) -> int:
    if isinstance(entry.body, Derived):
        return 0
    return len(to_bytes(text_of(entry.body)))


def erase_session(store: Store, session: str, policy: Policy, *, reason: str, at: str) -> int:
    """Erase all of a session; return the bytes of its entries' text.

    Raises:
        NotRecorded: there is no such session.
    """

    def attempt() -> int:
        head = store.head(session)
        if head is None:
            raise NotRecorded("session", session)
        entries = list(store.read(session))
        labels = _call_labels(entries, policy) if reason == EXPIRED else _tool_labels(entries)
        tombstones = _tombstones(session, entries, reason, at, labels)
        store.erase(session, Erasure(head.seq, tombstones, whole=True))
        return sum(tombstone.size for tombstone in tombstones)

    return retry_on_conflict(session, attempt)


def erase_message(store: Store, session: str, entry: EntryId, policy: Policy, *, at: str) -> int:
    """Erase the message that an entry came in; return the bytes of its text."""

    def attempt() -> int:
        erasure = _build_erasure(store, session, entry, policy, at)
        store.erase(session, erasure)
        return sum(tombstone.size for tombstone in erasure.tombstones)

    return retry_on_conflict(session, attempt)


def message_of(entries: Sequence[Entry], entry: EntryId) -> list[Entry]:
    """Return the source entries that came in the same message or line."""
    named = next(item for item in entries if item.id == entry)
    if isinstance(named.body, Derived):
        raise NotRecorded("message", entry[:12])
    first = named.seq - named.part
    after = [item for item in entries if item.seq >= first and not isinstance(item.body, Derived)]
    return [item for at, item in enumerate(after) if item.seq == first + at and item.part == at]


def _build_erasure(store: Store, session: str, entry: EntryId, policy: Policy, at: str) -> Erasure:
    head = store.head(session) or Head()
    entries = list(store.read(session))
    purged = message_of(entries, entry)
    names = {item.id for item in purged}
    notice = purge_notice(text_bytes(purged))
    repeating = {
        item.id: without_text(item, notice) for item in entries if repeats_erased(item, purged)
    }
    rest = [item for item in entries if item.id not in names and item.id not in repeating]
    lost = words_only_in(purged, rest)
    emptied = {item.id: replace(item, body=_empty_body(item, notice)) for item in purged}
    own_messages = [item for item in rest if is_ours(item.body)]
    ours = {item.id: purge_quotes(item, names, lost, notice) for item in own_messages}
    tally = CompressionRecount(
        counter(head.vocabulary), [*purged, *own_messages], {**emptied, **ours}
    )
    quoting = dict(repeating)
    for item in rest:
        changed = tally.recount(item, purge_quotes(item, names, lost, notice))
        if changed is not item:
            quoting[item.id] = changed
    now = [emptied.get(item.id) or quoting.get(item.id) or item for item in entries]
    added = _entries_to_add(head, now, purged, at)
    tombstones = (
        *_tombstones(session, purged, PURGED, at, _labels_of_purged(entries, purged, policy)),
        *_tombstones_without_calls(store, session, entries, purged),
        *(Tombstone(session, item.seq, item.id, 0, REWRITTEN, at) for item in quoting.values()),
    )
    return Erasure(
        seq=head.seq,
        tombstones=tombstones,
        entries=(*emptied.values(), *quoting.values()),
        sightings=(
            *_emptied_sightings(store, session, purged, lost, notice),
            *rewritten_sightings(store, session, quoting.values()),
        ),
        # The counts are erased with the entries: the next reader of sums recounts.
        head=replace(replay_ledger([*now, *added], {}, head), stale=True),
        added=added,
    )


def _empty_body(entry: Entry, notice: str) -> Source:
    assert not isinstance(entry.body, Derived)
    return erase_body(entry.body, notice)


def _entries_to_add(
    head: Head, now: Sequence[Entry], purged: Sequence[Entry], at: str
) -> tuple[Entry, ...]:
    """Return a note of the purge, and a compression that hides purged sealed thoughts."""
    lane = purged[0].lane
    end = head.lane(lane).end
    note = encode(Purged(entries=tuple(entry.id for entry in purged)))
    added = [derived_entry(head.seq + 1, note, parent=end, lane=lane, at=at)]
    thoughts = [entry for entry in purged if isinstance(entry.body, Thought)]
    window = fold(now, lane=lane)
    shown = {item.entry.id for item in window.items if item.stand_in is None}
    steps = tuple(
        Step((entry.id,), "purged", None, 2, kind="thinking")
        for entry in thoughts
        if entry.id in shown
    )
    if steps:
        hidden = Compressed(steps, window.generation, head.seq, trigger="purge")
        added.append(derived_entry(head.seq + 2, hidden, parent=end, lane=lane, at=at))
    return tuple(added)


def _emptied_sightings(
    store: Store, session: str, purged: Sequence[Entry], lost: frozenset[str], notice: str
) -> Iterable[Sighting]:
    """Yield the emptied bytes of purged messages, in every version, and of quoting lines."""
    first = purged[0].seq
    for sighting in store.all_sightings(session):
        if sighting.first == first or (not sighting.first and holds_any_word(sighting.raw, lost)):
            yield replace(sighting, raw=erase_raw(sighting.raw, notice))


def rewritten_sightings(store: Store, session: str, entries: Iterable[Entry]) -> Iterable[Sighting]:
    """Yield the bytes of our own messages after quotes were removed from them."""
    changed = {entry.seq: entry.body for entry in entries if is_ours(entry.body)}
    wire = (store.head(session) or Head()).wire
    for sighting in store.all_sightings(session) if changed else ():
        body = changed.get(sighting.first)
        if isinstance(body, Said):
            yield replace(
                sighting, raw=MESSAGE_WIRES[wire or DEFAULT_MESSAGE_WIRE].new_message(body)
            )


def _tombstones(
    session: str, entries: Iterable[Entry], reason: str, at: str, labels: Mapping[EntryId, str]
) -> tuple[Tombstone, ...]:
    return tuple(
        Tombstone(
            session, entry.seq, entry.id, _entry_bytes(entry), reason, at, labels.get(entry.id, "")
        )
        for entry in entries
        if not isinstance(entry.body, Derived)
    )


def _labels_by_result(
    entries: Iterable[Entry], label: "Callable[[ToolCalled], str]"
) -> dict[EntryId, str]:
    """Return, by result, the label of the call that it answers."""
    calls: dict[str, str] = {}
    named: dict[EntryId, str] = {}
    for entry in entries:
        if isinstance(entry.body, ToolCalled):
            calls[entry.body.call] = label(entry.body)
        elif isinstance(entry.body, ToolReturned) and entry.body.call in calls:
            named[entry.id] = calls[entry.body.call]
    return named


def _tool_labels(entries: Iterable[Entry]) -> dict[EntryId, str]:
    """Return labels with the tool alone: the arguments are purged too."""
    return _labels_by_result(entries, lambda call: f"the call of {call.tool}")


def _call_labels(entries: Sequence[Entry], policy: Policy) -> dict[EntryId, str]:
    """Return labels with the redacted calls."""
    redactor = Redactor(policy.redact)
    redactor.learn_from(entries)
    return _labels_by_result(redactor.entries(entries), _call_label)


def _labels_of_purged(
    entries: Sequence[Entry], purged: Sequence[Entry], policy: Policy
) -> dict[EntryId, str]:
    """Return the calls of purged results; only their tools if the calls are purged too."""
    return {**_call_labels(entries, policy), **_tool_labels(purged)}


def _tombstones_without_calls(
    store: Store, session: str, entries: Iterable[Entry], purged: Sequence[Entry]
) -> Iterable[Tombstone]:
    """Yield tombstones of earlier purges that name a call which is purged now."""
    earlier = {item.id: item for item in store.tombstones(session) if item.reason != REWRITTEN}
    results = [item for item in entries if item.id in earlier]
    for name, tool in _tool_labels([*purged, *results]).items():
        if name in earlier:
            yield replace(earlier[name], again=tool)


def _call_label(call: ToolCalled) -> str:
    touch = touch_of(call)
    short = clip(one_line(touch.command) or touch.path, MAX_LABEL_CHARS)
    return f"{call.tool} `{short}`" if short else f"the call of {call.tool}"
