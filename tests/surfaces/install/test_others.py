"""Codex, Gemini CLI and opencode: what an installation changes, and that all of it goes."""

import json
from pathlib import Path

import pytest

from holdfast.errors import Unreadable
from holdfast.surfaces.install.hooks import is_our_group, with_hooks, without_hooks
from holdfast.surfaces.install.jsonc import NotJsonc
from holdfast.text.jsontext import Json
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.install.test_installing import tree, write_file

AGENTS = ("codex", "gemini", "opencode")
JSON = """{
    // mine, by hand
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
    "mcp": {"other": {"type": "local", "command": ["other"]}},
}
"""
TOML = '# mine\nmodel = "gpt-5.5" # the good one\n'
FILES = {
    "codex": {".codex/hooks.json": JSON, ".codex/config.toml": TOML},
    "gemini": {".gemini/settings.json": JSON},
    "opencode": {"opencode.json": JSON},
}


@pytest.mark.parametrize("scope", ["--project", "--user"])
@pytest.mark.parametrize("agent", AGENTS)
def test_uninstalling_leaves_no_trace_where_nothing_was(
    project: Path, agent: str, scope: str
) -> None:
    before = tree(project)
    assert document("install", agent, scope)["files"]
    assert document("install", agent, scope)["files"] == []
    done("uninstall", agent, scope)
    assert tree(project) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_uninstalling_restores_every_byte_of_what_was_there(project: Path, agent: str) -> None:
    for path, text in FILES[agent].items():
        write_file(project / path, text)
    before = tree(project)
    done("install", agent)
    for path in FILES[agent]:
        now = (project / path).read_text()
        assert "mine" in now
        assert "holdfast" in now
    done("uninstall", agent)
    assert tree(project) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_where_somebody_edited_since_only_our_parts_go(project: Path, agent: str) -> None:
    for path, text in FILES[agent].items():
        write_file(project / path, text)
    done("install", agent)
    for path in FILES[agent]:
        file = project / path
        comment = "# later\n" if path.endswith(".toml") else "// later\n"
        file.write_text(comment + file.read_text())
    done("uninstall", agent)
    for path, text in FILES[agent].items():
        left = (project / path).read_text()
        assert "holdfast" not in left
        assert "later" in left
        assert text.splitlines()[1].strip() in left


@pytest.mark.parametrize(
    ("agent", "path", "text"),
    [
        ("codex", ".codex/hooks.json", '{"hooks": {"Stop": "none"}}'),
        ("codex", ".codex/config.toml", "no toml ["),
        ("gemini", ".gemini/settings.json", "no json"),
        ("opencode", "opencode.json", '{"mcp": []}'),
    ],
)
def test_what_is_not_understood_is_left_alone(
    project: Path, agent: str, path: str, text: str
) -> None:
    write_file(project / path, text)
    before = tree(project)
    refused = invoke("install", agent)
    assert isinstance(refused.exception, Unreadable)
    assert path in str(refused.exception)
    assert tree(project) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_doctor_tells_that_nothing_is_installed_and_that_all_of_it_works(
    project: Path, agent: str
) -> None:
    assert "holdfast install" in invoke("doctor", agent).stdout
    done("install", agent)
    report = json.loads(invoke("doctor", agent, "--json").stdout)
    wrong = {check["what"] for check in report["checks"] if not check["holds"]}
    # Whether Codex trusts a hook is for its user to say.
    assert wrong == ({"trust"} if agent == "codex" else set())
    assert {"settings", "server holdfast"} <= {check["what"] for check in report["checks"]}


def test_our_hooks_are_known_by_the_program_that_they_start() -> None:
    def group(command: str) -> Json:
        return {"hooks": [{"type": "command", "command": command}]}

    assert is_our_group(group("/opt/x/bin/holdfast-hook codex Stop || true"))
    assert is_our_group(group("python3 -m holdfast.surfaces.hooks.main codex Stop"))
    assert not is_our_group(group("echo holdfast"))
    assert not is_our_group(group("echo 'a quote that never ends"))
    assert not is_our_group({"hooks": "none"})


def test_an_older_hook_of_ours_is_replaced_and_those_of_others_stay_in_their_order() -> None:
    theirs: Json = {"hooks": [{"command": "theirs"}]}
    older: Json = {"hooks": [{"command": "holdfast-hook a b"}]}
    ours: Json = {"hooks": [{"command": "holdfast-hook codex Stop"}]}
    text = json.dumps({"hooks": {"Stop": [older, theirs]}})
    made = with_hooks(text, {"Stop": ours})
    assert json.loads(made) == {"hooks": {"Stop": [theirs, ours]}}
    assert json.loads(without_hooks(made)) == {"hooks": {"Stop": [theirs]}}
    with pytest.raises(NotJsonc):
        with_hooks('{"hooks": {"Stop": {}}}', {"Stop": ours})
