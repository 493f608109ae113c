"""Holdfast in opencode: a plugin of our own, and the server in `opencode.json`."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from holdfast.surfaces.install import jsonc
from holdfast.surfaces.install.apply import content_of, installed
from holdfast.surfaces.install.commands import holdfast, hook
from holdfast.surfaces.install.plan import PROJECT, USER, Check, Edit, Place, Plan
from holdfast.text.jsontext import Json

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


def homes(place: Place) -> tuple[Path, ...]:
    """What opencode keeps for its user and in a project."""
    mine, here = replace(place, scope=USER), replace(place, scope=PROJECT)
    return (folder(mine), folder(here), settings_of(here))


def plan(place: Place) -> Plan:
    """What an installation changes.

    Raises:
        Unreadable: settings there are not what they should be; nothing is changed.
    """
    path, plugin = settings_of(place), folder(place) / "plugin" / PLUGIN
    server: Json = {"type": "local", "command": [*holdfast(), "mcp"], "enabled": True}
    made = jsonc.edited(
        path, content_of(path), lambda text: jsonc.with_member(text, SERVED, server)
    )
    return Plan(
        NAME,
        (
            Edit(plugin, plugin_text().encode(), "the plugin", ours=True),
            Edit(path, made, "the server `holdfast mcp`"),
        ),
    )


def plugin_text() -> str:
    """The plugin, with the program that it starts."""
    words = ", ".join(json.dumps(word) for word in hook())
    return SOURCE.read_text("utf-8").replace(f'"{MARK}"', words)


def taken_out(path: Path, content: bytes) -> bytes | None:
    """A file that somebody edited since, less our own parts; None for no file at all.

    Raises:
        Unreadable: it cannot be told what is ours.
    """
    left = jsonc.edited(path, content, lambda text: jsonc.without_member(text, SERVED))
    return None if left.strip() == b"{}" else left


def checks(place: Place) -> Iterator[Check]:
    """What `doctor` looks at, one by one, by trying it."""
    from holdfast.surfaces.install.doctor import tried_hook, tried_server  # late: starts processes

    yield installed(plan(place), place)
    if not (folder(place) / "plugin" / PLUGIN).is_file():
        return
    with TemporaryDirectory(prefix="holdfast-doctor-") as project:
        for event, document in _tried():
            words = [*hook(), NAME, event]
            yield tried_hook(event, words, {**document, "directory": project}, project, NAME)
    yield tried_server("holdfast", [*holdfast(), "mcp"])


def _tried() -> Iterator[tuple[str, dict[str, object]]]:
    """What the plugin tells, event by event."""
    from holdfast.surfaces.install.doctor import LARGE, SESSION

    call = {"call": "call-1", "tool": "bash", "args": {"command": "cat hay"}, "output": LARGE}
    for event in ("session.created", "chat.message", "tool.execute.after", "session.compacted"):
        yield event, {"session": SESSION, "prompt": "Find the needle.", **call}
