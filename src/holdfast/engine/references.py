"""What a reference names: an entry by the beginning of its id, or by its number.

A session knows what it goes on from by the same names. Of what was erased, the tombstones tell.
"""

from holdfast.core.ledger.chain import is_true
from holdfast.core.ledger.entry import Checkpointed, Derived, Entry, Handed, text_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.inherited import resumed_from
from holdfast.errors import Ambiguous, Erased, NotRecorded
from holdfast.stores.store import REWRITTEN, Store
from holdfast.text.jsontext import encode, whole_number

SHORTEST = 6
"""Characters of an id that name an entry."""
_HEX = frozenset("0123456789abcdef")


def find_entry(store: Store, session: str, ref: str) -> Entry:
    """The entry that a reference names in a session, or in one that it goes on from.

    Raises:
        NotRecorded: there is no such entry.
        Ambiguous: several begin like this.
        Erased: it was purged, or kept long enough.
    """
    entries = named(store, session, ref)
    if not entries:
        before = holder_of(store, session, ref)
        entries = named(store, before, ref) if before != session else []
    if not entries:
        _tell_erased(store, ref, ref)
        raise NotRecorded("entry", ref, where=f"session {session!r}")
    if not is_true(entries[0]):
        _tell_erased(store, ref, entries[0].id)
    return entries[0]


def holder_of(store: Store, session: str, ref: str) -> str:
    """The session that a reference is of: this one, or one that it goes on from."""
    holder, seen = session, {session}
    while not named(store, holder, ref) and not ref.startswith("#"):
        link = resumed_from(store.read(holder))
        if link is None or link.session in seen:
            return session
        seen.add(link.session)
        holder = link.session
    return holder


def named(store: Store, session: str, ref: str) -> list[Entry]:
    """The entry of that name or number in one session; none when it has none.

    Raises:
        Ambiguous: several begin like this.
    """
    number = whole_number(ref[1:]) if ref.startswith("#") else None
    if number is not None:
        head = store.head(session) or Head()
        found = [number] if 0 < number <= head.seq else []
    else:
        found = _starting_with(store, session, ref) or _checkpoint_like(store, session, ref)
        if not found:
            return _original_like(store, session, ref) or _note_like(store, session, ref)
    return list(store.read(session, numbers=found))


def _starting_with(store: Store, session: str, ref: str) -> list[int]:
    if len(ref) < SHORTEST:
        return []
    names = store.names(session)
    fitting = [name for name in names if name.startswith(ref.lower())]
    if len(fitting) > 1:
        raise Ambiguous("entry", ref, tuple(name[:12] for name in fitting))
    return [names[name] for name in fitting]


def _checkpoint_like(store: Store, session: str, ref: str) -> list[int]:
    """The number of a checkpoint or packet: no link of the chain, and named all the same."""
    if len(ref) < SHORTEST:
        return []
    taken = (one for one in store.read(session) if isinstance(one.body, Checkpointed | Handed))
    return [entry.seq for entry in taken if entry.id.startswith(ref.lower())][:1]


def _original_like(store: Store, session: str, ref: str) -> list[Entry]:
    """A result that a hook kept, by the reference that stands in for it."""
    if len(ref) < SHORTEST:
        return []
    from holdfast.engine.originals import referred_to  # late: only agents with hooks have any

    found = referred_to(ref, store.read(session))
    return [found] if found is not None else []


def _note_like(store: Store, session: str, ref: str) -> list[Entry]:
    """Any other derived entry: `recover` finds notes and names them."""
    if len(ref) < SHORTEST:
        return []
    return [one for one in store.events(session) if one.id.startswith(ref.lower())][:1]


def _tell_erased(store: Store, ref: str, name: str) -> None:
    """Say what became of something that is no longer there."""
    if len(name) < SHORTEST or not _HEX.issuperset(name.lower()):
        return
    # Of a session that went whole, no name is left but in the tombstones.
    for stone in store.tombstones(ref=name):
        if stone.reason != REWRITTEN:
            raise Erased(
                "entry", ref, reason=stone.reason, size=stone.size, at=stone.at, again=stone.again
            )


def text_of_entry(entry: Entry, lines: tuple[int, int] | None = None) -> str:
    """What an entry says, in words; or some of its lines, the values of a call written out."""
    if lines is not None:
        from holdfast.core.index.passages import readable  # late: most read it whole

        first, last = lines
        return "\n".join(readable(entry.body).split("\n")[max(first, 1) - 1 : last])
    if isinstance(entry.body, Derived):
        return encode(entry.body).decode()
    return text_of(entry.body)
