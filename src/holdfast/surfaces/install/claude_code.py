"""Claude Code: our plugin is laid down as a marketplace of its own, and the settings switch it on.

A marketplace that is a folder is read in place, so nothing is downloaded and nothing is copied by
the client. Other people's hooks are not touched at all: ours live in the plugin.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from time import gmtime, strftime

from holdfast.surfaces.install import commands, jsonc
from holdfast.surfaces.install.apply import content_of, pending, record_of
from holdfast.surfaces.install.plan import PROJECT, USER, Check, Edit, Place, Plan
from holdfast.text.jsontext import Json, as_object, as_text

NAME = "claude-code"
MARKET = "holdfast"
PLUGIN = f"{MARKET}@{MARKET}"
LINE = "statusLine"
TEMPLATE = "plugins/claude-code"
SETTINGS = {USER: "settings.json", PROJECT: "settings.local.json"}
"""What we write names a folder of this machine, so that it belongs in nobody's repository."""
KNOWN = "known_marketplaces.json"


def homes(place: Place) -> tuple[Path, ...]:
    """What Claude Code keeps for its user and in a project."""
    return (_config(place), place.root / ".claude")


def plan(place: Place) -> Plan:
    """What an installation changes."""
    mine = Place(place.root, USER, place.home, place.environment)
    if place.scope == PROJECT and record_of(mine, NAME) is not None:
        return Plan(NAME, notes=("it is installed for all that you do: nothing to do here",))
    laid = tuple(_plugin(place))
    settings = _settings(place)
    return Plan(NAME, (*laid, *settings), _notes(place))


def _notes(place: Place) -> tuple[str, ...]:
    started = "start Claude Code anew, or say /reload-plugins: from then on large results leave"
    taken = _has_line(place)
    line = ("the status line is somebody else's and stays as it is",) if taken else ()
    return (started, *line)


def _folder(place: Place) -> Path:
    return place.kept / NAME


def _config(place: Place) -> Path:
    """The folder that Claude Code keeps for its user."""
    told = place.environment.get("CLAUDE_CONFIG_DIR")
    return Path(told) if told else place.home / ".claude"


def _settings_file(place: Place) -> Path:
    folder = _config(place) if place.scope == USER else place.root / ".claude"
    return folder / SETTINGS[place.scope]


def _plugin(place: Place) -> Iterator[Edit]:
    """The plugin's files, with our commands called by where they are."""
    for path, text in template():
        made = _called(text, path)
        yield Edit(_folder(place) / path, made.encode(), "the plugin", ours=True)


def template() -> Iterator[tuple[str, str]]:
    """The files of the marketplace, as they ship."""
    root = files("holdfast.surfaces.install").joinpath(TEMPLATE)
    yield from _below(root, "")


