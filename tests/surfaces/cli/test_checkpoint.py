"""`holdfast checkpoint`, `resume`, `recover --level` and `unattended`, as a person types them."""

import json
from pathlib import Path

import pytest

from holdfast.core.view.levels import LEVELS
from holdfast.models.tokenizers import counter
from holdfast.session.open import open as open_session
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import FIRST, LATEST, recorded, talked

COUNT = counter("o200k_base")
OPENING = FIRST.split("\n")[0]


@pytest.mark.seed("R201")
def test_a_checkpoint_is_made_listed_and_shown(project: Path) -> None:
    talked(project)
    made = document("checkpoint")
    assert (made["schema"], made["session"]) == ("holdfast.checkpoint/1", "talk")
    assert (project / made["path"]).is_file()
    (row,) = document("checkpoint", "list")["checkpoints"]
    assert (row["ref"], row["trigger"], row["path"]) == (made["ref"], "asked for", made["path"])
    assert made["ref"] in done("checkpoint", "list")
    assert done("checkpoint", "show", made["ref"][:8]) == done("checkpoint", "show")
    assert done("checkpoint", "show").rstrip() == (project / made["path"]).read_text().rstrip()
    assert document("checkpoint", "show")["summary"]["intent"]["original"]["text"] == FIRST


def test_a_difference_says_what_changed_between_the_last_two(project: Path) -> None:
    talked(project)
    assert invoke("checkpoint", "diff").exit_code != 0
    old = document("checkpoint")["ref"]
    with open_session("talk", root=project) as session:
        session.append(
            {"role": "user", "content": "Never delete the archive. Now write the report."}
        )
    new = document("checkpoint")["ref"]
    told = done("checkpoint", "diff")
    assert told.startswith(f"## Checkpoint {old} → {new}\n")
    assert "+ Never delete the archive." in told.split("\n")
    found = document("checkpoint", "diff", old, new)
    sections = {one["section"] for one in found["changes"]}
    assert {"current request", "constraints"} <= sections
    assert "request" not in sections
    assert "Nothing changed" in done("checkpoint", "diff", new, new)


@pytest.mark.seed("R207")
def test_checkpoint_and_reset_ends_the_session_and_opens_one_that_goes_on(project: Path) -> None:
    talked(project)
    result = invoke("checkpoint", "--reset", "--as", "monday")
    assert result.exit_code == 0
    assert result.stdout.startswith("--- data ")
    assert OPENING in result.stdout
    assert LATEST in result.stdout
    assert "monday goes on" in result.stderr
    assert done("sessions").startswith("monday\n")
    assert OPENING in done("intent")
    with open_session("talk", root=project) as old:
        notes = [getattr(entry.body, "what", "") for entry in old.store.read("talk")]
    assert notes[-2:] == ["session_end", "continued"]


def test_a_fresh_session_reads_what_the_old_one_has(project: Path) -> None:
    talked(project)
    with open_session("talk", root=project) as old:
        ref = old.ledger.path()[0].id[:8]
    done("checkpoint", "--reset", "--as", "monday")
    assert FIRST in done("recover", "--session", "monday", "--ref", ref)


def test_resume_prints_what_a_fresh_session_needs_and_changes_nothing(project: Path) -> None:
    talked(project)
    with open_session("talk", root=project) as session:
        before = session.ledger.head().seq
    told = done("resume")
    assert (OPENING in told, LATEST in told) == (True, True)
    assert COUNT(told) <= 2_000
    small = document("resume", "talk", "--budget", "200")
    assert small["tokens"] == COUNT(small["text"]) <= 200
    with open_session("talk", root=project) as session:
        assert session.ledger.head().seq == before


def test_resume_goes_on_from_a_checkpoint_by_its_name(project: Path) -> None:
    talked(project)
    ref = document("checkpoint")["ref"]
    with open_session("talk", root=project) as session:
        session.append({"role": "user", "content": "Paint it green."})
    assert "Paint it green." not in done("resume", ref)
    assert "Paint it green." in done("resume", "talk")
    made = document("resume", ref, "--as", "again")
    assert (made["fresh"], OPENING in made["text"]) == ("again", True)


@pytest.mark.seed("R175", "R176", "R177")
@pytest.mark.parametrize("number", LEVELS)
def test_a_level_is_printed_in_its_tokens(project: Path, number: int) -> None:
    recorded(project)
    told = done("recover", "--level", str(number))
    assert COUNT(told.rstrip("\n")) <= LEVELS[number]
    assert f"level {number} of live" in told
    found = document("recover", "--level", str(number))
    assert found["text"] == told.rstrip("\n")
    assert found["tokens"] <= found["budget"] == LEVELS[number]


def test_everything_is_printed_when_it_is_asked_for(project: Path) -> None:
    recorded(project, reads=3)
    told = done("recover", "--full")
    assert all(said in told for said in (FIRST, LATEST, "step_2_119"))
    assert document("recover", "--full")["text"] == told


@pytest.mark.parametrize(
    "words",
    [
        ("recover", "--level", "4"),
        ("recover", "--level", "1", "--full"),
        ("recover", "words", "--level", "1"),
        ("checkpoint", "--as", "x"),
        ("checkpoint", "show", "0123456789ab"),
        ("resume", "nobody"),
        ("resume", "--budget", "9"),
        ("unattended", "start"),
        ("unattended", "start", "--plan", "p", "--max-age", "soon"),
        ("unattended", "start", "--plan", "p", "--max-age", "8d"),
        ("unattended", "stop"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence_and_an_exit_code(
    project: Path, words: tuple[str, ...]
) -> None:
    recorded(project, reads=1)
    result = invoke(*words)
    assert result.exit_code != 0
    assert result.exception is None or not isinstance(result.exception, (KeyError, TypeError))


@pytest.mark.seed("R140", "R142")
def test_a_run_is_started_looked_at_and_stopped(project: Path) -> None:
    recorded(project, reads=1)
    assert invoke("unattended", "status").exit_code == 1
    made = document("unattended", "start", "--plan", "p7", "--max-age", "90m")
    assert (made["state"], made["run"]["max_age"], "seal" in made["run"]) == (
        "running",
        5400,
        False,
    )
    assert "without asking" in done("unattended", "status")
    assert "without asking" in done("recover", "--level", "1")
    assert document("unattended", "stop")["unattended"] is False
    assert "without asking" not in done("recover", "--level", "1")


@pytest.mark.seed("R140")
def test_a_run_state_file_alone_has_the_user_asked(project: Path) -> None:
    recorded(project, reads=1)
    (project / ".run").mkdir()
    state = {"state": "RUNNING", "sprints": {"current": 3, "total": 5}}
    (project / ".run" / "sprint-plan-state.json").write_text(json.dumps(state))
    result = invoke("unattended", "status")
    assert (result.exit_code, "did not start it: ask the user" in result.stdout) == (1, True)
    assert "ask the user" in done("resume")
