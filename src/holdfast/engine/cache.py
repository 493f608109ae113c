"""What was read off a session, kept beside it: the next process need not read all of it again.

A reading is a cache and no event. It is worth nothing once the session has moved on, is made by
other rules, or by code that reads otherwise; it goes with what is purged; and whatever hinders its
keeping hinders nobody else.
"""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import TypeVar

import msgspec
from msgspec import Struct

from holdfast import __version__
from holdfast.core.ledger.head import Head
from holdfast.errors import HoldfastError
from holdfast.stores.store import Store

T = TypeVar("T")

VERSION = 4
"""To be raised whenever the same entries are read otherwise than before by the same release."""


class Reading(Struct, frozen=True, array_like=True):
    """A value that was read, and what it holds for."""

    upto: int
    """The last entry that was read."""
    rules: str
    value: msgspec.Raw


def rules_of(*rules: object) -> str:
    """A short name for what a reading depends on besides the entries."""
    told = repr((__version__, VERSION, rules)).encode("utf-8", "surrogatepass")
    return sha256(told).hexdigest()[:16]


def recalled(
    store: Store, session: str, name: str, rules: str, kind: type[T]
) -> tuple[int, T] | None:
    """What was kept under a name by the same rules, and up to which entry it was read."""
    data = store.reading(session, name)
    if data is None:
        return None
    try:
        found = msgspec.msgpack.decode(data, type=Reading)
        if found.rules != rules:
            return None
        return found.upto, msgspec.msgpack.decode(found.value, type=kind)
    except msgspec.MsgspecError:
        return None  # of an older shape: it is made again


def remember(store: Store, session: str, name: str, rules: str, head: Head, value: object) -> None:
    """Keep what was read off a session as it stands."""
    # Half a character cannot be encoded: what holds one is read anew each time.
    with suppress(HoldfastError, UnicodeEncodeError):
        raw = msgspec.Raw(msgspec.msgpack.encode(value))
        data = msgspec.msgpack.encode(Reading(head.seq, rules, raw))
        store.keep_reading(session, name, head, data)


def read_once(
    store: Store, session: str, name: str, rules: str, kind: type[T], make: Callable[[], T]
) -> T:
    """What `make` reads off a session: made only where nothing is kept of it as it stands."""
    head = store.head(session)
    if head is None:
        return make()
    known = recalled(store, session, name, rules, kind)
    if known is not None and known[0] == head.seq:
        return known[1]
    made = make()
    remember(store, session, name, rules, head, made)
    return made
