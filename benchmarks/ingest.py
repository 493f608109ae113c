"""Ingest: time against decoding the same JSON and tokenising the same text, and peak memory.

The yardstick decodes each line with the same JSON library and counts the words of each entry with
the same tokenizer, and does nothing else. The large file is the sessions at hand, one behind
the other as one long session.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import msgspec

from benchmarks.data import bundled, native_sessions, unpacked
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Derived, text_of
from holdfast.core.measure.tokens import CountTokens
from holdfast.models.tokenizers import counter
from holdfast.stores.sqlite import SqliteStore
from holdfast.transcripts.ingest import ingest

ROUNDS = 3
LARGE = 100 * 1024 * 1024

PEAK = """
import sys
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
from holdfast.transcripts.ingest import ingest
from holdfast.stores.sqlite import SqliteStore
from holdfast.models.tokenizers import counter
counter("o200k_base")("warm up")
idle = peak()
if len(sys.argv) > 2:
    with SqliteStore(sys.argv[1]) as store:
        ingest(sys.argv[2], store)
print(idle, peak())
"""


def run() -> None:
    """Print the tables."""
    files = native_sessions("claude-*")
    chosen = files or [bundled()]
    if not files:
        print("ingest: no real sessions here (set HOLDFAST_DATA); using the bundled one")
    with TemporaryDirectory() as folder:
        large = Path(folder, "large.jsonl")
        _write_large(large, chosen)
        sample = Path(folder, "sample.jsonl")
        _write_large(sample, chosen, limit=20 * 1024 * 1024)
        _print_times([*sorted(_plain(folder, chosen), key=_size)[-3:], sample, large])
        _print_memory(large)


def _print_times(paths: list[Path]) -> None:
    rows: list[tuple[object, ...]] = []
    for path in paths:
        rounds = 1 if _size(path) >= LARGE else ROUNDS
        pairs = [(_yardstick(path), _ingest(path)) for _ in range(rounds)]
        base, ours = median(b for b, _ in pairs), median(o for _, o in pairs)
        size = _size(path) / 1e6
        rows.append(
            (
                path.name[:30],
                f"{size:.1f} MB",
                f"{base:.2f} s",
                f"{ours:.2f} s",
                f"{ours / base:.2f}×",
            )
        )
    header = ("file", "size", "decode + tokenise", "ingest", "ratio")
    print_table("Ingest with counting, into SQLite", header, rows)


def _print_memory(large: Path) -> None:
    with TemporaryDirectory() as folder:
        out = subprocess.run(
            [sys.executable, "-c", PEAK, f"{folder}/s/ledger.db", str(large)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        stored = sum(file.stat().st_size for file in Path(folder, "s").iterdir())
    idle, peak = (int(word) for word in out.split())
    above, size = peak - idle, _size(large)
    print_table(
        "Peak memory above an idle process, and bytes on disk",
        ("file", "above idle", "against the file", "stored", "against the file"),
        [
            (
                f"{size / 1e6:.0f} MB",
                f"{above / 1e6:.0f} MB",
                f"{above / size:.2f}×",
                f"{stored / 1e6:.0f} MB",
                f"{stored / size:.2f}×",
            )
        ],
    )


def _size(path: Path) -> int:
    return path.stat().st_size


def _plain(folder: str, files: list[Path]) -> Iterator[Path]:
    for file in files:
        path = Path(folder, file.name.removesuffix(".gz"))
        path.write_bytes(unpacked(file))
        yield path


def _write_large(path: Path, files: list[Path], limit: int = LARGE) -> None:
    """One session of the wanted length: the sessions one behind the other, links renewed."""
    chain = _Chain()
    with path.open("wb") as out:
        while out.tell() < limit:
            chain.round += 1
            for file in files:
                for line in unpacked(file).splitlines():
                    out.write(chain.linked(line) + b"\n")
                if out.tell() >= limit:
                    return


class _Chain:
    """Gives the lines of many sessions the links of one."""

    def __init__(self) -> None:
        self.round = 0
        self.last = ""

    def linked(self, line: bytes) -> bytes:
        value = msgspec.json.decode(line)
        if "uuid" not in value:
            return line
        value["sessionId"] = "large"
        value["parentUuid"] = (
            f"{value['parentUuid']}-{self.round}" if value["parentUuid"] else self.last
        )
        self.last = value["uuid"] = f"{value['uuid']}-{self.round}"
        if isinstance(value.get("message"), dict) and "id" in value["message"]:
            value["message"]["id"] += f"-{self.round}"
        return msgspec.json.encode(value)


def _ingest(path: Path) -> float:
    with TemporaryDirectory() as folder, SqliteStore(f"{folder}/s/ledger.db") as store:
        _cold_counter()
        start = perf_counter()
        ingest(path, store)
        return perf_counter() - start


def _yardstick(path: Path) -> float:
    texts = _texts(path)
    count = _cold_counter()
    start = perf_counter()
    with path.open("rb") as file:
        for line in file:
            msgspec.json.decode(line)
    for text in texts:
        count(text)
    return perf_counter() - start


def _cold_counter() -> CountTokens:
    """A tokenizer that is loaded, and remembers nothing of earlier texts."""
    counter.cache_clear()
    count = counter("o200k_base")
    count("warm up")
    return count


def _texts(path: Path) -> list[str]:
    """The words that ingesting counts, found beforehand."""
    with TemporaryDirectory() as folder, SqliteStore(f"{folder}/s/ledger.db") as store:
        session = ingest(path, store).session
        bodies = (entry.body for entry in store.read(session))
        return [text_of(body) for body in bodies if not isinstance(body, Derived)]
