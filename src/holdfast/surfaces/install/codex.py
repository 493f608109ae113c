"""Install into Codex: hooks in `hooks.json`, the MCP server in `config.toml`.

Codex runs a hook only after its user has reviewed and trusted it. The installer does not write that
trust itself, because it is the user's decision.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from holdfast.errors import Unreadable
from holdfast.surfaces.install import toml
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
from holdfast.text.jsontext import Json, as_object

NAME = "codex"
HOOKS_FILE, SETTINGS_FILE = "hooks.json", "config.toml"
SERVER_TABLE = "mcp_servers.holdfast"
HOOK_TIMEOUTS = {
    "SessionStart": 15,
    "UserPromptSubmit": 10,
    "PostToolUse": 10,
    "PreCompact": 30,
    "SubagentStart": 10,
    "SubagentStop": 15,
    "Stop": 15,
    "SessionEnd": 3,
}
"""Timeout of each hook in seconds; after it, Codex continues without us."""
MAX_CONTEXT_TOKENS = 4_000
"""Most tokens that a SessionStart hook may add; by default more than 2,500 go to a file."""
SERVER_START_SECONDS = 20
"""Seconds that the server may take to start, enough for a busy machine."""
TRUST_HOOKS_NOTE = (
    "Codex runs hooks only after you have looked at them: start `codex`, say /hooks, and trust "
    "those that run holdfast-hook. Until then they are skipped without a word."
)
TRUST_PROJECT_NOTE = (
    "Settings of a project hold only where Codex trusts the project: it asks when it is started "
    "there for the first time."
)


def settings_folder(target: InstallTarget) -> Path:
    """Return the folder of the settings that Codex reads."""
    if target.scope != USER:
        return target.root / ".codex"
    home = target.environment.get("CODEX_HOME")
    return Path(home) if home else target.home / ".codex"


def known_paths(target: InstallTarget) -> tuple[Path, ...]:
    """Return the settings folders of the user and of the project."""
    return (
        settings_folder(replace(target, scope=USER)),
        settings_folder(replace(target, scope=PROJECT)),
    )


def plan(target: InstallTarget) -> InstallPlan:
    """Plan the edits of an installation.

    Raises:
        Unreadable: a settings file cannot be parsed; nothing is changed.
    """
    hooks, settings = settings_folder(target) / HOOKS_FILE, settings_folder(target) / SETTINGS_FILE
    return InstallPlan(
        NAME,
        (
            FileEdit(
                hooks,
                edit_bytes(hooks, content_of(hooks), lambda text: with_hooks(text, _hook_groups())),
                f"{len(HOOK_TIMEOUTS)} hooks",
            ),
            FileEdit(
                settings,
                edit_bytes(
                    settings,
                    content_of(settings),
                    lambda text: toml.with_table(text, SERVER_TABLE, _server_table()),
                ),
                "the server `holdfast mcp`",
            ),
        ),
        (TRUST_HOOKS_NOTE,) if target.scope == USER else (TRUST_HOOKS_NOTE, TRUST_PROJECT_NOTE),
    )


def _hook_groups() -> dict[str, Json]:
    groups: dict[str, Json] = {}
    for event, seconds in HOOK_TIMEOUTS.items():
        hook: dict[str, Json] = {
            "type": "command",
            "command": hook_command(NAME, event),
            "timeout": seconds,
        }
        if event == "SessionStart":
            hook["additionalContextLimit"] = MAX_CONTEXT_TOKENS
        groups[event] = {"hooks": [hook]}
    return groups


def _server_table() -> dict[str, object]:
    first, *rest = holdfast_program()
    return {"command": first, "args": [*rest, "mcp"], "startup_timeout_sec": SERVER_START_SECONDS}


def without_our_parts(path: Path, content: bytes) -> bytes | None:
    """Return the content without our parts; None if nothing is left and the file can go.

    Raises:
        Unreadable: the file cannot be parsed, so our parts cannot be found.
    """
    if path.name == HOOKS_FILE:
        cleaned = edit_bytes(path, content, without_hooks)
        return None if cleaned.strip() == b"{}" else cleaned
    return edit_bytes(path, content, lambda text: toml.without_table(text, SERVER_TABLE))


def run_checks(target: InstallTarget) -> Iterator[DoctorCheck]:
    """Run the checks of `holdfast doctor`, one after the other."""
    from holdfast.surfaces.install.doctor import check_hooks, check_server  # late: starts processes

    yield check_installed(plan(target), target)
    hooks = settings_folder(target) / HOOKS_FILE
    if not hooks.is_file():
        return
    yield _check_trust(target, hooks)
    yield from check_hooks(hooks, NAME)
    yield check_server("holdfast", [*holdfast_program(), "mcp"])


def _check_trust(target: InstallTarget, hooks: Path) -> DoctorCheck:
    """Check whether the user trusts our hooks: Codex stores that in the user's settings."""
    settings = (
        settings_folder(InstallTarget(target.root, USER, target.home, target.environment))
        / SETTINGS_FILE
    )
    try:
        state = toml.table_at((content_of(settings) or b"").decode(), "hooks.state")
    except (Unreadable, ValueError):
        state = None
    names = as_object(state)
    prefixes = [f"{hooks}:{_snake_case(event)}:" for event in HOOK_TIMEOUTS]
    trusted = all(any(name.startswith(prefix) for name in names) for prefix in prefixes)
    return DoctorCheck("trust", trusted, "" if trusted else TRUST_HOOKS_NOTE)


def _snake_case(event: str) -> str:
    """Spell an event as Codex stores it: `PostToolUse` becomes `post_tool_use`."""
    # Matches the empty place before each capital letter except the first character.
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
