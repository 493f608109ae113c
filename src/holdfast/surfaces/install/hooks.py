"""Add our hooks to JSON settings that list hooks by event, and remove them again.

`hooks.EVENT` is a list of groups, and a group is a list of commands. Our commands form a group of
their own at the end of the list; it is recognised by the program that it starts.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path

from holdfast.surfaces.install.commands import hook_program, shell_line
from holdfast.surfaces.install.jsonc import NotJsonc, value_at, with_item, without_items
from holdfast.text.jsontext import Json, as_list, as_object, as_text

HOOKS_KEY = "hooks"
HOOK_PROGRAMS = ("holdfast-hook", "holdfast.surfaces.hooks.main")
"""The names by which a command can start our hook program."""


def hook_command(agent: str, event: str) -> str:
    """Return the shell command of a hook; it succeeds even if our program was removed."""
    return f"{shell_line([*hook_program(), agent, event])} || true"


def is_our_group(group: Json) -> bool:
    """Whether a group of hooks starts our program."""
    hooks = as_list(as_object(group).get("hooks"))
    lines = (_split_words(as_text(as_object(hook).get("command"))) for hook in hooks)
    return any(Path(word).name in HOOK_PROGRAMS for line in lines for word in line)


def _split_words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a user's own command with an unclosed quote
        return []


def with_hooks(text: str, groups: Mapping[str, Json]) -> str:
    """Return the text with exactly one group of ours for each event.

    Raises:
        NotJsonc: the text is not JSON, or the hooks of an event are not a list.
    """
    for event, group in groups.items():
        current = value_at(text, (HOOKS_KEY, event)) if text.strip() else None
        if current is not None and not isinstance(current, list):
            raise NotJsonc(f"{HOOKS_KEY}.{event} is no list")
        mine = [item for item in current or [] if is_our_group(item)]
        if mine != [group]:
            cleaned = without_items(text, (HOOKS_KEY, event), is_our_group) if mine else text
            text = with_item(cleaned, (HOOKS_KEY, event), group)
    return text


def without_hooks(text: str) -> str:
    """Return the text without our groups, and without the lists that this leaves empty.

    Raises:
        NotJsonc: the text is not JSON.
    """
    for event in list(as_object(value_at(text, (HOOKS_KEY,)))):
        text = without_items(text, (HOOKS_KEY, event), is_our_group)
    return text
