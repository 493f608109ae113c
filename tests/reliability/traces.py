"""Looking for traces: every byte of every file of a project."""

from pathlib import Path

from holdfast.stores.connection import connect

SLICE = 48


def traces(root: Path, *words: str | bytes) -> list[str]:
    """The files below a folder in which one of the words stands, in whatever part of them."""
    wanted = [word.encode() if isinstance(word, str) else word for word in words]
    return [
        f"{path.relative_to(root)}: {_told(word)}"
        for path in sorted(root.rglob("*"))
        if path.is_file()
        for word in wanted
        if word in path.read_bytes()
    ]


def _told(word: bytes) -> str:
    return word.decode() if word.isascii() else word.hex()[:16]


def packed(root: Path) -> list[bytes]:
    """Some bytes of every compressed piece in a ledger, as they lie on disk.

    A piece is spread over pages; what is taken is short, and far from where a page can end.
    """
    db = connect(str(root / ".holdfast" / "ledger.db"))
    pieces = [row[0] for row in db.execute("select data from blobs")]
    db.close()
    return [piece[at : at + SLICE] for piece in pieces for at in (64, 500) if len(piece) > 700]
