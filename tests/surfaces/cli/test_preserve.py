import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import BadSetting, Blocked
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import talked

SIX = [
    "session_continuity",
    "decision_log",
    "trajectory_entries",
    "active_beads",
    "sprint_context",
    "run_mode_state",
]
ONE = "## Session Continuity\n"
BOTH = "## Session Continuity\n\n## Decision Log\n"


def statuses() -> dict[str, str]:
    result = invoke("preserve", "--json")
    found: dict[str, Any] = json.loads(result.stdout)
    return {one["item"]: one["status"] for one in found["sections"]}


@pytest.mark.usefixtures("project")
@pytest.mark.seed("R283")
def test_without_outside_ledgers_our_own_holds_everything_and_the_code_is_0() -> None:
    lines = done("preserve").splitlines()
    assert [line.split()[0] for line in lines] == SIX
    assert lines[0].split()[1:3] == ["kept", "ledger"]
    assert [line.split()[1] for line in lines[3:]] == ["unused"] * 3


@pytest.mark.seed("R283", "R284", "R316")
def test_a_missing_section_ends_with_1_and_says_how_to_make_it(project: Path) -> None:
    (project / "NOTES.md").write_text(ONE)
    result = invoke("preserve")
    assert result.exit_code == 1
    assert "warning: decision_log is missing" in result.stdout
    assert "`holdfast preserve --create` makes it" in result.stdout
    assert invoke("preserve", "decision_log").exit_code == 1
    assert invoke("preserve", "session_continuity").exit_code == 0
    assert (project / "NOTES.md").read_text() == ONE


@pytest.mark.usefixtures("project")
@pytest.mark.seed("R284")
def test_a_section_that_is_none_ends_with_2_and_lists_those_that_are() -> None:
    result = invoke("preserve", "nonsense")
    assert result.exit_code == 2
    assert "session_continuity, decision_log" in result.stderr


@pytest.mark.seed("R318")
def test_what_is_missing_is_made_when_asked_for(project: Path) -> None:
    (project / "NOTES.md").write_text("words\n")
    found = document("preserve", "--create")
    assert (found["preserved"], found["created"]) == (True, SIX[:2])
    assert (project / "NOTES.md").read_text() == f"words\n\n{BOTH}"
    assert document("preserve", "--create")["created"] == []


def test_only_the_section_that_was_named_is_made(project: Path) -> None:
    (project / "NOTES.md").write_text("words\n")
    done("preserve", "decision_log", "--create")
    assert (project / "NOTES.md").read_text() == "words\n\n## Decision Log\n"


def test_nothing_is_made_where_the_project_has_no_notes(project: Path) -> None:
    assert document("preserve", "--create")["created"] == []
    assert not (project / "NOTES.md").exists()


def test_the_layout_of_the_framework_expects_notes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_LAYOUT", "loa")
    assert invoke("preserve").exit_code == 1
    done("preserve", "--create")
    assert (project / "NOTES.md").read_text() == f"# Notes\n\n{BOTH}"


@pytest.mark.parametrize(("rule", "text"), [("auto", f"a\n\n{BOTH}"), ("never", "a\n")])
def test_the_setting_decides_whether_a_section_is_made(
    project: Path, monkeypatch: pytest.MonkeyPatch, rule: str, text: str
) -> None:
    monkeypatch.setenv("HOLDFAST_PRESERVATION_CREATE_MISSING", rule)
    (project / "NOTES.md").write_text("a\n")
    assert invoke("preserve").exit_code == (0 if rule == "auto" else 1)
    assert (project / "NOTES.md").read_text() == text


def test_never_means_that_asking_for_it_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_PRESERVATION_CREATE_MISSING", "never")
    (project / "NOTES.md").write_text("a\n")
    result = invoke("preserve", "--create")
    assert isinstance(result.exception, BadSetting)
    assert result.exception.exit_code == 78


@pytest.mark.seed("R318")
@pytest.mark.parametrize(("answer", "made"), [("y\n", True), ("n\n", False)])
def test_a_person_is_asked(project: Path, answer: str, made: bool) -> None:
    (project / "NOTES.md").write_text("a\n")
    ours, theirs = pty.openpty()
    try:
        running = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "preserve"],
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=theirs,
            text=True,
            cwd=project,
            env={**os.environ, "TERM": "xterm"},
        )
        running.communicate(answer, timeout=60)
        os.set_blocking(ours, False)
        printed = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "make session_continuity, decision_log in NOTES.md?" in printed
    assert running.returncode == (0 if made else 1)
    assert (project / "NOTES.md").read_text() == (f"a\n\n{BOTH}" if made else "a\n")


