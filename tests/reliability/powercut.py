"""What a disk holds when the power goes: rebuilt from the recorded system calls of a real run.

What a file was given is safe once the file was synced; that it is in its folder, or no longer, is
safe once the folder was synced. Of the rest anything may be there, in sectors of 512 bytes.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.reliability.forks import PROJECT

SECTOR = 512
CALLS = "openat,close,write,pwrite64,fsync,fdatasync,ftruncate,unlink,unlinkat,mkdir"
CALL = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+)")
QUOTED = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')

Image: TypeAlias = dict[str, bytes]
"""The files of a folder by name."""


def can_record() -> bool:
    """Whether system calls can be recorded here."""
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return tried.returncode == 0


def record(root: Path, many: int, engine: str = "") -> list[str]:
    """Run the program, and return its system calls."""
    log = root.parent / f"{root.name}.calls"
    program = [sys.executable, "-m", "tests.reliability.recorded", str(root), str(many), engine]
    flags = ["-qq", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", "-o", str(log)]
    subprocess.run(["strace", *flags, *program], cwd=PROJECT, stdout=subprocess.DEVNULL, check=True)
    return log.read_text().splitlines()


@dataclass
class Content:
    """What was written to one file: what is safe, and what is not yet."""

    safe: bytes = b""
    loose: list["Write | int"] = field(default_factory=list["Write | int"])
    """Writes, and lengths that the file was cut to."""

    def sync(self) -> None:
        self.safe, self.loose = applied(self.safe, self.loose), []


@dataclass(frozen=True)
class Write:
    """Bytes at a place."""

    at: int
    data: bytes


@dataclass
class Disk:
    """A folder on a disk: which files are safely in it, and which changes to that are not yet."""

    folder: str
    safe: dict[str, Content] = field(default_factory=dict[str, Content])
    loose: list[tuple[str, Content | None]] = field(
        default_factory=list[tuple[str, Content | None]]
    )
    live: dict[str, Content] = field(default_factory=dict[str, Content])

    def make(self, name: str) -> Content:
        if name not in self.live:
            self.live[name] = Content()
            self.loose.append((name, self.live[name]))
        return self.live[name]

    def unlink(self, name: str) -> None:
        if self.live.pop(name, None) is not None:
            self.loose.append((name, None))

    def sync(self) -> None:
        self.safe, self.loose = _entered(self.safe, self.loose), []

    def worst(self) -> Image:
        """Only what was synced."""
        return {name: content.safe for name, content in self.safe.items()}

    def torn(self, draw: random.Random) -> Image:
        """What was synced and some of the rest; a folder's changes reach the disk in order."""
        files = _entered(self.safe, self.loose[: draw.randint(0, len(self.loose))])
        share = draw.random()
        return {
            name: applied(content.safe, _sectors(content.loose, draw, share))
            for name, content in files.items()
        }


def _entered(
    files: dict[str, Content], changes: list[tuple[str, Content | None]]
) -> dict[str, Content]:
    entered = dict(files)
    for name, content in changes:
        if content is None:
            entered.pop(name, None)
        else:
            entered[name] = content
    return entered


def _sectors(loose: list[Write | int], draw: random.Random, share: float) -> list[Write | int]:
    kept: list[Write | int] = []
    for change in loose:
        if isinstance(change, int):
            kept.extend([change] if draw.random() < share else [])
            continue
        for start in range(0, len(change.data), SECTOR):
            if draw.random() < share:
                kept.append(Write(change.at + start, change.data[start : start + SECTOR]))
    return kept


def applied(data: bytes, changes: list[Write | int]) -> bytes:
    """A file after changes."""
    if not changes:
        return data
    grown = bytearray(data)
    for change in changes:
        if isinstance(change, int):
            del grown[change:]
            grown.extend(bytes(change - len(grown)))
            continue
        end = change.at + len(change.data)
        grown.extend(bytes(max(end - len(grown), 0)))
        grown[change.at : end] = change.data
    return bytes(grown)


@dataclass(frozen=True)
class Moment:
    """An instant at which the power might go."""

    disk: Disk
    acked: int
    """Appends acknowledged up to here."""
    is_ack: bool
    """Whether it is just after an acknowledgement, and not just before a sync."""


def moments(calls: list[str], folder: str) -> Iterator[Moment]:
    """Every acknowledgement and every sync of a recorded run; the disk changes as they go by."""
    disk = Disk(folder)
    files: dict[int, Content] = {}
    folders: set[int] = set()
    acked = 0
    for call, words, result in _parsed(calls):
        number = int(words.split(",")[0]) if words[:1].isdigit() else -1
        match call:
            case "openat":
                files.pop(result, None)
                folders.discard(result)
                path = _bytes(words).decode()
                if path == folder:
                    folders.add(result)
                elif os.path.dirname(path) == folder and not path.endswith("-shm"):
                    files[result] = disk.make(os.path.basename(path))
            case "unlink" | "unlinkat":
                path = _bytes(words).decode()
                if os.path.dirname(path) == folder:
                    disk.unlink(os.path.basename(path))
            case "write" if number == 1:
                acked += 1
                yield Moment(disk, acked, is_ack=True)
            case "pwrite64" if number in files:
                at = int(words.rsplit(",", 1)[1])
                files[number].loose.append(Write(at, _bytes(words)))
            case "write" if number in files:
                # Only the ignore file is written without a place.
                files[number].loose.append(Write(0, _bytes(words)))
            case "ftruncate" if number in files:
                files[number].loose.append(int(words.split(",")[1]))
            case "fsync" | "fdatasync" if number in folders:
                yield Moment(disk, acked, is_ack=False)
                disk.sync()
            case "fsync" | "fdatasync" if number in files:
                yield Moment(disk, acked, is_ack=False)
                files[number].sync()
            case _:
                continue


def synced_folders(calls: list[str]) -> list[str]:
    """The folders made and the folders synced before the first acknowledgement, in order."""
    opened: dict[int, str] = {}
    steps: list[str] = []
    for call, words, result in _parsed(calls):
        number = int(words.split(",")[0]) if words[:1].isdigit() else -1
        match call:
            case "openat":
                opened[result] = _bytes(words).decode()
            case "mkdir":
                steps.append(f"made {_bytes(words).decode()}")
            case "fsync" | "fdatasync" if os.path.isdir(opened.get(number, "")):
                steps.append(f"synced {opened[number]}")
            case "write" if number == 1:
                return steps
            case _:
                continue
    return steps


def _parsed(calls: list[str]) -> Iterator[tuple[str, str, int]]:
    for line in calls:
        found = CALL.match(line)
        if found and int(found[3]) >= 0:
            yield found[1], found[2], int(found[3])


def _bytes(words: str) -> bytes:
    found = QUOTED.search(words)
    assert found is not None
    return bytes.fromhex(found[1].replace("\\x", ""))


def laid_down(image: Image, folder: Path) -> str:
    """An image as a folder of files; returns the path of the ledger in it."""
    folder.mkdir(mode=0o700)
    for name, data in image.items():
        (folder / name).write_bytes(data)
    return str(folder / "ledger.db")
