"""Holdfast in Codex: hooks in `hooks.json`, the server in `config.toml`.

Codex runs a hook only once its user has looked at it and trusts it. That is left to the user: what
an installer trusts by itself is not worth being asked about.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from holdfast.errors import Unreadable
from holdfast.surfaces.install import jsonc, toml
from holdfast.surfaces.install.apply import content_of, installed
from holdfast.surfaces.install.commands import holdfast
from holdfast.surfaces.install.hooks import command, with_hooks, without_hooks
from holdfast.surfaces.install.plan import PROJECT, USER, Check, Edit, Place, Plan
from holdfast.text.jsontext import Json, as_object

NAME = "codex"
HOOKS, SETTINGS = "hooks.json", "config.toml"
TABLE = "mcp_servers.holdfast"
SECONDS = {
    "SessionStart": 15,
    "UserPromptSubmit": 10,
    "PostToolUse": 10,
    "PreCompact": 30,
    "SubagentStart": 10,
    "SubagentStop": 15,
    "Stop": 15,
    "SessionEnd": 3,
}
"""For each event that we are told of: after how long Codex goes on without us."""
TOLD = 4_000
"""Tokens that may be told when a session goes on: Codex puts more than 2,500 into a file."""
STARTING = 20
"""Seconds that the server may take to start on a busy machine."""
TRUST = (
    "Codex runs hooks only after you have looked at them: start `codex`, say /hooks, and trust "
    "those that run holdfast-hook. Until then they are skipped without a word."
)
TRUSTED_PROJECT = (
    "Settings of a project hold only where Codex trusts the project: it asks when it is started "
    "there for the first time."
)


def folder(place: Place) -> Path:
    """Where Codex looks for settings."""
    if place.scope != USER:
        return place.root / ".codex"
    home = place.environment.get("CODEX_HOME")
    return Path(home) if home else place.home / ".codex"


def homes(place: Place) -> tuple[Path, ...]:
    """What Codex keeps for its user and in a project."""
    return (folder(replace(place, scope=USER)), folder(replace(place, scope=PROJECT)))


def plan(place: Place) -> Plan:
    """What an installation changes.

    Raises:
        Unreadable: settings there are not what they should be; nothing is changed.
    """
    hooks, settings = folder(place) / HOOKS, folder(place) / SETTINGS
    return Plan(
        NAME,
        (
            Edit(
                hooks,
                jsonc.edited(hooks, content_of(hooks), lambda text: with_hooks(text, _groups())),
                f"{len(SECONDS)} hooks",
            ),
            Edit(
                settings,
                toml.edited(
                    settings,
                    content_of(settings),
                    lambda text: toml.with_table(text, TABLE, _server()),
                ),
                "the server `holdfast mcp`",
            ),
        ),
        (TRUST,) if place.scope == USER else (TRUST, TRUSTED_PROJECT),
    )


def _groups() -> dict[str, Json]:
    groups: dict[str, Json] = {}
    for event, seconds in SECONDS.items():
        hook: dict[str, Json] = {
            "type": "command",
            "command": command(NAME, event),
            "timeout": seconds,
        }
        if event == "SessionStart":
            hook["additionalContextLimit"] = TOLD
        groups[event] = {"hooks": [hook]}
    return groups


def _server() -> dict[str, object]:
    first, *rest = holdfast()
    return {"command": first, "args": [*rest, "mcp"], "startup_timeout_sec": STARTING}


def taken_out(path: Path, content: bytes) -> bytes | None:
    """A file that somebody edited since, less our own parts; None for no file at all.

    Raises:
        Unreadable: it cannot be told what is ours.
    """
    if path.name == HOOKS:
        left = jsonc.edited(path, content, without_hooks)
        return None if left.strip() == b"{}" else left
    return toml.edited(path, content, lambda text: toml.without_table(text, TABLE))


def checks(place: Place) -> Iterator[Check]:
    """What `doctor` looks at, one by one, by trying it."""
    from holdfast.surfaces.install.doctor import tried_server, try_hooks  # late: starts processes

    yield installed(plan(place), place)
    hooks = folder(place) / HOOKS
    if not hooks.is_file():
        return
    yield _trusted(place, hooks)
    yield from try_hooks(hooks, NAME)
    yield tried_server("holdfast", [*holdfast(), "mcp"])


def _trusted(place: Place, hooks: Path) -> Check:
    """Whether the user has looked at our hooks: Codex notes that in its own settings."""
    settings = folder(Place(place.root, USER, place.home, place.environment)) / SETTINGS
    try:
        known = toml.table_at((content_of(settings) or b"").decode(), "hooks.state")
    except (Unreadable, ValueError):
        known = None
    names = as_object(known)
    wanted = [f"{hooks}:{_spelled(event)}:" for event in SECONDS]
    seen = all(any(name.startswith(one) for name in names) for one in wanted)
    return Check("trust", seen, "" if seen else TRUST)


def _spelled(event: str) -> str:
    """An event as Codex notes it: `PostToolUse` is `post_tool_use`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
