"""`holdfast drift`: the steps after each summary, judged."""

import json
from pathlib import Path

import pytest

from holdfast.session.open import open as open_session
from tests.engine.test_drift import breaks, history, spoken
from tests.surfaces.cli.commands import document, done, invoke


def recorded(root: Path, *, drifts: bool) -> None:
    with open_session("work", root=root, window=200_000) as session:
        session.extend(history("openai_chat"))
        session.compact(budget=3_000)
        session.extend(breaks() if drifts else [spoken("", "Now I go on with src/importer.py.")])


@pytest.mark.seed("R144")
def test_drift_is_shown_with_its_reasons_and_evidence_and_ends_with_1(project: Path) -> None:
    recorded(project, drifts=True)
    result = invoke("drift")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[:2] == ["## Drift [work]", "1 steps after a summary, 1 flagged"]
    assert "- HIGH Missing stated constraint: it does what was forbidden" in lines
    assert "  it says: edit src/billing.py" in lines
    assert any("Never touch src/billing.py, it is audited." in line for line in lines)
    assert "  → Recover constraints from archive" in lines


def test_the_document_has_every_signal(project: Path) -> None:
    recorded(project, drifts=True)
    found = json.loads(invoke("drift", "work", "--json").stdout)
    assert (found["schema"], found["session"], found["status"]) == (
        "holdfast.drift/1",
        "work",
        "DRIFT_DETECTED",
    )
    (flagged,) = found["flagged"]
    (signal,) = flagged["signals"]
    assert (signal["signal"], signal["severity"]) == ("constraint", "HIGH")
    assert signal["quote"] == "Never touch src/billing.py, it is audited."


def test_all_well_ends_with_0(project: Path) -> None:
    recorded(project, drifts=False)
    assert done("drift").splitlines()[1] == "1 steps after a summary, 0 flagged"
    assert document("drift")["status"] == "ALIGNED"


def test_a_session_without_a_summary_has_nothing_to_watch(project: Path) -> None:
    with open_session("short", root=project) as session:
        session.append({"role": "user", "content": "Hello."})
    assert "there was nothing to watch" in done("drift")


def test_a_session_that_is_not_there_is_said_in_a_sentence(project: Path) -> None:
    recorded(project, drifts=False)
    result = invoke("drift", "nowhere")
    assert result.exit_code != 0
    assert "nowhere" in str(result.exception)


def test_the_log_shows_what_the_watch_noted(project: Path) -> None:
    recorded(project, drifts=True)
    with open_session("work", root=project, window=200_000) as session:
        session.messages()
    assert [event["kind"] for event in document("log")["events"]] == [
        "CHECKPOINT",
        "TIER_3",
        "DRIFT",
    ]
