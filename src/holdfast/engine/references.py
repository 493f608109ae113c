"""Find the entry that a reference names: by the beginning of its id, or by its number.

References into a session that this one continues work too. For erased entries, tombstones say why.
"""

from holdfast.core.ledger.chain import id_matches
from holdfast.core.ledger.entry import Derived, Entry, text_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.inherited import find_resumed
from holdfast.errors import Ambiguous, Erased, NotRecorded
from holdfast.stores.store import REWRITTEN, Store
from holdfast.text.jsontext import encode, whole_number

MIN_REF_CHARS = 6
"""Minimum characters of an id in a reference."""
_HEX = frozenset("0123456789abcdef")


def find_entry(store: Store, session: str, ref: str) -> Entry:
    """Return the entry that a reference names in a session, or in one that it continues.

    Raises:
        NotRecorded: there is no such entry.
        Ambiguous: several ids begin like this.
        Erased: it was purged, or its retention period is over.
    """
    entries = entries_named(store, session, ref)
    if not entries:
        before = holder_of(store, session, ref)
        entries = entries_named(store, before, ref) if before != session else []
    if not entries:
        _raise_if_erased(store, ref, ref)
        raise NotRecorded("entry", ref, where=f"session {session!r}")
    if not id_matches(entries[0]):
        _raise_if_erased(store, ref, entries[0].id)
    return entries[0]


def holder_of(store: Store, session: str, ref: str) -> str:
    """Return the session that holds a reference: this one, or one that it continues."""
    holder, seen = session, {session}
    while not entries_named(store, holder, ref) and not ref.startswith("#"):
        link = find_resumed(store.read(holder))
        if link is None or link.session in seen:
            return session
        seen.add(link.session)
        holder = link.session
    return holder


def entries_named(store: Store, session: str, ref: str) -> list[Entry]:
    """Return the entry of that id or number in one session; an empty list if there is none.

    Raises:
        Ambiguous: several ids begin like this.
    """
    number = whole_number(ref[1:]) if ref.startswith("#") else None
    if number is not None:
        head = store.head(session) or Head()
        return list(store.read(session, numbers=[number])) if 0 < number <= head.seq else []
    if len(ref) < MIN_REF_CHARS:
        return []
    names = store.names(session)
    fitting = [name for name in names if name.startswith(ref.lower())]
    if len(fitting) > 1:
        raise Ambiguous("entry", ref, tuple(name[:12] for name in fitting))
    if fitting:
        return list(store.read(session, numbers=[names[fitting[0]]]))
    from holdfast.engine.originals import find_original  # late: only agents with hooks have any

    found = find_original(ref, store.read(session))
    if found is not None:
        return [found]
    # Derived entries, such as checkpoints, packets and notes, are not in the index of names.
    return [entry for entry in store.events(session) if entry.id.startswith(ref.lower())][:1]


def _raise_if_erased(store: Store, ref: str, name: str) -> None:
    """Raise Erased if a tombstone says what happened to the entry."""
    if len(name) < MIN_REF_CHARS or not _HEX.issuperset(name.lower()):
        return
    # Names of an erased session remain in the tombstones only.
    for tombstone in store.tombstones(ref=name):
        if tombstone.reason != REWRITTEN:
            raise Erased(
                "entry",
                ref,
                reason=tombstone.reason,
                size=tombstone.size,
                at=tombstone.at,
                again=tombstone.again,
            )


def text_of_entry(entry: Entry, lines: tuple[int, int] | None = None) -> str:
    """Return the text of an entry; or some of its lines, with a call's values expanded."""
    if lines is not None:
        from holdfast.core.index.passages import searchable_text  # late: most read it whole

        first, last = lines
        return "\n".join(searchable_text(entry.body).split("\n")[max(first, 1) - 1 : last])
    if isinstance(entry.body, Derived):
        return encode(entry.body).decode()
    return text_of(entry.body)
