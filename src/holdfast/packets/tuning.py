"""Recommendations for packets of a project: read, apply and undo versions in a file."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.packet_tuning import SCHEMA, Recommendation, Tunings
from holdfast.core.view.packet.layers import LAYERS, task_type_of
from holdfast.errors import BadSetting
from holdfast.project.regular_files import read_regular
from holdfast.project.write import write_copy

TUNING_FILE = ".holdfast/tuning.json"
MAX_TUNING_BYTES = 4 * 1024 * 1024
MAX_VERSIONS = 100
"""Maximum versions in the file; the oldest are dropped first."""


class TaskTuning(Struct, frozen=True):
    """What the recommendation in force says for one task."""

    task_type: str
    depth: str = ""
    budget: int = 0
    order: tuple[str, ...] = ()
    version: int = 0


def read_tunings(root: str | os.PathLike[str]) -> Tunings:
    """Return the recommendations of a project; none if there is no file.

    Raises:
        BadSetting: the file is not one of ours.
    """
    path = Path(root, TUNING_FILE)
    try:
        data = read_regular(path, MAX_TUNING_BYTES, links=False)
    except (FileNotFoundError, NotADirectoryError):
        return Tunings()
    except OSError as error:
        raise BadSetting("tuning", (error.strerror or "?").lower(), origin=str(path)) from None
    try:
        found = msgspec.json.decode(data, type=Tunings)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadSetting("tuning", f"it cannot be read: {error}", origin=str(path)) from None
    wrong = next((depth for version in found.versions for depth in _unknown_depths(version)), "")
    if found.schema != SCHEMA or wrong:
        reason = f"depth {wrong!r} is none" if wrong else f"its schema is not {SCHEMA}"
        raise BadSetting("tuning", reason, origin=str(path))
    return found


def _unknown_depths(recommendation: Recommendation) -> list[str]:
    return [depth for depth in recommendation.depths.values() if depth not in LAYERS]


def apply_recommendation(root: str, recommendation: Recommendation, *, at: str = "") -> Tunings:
    """Put a recommendation in force as the next version.

    Raises:
        NotWritten: the file could not be written.
    """
    known = read_tunings(root)
    version = max((version_known.version for version_known in known.versions), default=0) + 1
    made = replace(recommendation, version=version, at=at)
    return _write_tunings(
        root, replace(known, active=version, versions=(*known.versions, made)[-MAX_VERSIONS:])
    )


def undo_recommendation(root: str) -> Tunings:
    """Return to the version before the one in force; to none before the first.

    Raises:
        BadSetting: none is in force.
        NotWritten: the file could not be written.
    """
    known = read_tunings(root)
    if not known.active:
        raise BadSetting("tuning", "none is in force, so there is none to undo", origin=TUNING_FILE)
    before = [version.version for version in known.versions if version.version < known.active]
    return _write_tunings(root, replace(known, active=max(before, default=0)))


def _write_tunings(root: str, tunings: Tunings) -> Tunings:
    write_copy(root, TUNING_FILE, msgspec.json.format(msgspec.json.encode(tunings), indent=2))
    return tunings


def tuning_for(root: str | os.PathLike[str], task: str) -> TaskTuning:
    """Return the depth, budget and order that the recommendation in force has for a task."""
    kind = task_type_of(task)
    now = read_tunings(root).in_force()
    if now is None:
        return TaskTuning(kind)
    return TaskTuning(
        kind,
        now.depths.get(kind, ""),
        now.budgets.get(kind, 0),
        now.orders.get(kind, ()),
        now.version,
    )
