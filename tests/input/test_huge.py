"""Sizes nobody plans for: done in bounded memory, or refused in a sentence."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.input.making import line, told

MIB = 1024 * 1024
CHILD = """
import hashlib, json, sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from holdfast.transcripts.export import export_document
from holdfast.transcripts.ingest import ingest
from holdfast.session.open import open_store
from holdfast.session.session import Session
path, root = sys.argv[1], Path(sys.argv[2])
def peak():
    # Not getrusage: what that tells begins with the peak of the process that started this one.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
with open_store(root) as store:
    done = ingest(path, store)
    flaws = [[flaw.line, flaw.read] for flaw in done.flaws]
    counts = [done.pieces, done.added]
    name = done.session
    del done
    read = peak()
    digest = hashlib.sha256()
    for chunk in export_document(Session(name, store).ledger, ""):
        digest.update(chunk)
print(json.dumps({"counts": counts, "flaws": flaws, "sha": digest.hexdigest(),
                  "read": read, "peak": peak()}))
"""


@cache
def _idle() -> int:
    """What the process has with next to no input: the interpreter, the tokenizer, the engine."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "small.jsonl")
        # A word that no vocabulary has: the tokenizer makes what it needs for those only then.
        file.write_bytes(line({"role": "user", "content": "xqzzyvkw # Qwertzuiopü"}))
        return int(_taken(file, Path(folder))["peak"])


def _write(path: Path, chunks: Iterable[bytes]) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        for chunk in chunks:
            digest.update(chunk)
            size += file.write(chunk)
    return size, digest.hexdigest()


def _taken(path: Path, root: Path) -> dict[str, Any]:
    began = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(root)],
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    found = json.loads(ran.stdout)
    seconds, size = time.monotonic() - began, path.stat().st_size
    print(
        f"{path.name}: {size / MIB:,.0f} MiB in {seconds:.1f} s, "
        f"peak {found['peak'] / MIB:,.0f} MiB = {found['peak'] / size:.2f} × the input"
    )
    return found


def _words(size: int) -> Iterable[bytes]:
    """Text that says nothing twice within a window, a mebibyte at a time."""
    part = " ".join(f"{at * 7919 % 1_000_003:06}" for at in range(MIB // 7)).encode()
    for _ in range(size // len(part) + 1):
        yield part


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_is_kept_in_three_times_its_size(tmp_path: Path) -> None:
    file = tmp_path / "wide.jsonl"
    chunks = [told("one"), b'{"role":"user","content":"', *_words(100 * MIB), b'"}\n', told("two")]
    size, sha = _write(file, chunks)
    found = _taken(file, tmp_path)
    assert (found["counts"], found["flaws"], found["sha"]) == ([3, 2], [[2, False]], sha)
    assert found["peak"] - _idle() <= 3 * size


@pytest.mark.slow
def test_a_torn_line_of_a_hundred_megabytes_is_kept_in_three_times_its_size(tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    items = (b'{"n":%d},' % at for at in range(10_000_000))
    chunks = [told("one"), b'{"role":"user","content":[', *items, b"\n", told("two")]
    size, sha = _write(file, chunks)
    found = _taken(file, tmp_path)
    assert (found["counts"], found["flaws"], found["sha"]) == ([3, 2], [[2, False]], sha)
    assert found["peak"] - _idle() <= 3 * size


@pytest.mark.slow
def test_a_line_of_a_gigabyte_is_kept_in_three_times_its_size(tmp_path: Path) -> None:
    file = tmp_path / "giant.jsonl"

    def chunks() -> Iterable[bytes]:
        yield told("one")
        yield b'{"role":"user","content":"'
        yield from _words(1024 * MIB)
        yield b'"}\n'
        yield told("two")

    size, sha = _write(file, chunks())
    found = _taken(file, tmp_path)
    assert (found["flaws"], found["sha"]) == ([[2, False]], sha)
    assert found["peak"] - _idle() <= 3 * size


@pytest.mark.slow
def test_a_gigabyte_that_is_the_only_line_is_kept_in_three_times_its_size(tmp_path: Path) -> None:
    file = tmp_path / "only.jsonl"

    def chunks() -> Iterable[bytes]:
        yield b'{"role":"user","content":"'
        yield from _words(1024 * MIB)
        yield b'"}\n'

    size, _ = _write(file, chunks())
    began = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(file), str(tmp_path)],
        capture_output=True,
        check=False,
    )
    print(f"only.jsonl: ended with {ran.returncode} in {time.monotonic() - began:.1f} s")
    if ran.returncode == 0:
        assert json.loads(ran.stdout)["peak"] - _idle() <= 3 * size
    else:
        assert b"holdfast.errors.Unreadable" in ran.stderr


@pytest.mark.slow
def test_a_million_tiny_messages_are_read(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    roles = ("user", "assistant")
    size, sha = _write(file, (told(f"m{at}", roles[at % 2]) for at in range(1_000_000)))
    found = _taken(file, tmp_path)
    assert (found["counts"], found["flaws"]) == ([1_000_000, 1_000_000], [])
    assert found["sha"] == sha
    print(f"many.jsonl: while reading {found['read'] / MIB:,.0f} MiB for {size / MIB:,.0f} MiB")


@pytest.mark.slow
def test_a_hundred_thousand_calls_in_one_turn_are_read(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    function = {"name": "run", "arguments": "{}"}
    calls = [{"id": f"c{at}", "type": "function", "function": function} for at in range(100_000)]
    asks = {"role": "assistant", "content": None, "tool_calls": calls}
    results = (
        line({"role": "tool", "tool_call_id": f"c{at}", "content": "ok"}) for at in range(100_000)
    )
    _, sha = _write(file, [told("go"), line(asks), *results])
    found = _taken(file, tmp_path)
    assert (found["counts"], found["flaws"]) == ([100_002, 200_001], [])
    assert found["sha"] == sha


@pytest.mark.slow
def test_a_picture_of_fifty_megabytes_is_read_in_three_times_its_size(tmp_path: Path) -> None:
    file = tmp_path / "picture.jsonl"
    data = base64.b64encode(os.urandom(50 * MIB * 3 // 4)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    size, sha = _write(
        file, [line({"role": "user", "content": [{"type": "image", "source": source}]})]
    )
    del data, source
    found = _taken(file, tmp_path)
    assert (found["counts"], found["flaws"], found["sha"]) == ([1, 1], [], sha)
    assert found["peak"] - _idle() <= 3 * size