def _below(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        name = f"{path}{one.name}"
        if one.is_dir():
            yield from _below(one, f"{name}/")
        else:
            yield name, one.read_text("utf-8")


def _called(text: str, path: str) -> str:
    hook, own = commands.in_shell(commands.hook()), commands.in_shell(commands.holdfast())
    match path.rpartition("/")[2]:
        case "hooks.json":
            return text.replace('"holdfast-hook ', json.dumps(f"{hook} ")[:-1])
        case "register.js":
            words = json.dumps(commands.hook())
            return text.replace(
                "[HOOK, 'claude-code', event]", f"[...{words}, 'claude-code', event]"
            )
        case ".mcp.json":
            first, *rest = commands.holdfast()
            made = text.replace('"command": "holdfast"', f'"command": {json.dumps(first)}')
            return made.replace('["mcp"]', json.dumps([*rest, "mcp"]))
        case _ if "/commands/" in path:
            return text.replace("!`holdfast ", f"!`{own} ").replace(
                "Bash(holdfast:", f"Bash({own}:"
            )
        case _:
            return text


def _settings(place: Place) -> Iterator[Edit]:
    path = _settings_file(place)
    folder = str(_folder(place))
    source: Json = {"source": {"source": "directory", "path": folder}}

    def change(text: str) -> str:
        text = jsonc.with_member(text, ("extraKnownMarketplaces", MARKET), source)
        text = jsonc.with_member(text, ("enabledPlugins", PLUGIN), True)
        return text if _has_line(place) else jsonc.with_member(text, (LINE,), _line())

    yield Edit(path, jsonc.edited(path, content_of(path), change), "the plugin switched on")
    known = _config(place) / "plugins" / KNOWN
    made = jsonc.edited(known, content_of(known), lambda text: _registered(text, folder))
    yield Edit(known, made, "the marketplace made known")


def _registered(text: str, folder: str) -> str:
    """With our marketplace: older builds that find it by themselves load it one start later."""
    there = as_object(jsonc.value_at(text, (MARKET,))) if text.strip() else {}
    if as_text(there.get("installLocation")) == folder:
        return text
    row: Json = {
        "source": {"source": "directory", "path": folder},
        "installLocation": folder,
        "lastUpdated": strftime("%Y-%m-%dT%H:%M:%S.000Z", gmtime()),
    }
    return jsonc.with_member(text, (MARKET,), row)


def _line() -> Json:
    return {"type": "command", "command": f"{commands.in_shell(commands.hook())} {NAME} statusline"}


def _has_line(place: Place) -> bool:
    """Whether somebody else has a status line, here or where this would hide it."""
    paths = (_config(place) / "settings.json", place.root / ".claude" / "settings.json")
    return any(_is_others_line(path) for path in (*paths, _settings_file(place)))


def _is_others_line(path: Path) -> bool:
    content = content_of(path)
    if content is None or not content.strip():
        return False
    found: Json = None
    with suppress(ValueError):  # what cannot be read is told of where it is to be changed
        found = jsonc.value_at(content.decode("utf-8"), (LINE,))
    return found is not None and not _is_ours(found)


def _is_ours(line: Json) -> bool:
    return "holdfast" in as_text(as_object(line).get("command"))


def taken_out(path: Path, content: bytes) -> bytes | None:
    """A file that somebody edited since, less our own parts."""

    def change(text: str) -> str:
        if path.name == KNOWN:
            return jsonc.without_member(text, (MARKET,))
        text = jsonc.without_member(text, ("extraKnownMarketplaces", MARKET))
        text = jsonc.without_member(text, ("enabledPlugins", PLUGIN))
        ours = _is_ours(jsonc.value_at(text, (LINE,)))
        return jsonc.without_member(text, (LINE,)) if ours else text

    return jsonc.edited(path, content, change)


def checks(place: Place) -> Iterator[Check]:
    """What `doctor` looks at, one by one, by trying it."""
    from holdfast.surfaces.install.doctor import try_hooks, try_server  # late: it starts processes

    path = _settings_file(place)
    text = (content_of(path) or b"").decode("utf-8", "replace")
    enabled = bool(text.strip()) and jsonc.value_at(text, ("enabledPlugins", PLUGIN)) is True
    scope = "" if place.scope == PROJECT else " --user"
    yield Check(
        "settings", enabled, str(path) if enabled else f"run holdfast install {NAME}{scope}"
    )
    if not enabled:
        return
    waiting = pending(plan(place))
    stale = f"{len(waiting)} files are not as this version writes them; install again"
    yield Check("plugin", not waiting, stale if waiting else str(_folder(place)))
    yield _client(place)
    plugin = _folder(place) / MARKET
    yield from try_hooks(plugin / "hooks" / "hooks.json", NAME)
    yield from try_server(plugin / ".mcp.json")


def _client(place: Place) -> Check:
    """Which Claude Code is there, and what it lets us do."""
    import shutil
    import subprocess  # late: only the doctor starts programs

    found = shutil.which("claude", path=place.environment.get("PATH"))
    if found is None:
        return Check("client", True, "no `claude` on the path: not looked at")
    told = subprocess.run(
        [found, "--version"], capture_output=True, text=True, timeout=30, check=False
    ).stdout.split()
    version = told[0] if told else ""
    numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
    if numbers < (2, 1, 121):
        return Check("client", False, f"{version} does not let hooks replace results: update it")
    ours = "our summary" if numbers >= (2, 1, 300) else "its own summary, steered by ours"
    return Check("client", True, f"{version}: compaction by {ours}")
