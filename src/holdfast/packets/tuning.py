"""The recommendations of a project: kept in a file, applied by somebody, and taken back."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.packet_tuning import SCHEMA, Recommendation, Tunings
from holdfast.core.view.packet.layers import LAYERS, task_type_of
from holdfast.errors import BadSetting
from holdfast.project.regular_files import read_regular
from holdfast.project.write import project

FILE = ".holdfast/tuning.json"
LARGEST = 4 * 1024 * 1024
KEPT = 100
"""Versions that are kept; the oldest go first."""


class Tuned(Struct, frozen=True):
    """What the recommendation in force says for one task."""

    task_type: str
    depth: str = ""
    budget: int = 0
    order: tuple[str, ...] = ()
    version: int = 0


def tunings_in(root: str | os.PathLike[str]) -> Tunings:
    """The recommendations of a project; none when there is no file.

    Raises:
        BadSetting: the file is not one of ours.
    """
    path = Path(root, FILE)
    try:
        data = read_regular(path, LARGEST, links=False)
    except (FileNotFoundError, NotADirectoryError):
        return Tunings()
    except OSError as error:
        raise BadSetting("tuning", (error.strerror or "?").lower(), origin=str(path)) from None
    try:
        found = msgspec.json.decode(data, type=Tunings)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadSetting("tuning", f"it cannot be read: {error}", origin=str(path)) from None
    wrong = next((depth for one in found.versions for depth in _depths(one)), "")
    if found.schema != SCHEMA or wrong:
        reason = f"depth {wrong!r} is none" if wrong else f"its schema is not {SCHEMA}"
        raise BadSetting("tuning", reason, origin=str(path))
    return found


def _depths(one: Recommendation) -> list[str]:
    return [depth for depth in one.depths.values() if depth not in LAYERS]


def apply(root: str, one: Recommendation, *, at: str = "") -> Tunings:
    """Put a recommendation in force as the next version.

    Raises:
        NotWritten: the file could not be written.
    """
    known = tunings_in(root)
    version = max((each.version for each in known.versions), default=0) + 1
    made = replace(one, version=version, at=at)
    return _keep(root, replace(known, active=version, versions=(*known.versions, made)[-KEPT:]))


def undo(root: str) -> Tunings:
    """Go back to the version before the one in force; to none before the first.

    Raises:
        BadSetting: none is in force.
        NotWritten: the file could not be written.
    """
    known = tunings_in(root)
    if not known.active:
        raise BadSetting("tuning", "none is in force, so there is none to undo", origin=FILE)
    before = [one.version for one in known.versions if one.version < known.active]
    return _keep(root, replace(known, active=max(before, default=0)))


def _keep(root: str, tunings: Tunings) -> Tunings:
    project(root, FILE, msgspec.json.format(msgspec.json.encode(tunings), indent=2))
    return tunings


def tuned_for(root: str | os.PathLike[str], task: str, *, task_type: str = "") -> Tuned:
    """What the recommendation in force says for a task: how deep, how large, in what order."""
    kind = task_type or task_type_of(task)
    now = tunings_in(root).now()
    if now is None:
        return Tuned(kind)
    return Tuned(
        kind,
        now.depths.get(kind, ""),
        now.budgets.get(kind, 0),
        now.orders.get(kind, ()),
        now.version,
    )


def known_depths(root: str | os.PathLike[str]) -> Mapping[str, str]:
    """By kind of task: the depth that the recommendation in force gives."""
    now = tunings_in(root).now()
    return now.depths if now is not None else {}
