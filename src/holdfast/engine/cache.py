"""Cache values read from a session in its store, so that the next process need not read it again.

A cached reading is no event. It is invalid once the session has changed, or if other rules or other
code made it. It is purged with the session, and a failure to write it is ignored.
"""

import zlib
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import TypeVar

import msgspec
from msgspec import Struct

from holdfast import __version__
from holdfast.core.ledger.head import Head
from holdfast.errors import HoldfastError
from holdfast.stores import packing
from holdfast.stores.store import Store
from holdfast.text.utf8 import to_bytes

T = TypeVar("T")

VERSION = 8
"""Increase this if the same entries are read differently by the same release."""


ZLIB_LEVEL = 6
MIN_ZSTD_BYTES = 64 * 1024
"""Smallest value that is compressed with zstd: loading it takes longer than a small value does."""
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class CachedReading(Struct, frozen=True, array_like=True):
    """A value that was read, and what it is valid for."""

    upto: int
    """The last entry that was read."""
    rules: str
    value: msgspec.Raw


def rules_digest(*rules: object) -> str:
    """Return a short digest of everything a reading depends on besides the entries."""
    text = to_bytes(repr((__version__, VERSION, rules)))
    return sha256(text).hexdigest()[:16]


def read_cached(
    store: Store, session: str, name: str, rules: str, kind: type[T]
) -> tuple[int, T] | None:
    """Return the value cached under a name with the same rules, and the last entry it covers."""
    data = store.read_cache(session, name)
    if data is None:
        return None
    try:
        found = msgspec.msgpack.decode(_decompress(data), type=CachedReading)
        if found.rules != rules:
            return None
        return found.upto, msgspec.msgpack.decode(found.value, type=kind)
    except (msgspec.MsgspecError, ValueError):
        return None  # written by an older version


def write_cached(
    store: Store, session: str, name: str, rules: str, head: Head, value: object
) -> None:
    """Cache a value that was read from a session with this head."""
    # A lone surrogate cannot be encoded: such a value is not cached.
    with suppress(HoldfastError, UnicodeEncodeError):
        raw = msgspec.Raw(msgspec.msgpack.encode(value))
        data = msgspec.msgpack.encode(CachedReading(head.seq, rules, raw))
        store.write_cache(session, name, head, _compress(data))


def _compress(data: bytes) -> bytes:
    if len(data) < MIN_ZSTD_BYTES:
        return zlib.compress(data, ZLIB_LEVEL)
    return packing.compress_all([data])[0]


def _decompress(data: bytes) -> bytes:
    """Return what `_compress` compressed.

    Raises:
        ValueError: the bytes are something else.
    """
    if data.startswith(ZSTD_MAGIC):
        return packing.decompress(data)
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from None


def read_through_cache(
    store: Store, session: str, name: str, rules: str, kind: type[T], make: Callable[[], T]
) -> T:
    """Return the cached value if it is current; else call `make` and cache its result."""
    head = store.head(session)
    if head is None:
        return make()
    known = read_cached(store, session, name, rules, kind)
    if known is not None and known[0] == head.seq:
        return known[1]
    made = make()
    write_cached(store, session, name, rules, head, made)
    return made
