"""Compress, hash and checksum the content of a SQLite store.

Small content is stored in its row, compressed with zlib, so that a hook that appends needs no other
compressor. Large content is compressed with zstd and stored under its hash. Content that grows with
every version, such as a summary, is compressed as a delta against the version before.
"""

import zlib
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from backports import zstd

MAX_INLINE_BYTES = 4096
"""Largest content that is stored in its row: a hook that appends it need not load zstd, and
ingesting a long file is a tenth faster than with a quarter of this limit."""
MIN_COMPRESSED_BYTES = 160
"""Smallest content in a row that is compressed: this saves half of it, in 20 µs."""
COMPRESSION_LEVEL = 1
"""Level for zlib and zstd: level 3 saves 3 % more space and takes a quarter longer."""
DELTA_LEVEL = 3
"""zstd level for deltas: it reduces a summary to a fiftieth."""
MIN_THREADED_BYTES = 1024 * 1024
"""Smallest total size that is compressed with two threads."""
AS_IS, BY_HASH, COMPRESSED = 0, 1, 2
"""Where content is stored: in its row, in the blobs, or compressed in its row."""
REFERENCES = 16
"""Flag added to these if the content has references to entries: see `encoding.py`."""
CHECKSUM_BYTES = 8
"""Length of a checksum."""


def digest(data: bytes) -> bytes:
    """Return the name of content, which is its hash."""
    return sha256(data).digest()


def pack_inline(data: bytes) -> tuple[int, bytes]:
    """Compress small content for its row if that saves space; return how it is stored, and it."""
    compressed = (
        zlib.compress(data, COMPRESSION_LEVEL) if len(data) >= MIN_COMPRESSED_BYTES else data
    )
    return (COMPRESSED, compressed) if len(compressed) < len(data) else (AS_IS, data)


def unpack_inline(stored: int, data: bytes) -> bytes:
    """Return the content that `pack_inline` packed.

    Raises:
        ValueError: the bytes are damaged.
    """
    if stored == AS_IS:
        return data
    try:
        return zlib.decompress(data)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from None


def compress_all(contents: Sequence[bytes]) -> list[bytes]:
    """Compress contents for the blobs; large batches with two threads, as zstd frees the GIL."""
    if sum(map(len, contents)) < MIN_THREADED_BYTES:
        return _compress(contents)
    from concurrent.futures import ThreadPoolExecutor  # late: only large batches come here

    with ThreadPoolExecutor(2) as threads:
        halves = threads.map(_compress, (contents[::2], contents[1::2]))
        even, odd = halves
    result: list[bytes] = [b""] * len(contents)
    result[::2], result[1::2] = even, odd
    return result


def _compress(contents: Sequence[bytes]) -> list[bytes]:
    if not contents:
        return []
    from backports import zstd  # late: a hook that appends small content does not need it

    # One frame each, from one compressor with small tables: initializing larger ones costs as much
    # as compressing a page.
    tables = {zstd.CompressionParameter.hash_log: 14, zstd.CompressionParameter.window_log: 19}
    compressor = zstd.ZstdCompressor(
        options={zstd.CompressionParameter.compression_level: COMPRESSION_LEVEL, **tables}
    )
    frames: list[bytes] = []
    for data in contents:
        # A frame that states its length can be decompressed into one allocation.
        compressor.set_pledged_input_size(len(data))
        frames.append(compressor.compress(data, zstd.ZstdCompressor.FLUSH_FRAME))
    return frames


def compress_delta(data: bytes, base: bytes) -> bytes:
    """Compress content as a delta against an older version of it."""
    from backports import zstd

    bits = (len(data) + len(base)).bit_length()
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: DELTA_LEVEL,
        # The window has to span both versions, and moved parts are found at a long distance.
        zstd.CompressionParameter.window_log: min(max(bits, 19), 27),
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    return zstd.compress(data, options=options, zstd_dict=_as_dictionary(base))


def _as_dictionary(base: bytes) -> "tuple[zstd.ZstdDict, int] | None":
    from backports import zstd

    # zstd does not accept an empty or very short dictionary; no base is that short.
    return zstd.ZstdDict(base, is_raw=True).as_prefix if base else None


def decompress(data: bytes, base: bytes = b"") -> bytes:
    """Decompress content; a delta needs the older version as `base`.

    Raises:
        ValueError: the bytes are damaged.
    """
    from backports import zstd

    try:
        return zstd.decompress(data, zstd_dict=_as_dictionary(base))
    except (zstd.ZstdError, TypeError) as error:
        # A flipped bit can turn a blob into a number.
        raise ValueError(str(error)) from None


def checksum(*columns: object) -> bytes:
    """Return a checksum of the columns of a row, to detect flipped bits."""
    return blake2b(msgspec.msgpack.encode(columns), digest_size=CHECKSUM_BYTES).digest()


def add_checksum(data: bytes) -> bytes:
    """Return data with its checksum in front of it."""
    return checksum(data) + data


def verify_checksum(data: bytes) -> bytes | None:
    """Return the data after its checksum, or None if the checksum does not match."""
    if not isinstance(data, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
        return None  # a flipped bit can turn a blob into a number
    expected, content = data[:CHECKSUM_BYTES], data[CHECKSUM_BYTES:]
    return content if expected == checksum(content) else None
