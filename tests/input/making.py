"""Session files as agents write them, and short ways to read them in and give them back."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from holdfast.core.ledger.entry import Derived, text_of
from holdfast.session.open import open_store
from holdfast.session.session import Session
from holdfast.transcripts.export import export_document
from holdfast.transcripts.ingest import Ingested, ingest

LEDGERLY = Path(__file__).parents[2] / "examples" / "session" / "ledgerly.jsonl"
"""The bundled session: a real Claude Code transcript in everything but its content."""


class Ran(NamedTuple):
    """What a command said and how it ended."""

    code: int
    out: str
    err: str


def line(value: object) -> bytes:
    """A value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def told(text: str, role: str = "user") -> bytes:
    """A line that says something, in the words all message formats share."""
    return line({"role": role, "content": text})


def chat(count: int) -> list[bytes]:
    """Lines of plain words, the speakers in turn."""
    return [told(f"message {at}", ("user", "assistant")[at % 2]) for at in range(count)]


def coded(
    text: str, at: int, *, session: str = "11111111-aaaa", uuid: str | None = None
) -> dict[str, object]:
    """What one line of a Claude Code transcript says: plain words in the chain of messages."""
    role = ("user", "assistant")[at % 2]
    return {
        "parentUuid": f"u{at - 1}" if at else None,
        "isSidechain": False,
        "sessionId": session,
        "type": role,
        "message": {"role": role, "content": text},
        "uuid": uuid or f"u{at}",
        "timestamp": f"2026-03-02T09:00:{at % 60:02}.000Z",
    }


def transcript(count: int, *, session: str = "11111111-aaaa") -> list[bytes]:
    """The lines of a Claude Code transcript."""
    return [line(coded(f"message {at}", at, session=session)) for at in range(count)]


def read_in(path: Path | str, root: Path, *, wire: str = "", session: str = "") -> Ingested:
    """Read a file into the ledger of a project."""
    with open_store(root) as store:
        return ingest(path, store, wire=wire, session=session)


def given_back(root: Path, session: str, source: str = "") -> bytes:
    """The bytes of a session's document."""
    with open_store(root) as store:
        return b"".join(export_document(Session(session, store, owns_store=False).ledger, source))


def texts_of(root: Path, session: str) -> list[str]:
    """What a session's source entries say, in order."""
    with open_store(root) as store:
        entries = list(store.read(session))
    return [text_of(entry.body) for entry in entries if not isinstance(entry.body, Derived)]


def sent(root: Path, session: str) -> list[dict[str, object]]:
    """The messages a session would send now."""
    with open_store(root) as store:
        return [dict(message) for message in Session(session, store).messages()]


def listing(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything below a folder but the stores: kind and mode, content or target."""
    found: dict[str, tuple[int, bytes]] = {}
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".holdfast"]
        for name in [*folders, *files]:
            path = os.path.join(where, name)
            status = os.lstat(path)
            plain = os.path.isfile(path) and not os.path.islink(path)
            found[path] = (status.st_mode, Path(path).read_bytes() if plain else b"")
    return found


def run(*arguments: str | bytes, cwd: Path, **environment: str) -> Ran:
    """The command in a process of its own, at home in a folder of the test's."""
    kept = {
        key: os.environ[key] for key in ("PATH", "PYTHONPATH", "LANG", "TZ") if key in os.environ
    }
    home = cwd / "home"
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *arguments],
        cwd=cwd,
        env={**kept, "HOME": str(home), **environment},
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Ran(
        done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    )
