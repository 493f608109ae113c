"""Putting Holdfast into an agent and taking it out: only ours changes, and all of it goes."""

import json
import os
from pathlib import Path

import pytest
from click.testing import Result

from tests.surfaces.cli.commands import document, done, invoke

SETTINGS = """{
\t// my own hooks
\t"hooks": {
\t\t"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
\t},
\t"permissions": {"allow": ["Bash(ls:*)"]} // trailing
}
"""
PLUGIN = "holdfast@holdfast"


def settings(project: Path, scope: str) -> Path:
    mine = project / "home/.claude/settings.json"
    return mine if scope == "--user" else project / ".claude/settings.local.json"


def write_file(path: Path, text: str) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path.read_bytes()


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_uninstalling_restores_every_byte(project: Path, scope: str) -> None:
    write_file(settings(project, scope), SETTINGS)
    before = tree(project)
    first = document("install", "claude-code", scope)
    assert first["files"]
    text = settings(project, scope).read_text()
    assert "// my own hooks" in text
    assert '"command": "say done"' in text
    assert PLUGIN in text
    assert document("install", "claude-code", scope)["files"] == []
    done("uninstall", "claude-code", scope)
    assert tree(project) == before


def test_a_dry_run_says_what_would_change_and_changes_nothing(project: Path) -> None:
    write_file(settings(project, "--project"), SETTINGS)
    before = tree(project)
    report = document("install", "claude-code", "--dry-run")
    assert str(settings(project, "--project")) in [row["path"] for row in report["files"]]
    assert tree(project) == before


def test_where_somebody_wrote_since_only_our_parts_go(project: Path) -> None:
    path = settings(project, "--project")
    write_file(path, SETTINGS)
    done("install", "claude-code")
    path.write_text(path.read_text().replace('"say done"', '"say it is done"'))
    report = document("uninstall", "claude-code")
    assert [row["act"] for row in report["files"] if row["path"] == str(path)] == ["cleaned"]
    assert path.read_text() == SETTINGS.replace('"say done"', '"say it is done"')


def test_installing_again_after_somebody_wrote_keeps_their_words_for_later(project: Path) -> None:
    path = settings(project, "--project")
    write_file(path, SETTINGS)
    done("install", "claude-code")
    edited = path.read_text().replace('"say done"', '"say it is done"').replace(PLUGIN, "x@y")
    path.write_text(edited)
    done("install", "claude-code")
    done("uninstall", "claude-code")
    assert "say it is done" in path.read_text()
    assert "holdfast" not in path.read_text()


def test_a_link_stays_a_link(project: Path) -> None:
    real = project / "dotfiles/settings.json"
    before = write_file(real, SETTINGS)
    path = settings(project, "--user")
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    done("install", "claude-code", "--user")
    assert path.is_symlink()
    assert PLUGIN in real.read_text()
    done("uninstall", "claude-code", "--user")
    assert path.is_symlink()
    assert real.read_bytes() == before


def test_what_is_read_only_is_left_alone_with_a_sentence(project: Path) -> None:
    path = settings(project, "--project")
    before = write_file(path, SETTINGS)
    path.chmod(0o444)
    assert_refused(invoke("install", "claude-code"), "read-only")
    assert path.read_bytes() == before
    assert list(project.glob(".holdfast/**/*")) == []


@pytest.mark.parametrize("text", ["{ not json", '["a list"]', '{"enabledPlugins": "yes"}'])
def test_what_is_not_understood_is_left_alone_with_a_sentence(project: Path, text: str) -> None:
    path = settings(project, "--project")
    before = write_file(path, text)
    assert_refused(invoke("install", "claude-code"), "left as it is")
    assert path.read_bytes() == before
    assert list(project.glob(".holdfast/**/*")) == []


def test_the_mode_of_a_file_stays(project: Path) -> None:
    path = settings(project, "--user")
    write_file(path, SETTINGS)
    path.chmod(0o600)
    done("install", "claude-code", "--user")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_status_line_of_somebody_else_stays(project: Path) -> None:
    path = settings(project, "--project")
    write_file(path, '{"statusLine": {"type": "command", "command": "mine"}}\n')
    report = document("install", "claude-code")
    assert json.loads(path.read_text())["statusLine"]["command"] == "mine"
    assert any("status line" in note for note in report["notes"])


def test_a_project_of_a_user_who_has_it_everywhere_needs_nothing(project: Path) -> None:
    done("install", "claude-code", "--user")
    report = document("install", "claude-code", "--project")
    assert report["files"] == []
    assert "nothing to do here" in report["notes"][0]


def test_what_is_put_into_a_project_is_kept_out_of_its_repository(project: Path) -> None:
    done("install", "claude-code")
    assert (project / ".holdfast/.gitignore").read_text() == "*\n"


def test_doctor_says_what_is_wrong_in_a_line_and_ends_with_one(project: Path) -> None:
    missing = invoke("doctor", "claude-code")
    assert missing.exit_code == 1
    assert "run holdfast install claude-code" in missing.stdout
    done("install", "claude-code")
    assert invoke("doctor", "claude-code").exit_code == 0
    hooks = project / ".holdfast/agents/claude-code/holdfast/hooks/hooks.json"
    hooks.write_text(hooks.read_text().replace("holdfast-hook claude", "holdfast-gone claude"))
    broken = invoke("doctor", "claude-code")
    assert broken.exit_code == 1
    assert "its command is not there" in broken.stdout
    assert "Traceback" not in broken.stdout


def assert_refused(result: Result, words: str) -> None:
    assert result.exit_code != 0
    assert words in str(result.exception)
    assert os.linesep not in str(result.exception)


@pytest.mark.parametrize("scope", ["--project", "--user"])
def test_the_files_of_our_own_folder_are_told_in_one_line(project: Path, scope: str) -> None:
    first = done("install", "claude-code", scope).splitlines()
    ours = [line for line in first if "holdfast/agents/claude-code" in line]
    assert len(ours) == 1
    assert any(str(settings(project, scope)) in line for line in first)
    assert len(done("install", "claude-code", scope).splitlines()) == 1
    last = done("uninstall", "claude-code", scope).splitlines()
    assert sum("holdfast/agents/claude-code" in line for line in last) == 1
