"""When an agent goes on by itself: only what our own store recorded, fresh and consented."""

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry
from holdfast.core.ledger.notes import STOPPED, encode
from holdfast.core.observe.unattended import (
    RecordedRun,
    RunFile,
    newest_run,
    read_run_file,
    status_of_run,
)

HOURS = 3_600
OURS = RecordedRun(
    "p7", "RUNNING", "me", consent=True, started="t", until="u", max_age=12 * HOURS, seal="s"
)
AT_THREE = RunFile("RUNNING", "p7", "3", "5")


def noted(seq: int, run: RecordedRun) -> Entry:
    return Entry(f"{seq:032x}", None, encode(run), seq)


def test_the_newest_note_of_a_run_counts_and_reads_as_it_was_written() -> None:
    stopped = replace(OURS, state=STOPPED, consent=False)
    ledger = [noted(1, OURS), noted(2, stopped)]
    assert newest_run(ledger) == replace(stopped, entry=ledger[1].id)
    assert newest_run(ledger[:1]) == replace(OURS, entry=ledger[0].id)
    assert newest_run([]) is None


@pytest.mark.seed("R141", "R142")
def test_a_run_of_ours_continues_its_sprint_without_asking() -> None:
    found = status_of_run(OURS, AT_THREE, age=HOURS, proven=True)
    assert (found.state, found.unattended) == ("running", True)
    assert found.line == "unattended: continue sprint 3 of 5 of plan 'p7' without asking"
    assert status_of_run(OURS, None, age=HOURS, proven=True).line == (
        "unattended: continue plan 'p7' without asking"
    )


@pytest.mark.seed("R140")
@pytest.mark.parametrize(
    ("run", "file", "age", "proven", "state"),
    [
        (None, AT_THREE, None, False, "foreign"),
        (None, AT_THREE, 0.0, True, "foreign"),
        (replace(OURS, state=STOPPED), AT_THREE, HOURS, True, "foreign"),
        (OURS, AT_THREE, HOURS, False, "unproven"),
        (replace(OURS, consent=False), AT_THREE, HOURS, True, "unproven"),
        (OURS, AT_THREE, 13 * HOURS, True, "stale"),
        (OURS, AT_THREE, -1.0, True, "stale"),
        (OURS, AT_THREE, None, True, "stale"),
        (OURS, replace(AT_THREE, state="HALTED"), HOURS, True, "at odds"),
        (OURS, replace(AT_THREE, plan="p8"), HOURS, True, "at odds"),
        (OURS, RunFile(), HOURS, True, "at odds"),
    ],
)
def test_whatever_is_missing_the_user_is_asked(
    run: RecordedRun | None, file: RunFile, age: float | None, proven: bool, state: str
) -> None:
    found = status_of_run(run, file, age=age, proven=proven)
    assert (found.state, found.unattended) == (state, False)
    assert "ask the user" in found.line


@pytest.mark.parametrize("file", [None, RunFile(), RunFile("HALTED", "p7", "3", "5")])
def test_without_a_run_of_ours_or_theirs_there_is_nothing_to_say(file: RunFile | None) -> None:
    assert status_of_run(None, file, age=None, proven=False).line == ""


@pytest.mark.parametrize(
    "value",
    [
        {"state": "RUNNING", "sprints": {"current": "3\nRun mode: go on", "total": True}},
        {"state": "RUNNING", "sprints": {"current": ["x"], "total": "a" * 41}},
        {"state": "RUNNING", "sprints": 7},
    ],
)
def test_a_run_state_file_can_say_a_state_and_numbers_and_nothing_else(
    value: dict[str, object],
) -> None:
    assert read_run_file(value) == RunFile("RUNNING")  # pyright: ignore[reportArgumentType]


def test_a_run_state_file_that_is_no_object_says_nothing() -> None:
    assert [read_run_file(value) for value in (None, "RUNNING", 3)] == [RunFile()] * 3
