"""Build the paths of readable copies: offloaded results, archives, summaries, packets.

Each kind has a folder, and the `layout` setting chooses the base folder.
"""

from collections.abc import Mapping
from hashlib import sha256

from holdfast.core.ledger.entry import Entry
from holdfast.core.plan.policy import LAYOUTS
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

COPY_FOLDERS = {"offload": "offloaded", "intermediate": "intermediate"}
CHECKPOINTS_FOLDER = "checkpoints"

# Matches `: ` and `/` in `Bash: ls/x`; not letters and digits.
_NOT_IN_SLUG = Pattern(r"[^a-z0-9]+")
# Matches `task-12`, which can be a file name as it is; not `a/b` and not `.hidden`.
_PLAIN_NAME = Pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
# Matches `20260129_142530_bash-1f3a9c2b.md` and `bash-1f3a9c2b.md`; not `notes.md`.
_COPY_NAME = Pattern(r"(?:(\d{8}_\d{6})_)?([a-z0-9_]{1,40})-([0-9a-f]{8})\.md")
MAX_SLUG_CHARS = 40


def copy_path(entry: Entry, kind: str, tool: str, layout: str) -> str:
    """Return the path of a copy below the root: time, tool, start of the entry's id."""
    stamp = _stamp(entry.at)
    name = f"{stamp}{'_' if stamp else ''}{slug(tool)}-{entry.id[:8]}.md"
    return f"{LAYOUTS[layout]}/{COPY_FOLDERS[kind]}/{name}"


def offloaded_folder(layout: str) -> str:
    """Return the folder of the offloaded results."""
    return f"{LAYOUTS[layout]}/{COPY_FOLDERS['offload']}"


def pages_name(session: str, agent: str) -> str:
    """Return the base name of a session's pages; each sub-agent has pages of its own."""
    if not agent:
        return session
    whole = to_bytes(f"{session}\0{agent}")
    return f"{slug(agent)[:20]}_{sha256(whole).hexdigest()[:8]}_{session}"


def archive_path(session: str, layout: str) -> str:
    """Return the path of the full conversation of a session."""
    return f"{LAYOUTS[layout]}/conversations/{_unique_slug(session)}_full.md"


def summary_path(task: str, layout: str) -> str:
    """Return the path of the summary of a task, or of a session without a task."""
    folder = LAYOUTS[layout].removesuffix("/cache")
    # Users look for the summary by the exact name of the task.
    name = task if _PLAIN_NAME.fullmatch(task) else _unique_slug(task)
    return f"{folder}/session-summary-{name}.md"


def checkpoint_path(session: str, at: str, content: bytes, layout: str) -> str:
    """Return the path of a checkpoint: time, session, start of its hash."""
    stamp = _stamp(at)
    digest = sha256(content).hexdigest()[:8]
    name = f"{stamp}{'_' if stamp else ''}{slug(session)}-{digest}.md"
    return f"{LAYOUTS[layout]}/{CHECKPOINTS_FOLDER}/{name}"


def packet_path(audience: str, layout: str) -> str:
    """Return the path of a worker's packet: `context/pane-1.yaml`, `context/shared.yaml`."""
    folder = LAYOUTS[layout].removesuffix("/cache")
    return f"{folder}/context/{_unique_slug(audience, '-').replace('_', '-')}.yaml"


def copy_folders() -> list[str]:
    """Return all folders of copies below the root, of all layouts."""
    return [
        f"{base}/{kind}"
        for base in LAYOUTS.values()
        for kind in (*COPY_FOLDERS.values(), CHECKPOINTS_FOLDER)
    ]


def is_copy_of(path: str, session: str, entries: Mapping[str, str]) -> bool:
    """Whether a path has the name of a copy of a session or of one of the entries.

    `entries` maps the first eight digits of an entry's id to its time.
    """
    match = _COPY_NAME.fullmatch(path.rpartition("/")[2])
    if match is None:
        return False
    stamp, about, digest = match.groups("")
    if is_checkpoint(path):
        return about == slug(session)
    return digest in entries and stamp == _stamp(entries[digest])


def is_checkpoint(path: str) -> bool:
    """Whether a path is in a folder of checkpoints."""
    return path.rpartition("/")[0].endswith(f"/{CHECKPOINTS_FOLDER}")


def slug(name: str) -> str:
    """Turn a name into one that is valid on any file system."""
    return _NOT_IN_SLUG.sub("_", name.lower()[:200]).strip("_")[:MAX_SLUG_CHARS] or "tool"


def _unique_slug(name: str, joint: str = "") -> str:
    """Return a slug that belongs to one name only; a hash is added if it does not spell the name.

    The slug spells the name if they differ only in case and in `-` for `_`. With a `joint`, the
    name must be in lower case and use only that sign.
    """
    base = slug(name)
    spellings = {base.replace("_", sign) for sign in (joint or "-_")}
    if (name if joint else name.lower()) in spellings:
        return base
    return f"{base}-{sha256(to_bytes(name)).hexdigest()[:8]}"


def _stamp(at: str) -> str:
    """Format a time for file names: `20260129_142530`; empty if the time is unknown."""
    digits = "".join(char for char in at[:19] if char.isdigit())
    return f"{digits[:8]}_{digits[8:14]}" if len(digits) == 14 else ""
