"""Read the block `context_management` of `.loa.config.yaml` as settings of Holdfast.

The file belongs to another framework, so unknown keys are ignored. It can set only the settings
that are listed here.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from holdfast.core.plan.policy import BUILT_IN_NAMES, COMPACTABLE, PROFILES
from holdfast.errors import BadSetting
from holdfast.project.regular_files import MAX_SETTINGS_BYTES, read_regular

BLOCK = "context_management"
BUILT_IN_ALIASES = {
    "notes_session_continuity": "session_continuity",
    "notes_decision_log": "decision_log",
}
"""Names in that file of items that we preserve anyway, and our names for them."""


def settings_in(path: Path) -> dict[str, object]:
    """Return the settings of the file, by dotted name.

    Raises:
        BadSetting: the file is not YAML, or a value is invalid.
    """
    origin = str(path)
    block = read_block(path, origin, BLOCK, links=False)
    rules = as_table(block.get("preservation_rules"), "preservation_rules", origin)
    return {
        **_switches(block, origin),
        **({"preservation.always": always} if (always := _preserved_names(rules, origin)) else {}),
        **_compactable_names(rules, origin),
    }


def read_block(path: Path, origin: str, name: str, *, links: bool) -> Mapping[str, object]:
    """Return a block of a YAML settings file; empty if the file or the block is missing.

    Raises:
        BadSetting: the file cannot be read or is not YAML.
    """
    try:
        data = read_regular(path, MAX_SETTINGS_BYTES, links=links)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting("file", error.strerror or "it cannot be read", origin=origin) from None
    if name.encode() not in data:
        return {}
    try:
        # Imported late and by name, because few projects have this file.
        loads = cast("Callable[[str], object]", import_module("ryaml").loads)
        document = loads(data.decode())
    except ImportError:
        raise BadSetting("file", "reading it takes the package ryaml", origin=origin) from None
    except ValueError as error:
        raise BadSetting("file", f"it is not YAML: {error}", origin=origin) from None
    return as_table(as_table(document, "file", origin).get(name), name, origin)


def as_table(value: object, name: str, origin: str) -> Mapping[str, object]:
    """Return a value that must be a table of settings; empty for None.

    Raises:
        BadSetting: it is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadSetting(name, "it is a table of settings", origin=origin)
    return cast(Mapping[str, object], value)


def _switches(block: Mapping[str, object], origin: str) -> dict[str, object]:
    switches = {name: as_switch(name, block[name], origin) for name in SWITCHES if name in block}
    settings: dict[str, object] = {}
    for name, on in switches.items():
        settings.update(SWITCHES[name][0 if on else 1])
    return settings


SWITCHES: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
    # With compaction off, nothing is compressed automatically; `holdfast compress` still works.
    "client_compaction": ({}, PROFILES["off"]),
    "preserve_notes_md": ({"preservation.notes": "on"}, {"preservation.notes": "off"}),
    "simplified_checkpoint": (
        {"preservation.checkpoint": "simple"},
        {"preservation.checkpoint": "full"},
    ),
    "auto_trajectory_log": (
        {"preservation.trajectory_log": "on"},
        {"preservation.trajectory_log": "off"},
    ),
}
"""For each switch, the settings when it is on, and when it is off."""


def as_switch(name: str, value: object, origin: str) -> bool:
    """Return a value that must be true or false.

    Raises:
        BadSetting: it is something else.
    """
    if not isinstance(value, bool):
        raise BadSetting(name, f"{value!r} is neither true nor false", origin=origin)
    return value


def _preserved_names(rules: Mapping[str, object], origin: str) -> tuple[str, ...]:
    """Return the names it preserves besides the built-in ones, which are always preserved."""
    names = _read_names(rules, "always_preserve", origin)
    return tuple(name for name in names if BUILT_IN_ALIASES.get(name, name) not in BUILT_IN_NAMES)


def _compactable_names(rules: Mapping[str, object], origin: str) -> dict[str, object]:
    if "compactable" not in rules:
        return {}
    names = _read_names(rules, "compactable", origin)
    return {"preservation.compactable": tuple(name for name in names if name in COMPACTABLE)}


def _read_names(rules: Mapping[str, object], key: str, origin: str) -> list[str]:
    value = rules.get(key)
    items = cast(list[object], value if isinstance(value, list) else [value] if value else [])
    if not all(isinstance(item, str) for item in items):
        raise BadSetting(key, f"{value!r} is not a list of names", origin=origin)
    return cast(list[str], items)
