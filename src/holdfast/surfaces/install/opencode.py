"""Install into opencode: a plugin file, and the MCP server in `opencode.json`."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from holdfast.surfaces.install import jsonc
from holdfast.surfaces.install.apply import check_installed, content_of
from holdfast.surfaces.install.commands import holdfast_program, hook_program
from holdfast.surfaces.install.plan import (
    PROJECT,
    USER,
    DoctorCheck,
    FileEdit,
    InstallPlan,
    InstallTarget,
    edit_bytes,
)
from holdfast.text.jsontext import Json

NAME = "opencode"
PLUGIN_FILE = "holdfast.js"
SETTINGS_FILES = ("opencode.json", "opencode.jsonc")
SERVER_PATH = ("mcp", "holdfast")
PROGRAM_PLACEHOLDER = "@HOLDFAST_HOOK@"
"""Placeholder in the plugin file for the program that it starts."""
PLUGIN_SOURCE = Path(__file__).with_name("plugins") / NAME / PLUGIN_FILE


def config_folder(target: InstallTarget) -> Path:
    """Return the folder of the plugins and, in the user scope, of the settings."""
    if target.scope != USER:
        return target.root / ".opencode"
    base = target.environment.get("XDG_CONFIG_HOME", "")
    config = Path(base) if Path(base).is_absolute() else target.home / ".config"
    return config / NAME


def settings_path(target: InstallTarget) -> Path:
    """Return the settings file that exists, or the default one."""
    folder = config_folder(target) if target.scope == USER else target.root
    candidates = (folder / name for name in SETTINGS_FILES)
    return next((path for path in candidates if path.is_file()), folder / SETTINGS_FILES[0])


def known_paths(target: InstallTarget) -> tuple[Path, ...]:
    """Return the configuration paths of the user and of the project."""
    user_target, project_target = replace(target, scope=USER), replace(target, scope=PROJECT)
    return (
        config_folder(user_target),
        config_folder(project_target),
        settings_path(project_target),
    )


def plan(target: InstallTarget) -> InstallPlan:
    """Plan the edits of an installation.

    Raises:
        Unreadable: a settings file cannot be parsed; nothing is changed.
    """
    path, plugin = settings_path(target), config_folder(target) / "plugin" / PLUGIN_FILE
    server: Json = {"type": "local", "command": [*holdfast_program(), "mcp"], "enabled": True}
    content = edit_bytes(
        path, content_of(path), lambda text: jsonc.with_member(text, SERVER_PATH, server)
    )
    return InstallPlan(
        NAME,
        (
            FileEdit(plugin, plugin_text().encode(), "the plugin", ours=True),
            FileEdit(path, content, "the server `holdfast mcp`"),
        ),
    )


def plugin_text() -> str:
    """Return the text of the plugin, with the path of the program that it starts."""
    words = ", ".join(json.dumps(word) for word in hook_program())
    return PLUGIN_SOURCE.read_text("utf-8").replace(f'"{PROGRAM_PLACEHOLDER}"', words)


def without_our_parts(path: Path, content: bytes) -> bytes | None:
    """Return the content without our parts; None if nothing is left and the file can go.

    Raises:
        Unreadable: the file cannot be parsed, so our parts cannot be found.
    """
    cleaned = edit_bytes(path, content, lambda text: jsonc.without_member(text, SERVER_PATH))
    return None if cleaned.strip() == b"{}" else cleaned


def run_checks(target: InstallTarget) -> Iterator[DoctorCheck]:
    """Run the checks of `holdfast doctor`, one after the other."""
    from holdfast.surfaces.install.doctor import check_hook, check_server  # late: starts processes

    yield check_installed(plan(target), target)
    if not (config_folder(target) / "plugin" / PLUGIN_FILE).is_file():
        return
    with TemporaryDirectory(prefix="holdfast-doctor-") as project:
        for event, document in _sample_events():
            words = [*hook_program(), NAME, event]
            yield check_hook(event, words, {**document, "directory": project}, project, NAME)
    yield check_server("holdfast", [*holdfast_program(), "mcp"])


def _sample_events() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield sample events with the JSON objects that the plugin sends."""
    from holdfast.surfaces.install.doctor import LARGE_OUTPUT, SESSION

    call = {
        "call": "call-1",
        "tool": "bash",
        "args": {"command": "cat hay"},
        "output": LARGE_OUTPUT,
    }
    for event in ("session.created", "chat.message", "tool.execute.after", "session.compacted"):
        yield event, {"session": SESSION, "prompt": "Find the needle.", **call}
