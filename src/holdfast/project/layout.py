"""Where readable copies go: one folder per kind, in the shape of the layout that was chosen."""

import re
from collections.abc import Mapping
from hashlib import sha256

from holdfast.core.ledger.entry import Entry
from holdfast.core.plan.policy import LAYOUTS

FOLDERS = {"offload": "offloaded", "intermediate": "intermediate"}
TAKEN = "checkpoints"

_UNNAMEABLE = re.compile(r"[^a-z0-9]+")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_COPY = re.compile(r"(?:(\d{8}_\d{6})_)?([a-z0-9_]{1,40})-([0-9a-f]{8})\.md")
LONGEST_SLUG = 40


def path_of(entry: Entry, kind: str, tool: str, layout: str) -> str:
    """The path of a copy, below the root: when, which tool, and the beginning of its reference."""
    stamp = _stamp(entry.at)
    name = f"{stamp}{'_' if stamp else ''}{slug(tool)}-{entry.id[:8]}.md"
    return f"{LAYOUTS[layout]}/{FOLDERS[kind]}/{name}"


def offloaded_in(layout: str) -> str:
    """The folder of the results that left the window."""
    return f"{LAYOUTS[layout]}/{FOLDERS['offload']}"


def pages_name(session: str, agent: str) -> str:
    """What the pages of a session are called after; each sub-agent has some of its own."""
    if not agent:
        return session
    whole = f"{session}\0{agent}".encode("utf-8", "surrogatepass")
    return f"{slug(agent)[:20]}_{sha256(whole).hexdigest()[:8]}_{session}"


def archive_of(session: str, layout: str) -> str:
    """Where the whole conversation of a session can be read."""
    return f"{LAYOUTS[layout]}/conversations/{_own(session)}_full.md"


def summary_of(task: str, layout: str) -> str:
    """Where the summary of a task, or of a session without one, can be read."""
    folder = LAYOUTS[layout].removesuffix("/cache")
    # Whoever looks for the summary of a task spells the task as it is called.
    name = task if _PLAIN.fullmatch(task) else _own(task)
    return f"{folder}/session-summary-{name}.md"


def checkpoint_of(session: str, at: str, content: bytes, layout: str) -> str:
    """Where a checkpoint can be read: when, of which session, and the beginning of its hash."""
    stamp = _stamp(at)
    digest = sha256(content).hexdigest()[:8]
    name = f"{stamp}{'_' if stamp else ''}{slug(session)}-{digest}.md"
    return f"{LAYOUTS[layout]}/{TAKEN}/{name}"


def packet_of(audience: str, layout: str) -> str:
    """Where a worker reads its packet: `context/pane-1.yaml`, `context/shared.yaml`."""
    folder = LAYOUTS[layout].removesuffix("/cache")
    return f"{folder}/context/{_own(audience, '-').replace('_', '-')}.yaml"


def folders_of_copies() -> list[str]:
    """Every folder that copies are written to, in any layout, below the root."""
    return [f"{base}/{kind}" for base in LAYOUTS.values() for kind in (*FOLDERS.values(), TAKEN)]


def is_copy_of(path: str, session: str, entries: Mapping[str, str]) -> bool:
    """Whether a path is what a copy of a session, or of some of its entries, is called.

    Entries are told by the first eight digits of their ids, with when they came.
    """
    found = _COPY.fullmatch(path.rpartition("/")[2])
    if found is None:
        return False
    stamp, about, digest = found.groups("")
    if is_checkpoint(path):
        return about == slug(session)
    return digest in entries and stamp == _stamp(entries[digest])


def is_checkpoint(path: str) -> bool:
    """Whether a path is where checkpoints can be read."""
    return path.rpartition("/")[0].endswith(f"/{TAKEN}")


def slug(name: str) -> str:
    """A name that any file system takes."""
    return _UNNAMEABLE.sub("_", name.lower()[:200]).strip("_")[:LONGEST_SLUG] or "tool"


def _own(name: str, joint: str = "") -> str:
    """A slug that is of one name alone: where it does not spell the name, a hash tells them apart.

    A name may be joined by `-` or `_` and have large letters; or it is joined by `joint` alone.
    """
    told = slug(name)
    spelled = {told.replace("_", one) for one in (joint or "-_")}
    if (name if joint else name.lower()) in spelled:
        return told
    return f"{told}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _stamp(at: str) -> str:
    """A moment as names have it: `20260129_142530`; nothing when nobody told it."""
    digits = "".join(char for char in at[:19] if char.isdigit())
    return f"{digits[:8]}_{digits[8:14]}" if len(digits) == 14 else ""
