"""Unattended runs at the edge: the user's own seal, the run-state file, the clock.

The ledger lies inside the project, and a project may come from anywhere, its ledger included. So a
run carries a seal made with a key in the user's own folder: what somebody else recorded starts
nothing here.
"""

import hmac
import os
import platform
from contextlib import suppress
from datetime import datetime, timedelta
from errno import EFBIG, EINVAL
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.observe.unattended import (
    RUN,
    RUNNING,
    STOPPED,
    Run,
    RunFile,
    Standing,
    facts_of,
    read_file,
    run_of,
    standing,
)
from holdfast.errors import NotRecorded, NotWritten
from holdfast.project.paths import project_id
from holdfast.project.regular_files import read_regular
from holdfast.text.jsontext import NotJson, parse

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

STATE_FILE = ".run/sprint-plan-state.json"
LARGEST = 65_536
"""Bytes of a run-state file that are read; none has more."""
MAX_AGE = 12 * 3_600
"""Seconds that a consent holds when nobody says how long: a night."""
KEY_BYTES = 32


def start(ledger: "Ledger", plan: str, *, max_age: int = MAX_AGE) -> Standing:
    """Record that the user lets a plan run unattended in this session, for so many seconds."""
    now = ledger.now()
    run = Run(
        plan=plan,
        state=RUNNING,
        owner=owner(),
        consent=True,
        started=now,
        until=_later(now, max_age),
        max_age=max_age,
    )
    sealed = replace(run, seal=_seal(ledger, run, _key(make=True)))
    ledger.note(RUN, **facts_of(sealed))
    return status(ledger)


def stop(ledger: "Ledger") -> Standing:
    """Record that the run is over.

    Raises:
        NotRecorded: none was started.
    """
    run = run_of(ledger.events())
    if run is None or run.state != RUNNING:
        raise NotRecorded("unattended run", "", where=f"session {ledger.name!r}")
    ledger.note(RUN, **facts_of(replace(run, state=STOPPED, consent=False, seal="")))
    return status(ledger)


def status(ledger: "Ledger") -> Standing:
    """Whether the session's agent may go on by itself, and what to tell it."""
    run = run_of(ledger.events())
    file = _file(ledger.root) if ledger.root else None
    if run is None:
        return standing(None, file, age=None, proven=False)
    return standing(run, file, age=_age(ledger, run), proven=_is_proven(ledger, run))


def line_of(ledger: "Ledger") -> str:
    """What to say of an unattended run; nothing when there is none."""
    return status(ledger).line


def carry_over(old: "Ledger", new: "Ledger") -> None:
    """Let a run go on in a session that goes on from another; its consent gets no longer."""
    run = run_of(old.events())
    if run is not None and run.state == RUNNING:
        new.note(RUN, **facts_of(run))


def owner() -> str:
    """Who is asking: the user of this machine."""
    return f"{os.getuid()}@{platform.node()}"


def _age(ledger: "Ledger", run: Run) -> float | None:
    if not run.started or not ledger.now():
        return None
    return ledger.seconds_since(run.started)


def _later(at: str, seconds: int) -> str:
    with suppress(ValueError, OverflowError):
        return (datetime.fromisoformat(at) + timedelta(seconds=seconds)).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )
    return ""


def _is_proven(ledger: "Ledger", run: Run) -> bool:
    key = _key(make=False)
    if not key or run.owner != owner():
        return False
    return hmac.compare_digest(run.seal, _seal(ledger, run, key))


def _seal(ledger: "Ledger", run: Run, key: bytes) -> str:
    """What only the holder of the key can write for this run in this project."""
    project = project_id(Path(ledger.root)) if ledger.root else ""
    words = (project, run.plan, run.owner, run.started, run.until, str(run.max_age))
    told = b"".join(b"%d:%s" % (len(word.encode()), word.encode()) for word in words)
    return hmac.new(key, told, sha256).hexdigest()


def _key(*, make: bool) -> bytes:
    """The user's own key; made on the first run, readable by nobody else.

    Raises:
        NotWritten: it is to be made and cannot be.
    """
    path = _key_path()
    try:
        if make:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
                with os.fdopen(made, "wb") as file:
                    file.write(token_bytes(KEY_BYTES))
        found = read_regular(path, KEY_BYTES, links=True)
    except OSError as error:
        if make:
            raise NotWritten(str(path), (error.strerror or str(error)).lower()) from None
        return b""
    return found if len(found) == KEY_BYTES else b""


def _key_path() -> Path:
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    folder = base if base.is_absolute() else Path.home() / ".local" / "state"
    return folder / "holdfast" / "run.key"


def _file(root: str) -> RunFile | None:
    """What the run-state file of the project says, if there is one; no link is followed to it."""
    try:
        data = read_regular(Path(root, STATE_FILE), LARGEST, links=False)
    except OSError as error:
        return RunFile() if error.errno in (EINVAL, EFBIG) else None
    try:
        return read_file(parse(data)[0])
    except (NotJson, RecursionError):
        return RunFile()