def test_a_link_out_of_the_project_is_refused_with_1(project: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs.md").write_text("theirs")
    (project / "NOTES.md").symlink_to(tmp_path / "theirs.md")
    result = invoke("preserve", "--create")
    assert result.exit_code == 1
    assert "it leads out of the project" in result.stdout
    assert (tmp_path / "theirs.md").read_text() == "theirs"


@pytest.mark.seed("R125", "R281", "R282", "R300")
def test_rules_list_the_six_the_five_and_what_was_added(project: Path) -> None:
    (project / "holdfast.toml").write_text(
        '[preservation]\nalways = ["docs/plan.md"]\ncompactable = ["tool_results"]\n'
    )
    found = document("rules")
    always = {one["name"]: (one["built_in"], one["on"]) for one in found["always_preserve"]}
    assert list(always) == [*SIX, "docs/plan.md"]
    assert set(always.values()) == {(True, True), (False, True)}
    assert {one["name"]: one["on"] for one in found["compactable"]} == {
        "tool_results": True,
        "thinking_blocks": False,
        "verbose_debug": False,
        "redundant_file_reads": False,
        "intermediate_outputs": False,
    }
    assert [one["source"] for one in found["truth"]] == [
        "CODE",
        "BEADS",
        "NOTES.md",
        "TRAJECTORY",
        "CONTEXT",
    ]
    assert [one["name"] for one in found["sequence"]] == [
        "Pre-Check",
        "Preservation",
        "Compaction",
        "Verification",
    ]
    assert "docs/plan.md" in statuses()


def test_one_of_the_six_is_given_up_only_by_the_user_and_never_in_strict_mode(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "holdfast.toml").write_text('[preservation]\nunsafe_drop = ["active_beads"]\n')
    result = invoke("rules")
    assert isinstance(result.exception, BadSetting)
    assert (result.exception.name, result.exception.exit_code) == ("preservation.unsafe_drop", 78)
    (project / "holdfast.toml").unlink()
    monkeypatch.setenv("HOLDFAST_PRESERVATION_UNSAFE_DROP", "active_beads")
    assert "active_beads" not in statuses()
    off = {one["name"] for one in document("rules")["always_preserve"] if not one["on"]}
    assert off == {"active_beads"}
    monkeypatch.setenv("HOLDFAST_PRESERVATION_ENFORCEMENT", "strict")
    result = invoke("rules")
    assert isinstance(result.exception, BadSetting)
    assert result.exception.name == "preservation.unsafe_drop"


@pytest.mark.seed("R106", "R126", "R279", "R280")
def test_a_dry_run_shows_the_four_phases_and_changes_nothing(project: Path) -> None:
    talked(project)
    (project / "NOTES.md").write_text(BOTH)
    lines = done("compress", "--budget", "3000", "--dry-run").splitlines()
    phases = lines[lines.index("### Phases") + 1 :]
    assert [line for line in phases if line[0] in "1234"] == [
        "1. Pre-Check",
        "2. Preservation",
        "3. Compaction",
        "4. Verification",
    ]
    assert any(line.split()[:2] == ["yes", "session_continuity"] for line in phases)
    assert any(line.endswith("lines: 0; 2 to be added") for line in phases)
    assert any("196 of 196 hidden entries read back" in line for line in phases)
    found = document("compress", "--budget", "3000", "--dry-run")["phases"]
    assert [phase["name"] for phase in found] == [line[3:] for line in phases if line[0] in "1234"]
    assert (project / "NOTES.md").read_text() == BOTH
    assert document("log", "--all")["events"] == []


@pytest.mark.seed("R317")
def test_a_blocked_summary_ends_with_69_and_the_next_try_goes_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_PRESERVATION_ENFORCEMENT", "strict")
    talked(project)
    (project / "NOTES.md").write_text(ONE)
    result = invoke("compress", "--budget", "3000")
    assert isinstance(result.exception, Blocked)
    assert result.exception.exit_code == 69
    assert done("compress", "--budget", "3000").startswith("compressed talk")


@pytest.mark.seed("R316")
def test_a_summary_that_was_made_without_a_section_says_so(project: Path) -> None:
    talked(project)
    (project / "NOTES.md").write_text(ONE)
    note = "decision_log is not preserved: missing in NOTES.md: it has no section 'Decision Log'"
    assert f"note: {note}" in done("compress", "--budget", "3000").splitlines()
    assert "not as it should be: decision_log" in done("log")


@pytest.mark.seed("R325", "R326", "R327", "R328")
def test_the_log_and_the_status_have_the_metrics(project: Path) -> None:
    talked(project)
    done("compress", "--budget", "3000")
    event = document("log")["events"][-1]
    assert event["ratio"] == pytest.approx(event["after"] / event["before"], abs=1e-4)
    assert event["halved"] is True
    found = document("status")["metrics"]
    assert (found["summaries"], found["halved"], found["failures"]) == (1, 1, 0)
    assert (found["recovery"], found["preservation"]) == (1.0, 1.0)
    assert (found["before"], found["after"]) == (event["before"], event["after"])
