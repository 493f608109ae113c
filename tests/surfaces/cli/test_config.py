import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.core.plan.policy import Policy
from holdfast.errors import BadSetting
from holdfast.project.settings import SETTINGS, choices_of, variable
from tests.input.making import chat, run
from tests.surfaces.cli.commands import document, done, invoke


def _user_file(root: Path, text: str) -> Path:
    file = root / "home" / ".config" / "holdfast" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def _window() -> tuple[Any, str]:
    found = document("config", "show")["settings"]
    return next((one["value"], one["origin"]) for one in found if one["name"] == "window")


def test_every_setting_is_shown_with_its_default(project: Path) -> None:
    found = document("config", "show", "--origin")
    defaults = msgspec.json.decode(msgspec.json.encode(Policy()))
    assert found == {
        "schema": "holdfast.config/1",
        "root": str(project),
        "settings": [
            {"name": name, "value": _at(defaults, name), "origin": "default"} for name in SETTINGS
        ],
    }


def _at(values: Any, name: str) -> Any:
    for part in name.split("."):
        values = values[part]
    return values


def test_what_is_nearer_wins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _window() == (0, "default")
    user = _user_file(project, "window = 1000\n")
    assert _window() == (1000, str(user))
    (project / "holdfast.toml").write_text("window = 2000\n")
    assert _window() == (2000, str(project / "holdfast.toml"))
    monkeypatch.setenv("HOLDFAST_WINDOW", "3000")
    assert _window() == (3000, "HOLDFAST_WINDOW")
    (project / "a.jsonl").write_bytes(b"".join(chat(2)))
    done("ingest", "a.jsonl")
    limits = [
        document("status")["usage"]["limit"],
        document("status", "--window", "4000")["usage"]["limit"],
    ]
    assert limits == [1500, 2000]


def test_the_user_file_is_found_where_the_environment_says(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "xdg" / "holdfast").mkdir(parents=True)
    file = project / "xdg" / "holdfast" / "config.toml"
    file.write_text("window = 1234\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "xdg"))
    assert _window() == (1234, str(file))


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_can_be_set_by_a_variable(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = SETTINGS[name]
    words = {"profile": "lean", "role": "architect", "layout": "loa"}
    chosen = words.get(name, (choices_of(name) or ("UTC",))[-1])
    listed = list((choices_of(name) or ("a", "b"))[:2])
    given, meant = {
        str: (chosen, chosen),
        int: ("77", 77),
        tuple: (":".join(listed), listed),
    }[kind]
    monkeypatch.setenv(variable(name), given)
    found = document("config", "show", "--root", str(project))["settings"]
    assert {"name": name, "value": meant, "origin": variable(name)} in found


def test_the_origin_is_printed_for_people_too(project: Path) -> None:
    (project / "holdfast.toml").write_text('[never_store]\ntools = ["vault", "login"]\n')
    rows = done("config", "show", "--origin").splitlines()
    row = next(row for row in rows if row.startswith("never_store.tools"))
    assert row.split() == ["never_store.tools", "vault,", "login", str(project / "holdfast.toml")]
    plain = done("config", "show").splitlines()
    row = next(row for row in plain if row.startswith("never_store.tools"))
    assert row.split() == ["never_store.tools", "vault,", "login"]


@pytest.mark.parametrize(
    ("text", "name", "nearest"),
    [
        ("windw = 5", "windw", "window"),
        ("tmezone = 'UTC'", "tmezone", "timezone"),
        ("[never_store]\ntool = ['x']", "never_store.tool", "never_store.tools"),
        ("never_stor = 1", "never_stor", "never_store"),
    ],
)
def test_a_setting_nobody_knows_is_refused_with_the_nearest_that_is(
    text: str, name: str, nearest: str, project: Path
) -> None:
    (project / "holdfast.toml").write_text(text)
    result = invoke("config", "show")
    assert isinstance(result.exception, BadSetting)
    assert result.exception.name == name
    assert result.exception.origin == str(project / "holdfast.toml")
    assert nearest in result.exception.reason


@pytest.mark.parametrize(
    "text",
    [
        "window = -1",
        "window = 1.5",
        "window = 'many'",
        "window = true",
        "window = 2026-01-01",
        "model = 5",
        "never_store.tools = [1]",
        "never_store.patterns = [['a']]",
        "[window]\nx = 1",
        "this is not TOML",
        "\x00",
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_by_file(text: str, project: Path) -> None:
    (project / "holdfast.toml").write_text(text)
    result = invoke("config", "show")
    assert isinstance(result.exception, BadSetting)
    assert result.exception.origin == str(project / "holdfast.toml")


@pytest.mark.parametrize("value", ["many", "-1", "", "1.5", "²", "9" * 5_000])
@pytest.mark.usefixtures("project")
def test_a_number_that_is_none_is_refused_by_variable(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_WINDOW", value)
    result = invoke("config", "show")
    assert isinstance(result.exception, BadSetting)
    assert (result.exception.name, result.exception.origin) == ("window", "HOLDFAST_WINDOW")


def test_a_settings_file_that_cannot_be_read_is_refused(project: Path) -> None:
    (project / "holdfast.toml").mkdir()
    result = invoke("config", "show")
    assert isinstance(result.exception, BadSetting)
    assert result.exception.origin == str(project / "holdfast.toml")


def test_settings_are_shown_by_a_process_of_its_own(project: Path) -> None:
    ran = run("config", "show", "--origin", "--json", cwd=project, HOLDFAST_MODEL="gpt-5")
    assert (ran.code, ran.err) == (0, "")
    assert {"name": "model", "value": "gpt-5", "origin": "HOLDFAST_MODEL"} in json.loads(ran.out)[
        "settings"
    ]


def test_a_bad_setting_ends_a_process_with_a_sentence(project: Path) -> None:
    (project / "holdfast.toml").write_text("windw = 5")
    ran = run("config", "show", cwd=project)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (BadSetting.exit_code, "", 1)
