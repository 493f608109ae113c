"""Find paths: the root of a project, its ledger, the settings files; and the id of a project.

The ledger is inside the project, so that an agent's read tool can open the files that a stand-in
names. Worktrees of one repository share a project id.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from holdfast.errors import BadSetting
from holdfast.project.regular_files import MAX_SETTINGS_BYTES, read_regular

HOLDFAST_FOLDER = ".holdfast"
LEDGER_FILE = "ledger.db"


def find_root(flag: str | None, environment: Mapping[str, str], start: Path) -> Path:
    """Find the root of the project: the flag, HOLDFAST_ROOT, the git top level, or `start`.

    Raises:
        BadSetting: the named root has `~user` of an unknown user.
    """
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
    """Return the file of a project's ledger."""
    return root / HOLDFAST_FOLDER / LEDGER_FILE


def project_id(root: Path) -> str:
    """Return the id of a project, which all worktrees of a repository share."""
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
        # In a linked worktree, `.git` is a file that names a folder inside the repository.
        text = read_regular(marker, MAX_SETTINGS_BYTES, links=True).decode()
        own = root / text.removeprefix("gitdir:").strip()
        common = own / "commondir"
        if not common.is_file():
            return own
        return own / read_regular(common, MAX_SETTINGS_BYTES, links=True).decode().strip()
    except (OSError, ValueError):
        # A `.git` file that git did not write.
        return root


def user_config(environment: Mapping[str, str]) -> Path:
    """Return the user's settings file."""
    base = environment.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path.home() / ".config"
    return folder / "holdfast" / "config.toml"


def project_config(root: Path) -> Path:
    """Return the project's settings file."""
    return root / "holdfast.toml"


def loa_config(root: Path) -> Path:
    """Return the settings file of the Loa framework, which a project may have."""
    return root / ".loa.config.yaml"


def agentwire_config(environment: Mapping[str, str]) -> Path:
    """Return the settings file of agentwire, which a user may have."""
    home = environment.get("HOME", "")
    return (Path(home) if os.path.isabs(home) else Path.home()) / ".agentwire" / "config.yaml"
