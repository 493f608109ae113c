"""Whose window, whose work, and which session is meant when nobody says so."""

from pathlib import Path

import pytest

from holdfast.errors import NotRecorded
from holdfast.session.open import open as open_session
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import recorded


@pytest.mark.parametrize(
    "command",
    [("status",), ("checkpoint",), ("recover", "--level", "1"), ("context", "generate", "x")],
    ids=" ".join,
)
def test_an_agent_that_nobody_heard_of_is_refused(project: Path, command: tuple[str, ...]) -> None:
    recorded(project)
    refused = invoke(*command, "--agent", "nope")
    assert isinstance(refused.exception, NotRecorded)
    assert str(refused.exception) == "no agent 'nope' in session 'live'; it has none"


def test_work_that_goes_on_is_named_by_the_beginning_of_its_session(project: Path) -> None:
    recorded(project, "yesterday")
    recorded(project, "today")
    told = done("context", "generate", "x", "--session", "today", "--continues", "yester")
    assert "prior_session" in told
    refused = invoke("context", "generate", "x", "--session", "today", "--continues", "nope")
    assert isinstance(refused.exception, NotRecorded)


def test_the_newest_session_is_the_one_in_which_something_was_said_last(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, at in (("newer", "2026-03-01T00:00:00Z"), ("older", "2026-01-01T00:00:00Z")):
        with monkeypatch.context() as patched:
            patched.setattr("holdfast.session.open.timestamp", lambda moment=at: moment)
            with open_session(name, root=project) as session:
                session.append({"role": "user", "content": "Begin."})
    assert document("status")["session"] == "newer"
    done("checkpoint", "--session", "older")
    assert document("status")["session"] == "newer"


def test_what_a_level_says_of_the_rest_names_the_session(project: Path) -> None:
    recorded(project)
    recorded(project, "other")
    assert "holdfast recover --level 2 --session live" in done(
        "recover", "--level", "1", "--session", "live"
    )


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("context", "stats", "--since", "yesterday"), "'yesterday' is no moment such as"),
        (("context", "query", " "), "the question is empty"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    project: Path, command: tuple[str, ...], told: str
) -> None:
    recorded(project)
    refused = invoke(*command)
    assert (refused.exit_code, told in refused.output) == (2, True)
