"""Install into Claude Code: write our plugin as a local marketplace, and enable it in the settings.

Claude Code reads a marketplace that is a folder where it is: nothing is downloaded or copied. The
user's own hooks are not touched, because ours are part of the plugin.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from time import gmtime, strftime

from holdfast.surfaces.install import commands, jsonc
from holdfast.surfaces.install.apply import content_of, pending_edits, read_record
from holdfast.surfaces.install.plan import (
    PROJECT,
    USER,
    DoctorCheck,
    FileEdit,
    InstallPlan,
    InstallTarget,
    edit_bytes,
)
from holdfast.text.jsontext import Json, as_object, as_text

NAME = "claude-code"
MARKETPLACE = "holdfast"
PLUGIN_ID = f"{MARKETPLACE}@{MARKETPLACE}"
STATUS_LINE = "statusLine"
TEMPLATE_FOLDER = "plugins/claude-code"
SETTINGS_FILES = {USER: "settings.json", PROJECT: "settings.local.json"}
"""The settings file of each scope. Our entry names a folder of this machine, so it goes to the
project file that is not committed."""
MARKETPLACES_FILE = "known_marketplaces.json"


def known_paths(target: InstallTarget) -> tuple[Path, ...]:
    """Return the settings folders of the user and of the project."""
    return (_user_folder(target), target.root / ".claude")


def plan(target: InstallTarget) -> InstallPlan:
    """Plan the edits of an installation; no edits if it is already installed for the user."""
    user_target = InstallTarget(target.root, USER, target.home, target.environment)
    if target.scope == PROJECT and read_record(user_target, NAME) is not None:
        return InstallPlan(
            NAME, notes=("it is already installed for all your projects: nothing to do here",)
        )
    plugin = tuple(_plugin_edits(target))
    settings = _settings_edits(target)
    return InstallPlan(NAME, (*plugin, *settings), _notes(target))


def _notes(target: InstallTarget) -> tuple[str, ...]:
    restart = "restart Claude Code, or run /reload-plugins: after that, large results are offloaded"
    foreign = _has_foreign_status_line(target)
    status_line = ("another status line is configured and is left as it is",) if foreign else ()
    return (restart, *status_line)


def _marketplace_folder(target: InstallTarget) -> Path:
    return target.record_folder / NAME


def _user_folder(target: InstallTarget) -> Path:
    """Return the user's settings folder of Claude Code."""
    configured = target.environment.get("CLAUDE_CONFIG_DIR")
    return Path(configured) if configured else target.home / ".claude"


def _settings_path(target: InstallTarget) -> Path:
    folder = _user_folder(target) if target.scope == USER else target.root / ".claude"
    return folder / SETTINGS_FILES[target.scope]


def _plugin_edits(target: InstallTarget) -> Iterator[FileEdit]:
    """Yield the edits that write the plugin's files, with absolute paths of our programs."""
    for path, text in template_files():
        content = _with_program_paths(text, path)
        yield FileEdit(
            _marketplace_folder(target) / path, content.encode(), "the plugin", ours=True
        )


