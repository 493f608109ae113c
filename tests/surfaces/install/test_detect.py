"""Without an agent's name, commands find the agents that are there and say by what."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import NotRecorded, Unreadable
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.install.test_installing import tree, write_file


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


def agents_found(report: dict[str, Any]) -> dict[str, str]:
    """The agents that were found, and by what."""
    return {row["agent"]: row["where"] for row in report["found"]}


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
    report = document("install", "--dry-run")
    assert agents_found(report) == {
        "claude-code": str(claude),
        "codex": str(project / "home" / ".codex"),
        "opencode": str(opencode),
        "gemini": str(project / ".gemini"),
    }
    assert [row["agent"] for row in report["agents"]] == list(agents_found(report))
    assert all(row["files"] and row["dry_run"] for row in report["agents"])


def test_holdfast_is_put_into_all_that_are_there_and_taken_out_of_all_that_have_it(
    project: Path,
) -> None:
    (project / "home" / ".codex").mkdir()
    write_file(project / "home" / ".gemini" / "settings.json", "{}\n")
    before = tree(project)
    out = done("install")
    for agent in ("codex", "gemini"):
        assert f"{agent}  found: {project / 'home'}" in out
        assert document("install", agent)["files"] == []
    assert "claude-code" not in out
    taken = document("uninstall")
    assert [row["agent"] for row in taken["agents"]] == ["codex", "gemini"]
    assert tree(project) == before


def test_the_settings_of_one_agent_that_cannot_be_read_stop_no_other(project: Path) -> None:
    (project / "home" / ".codex").mkdir()
    write_file(project / ".gemini" / "settings.json", "{ broken")
    result = invoke("install", "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == Unreadable.exit_code
    assert [row["agent"] for row in report["agents"]] == ["codex"]
    assert [row["agent"] for row in report["errors"]] == ["gemini"]
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
    report = json.loads(result.stdout)
    assert (result.exit_code, report["works"]) == (0, True)
    assert [(row["agent"], row["has"]) for row in report["found"]] == [
        ("codex", ""),
        ("gemini", "user"),
    ]
    (tried,) = report["agents"]
    assert (tried["agent"], tried["works"], len(tried["checks"]) > 5) == ("gemini", True, True)
    shown = invoke("doctor")
    assert shown.exit_code == 0
    assert "none   it has no Holdfast: holdfast install codex" in shown.stdout.splitlines()
