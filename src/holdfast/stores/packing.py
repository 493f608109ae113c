"""How content is laid down: small things as they are, larger ones compressed under their hash."""

from hashlib import blake2b, sha256

INLINE = 1024
"""Bytes up to which content stands in its row: there hashing and compressing gain nothing."""
LEVEL = 3
AS_IS, BY_HASH = 0, 1


def digest(data: bytes) -> bytes:
    """The name of content: equal content has one name inside a project."""
    return sha256(data).digest()


def squeeze(data: bytes) -> bytes:
    """Content as it lies on disk."""
    from backports import zstd  # late: a hook that appends something small needs none of it

    return zstd.compress(data, LEVEL)


def unsqueeze(data: bytes) -> bytes:
    """Content as it was given.

    Raises:
        ValueError: these are not the bytes that were laid down.
    """
    from backports import zstd

    try:
        return zstd.decompress(data)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from None


def row_sum(*columns: object) -> bytes:
    """A check sum over the columns of a row, so that a flipped bit anywhere in it shows."""
    total = blake2b(digest_size=8)
    for column in columns:
        data = column if isinstance(column, bytes) else repr(column).encode()
        total.update(b"%d:" % len(data))
        total.update(data)
    return total.digest()