def template_files() -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file of the marketplace as it ships."""
    root = files("holdfast.surfaces.install").joinpath(TEMPLATE_FOLDER)
    yield from _files_below(root, "")


def _files_below(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for child in sorted(folder.iterdir(), key=lambda child: child.name):
        name = f"{path}{child.name}"
        if child.is_dir():
            yield from _files_below(child, f"{name}/")
        else:
            yield name, child.read_text("utf-8")


def _with_program_paths(text: str, path: str) -> str:
    hook, holdfast = (
        commands.shell_line(commands.hook_program()),
        commands.shell_line(commands.holdfast_program()),
    )
    match path.rpartition("/")[2]:
        case "hooks.json":
            return text.replace('"holdfast-hook ', json.dumps(f"{hook} ")[:-1])
        case "register.js":
            words = json.dumps(commands.hook_program())
            return text.replace(
                "[HOOK, 'claude-code', event]", f"[...{words}, 'claude-code', event]"
            )
        case ".mcp.json":
            first, *rest = commands.holdfast_program()
            result = text.replace('"command": "holdfast"', f'"command": {json.dumps(first)}')
            return result.replace('["mcp"]', json.dumps([*rest, "mcp"]))
        case _ if "/commands/" in path:
            return text.replace("!`holdfast ", f"!`{holdfast} ").replace(
                "Bash(holdfast:", f"Bash({holdfast}:"
            )
        case _:
            return text


def _settings_edits(target: InstallTarget) -> Iterator[FileEdit]:
    path = _settings_path(target)
    folder = str(_marketplace_folder(target))
    source: Json = {"source": {"source": "directory", "path": folder}}

    def change(text: str) -> str:
        text = jsonc.with_member(text, ("extraKnownMarketplaces", MARKETPLACE), source)
        text = jsonc.with_member(text, ("enabledPlugins", PLUGIN_ID), True)
        return (
            text
            if _has_foreign_status_line(target)
            else jsonc.with_member(text, (STATUS_LINE,), _status_line())
        )

    yield FileEdit(path, edit_bytes(path, content_of(path), change), "the plugin switched on")
    marketplaces = _user_folder(target) / "plugins" / MARKETPLACES_FILE
    content = edit_bytes(
        marketplaces, content_of(marketplaces), lambda text: _with_marketplace(text, folder)
    )
    yield FileEdit(marketplaces, content, "the marketplace made known")


def _with_marketplace(text: str, folder: str) -> str:
    """Add our marketplace to the list of known ones.

    Without it, older versions of Claude Code load the plugin only at the second start.
    """
    known = as_object(jsonc.value_at(text, (MARKETPLACE,))) if text.strip() else {}
    if as_text(known.get("installLocation")) == folder:
        return text
    row: Json = {
        "source": {"source": "directory", "path": folder},
        "installLocation": folder,
        "lastUpdated": strftime("%Y-%m-%dT%H:%M:%S.000Z", gmtime()),
    }
    return jsonc.with_member(text, (MARKETPLACE,), row)


def _status_line() -> Json:
    return {
        "type": "command",
        "command": f"{commands.shell_line(commands.hook_program())} {NAME} statusline",
    }


def _has_foreign_status_line(target: InstallTarget) -> bool:
    """Whether another status line is set, here or in settings that ours would override."""
    paths = (_user_folder(target) / "settings.json", target.root / ".claude" / "settings.json")
    return any(_sets_foreign_status_line(path) for path in (*paths, _settings_path(target)))


def _sets_foreign_status_line(path: Path) -> bool:
    content = content_of(path)
    if content is None or not content.strip():
        return False
    status_line: Json = None
    with suppress(ValueError):  # a broken file is reported by the edit that would change it
        status_line = jsonc.value_at(content.decode("utf-8"), (STATUS_LINE,))
    return status_line is not None and not _is_our_status_line(status_line)


def _is_our_status_line(line: Json) -> bool:
    return "holdfast" in as_text(as_object(line).get("command"))


def without_our_parts(path: Path, content: bytes) -> bytes | None:
    """Return the content without our parts.

    Raises:
        Unreadable: the file cannot be parsed, so our parts cannot be found.
    """

    def change(text: str) -> str:
        if path.name == MARKETPLACES_FILE:
            return jsonc.without_member(text, (MARKETPLACE,))
        text = jsonc.without_member(text, ("extraKnownMarketplaces", MARKETPLACE))
        text = jsonc.without_member(text, ("enabledPlugins", PLUGIN_ID))
        ours = _is_our_status_line(jsonc.value_at(text, (STATUS_LINE,)))
        return jsonc.without_member(text, (STATUS_LINE,)) if ours else text

    return edit_bytes(path, content, change)


def run_checks(target: InstallTarget) -> Iterator[DoctorCheck]:
    """Run the checks of `holdfast doctor`, one after the other."""
    from holdfast.surfaces.install.doctor import (  # late: starts processes
        check_hooks,
        check_servers,
    )

    path = _settings_path(target)
    text = (content_of(path) or b"").decode("utf-8", "replace")
    enabled = bool(text.strip()) and jsonc.value_at(text, ("enabledPlugins", PLUGIN_ID)) is True
    scope = "" if target.scope == PROJECT else " --user"
    yield DoctorCheck(
        "settings", enabled, str(path) if enabled else f"run holdfast install {NAME}{scope}"
    )
    if not enabled:
        return
    waiting = pending_edits(plan(target))
    stale = f"{len(waiting)} files are not as this version writes them; install again"
    yield DoctorCheck("plugin", not waiting, stale if waiting else str(_marketplace_folder(target)))
    yield _check_client(target)
    plugin = _marketplace_folder(target) / MARKETPLACE
    yield from check_hooks(plugin / "hooks" / "hooks.json", NAME)
    yield from check_servers(plugin / ".mcp.json")


def _check_client(target: InstallTarget) -> DoctorCheck:
    """Check the version of Claude Code, and report which features it supports."""
    import shutil
    import subprocess  # late: only the doctor starts programs

    program = shutil.which("claude", path=target.environment.get("PATH"))
    if program is None:
        return DoctorCheck("client", True, "no `claude` on the path: its version was not checked")
    output = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=30, check=False
    ).stdout.split()
    version = output[0] if output else ""
    numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
    if numbers < (2, 1, 121):
        return DoctorCheck(
            "client", False, f"{version} does not let hooks replace results: update it"
        )
    summary = "our summary" if numbers >= (2, 1, 300) else "its own summary, steered by ours"
    return DoctorCheck("client", True, f"{version}: compaction by {summary}")
