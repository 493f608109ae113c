"""Holdfast in opencode: a plugin of our own, and the server in `opencode.json`."""

import json
from collections.abc import Iterator
from pathlib import Path

from holdfast.core.ledger.jsontext import Json
from holdfast.surfaces.agents import jsonc
from holdfast.surfaces.agents.hooking import HOOK, SERVER, program
from holdfast.surfaces.agents.plans import USER, Check, Edit, Place, Plan

NAME = "opencode"
PLUGIN = "holdfast.js"
SETTINGS = ("opencode.json", "opencode.jsonc")
SERVED = ("mcp", "holdfast")
MARK = "@HOLDFAST_HOOK@"
"""Where the plugin names the program that it starts."""
SOURCE = Path(__file__).with_name("plugins") / NAME / PLUGIN


def folder(place: Place) -> Path:
    """Where opencode looks for plugins and, for one's user, for settings."""
    if place.scope != USER:
        return place.root / ".opencode"
    base = place.environment.get("XDG_CONFIG_HOME", "")
    config = Path(base) if Path(base).is_absolute() else place.home / ".config"
    return config / NAME


def settings_of(place: Place) -> Path:
    """The settings file that is there; else the usual one."""
    where = folder(place) if place.scope == USER else place.root
    there = (where / name for name in SETTINGS)
    return next((path for path in there if path.is_file()), where / SETTINGS[0])


def plan(place: Place) -> Plan:
    """What an installation changes.

    Raises:
        Unreadable: settings there are not what they should be; nothing is changed.
    """
    path, plugin = settings_of(place), folder(place) / "plugin" / PLUGIN
    content = path.read_bytes() if path.is_file() else None
    server: Json = {"type": "local", "command": [program(SERVER), "mcp"], "enabled": True}
    made = jsonc.edited(path, content, lambda text: jsonc.with_member(text, SERVED, server))
    return Plan(
        NAME,
        (
            Edit(plugin, plugin_text().encode(), "the plugin", ours=True),
            Edit(path, made, "the server `holdfast mcp`"),
        ),
    )


def plugin_text() -> str:
    """The plugin, with the program that it starts."""
    quoted = json.dumps(program(HOOK))
    return SOURCE.read_text("utf-8").replace(f'"{MARK}"', quoted)


def taken_out(path: Path, content: bytes) -> bytes | None:
    """A file that somebody edited since, less our own parts; None for no file at all.

    Raises:
        Unreadable: it cannot be told what is ours.
    """
    left = jsonc.edited(path, content, lambda text: jsonc.without_member(text, SERVED))
    return None if left.strip() == b"{}" else left


def checks(place: Place) -> Iterator[Check]:
    """What `doctor` looks at, one by one, by trying it."""
    raise NotImplementedError
