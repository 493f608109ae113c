"""Where the recorded sessions are, when they are there at all."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[2]
DATA = Path(os.environ.get("HOLDFAST_DATA") or HERE.parent / "shared" / "data")
DEV = DATA / "dev"

needs_data = pytest.mark.skipif(
    not (DEV / "index.json").is_file(),
    reason="the recorded sessions are not here; HOLDFAST_DATA says where they are",
)


def index() -> list[dict[str, Any]]:
    """What is recorded; nothing when it is not here."""
    path = DEV / "index.json"
    return json.loads(path.read_bytes())["trajectories"] if path.is_file() else []


def names(*formats: str, native: bool = False) -> list[str]:
    """The sessions of some formats, or all; those with a native file if so asked."""
    return [
        row["id"]
        for row in index()
        if (not formats or row["format"] in formats) and (row.get("native") or not native)
    ]


def row_of(name: str) -> dict[str, Any]:
    """What the index says of a session."""
    return next(row for row in index() if row["id"] == name)


def normal_file(name: str) -> Path:
    """A session in the normal form."""
    return DEV / row_of(name)["file"]


def native_file(name: str) -> Path:
    """A session as its agent wrote it."""
    return DEV / row_of(name)["native"]


def unpacked(path: Path) -> bytes:
    """The bytes inside a compressed file."""
    with gzip.open(path) as file:
        return file.read()


def normal(name: str) -> dict[str, Any]:
    """A session in the normal form, as a value."""
    return json.loads(unpacked(normal_file(name)))
