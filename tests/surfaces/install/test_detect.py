"""Without an agent's name, commands find the agents that are there and say by what."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import NotRecorded, Unreadable
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.install.test_installing import put, tree


@pytest.fixture(autouse=True)
def programs(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path: a shell, and what a test puts there."""
    folder = project / "home" / "bin"
    folder.mkdir()
    shell = shutil.which("sh")
    assert shell is not None
    (folder / "sh").symlink_to(shell)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("GEMINI_CLI_HOME", raising=False)
    return folder


def program(folder: Path, name: str) -> Path:
    """A program on the path."""
    path = folder / name
    path.write_text("#!/bin/sh\necho 2.1.400\n")
    path.chmod(0o755)
    return path


def found(told: dict[str, Any]) -> dict[str, str]:
    """The agents that were found, and by what."""
    return {one["agent"]: one["where"] for one in told["found"]}


@pytest.mark.parametrize("command", ["install", "doctor", "uninstall"])
def test_with_no_agent_there_one_sentence_says_so(command: str, project: Path) -> None:
    before = tree(project)
    result = invoke(command)
    assert isinstance(result.exception, NotRecorded)
    assert str(result.exception).startswith("no agent ")
    assert (result.stdout, tree(project)) == ("", before)


def test_agents_are_found_by_their_programs_and_by_their_settings(
    project: Path, programs: Path
) -> None:
    claude = program(programs, "claude")
    opencode = program(programs, "opencode")
    (project / "home" / ".codex").mkdir()
    (project / ".gemini").mkdir()
    told = document("install", "--dry-run")
    assert found(told) == {
        "claude-code": str(claude),
        "codex": str(project / "home" / ".codex"),
        "opencode": str(opencode),
        "gemini": str(project / ".gemini"),
    }
    assert [one["agent"] for one in told["agents"]] == list(found(told))
    assert all(one["files"] and one["dry_run"] for one in told["agents"])


def test_holdfast_is_put_into_all_that_are_there_and_taken_out_of_all_that_have_it(
    project: Path,
) -> None:
    (project / "home" / ".codex").mkdir()
    put(project / "home" / ".gemini" / "settings.json", "{}\n")
    before = tree(project)
    out = done("install")
    for agent in ("codex", "gemini"):
        assert f"{agent}  found: {project / 'home'}" in out
        assert document("install", agent)["files"] == []
    assert "claude-code" not in out
    taken = document("uninstall")
    assert [one["agent"] for one in taken["agents"]] == ["codex", "gemini"]
    assert tree(project) == before


def test_the_settings_of_one_agent_that_cannot_be_read_stop_no_other(project: Path) -> None:
    (project / "home" / ".codex").mkdir()
    put(project / ".gemini" / "settings.json", "{ broken")
    result = invoke("install", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == Unreadable.exit_code
    assert [one["agent"] for one in told["agents"]] == ["codex"]
    assert [one["agent"] for one in told["errors"]] == ["gemini"]
    assert result.stderr.startswith("holdfast: gemini: ")
    assert document("install", "codex")["files"] == []


def test_the_doctor_tries_the_agents_that_have_holdfast_and_names_the_others(
    project: Path,
) -> None:
    (project / "home" / ".gemini").mkdir()
    (project / "home" / ".codex").mkdir()
    none = invoke("doctor")
    assert (none.exit_code, none.stderr) == (1, "")
    assert none.stdout.count("it has no Holdfast: holdfast install ") == 2
    done("install", "gemini", "--user")
    result = invoke("doctor", "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["works"]) == (0, True)
    assert [(one["agent"], one["has"]) for one in told["found"]] == [
        ("codex", ""),
        ("gemini", "user"),
    ]
    (tried,) = told["agents"]
    assert (tried["agent"], tried["works"], len(tried["checks"]) > 5) == ("gemini", True, True)
    shown = invoke("doctor")
    assert shown.exit_code == 0
    assert "none   it has no Holdfast: holdfast install codex" in shown.stdout.splitlines()
