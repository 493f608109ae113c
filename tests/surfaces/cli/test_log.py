import re
from pathlib import Path

import pytest

import holdfast
from tests.input.making import run
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import recorded, window_for

FIELDS = [
    "Timestamp",
    "Event Type",
    "Trigger",
    "Tokens Before",
    "Tokens After",
    "Tokens Saved",
    "Files Created",
    "Intent Preserved",
]


@pytest.fixture
def compressed(project: Path) -> Path:
    """A project whose session was compressed once."""
    recorded(project)
    done("compress", "--window", window_for(0.9))
    return project


def _fields(out: str) -> dict[str, str]:
    return dict(re.findall(r"^\*\*(.*?):\*\* (.*)$", out, re.MULTILINE))


@pytest.mark.seed("R208", "R209", "R216")
def test_a_compression_is_logged_with_every_field_of_the_protocol(compressed: Path) -> None:
    out = done("log")
    (event,) = document("log")["events"]
    found = _fields(out)
    assert out.splitlines()[0] == "## Compression Event Log"
    assert list(found) == FIELDS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["Timestamp"])
    assert found["Event Type"] in ("TIER_1", "TIER_2")
    assert found["Trigger"] == "context at 90%, critical from 85%"
    assert found["Tokens Before"] == f"{event['before']:,}"
    assert found["Tokens Saved"] == f"{event['saved']:,}"
    assert found["Intent Preserved"] == "YES"
    assert event["before"] - event["after"] == event["saved"]
    assert all((compressed / name).is_file() for name in event["files"])


@pytest.mark.seed("R210")
@pytest.mark.usefixtures("compressed")
def test_a_logged_compression_is_in_the_history_of_the_status_report() -> None:
    (event,) = document("log")["events"]
    report = done("status")
    assert f"| {event['at']} | " in report
    assert f"| {event['saved']:,} |" in report


@pytest.mark.seed("R208")
@pytest.mark.usefixtures("compressed")
def test_an_undoing_is_logged_last() -> None:
    done("undo")
    kinds = [event["kind"] for event in document("log")["events"]]
    assert kinds[1:] == ["UNDO"]
    assert [event["kind"] for event in document("log", "--limit", "1")["events"]] == ["UNDO"]
    assert len(document("log", "--limit", "0")["events"]) == 2


def test_what_was_put_off_is_shown_only_when_everything_is_asked_for(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_BATCH_REQUESTS", "1")
    recorded(project)
    window = int(window_for(0.6))
    with holdfast.open("live", root=project, window=window) as session:
        session.messages()
    assert document("log")["events"] == []
    (event,) = document("log", "--all")["events"]
    assert event["kind"] == "POSTPONED"
    assert "POSTPONED" in done("log", "--all")


def test_a_session_that_was_never_compressed_has_an_empty_log(project: Path) -> None:
    recorded(project)
    assert done("log") == "## Compression Event Log\n\nNone\n"
    ran = run("log", "--json", cwd=project)
    assert (ran.code, ran.err) == (0, "")
    assert invoke("log", "--limit", "-1").exit_code == 2
