"""Holdfast in Gemini CLI: hooks and the server in `settings.json`."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from holdfast.surfaces.install import jsonc
from holdfast.surfaces.install.apply import content_of, installed
from holdfast.surfaces.install.commands import holdfast
from holdfast.surfaces.install.hooks import command, with_hooks, without_hooks
from holdfast.surfaces.install.plan import PROJECT, USER, Check, Edit, Place, Plan
from holdfast.text.jsontext import Json

NAME = "gemini"
SETTINGS = "settings.json"
SERVED = ("mcpServers", "holdfast")
SECONDS = {
    "SessionStart": 15,
    "BeforeAgent": 15,
    "AfterTool": 10,
    "PreCompress": 30,
    "AfterAgent": 15,
    "SessionEnd": 10,
}
"""For each event that we are told of: after how long Gemini CLI goes on without us."""
ONLY = {"PreCompress": "manual"}
"""Gemini CLI tells of a compression before every request, whether there is one or not; only where
the user wants one, it is one."""
OFF = (
    "hooksConfig.enabled is false there: Gemini CLI runs no hooks until you set it to true, and "
    "that is left to you"
)


def path_of(place: Place) -> Path:
    """Where Gemini CLI looks for settings."""
    if place.scope != USER:
        return place.root / ".gemini" / SETTINGS
    home = place.environment.get("GEMINI_CLI_HOME")
    return (Path(home) if home else place.home) / ".gemini" / SETTINGS


def homes(place: Place) -> tuple[Path, ...]:
    """What Gemini CLI keeps for its user and in a project."""
    scopes = (replace(place, scope=USER), replace(place, scope=PROJECT))
    return tuple(path_of(one).parent for one in scopes)


def plan(place: Place) -> Plan:
    """What an installation changes.

    Raises:
        Unreadable: settings there are not what they should be; nothing is changed.
    """
    path = path_of(place)
    made = jsonc.edited(path, content_of(path), _with_ours)
    about = f"{len(SECONDS)} hooks and the server `holdfast mcp`"
    return Plan(NAME, (Edit(path, made, about),), (OFF,) if _is_off(made) else ())


def _with_ours(text: str) -> str:
    first, *rest = holdfast()
    server: Json = {"command": first, "args": [*rest, "mcp"]}
    return jsonc.with_member(with_hooks(text, _groups()), SERVED, server)


def _groups() -> dict[str, Json]:
    return {event: _group(event, seconds) for event, seconds in SECONDS.items()}


def _group(event: str, seconds: int) -> Json:
    hook: Json = {
        "type": "command",
        "name": f"holdfast {event}",
        "command": command(NAME, event),
        "timeout": seconds * 1000,
    }
    when: dict[str, Json] = {"matcher": ONLY[event]} if event in ONLY else {}
    return {**when, "hooks": [hook]}


def _is_off(content: bytes) -> bool:
    return jsonc.value_at(content.decode(), ("hooksConfig", "enabled")) is False


def taken_out(path: Path, content: bytes) -> bytes | None:
    """A file that somebody edited since, less our own parts; None for no file at all.

    Raises:
        Unreadable: it cannot be told what is ours.
    """
    left = jsonc.edited(
        path, content, lambda text: jsonc.without_member(without_hooks(text), SERVED)
    )
    return None if left.strip() == b"{}" else left


def checks(place: Place) -> Iterator[Check]:
    """What `doctor` looks at, one by one, by trying it."""
    from holdfast.surfaces.install.doctor import try_hooks, try_server  # late: starts processes

    yield installed(plan(place), place)
    path = path_of(place)
    content = content_of(path)
    if content is None:
        return
    if _is_off(content):
        yield Check("hooks", False, OFF)
    yield from try_hooks(path, NAME)
    yield from try_server(path)
