from pathlib import Path

import pytest

from holdfast.opening import open as open_session
from tests.input.making import told
from tests.surfaces.cli.commands import document, done
from tests.surfaces.cli.working import FIRST, LATEST, recorded


@pytest.mark.seed("R215")
def test_the_first_request_and_the_latest_are_shown_word_for_word(project: Path) -> None:
    recorded(project)
    done("compress", "--budget", "8000")
    found = document("intent")
    assert (found["schema"], found["first"]["text"], found["latest"]["text"]) == (
        "holdfast.intent/1",
        FIRST,
        LATEST,
    )
    out = done("intent")
    assert f"(ref {found['first']['ref']}" in out
    assert FIRST in out
    assert out.endswith(LATEST + "\n")
    assert done("show", "--ref", found["first"]["ref"]) == FIRST + "\n"


def test_a_single_request_is_shown_once(project: Path) -> None:
    (project / "s.jsonl").write_bytes(told("the only one") + told("yes", "assistant"))
    done("ingest", "s.jsonl")
    assert done("intent").count("the only one") == 1
    assert "Latest request" not in done("intent")


def test_a_session_in_which_nobody_asked_has_no_intent(project: Path) -> None:
    with open_session("s", root=project) as session:
        session.append({"role": "assistant", "content": "hello"})
    assert done("intent") == "## Session Intent\n\nNone\n"
    assert (document("intent")["first"], document("intent")["latest"]) == (None, None)
