import json
from pathlib import Path

import pytest

from holdfast.errors import Ambiguous, NotRecorded
from tests.input.making import LEDGERLY, chat, coded, line, run, told
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.test_ingest import BUNDLED


@pytest.fixture
def ledgerly(project: Path) -> Path:
    """A project that holds the bundled session."""
    done("ingest", str(LEDGERLY))
    return project


@pytest.mark.usefixtures("ledgerly")
def test_every_entry_of_a_session_is_listed_in_order() -> None:
    found = document("show")
    steps = [row["step"] for row in found["entries"]]
    numbers = [row["seq"] for row in found["entries"]]
    assert (found["schema"], found["session"]) == ("holdfast.show/1", BUNDLED)
    assert steps == sorted(steps)
    assert numbers == sorted(numbers)
    # Two lines of heading, and one for the sub-agent it has.
    assert len(done("show").splitlines()) == len(numbers) + 3


@pytest.mark.usefixtures("ledgerly")
def test_a_part_is_listed_from_a_step_on_and_up_to_a_limit() -> None:
    everything = document("show")["entries"]
    later = document("show", "--from", "10")["entries"]
    assert later == [row for row in everything if row["step"] >= 10]
    assert document("show", "--from", "10", "--limit", "5")["entries"] == later[:5]
    assert document("show", "--from", "100000")["entries"] == []


@pytest.mark.usefixtures("ledgerly")
def test_one_entry_is_shown_whole_by_reference_and_by_number() -> None:
    row = next(row for row in document("show")["entries"] if row["tokens"] > 500)
    found = document("show", "--ref", row["ref"])
    assert found["ref"].startswith(row["ref"])
    assert document("show", "--ref", f"#{row['seq']}") == found
    assert done("show", BUNDLED[:8], "--ref", row["ref"]) == found["text"] + "\n"


@pytest.mark.usefixtures("ledgerly")
@pytest.mark.parametrize("ref", ["#0", "#99999999", "#", "ffffffffffff", "zz", ""])
def test_a_reference_to_nothing_is_refused(ref: str) -> None:
    result = invoke("show", "--ref", ref or "x")
    assert isinstance(result.exception, NotRecorded)
    assert result.exception.what == "entry"


@pytest.mark.usefixtures("ledgerly")
def test_a_session_that_is_not_there_is_refused() -> None:
    result = invoke("show", "nothing like it")
    assert isinstance(result.exception, NotRecorded)
    assert (result.exception.what, result.exception.name) == ("session", "nothing like it")


def test_a_beginning_that_fits_two_sessions_is_refused_with_both(project: Path) -> None:
    for name in ("alpha-1", "alpha-2", "alpha"):
        (project / f"{name}.jsonl").write_bytes(told(name))
        done("ingest", f"{name}.jsonl")
    assert document("show", "alpha")["session"] == "alpha"
    result = invoke("show", "alp")
    assert isinstance(result.exception, Ambiguous)
    assert sorted(result.exception.choices) == ["alpha", "alpha-1", "alpha-2"]


def test_a_sub_agent_has_a_listing_of_its_own(project: Path) -> None:
    side = {**coded("aside", 0), "isSidechain": True, "agentId": "a1"}
    (project / "s.jsonl").write_bytes(line(coded("main", 0)) + line(side))
    done("ingest", "s.jsonl")
    assert [row["opening"] for row in document("show")["entries"]] == ["main"]
    assert [row["opening"] for row in document("show", "--agent", "a1")["entries"]] == ["aside"]
    assert "holdfast show --agent a1" in done("show")


def test_a_session_is_shown_by_a_process_of_its_own(project: Path) -> None:
    (project / "a.jsonl").write_bytes(b"".join(chat(4)))
    done("ingest", "a.jsonl")
    ran = run("show", "--json", cwd=project)
    assert (ran.code, ran.err) == (0, "")
    assert [row["opening"] for row in json.loads(ran.out)["entries"]] == [
        f"message {at}" for at in range(4)
    ]


@pytest.mark.parametrize("command", ["show", "status", "export", "fsck"])
def test_without_a_ledger_a_command_says_so_and_makes_none(command: str, project: Path) -> None:
    ran = run(command, cwd=project)
    assert (ran.code, ran.out) == (NotRecorded.exit_code, "")
    assert ran.err.startswith("holdfast: ")
    assert not (project / ".holdfast").exists()
