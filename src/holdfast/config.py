"""File, environment and flags become a Policy, and every value remembers where it came from.

Flags > environment > project file > user file > defaults.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, cast

import msgspec
from msgspec import Struct

from holdfast.core.plan.policy import Policy
from holdfast.errors import BadSetting
from holdfast.places import project_config, user_config

Plain: TypeAlias = "str | int | tuple[str, ...]"

SETTINGS: dict[str, type[str] | type[int] | type[tuple[str, ...]]] = {
    "model": str,
    "window": int,
    "reserve": int,
    "timezone": str,
    "never_store.tools": tuple,
    "never_store.paths": tuple,
    "never_store.patterns": tuple,
}
"""Every setting by its dotted name, and what kind of value it takes."""


class Setting(Struct, frozen=True):
    """A value in force, and where it came from."""

    name: str
    value: Plain
    origin: str


class Settings(Struct, frozen=True):
    """All that is in force."""

    policy: Policy
    values: tuple[Setting, ...]


def load(
    root: Path, environment: Mapping[str, str], flags: Mapping[str, Plain] | None = None
) -> Settings:
    """What is in force for a project.

    Raises:
        BadSetting: a value cannot be meant, or a name is not known.
    """
    found: dict[str, Setting] = {
        name: Setting(name, _default(name), "default") for name in SETTINGS
    }
    for path in (user_config(environment), project_config(root)):
        found.update(_from_file(path))
    found.update(_from_environment(environment))
    for name, value in (flags or {}).items():
        found[name] = Setting(name, _checked(name, value, "flag"), "flag")
    return Settings(_policy(found), tuple(found[name] for name in SETTINGS))


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return "HOLDFAST_" + name.replace(".", "_").upper()


def _default(name: str) -> Plain:
    kind = SETTINGS[name]
    return () if kind is tuple else kind()


def _from_file(path: Path) -> dict[str, Setting]:
    origin = str(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting("file", error.strerror or "it cannot be read", origin=origin) from None
    import tomllib  # late: most projects have no settings file

    try:
        table = cast(dict[str, object], tomllib.loads(data.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting("file", f"it is not TOML: {error}", origin=origin) from None
    return {
        name: Setting(name, _checked(name, value, origin), origin)
        for name, value in _flattened(table).items()
    }


def _flattened(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update(_flattened(cast(dict[str, object], value), f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def _from_environment(environment: Mapping[str, str]) -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for name, kind in SETTINGS.items():
        text = environment.get(variable(name))
        if text is None:
            continue
        value: object = text.split(os.pathsep) if kind is tuple else text
        if kind is int:
            value = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text
        found[name] = Setting(name, _checked(name, value, variable(name)), variable(name))
    return found


def _checked(name: str, value: object, origin: str) -> Plain:
    if name not in SETTINGS:
        raise BadSetting(name, f"there is none of that name; try {_nearest(name)}", origin=origin)
    kind = SETTINGS[name]
    if kind is int and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise BadSetting(name, f"{value!r} is not a whole number", origin=origin)
    if kind is str and not isinstance(value, str):
        raise BadSetting(name, f"{value!r} is not text", origin=origin)
    if kind is tuple:
        items = cast(list[object], value) if isinstance(value, list | tuple) else [value]
        if not all(isinstance(item, str) for item in items):
            raise BadSetting(name, f"{value!r} is not a list of texts", origin=origin)
        return tuple(cast(list[str], items))
    return cast(Plain, value)


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    return (get_close_matches(name, SETTINGS, n=1, cutoff=0.0) or list(SETTINGS))[0]


def _policy(found: Mapping[str, Setting]) -> Policy:
    plain: dict[str, object] = {}
    for name, setting in found.items():
        section, _, key = name.rpartition(".")
        if section:
            cast(dict[str, object], plain.setdefault(section, {}))[key] = setting.value
        else:
            plain[name] = setting.value
    return msgspec.convert(plain, Policy)
