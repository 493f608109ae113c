from pathlib import Path

import holdfast
from holdfast.errors import NotRecorded
from tests.input.making import LEDGERLY
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.test_ingest import BUNDLED
from tests.surfaces.cli.working import messages, recorded, window_for


def _sent(root: Path) -> list[dict[str, object]]:
    policy = holdfast.Policy(profile="off", window=1_000_000)
    with holdfast.open("live", root=root, policy=policy) as session:
        return [dict(message) for message in session.messages()]


def test_the_newest_compression_is_taken_back_and_its_entries_are_named(project: Path) -> None:
    recorded(project)
    before = document("status")["usage"]["tokens"]
    made = document("compress", "--window", window_for(0.9))["plan"]
    assert _sent(project) != messages()
    undone = document("undo")
    assert undone["schema"] == "holdfast.undo/1"
    assert {row["ref"] for row in undone["entries"]} == {step["ref"] for step in made["steps"]}
    assert (undone["tokens"], undone["returned"]) == (
        before,
        sum(step["before"] - step["after"] for step in made["steps"]),
    )
    assert _sent(project) == messages()


def test_a_person_is_told_what_came_back(project: Path) -> None:
    recorded(project, reads=40)
    done("compress", "--budget", "12000")
    out = done("undo")
    lines = out.splitlines()
    assert lines[0].startswith("undid the compression ")
    assert lines[0].endswith("of session live (budget of 12,000 tokens)")
    assert lines[1].startswith("back in the window: ")
    assert "smaller ones" in out
    assert lines[-1].startswith("window: ")


def test_a_transcript_says_that_its_program_is_not_told(project: Path) -> None:
    done("ingest", str(LEDGERLY))
    done("compress", "--window", window_for(0.95, BUNDLED), "--profile", "stress")
    assert "note: only the ledger changed" in done("undo")
    assert project.exists()


def test_nothing_is_there_to_undo_in_a_session_that_was_never_compressed(project: Path) -> None:
    recorded(project)
    result = invoke("undo")
    assert isinstance(result.exception, NotRecorded)
    assert (result.exception.what, result.exception.exit_code) == ("compression", 66)
