"""Install into Gemini CLI: hooks and the MCP server in `settings.json`."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from holdfast.surfaces.install import jsonc
from holdfast.surfaces.install.apply import check_installed, content_of
from holdfast.surfaces.install.commands import holdfast_program
from holdfast.surfaces.install.hooks import hook_command, with_hooks, without_hooks
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

NAME = "gemini"
SETTINGS_FILE = "settings.json"
SERVER_PATH = ("mcpServers", "holdfast")
HOOK_TIMEOUTS = {
    "SessionStart": 15,
    "BeforeAgent": 15,
    "AfterTool": 10,
    "PreCompress": 30,
    "AfterAgent": 15,
    "SessionEnd": 10,
}
"""Timeout of each hook in seconds; after it, Gemini CLI continues without us."""
HOOK_MATCHERS = {"PreCompress": "manual"}
"""Matchers of hooks. Gemini CLI sends PreCompress before every request, even if it compresses
nothing; only `manual`, the user's own command, is always a compression."""
HOOKS_OFF_NOTE = (
    "hooksConfig.enabled is false there: Gemini CLI runs no hooks until you set it to true, and "
    "that is left to you"
)


def settings_path(target: InstallTarget) -> Path:
    """Return the settings file that Gemini CLI reads."""
    if target.scope != USER:
        return target.root / ".gemini" / SETTINGS_FILE
    home = target.environment.get("GEMINI_CLI_HOME")
    return (Path(home) if home else target.home) / ".gemini" / SETTINGS_FILE


def known_paths(target: InstallTarget) -> tuple[Path, ...]:
    """Return the settings folders of the user and of the project."""
    scopes = (replace(target, scope=USER), replace(target, scope=PROJECT))
    return tuple(settings_path(target).parent for target in scopes)


def plan(target: InstallTarget) -> InstallPlan:
    """Plan the edits of an installation.

    Raises:
        Unreadable: a settings file cannot be parsed; nothing is changed.
    """
    path = settings_path(target)
    content = edit_bytes(path, content_of(path), _with_our_parts)
    about = f"{len(HOOK_TIMEOUTS)} hooks and the server `holdfast mcp`"
    return InstallPlan(
        NAME,
        (FileEdit(path, content, about),),
        (HOOKS_OFF_NOTE,) if _hooks_are_off(content) else (),
    )


def _with_our_parts(text: str) -> str:
    first, *rest = holdfast_program()
    server: Json = {"command": first, "args": [*rest, "mcp"]}
    return jsonc.with_member(with_hooks(text, _hook_groups()), SERVER_PATH, server)


def _hook_groups() -> dict[str, Json]:
    return {event: _hook_group(event, seconds) for event, seconds in HOOK_TIMEOUTS.items()}


def _hook_group(event: str, seconds: int) -> Json:
    hook: Json = {
        "type": "command",
        "name": f"holdfast {event}",
        "command": hook_command(NAME, event),
        "timeout": seconds * 1000,
    }
    matcher: dict[str, Json] = {"matcher": HOOK_MATCHERS[event]} if event in HOOK_MATCHERS else {}
    return {**matcher, "hooks": [hook]}


def _hooks_are_off(content: bytes) -> bool:
    return jsonc.value_at(content.decode(), ("hooksConfig", "enabled")) is False


def without_our_parts(path: Path, content: bytes) -> bytes | None:
    """Return the content without our parts; None if nothing is left and the file can go.

    Raises:
        Unreadable: the file cannot be parsed, so our parts cannot be found.
    """
    cleaned = edit_bytes(
        path, content, lambda text: jsonc.without_member(without_hooks(text), SERVER_PATH)
    )
    return None if cleaned.strip() == b"{}" else cleaned


def run_checks(target: InstallTarget) -> Iterator[DoctorCheck]:
    """Run the checks of `holdfast doctor`, one after the other."""
    from holdfast.surfaces.install.doctor import (  # late: starts processes
        check_hooks,
        check_servers,
    )

    yield check_installed(plan(target), target)
    path = settings_path(target)
    content = content_of(path)
    if content is None:
        return
    if _hooks_are_off(content):
        yield DoctorCheck("hooks", False, HOOKS_OFF_NOTE)
    yield from check_hooks(path, NAME)
    yield from check_servers(path)
