"""How content is laid down: small things in their row, larger ones compressed under their hash.

What stands in a row is squeezed by the standard library: a hook that appends it needs no other
compressor. What grows with every version, as a summary does, is told against the version before.
"""

import zlib
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from backports import zstd

INLINE = 4096
"""Bytes up to which content stands in its row: a hook that appends as much needs no compressor,
and reading a long file is a tenth quicker than with a quarter of it."""
WORTH = 160
"""Bytes from which on squeezing what stands in a row is tried: half of it is saved, in 20 µs."""
LEVEL = 1
"""Of compression: level 3 saves 3 % more room and takes a quarter longer."""
AFTER_LEVEL = 3
"""Of what is told against an older version: a fiftieth is left of a summary."""
SPLIT = 1024 * 1024
"""Bytes from which on a second thread is worth its start."""
AS_IS, BY_HASH, SQUEEZED = 0, 1, 2
"""Where content is: in its row, among the blobs, or in its row and squeezed."""
WOVEN = 16
"""Added to these where the content is told by what the entries say: see `weaving.py`."""
SUM = 8
"""Bytes of a check sum."""


def digest(data: bytes) -> bytes:
    """The name of content: equal content has one name inside a project."""
    return sha256(data).digest()


def in_row(data: bytes) -> tuple[int, bytes]:
    """How small content stands in its row."""
    shorter = zlib.compress(data, LEVEL) if len(data) >= WORTH else data
    return (SQUEEZED, shorter) if len(shorter) < len(data) else (AS_IS, data)


def from_row(stored: int, data: bytes) -> bytes:
    """The small content that stands in a row.

    Raises:
        ValueError: these are not the bytes that were laid down.
    """
    if stored == AS_IS:
        return data
    try:
        return zlib.decompress(data)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from None


def squeezed(contents: Sequence[bytes]) -> list[bytes]:
    """Contents as they lie on disk; many of them in two threads, which really run side by side."""
    if sum(map(len, contents)) < SPLIT:
        return _squeeze(contents)
    from concurrent.futures import ThreadPoolExecutor  # late: only large batches come here

    with ThreadPoolExecutor(2) as threads:
        halves = threads.map(_squeeze, (contents[::2], contents[1::2]))
        even, odd = halves
    both: list[bytes] = [b""] * len(contents)
    both[::2], both[1::2] = even, odd
    return both


def _squeeze(contents: Sequence[bytes]) -> list[bytes]:
    if not contents:
        return []
    from backports import zstd  # late: a hook that appends something small needs none of it

    # One frame each, from one compressor with small tables: setting up larger ones costs as much as
    # squeezing a page.
    tables = {zstd.CompressionParameter.hash_log: 14, zstd.CompressionParameter.window_log: 19}
    compressor = zstd.ZstdCompressor(
        options={zstd.CompressionParameter.compression_level: LEVEL, **tables}
    )
    laid: list[bytes] = []
    for data in contents:
        # A frame that says how long it is can be unpacked into one piece of memory.
        compressor.set_pledged_input_size(len(data))
        laid.append(compressor.compress(data, zstd.ZstdCompressor.FLUSH_FRAME))
    return laid


def squeezed_after(data: bytes, base: bytes) -> bytes:
    """Content told against an older version of it: what both have costs next to nothing."""
    from backports import zstd

    whole = (len(data) + len(base)).bit_length()
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: AFTER_LEVEL,
        # Both have to be in reach, and rows that moved are found from afar.
        zstd.CompressionParameter.window_log: min(max(whole, 19), 27),
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    return zstd.compress(data, options=options, zstd_dict=_prefix(base))


def _prefix(base: bytes) -> "tuple[zstd.ZstdDict, int] | None":
    from backports import zstd

    # The library takes nothing shorter for a base; nothing that short is one.
    return zstd.ZstdDict(base, is_raw=True).as_prefix if base else None


def unsqueeze(data: bytes, base: bytes = b"") -> bytes:
    """Content as it was given; with the older version that it is told against.

    Raises:
        ValueError: these are not the bytes that were laid down.
    """
    from backports import zstd

    try:
        return zstd.decompress(data, zstd_dict=_prefix(base))
    except (zstd.ZstdError, TypeError) as error:
        # A flipped bit can make a number of what was a blob.
        raise ValueError(str(error)) from None


def row_sum(*columns: object) -> bytes:
    """A check sum over the columns of a row, so that a flipped bit anywhere in it shows."""
    return blake2b(msgspec.msgpack.encode(columns), digest_size=SUM).digest()


def sealed(data: bytes) -> bytes:
    """What is kept as a cache, with a sum in front of it."""
    return row_sum(data) + data


def unsealed(data: bytes) -> bytes | None:
    """What was kept, or nothing when it is not what it was: a cache can be made again."""
    if not isinstance(data, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        return None  # a flipped bit can make a number of what was a blob
    total, kept = data[:SUM], data[SUM:]
    return kept if total == row_sum(kept) else None
