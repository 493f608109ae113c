"""File, environment and flags become a Policy, and every value remembers where it came from.

Flags > environment > project file > the project's `.loa.config.yaml` > user file > the user's
`~/.agentwire/config.yaml` > defaults.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from msgspec import Struct
from msgspec.structs import fields, replace

from holdfast.core.plan.policy import (
    CHOICES,
    LAYOUTS,
    PROFILES,
    ROLES,
    STRICT,
    Policy,
    SettingValue,
    with_settings,
)
from holdfast.errors import BadSetting
from holdfast.project.paths import agentwire_config, loa_config, project_config, user_config
from holdfast.project.regular_files import MAX_SETTINGS_BYTES as LARGEST
from holdfast.project.regular_files import read_regular


def _defaults_of(section: Struct, prefix: str = "") -> Iterator[tuple[str, SettingValue]]:
    """Every setting of a policy, or of a section of it, by its dotted name, with its default."""
    for name in section.__struct_fields__:
        value = getattr(section, name)
        if isinstance(value, Struct):
            yield from _defaults_of(value, f"{prefix}{name}.")
        elif isinstance(value, str | int | tuple):
            yield prefix + name, cast(SettingValue, value)


DEFAULTS: dict[str, SettingValue] = dict(_defaults_of(Policy()))
"""Every setting by its dotted name, with its default: the fields of the policy."""
SETTINGS: dict[str, type[SettingValue]] = {name: type(value) for name, value in DEFAULTS.items()}
"""Every setting by its dotted name, and what kind of value it takes."""


def choices_of(name: str) -> tuple[str, ...] | None:
    """The only words that a setting takes; none where it takes any."""
    section, _, field = name.rpartition(".")
    holder = getattr(Policy(), section) if section else Policy()
    kind = next(found.type for found in fields(holder) if found.name == field)
    for mark in getattr(kind, "__metadata__", ()):
        return cast(dict[str, tuple[str, ...]], mark.extra).get(CHOICES)
    return None


PERSONAL = ("summarizer", "preservation.unsafe_drop", "redact.secrets", "packets.key_file")
"""What a project's own file may not say: it would let a folder one was given run programs, give up
what the user wants kept, show what is secret, or say who may write packets."""
PATTERNS = ("never_store.patterns", "redact.patterns")
"""Regular expressions: each is refused where it could take very long on some texts."""
SECTIONS = ("models", "roles")
"""Tables whose members are named by the user, and hold settings for that model or role alone."""


HOST_PROFILES = {"claude-code": "claude-code", "codex": "codex"}
"""The profile that goes with an agent's program; `claude-code` with any other."""


class Setting(Struct, frozen=True):
    """A value in force, and where it came from."""

    name: str
    value: SettingValue
    origin: str


class Settings(Struct, frozen=True):
    """All that is in force."""

    policy: Policy
    values: tuple[Setting, ...]


def load(
    root: Path,
    environment: Mapping[str, str],
    flags: Mapping[str, SettingValue] | None = None,
    *,
    outside: bool = True,
) -> Settings:
    """What is in force for a project; without what `outside` files say, when that can wait.

    Raises:
        BadSetting: a value cannot be meant, or a name is not known.
    """
    return _load(root, environment, flags, outside=outside, suits="")


def _load(
    root: Path,
    environment: Mapping[str, str],
    flags: Mapping[str, SettingValue] | None,
    *,
    outside: bool,
    suits: str,
) -> Settings:
    """Load the settings; `suits` is the profile to take if none is chosen."""
    # A user's own file may be a link to where they keep it; a repository's may lead anywhere.
    own, project = _File(user_config(environment), links=True), _File(project_config(root))
    files = [own, project]
    _only_impersonal(project)
    loa = _loa(loa_config(root)) if outside else {}
    wired = _agentwire(agentwire_config(environment)) if outside else {}
    said = {**wired, **files[0].settings, **loa, **files[1].settings}
    given = _from_environment(environment)
    for name, value in (flags or {}).items():
        given[name] = Setting(name, _checked(name, value, "flag"), "flag")
    profile = _chosen("profile", said, given, PROFILES)
    _chosen("layout", said, given, LAYOUTS)
    role = _chosen("role", said, given, ROLES, *(file.roles for file in files))
    of_role = [file.roles.get(role, {}) for file in files]
    if suits and not any("profile" in table for table in (said, given, *of_role)):
        profile = suits
        given["profile"] = Setting("profile", profile, variable("profile"))
    found = {name: Setting(name, value, "default") for name, value in DEFAULTS.items()}
    found.update(_of("profile", profile, PROFILES.get(profile, {})))
    found.update(_of("role", role, ROLES.get(role, {})))
    found.update(said)
    for table in of_role:
        found.update(table)
    found.update(given)
    _keeps_all(found)
    models = {name: values for file in files for name, values in file.models.items()}
    policy = with_settings(Policy(), {name: setting.value for name, setting in found.items()})
    return Settings(replace(policy, models=models), tuple(found[name] for name in SETTINGS))


