"""Where things are: the root of a project, its id, its ledger, the user's own files.

The ledger lives inside the project, so that the agent's own read tool can open what a stand-in
names. Worktrees of one repository share a project id.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from holdfast.errors import BadSetting
from holdfast.project.regular_files import SETTINGS, read_regular

FOLDER = ".holdfast"
LEDGER = "ledger.db"


def find_root(flag: str | None, environment: Mapping[str, str], start: Path) -> Path:
    """The root of the project: flag, then HOLDFAST_ROOT, then the git top level, then here."""
    named = flag or environment.get("HOLDFAST_ROOT")
    if named:
        try:
            return Path(named).expanduser().absolute()
        except RuntimeError:
            raise BadSetting("root", f"there is no user of {named!r}", origin="--root") from None
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start


def ledger_path(root: Path) -> Path:
    """The file that holds a project's ledger."""
    return root / FOLDER / LEDGER


def project_id(root: Path) -> str:
    """A name for the project that all worktrees of a repository share."""
    try:
        folder = os.path.realpath(_common_folder(root))
    except (OSError, ValueError):
        folder = str(root)
    return sha256(os.fsencode(folder)).hexdigest()[:16]


def _common_folder(root: Path) -> Path:
    marker = root / ".git"
    try:
        if not marker.is_file():
            return marker if marker.exists() else root
        # A linked worktree: a file that names its own folder inside the repository's.
        told = read_regular(marker, SETTINGS, links=True).decode()
        own = root / told.removeprefix("gitdir:").strip()
        common = own / "commondir"
        if not common.is_file():
            return own
        return own / read_regular(common, SETTINGS, links=True).decode().strip()
    except (OSError, ValueError):
        # Whatever that file is, git did not write it.
        return root


def user_config(environment: Mapping[str, str]) -> Path:
    """The user's own settings file."""
    base = environment.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".config"
    return folder / "holdfast" / "config.toml"


def project_config(root: Path) -> Path:
    """The project's settings file."""
    return root / "holdfast.toml"


def loa_config(root: Path) -> Path:
    """The settings file of the Loa framework, which a project may have."""
    return root / ".loa.config.yaml"


def agentwire_config(environment: Mapping[str, str]) -> Path:
    """The settings file of agentwire, which a user may have."""
    home = environment.get("HOME", "")
    return (Path(home) if os.path.isabs(home) else Path.home()) / ".agentwire" / "config.yaml"
