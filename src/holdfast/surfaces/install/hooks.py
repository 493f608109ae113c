"""Our hooks among those of others, in settings that list them by event.

`hooks.EVENT` is a list of groups, and a group holds commands. Ours is a group of its own at the end
of the list; it is known by the program that it starts.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path

from holdfast.surfaces.install.commands import hook, in_shell
from holdfast.surfaces.install.jsonc import NotJsonc, value_at, with_item, without_items
from holdfast.text.jsontext import Json, as_list, as_object, as_text

HOOKS = "hooks"
PROGRAMS = ("holdfast-hook", "holdfast.surfaces.hooks.main")
"""How our program is named in a command."""


def command(agent: str, event: str) -> str:
    """What a shell starts when something happens; a program that is gone is no reason to stop."""
    return f"{in_shell([*hook(), agent, event])} || true"


def is_ours(group: Json) -> bool:
    """Whether a group starts our program."""
    held = as_list(as_object(group).get("hooks"))
    words = (_words(as_text(as_object(one).get("command"))) for one in held)
    return any(Path(word).name in PROGRAMS for line in words for word in line)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # somebody else's line, with quotes that never end
        return []


def with_hooks(text: str, groups: Mapping[str, Json]) -> str:
    """The text with our group for each event, and no other of ours.

    Raises:
        NotJsonc: the text is not JSON, or hooks are not listed as they should be.
    """
    for event, group in groups.items():
        known = value_at(text, (HOOKS, event)) if text.strip() else None
        if known is not None and not isinstance(known, list):
            raise NotJsonc(f"{HOOKS}.{event} is no list")
        mine = [one for one in known or [] if is_ours(one)]
        if mine != [group]:
            cleaned = without_items(text, (HOOKS, event), is_ours) if mine else text
            text = with_item(cleaned, (HOOKS, event), group)
    return text


def without_hooks(text: str) -> str:
    """The text less our groups, and less what they leave empty.

    Raises:
        NotJsonc: the text is not JSON.
    """
    for event in list(as_object(value_at(text, (HOOKS,)))):
        text = without_items(text, (HOOKS, event), is_ours)
    return text