def load_for(
    host: str,
    root: Path,
    environment: Mapping[str, str],
    flags: Mapping[str, SettingValue] | None = None,
    *,
    outside: bool = True,
) -> Settings:
    """What is in force inside an agent's program: the profile that suits it, if none was chosen.

    Raises:
        BadSetting: a value cannot be meant, or a name is not known.
    """
    profile = HOST_PROFILES.get(host, "claude-code")
    return _load(root, environment, flags, outside=outside, suits=profile)


def _only_impersonal(project: "_File") -> None:
    tables = [project.settings, *project.roles.values(), *project.models.values()]
    for name in PERSONAL:
        if any(name in table for table in tables):
            place = f"say it in the user's own file or as {variable(name)}"
            raise BadSetting(name, f"a project may not name it; {place}", origin=project.origin)


def _loa(path: Path) -> dict[str, Setting]:
    """What the configuration of another framework says that we know."""
    if not os.path.lexists(path):
        return {}
    from holdfast.project.integrations.loa import settings_in  # late: it needs a YAML reader

    return _settings(settings_in(path), str(path))


def _agentwire(path: Path) -> dict[str, Setting]:
    """What the block `context` of the user's agentwire configuration says."""
    if not os.path.lexists(path):
        return {}
    from holdfast.project.integrations.agentwire import settings_in  # late: it needs a YAML reader

    return _settings(settings_in(path), str(path))


def _keeps_all(found: Mapping[str, Setting]) -> None:
    """Strict mode gives nothing up."""
    dropped = found["preservation.unsafe_drop"]
    if dropped.value and found["preservation.enforcement"].value == STRICT:
        raise BadSetting(
            dropped.name, "strict mode preserves all six; take it out", origin=dropped.origin
        )


def _of(what: str, name: str, values: Mapping[str, SettingValue]) -> dict[str, Setting]:
    return {key: Setting(key, value, f"{what} {name}") for key, value in values.items()}


def _chosen(
    what: str,
    said: Mapping[str, Setting],
    outside: Mapping[str, Setting],
    *known: Mapping[str, object],
) -> str:
    """The profile or role that is named, if there is one of that name."""
    setting = outside.get(what) or said.get(what)
    name = str(setting.value) if setting is not None else str(DEFAULTS[what])
    choices = [choice for table in known for choice in table]
    if name and name not in choices:
        origin = setting.origin if setting is not None else "default"
        raise BadSetting(what, f"{name!r} is not one of {', '.join(choices)}", origin=origin)
    return name


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return "HOLDFAST_" + name.replace(".", "_").upper()


class _File:
    """A settings file: what it says in general, for one role, and for one model."""

    def __init__(self, path: Path, *, links: bool = False) -> None:
        self.origin = origin = str(path)
        table = _table(path, links=links)
        special = {name: table.pop(name) for name in SECTIONS if name in table}
        self.settings = _settings(table, origin)
        self.roles = _named(special.get("roles"), "roles", origin)
        models = _named(special.get("models"), "models", origin)
        self.models = {
            name: {key: setting.value for key, setting in settings.items()}
            for name, settings in models.items()
        }


def _named(value: object, section: str, origin: str) -> dict[str, dict[str, Setting]]:
    if value is None:
        return {}
    tables = cast(dict[str, object], value) if isinstance(value, dict) else {"": value}
    made: dict[str, dict[str, Setting]] = {}
    for name, inner in tables.items():
        if not isinstance(inner, dict):
            raise BadSetting(section, "it holds tables of settings, by name", origin=origin)
        made[name] = _settings(cast(dict[str, object], inner), f"{origin} [{section}.{name}]")
    return made


def _settings(table: Mapping[str, object], origin: str) -> dict[str, Setting]:
    return {
        name: Setting(name, _checked(name, value, origin), origin)
        for name, value in _flattened(table).items()
    }


def _table(path: Path, *, links: bool) -> dict[str, object]:
    origin = str(path)
    try:
        data = read_regular(path, LARGEST, links=links)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting("file", error.strerror or "it cannot be read", origin=origin) from None
    import tomllib  # late: most projects have no settings file

    try:
        return cast(dict[str, object], tomllib.loads(data.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting("file", f"it is not TOML: {error}", origin=origin) from None


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


def _checked(name: str, value: object, origin: str) -> SettingValue:
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
        value = tuple(cast(list[str], items))
        if name in PATTERNS and value:
            from holdfast.text.linear import compile_checked  # late: few projects have patterns

            compile_checked(name, value, origin)
    _chosen_from(name, cast(SettingValue, value), origin)
    return cast(SettingValue, value)


def _chosen_from(name: str, value: SettingValue, origin: str) -> None:
    choices = choices_of(name)
    words = value if isinstance(value, tuple) else (str(value),)
    wrong = [word for word in words if choices is not None and word not in choices]
    if choices is not None and wrong:
        raise BadSetting(name, f"{wrong[0]!r} is not one of {', '.join(choices)}", origin=origin)


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    return (get_close_matches(name, SETTINGS, n=1, cutoff=0.0) or list(SETTINGS))[0]
