"""The real sessions that benchmarks measure on; never part of this repository."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec


def data_folder() -> Path | None:
    """Where the real sessions are: HOLDFAST_DATA, else beside the checkout; None when absent."""
    named = os.environ.get("HOLDFAST_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if (folder / "dev").is_dir() else None


def native_sessions(pattern: str = "*") -> list[Path]:
    """Session files as agents wrote them."""
    folder = data_folder()
    return sorted((folder / "dev" / "native").glob(pattern)) if folder else []


def unpacked(path: Path) -> bytes:
    """The bytes of a session file."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def bundled() -> Path:
    """The session that ships with the repository."""
    return Path(__file__).parents[1] / "examples" / "session" / "ledgerly.jsonl"


def trajectories(pattern: str = "*") -> Iterator[dict[str, Any]]:
    """Sessions in the normal form: one document each, with its messages."""
    folder = data_folder()
    for path in sorted((folder / "dev" / "trajectories").glob(pattern)) if folder else []:
        yield msgspec.json.decode(unpacked(path))
