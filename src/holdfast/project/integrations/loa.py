"""The block `context_management` of a `.loa.config.yaml`, as settings of ours.

The file belongs to another framework: what we do not know in it is none of our business, and what
it may not decide it has no word for here.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from holdfast.core.plan.policy import BUILT_IN, COMPACTABLE, PROFILES
from holdfast.errors import BadSetting
from holdfast.project.regular_files import SETTINGS as LARGEST
from holdfast.project.regular_files import read_regular

BLOCK = "context_management"
SPELLED = {
    "notes_session_continuity": "session_continuity",
    "notes_decision_log": "decision_log",
}
"""How it calls some of the six."""


def settings_in(path: Path) -> dict[str, object]:
    """By dotted name: the values that the file sets.

    Raises:
        BadSetting: it is no YAML, or a value of it cannot be meant.
    """
    origin = str(path)
    block = block_in(path, origin, BLOCK, links=False)
    rules = table_of(block.get("preservation_rules"), "preservation_rules", origin)
    return {
        **_switches(block, origin),
        **({"preservation.always": always} if (always := _added(rules, origin)) else {}),
        **_compactable(rules, origin),
    }


def block_in(path: Path, origin: str, name: str, *, links: bool) -> Mapping[str, object]:
    """A block of a YAML file of settings; empty when the file has none of that name."""
    try:
        data = read_regular(path, LARGEST, links=links)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting("file", error.strerror or "it cannot be read", origin=origin) from None
    if name.encode() not in data:
        return {}
    try:
        # Late, and by name: few projects have this file.
        loads = cast("Callable[[str], object]", import_module("ryaml").loads)
        whole = loads(data.decode())
    except ImportError:
        raise BadSetting("file", "reading it takes the package ryaml", origin=origin) from None
    except ValueError as error:
        raise BadSetting("file", f"it is not YAML: {error}", origin=origin) from None
    return table_of(table_of(whole, "file", origin).get(name), name, origin)


def table_of(value: object, name: str, origin: str) -> Mapping[str, object]:
    """A value that has to be a table of settings, or nothing."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadSetting(name, "it is a table of settings", origin=origin)
    return cast(Mapping[str, object], value)


def _switches(block: Mapping[str, object], origin: str) -> dict[str, object]:
    told = {name: switch_of(name, block[name], origin) for name in SWITCHES if name in block}
    made: dict[str, object] = {}
    for name, on in told.items():
        made.update(SWITCHES[name][0 if on else 1])
    return made


SWITCHES: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
    # Where compaction is off, nothing leaves by itself; who asks for it still gets it.
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
"""What each switch sets when it is on, and when it is off."""


def switch_of(name: str, value: object, origin: str) -> bool:
    """A value that has to be on or off."""
    if not isinstance(value, bool):
        raise BadSetting(name, f"{value!r} is neither true nor false", origin=origin)
    return value


def _added(rules: Mapping[str, object], origin: str) -> tuple[str, ...]:
    """What it preserves besides the six, which are preserved whether it lists them or not."""
    names = _names(rules, "always_preserve", origin)
    return tuple(name for name in names if SPELLED.get(name, name) not in BUILT_IN)


def _compactable(rules: Mapping[str, object], origin: str) -> dict[str, object]:
    if "compactable" not in rules:
        return {}
    names = _names(rules, "compactable", origin)
    return {"preservation.compactable": tuple(name for name in names if name in COMPACTABLE)}


def _names(rules: Mapping[str, object], key: str, origin: str) -> list[str]:
    value = rules.get(key)
    items = cast(list[object], value if isinstance(value, list) else [value] if value else [])
    if not all(isinstance(item, str) for item in items):
        raise BadSetting(key, f"{value!r} is not a list of names", origin=origin)
    return cast(list[str], items)
