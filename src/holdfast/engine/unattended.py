"""Unattended runs: start, stop and verify them with the user's key, the state file and the clock.

The ledger is part of the project, and a project may come from anywhere. So a run carries a seal
made with a key in the user's own folder: a run that somebody else recorded starts nothing here.
"""

import hmac
import os
import platform
from contextlib import suppress
from errno import EFBIG, EINVAL
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.notes import STOPPED
from holdfast.core.observe.unattended import (
    RUNNING,
    RecordedRun,
    RunFile,
    RunStatus,
    newest_run,
    read_run_file,
    status_of_run,
)
from holdfast.errors import NotRecorded, NotWritten
from holdfast.project.clock import time_after
from holdfast.project.paths import project_id
from holdfast.project.regular_files import read_regular
from holdfast.text.jsontext import NotJson, parse

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

STATE_FILE = ".run/sprint-plan-state.json"
MAX_STATE_FILE_BYTES = 65_536
"""Maximum bytes of a run-state file that are read."""
DEFAULT_CONSENT_SECONDS = 12 * 3_600
"""Seconds that a consent is valid by default: a night."""
KEY_BYTES = 32


def start_run(ledger: "Ledger", plan: str, *, max_age: int = DEFAULT_CONSENT_SECONDS) -> RunStatus:
    """Record that the user lets a plan run unattended in this session for `max_age` seconds."""
    now = ledger.now()
    run = RecordedRun(
        plan=plan,
        state=RUNNING,
        owner=owner(),
        consent=True,
        started=now,
        until=time_after(now, max_age),
        max_age=max_age,
    )
    sealed = replace(run, seal=_seal(ledger, run, _user_key(make=True)))
    ledger.note(sealed)
    return run_status(ledger)


def stop_run(ledger: "Ledger") -> RunStatus:
    """Record that the run has ended.

    Raises:
        NotRecorded: none was started.
    """
    run = newest_run(ledger.notes())
    if run is None or run.state != RUNNING:
        raise NotRecorded("unattended run", "", where=f"session {ledger.name!r}")
    ledger.note(replace(run, state=STOPPED, consent=False, seal=""))
    return run_status(ledger)


def run_status(ledger: "Ledger") -> RunStatus:
    """Return whether the session's agent may continue by itself, and what to say to it."""
    run = newest_run(ledger.notes())
    file = _read_run_file(ledger.root) if ledger.root else None
    if run is None:
        return status_of_run(None, file, age=None, proven=False)
    return status_of_run(run, file, age=_run_age(ledger, run), proven=_has_valid_seal(ledger, run))


def run_line(ledger: "Ledger") -> str:
    """Return the line about an unattended run; empty if there is none."""
    return run_status(ledger).line


def continue_run(old: "Ledger", new: "Ledger") -> None:
    """Copy a run to a session that continues another; its consent is not extended."""
    run = newest_run(old.notes())
    if run is not None and run.state == RUNNING:
        new.note(run)


def owner() -> str:
    """Return the user and machine that call this."""
    return f"{os.getuid()}@{platform.node()}"


def _run_age(ledger: "Ledger", run: RecordedRun) -> float | None:
    if not run.started or not ledger.now():
        return None
    return ledger.seconds_since(run.started)


def _has_valid_seal(ledger: "Ledger", run: RecordedRun) -> bool:
    key = _user_key(make=False)
    if not key or run.owner != owner():
        return False
    return hmac.compare_digest(run.seal, _seal(ledger, run, key))


def _seal(ledger: "Ledger", run: RecordedRun, key: bytes) -> str:
    """Return the signature that only the holder of the key can make for this run and project."""
    project = project_id(Path(ledger.root)) if ledger.root else ""
    words = (project, run.plan, run.owner, run.started, run.until, str(run.max_age))
    message = b"".join(b"%d:%s" % (len(word.encode()), word.encode()) for word in words)
    return hmac.new(key, message, sha256).hexdigest()


def _user_key(*, make: bool) -> bytes:
    """Return the user's own key; on the first run it is made, readable by the user alone.

    Raises:
        NotWritten: the key has to be made and cannot be.
    """
    path = _key_path()
    try:
        if make:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                descriptor = os.open(
                    path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600
                )
                with os.fdopen(descriptor, "wb") as file:
                    file.write(token_bytes(KEY_BYTES))
        key = read_regular(path, KEY_BYTES, links=True)
    except OSError as error:
        if make:
            raise NotWritten(str(path), (error.strerror or str(error)).lower()) from None
        return b""
    return key if len(key) == KEY_BYTES else b""


def _key_path() -> Path:
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    folder = base if base.is_absolute() else Path.home() / ".local" / "state"
    return folder / "holdfast" / "run.key"


def _read_run_file(root: str) -> RunFile | None:
    """Read the project's run-state file, if there is one; links are not followed."""
    try:
        data = read_regular(Path(root, STATE_FILE), MAX_STATE_FILE_BYTES, links=False)
    except OSError as error:
        return RunFile() if error.errno in (EINVAL, EFBIG) else None
    try:
        return read_run_file(parse(data)[0])
    except (NotJson, RecursionError):
        return RunFile()
