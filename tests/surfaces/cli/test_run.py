from importlib import import_module
from pathlib import Path

import pytest

from holdfast.errors import NotUnderstood
from holdfast.session.open import open as open_session
from holdfast.surfaces import actions
from holdfast.surfaces.commands import COMMANDS, QUICK, ParsedCommand, parse_quick_command, usage_of
from tests.input.making import run
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import FIRST, NEEDLE, recorded, window_for

WORDS = [
    ("compress", "compress"),
    ("context status", "status"),
    ("recover [topic]", "recover"),
    ("show session intent", "intent"),
    ("compression log", "log"),
]
MORE = [("checkpoint", "checkpoint"), ("resume", "resume")]
"""Words of ours beside those of the documents."""


@pytest.fixture
def live(project: Path) -> Path:
    """A project with a session that has something to compress."""
    recorded(project)
    return project


@pytest.mark.seed("R107", "R212", "R213", "R214", "R215", "R216")
@pytest.mark.parametrize(("words", "name"), [*WORDS, *MORE])
def test_the_five_quick_commands_are_understood(words: str, name: str) -> None:
    for said in (words, words.upper(), f"  {words.replace(' ', '   ')}. ", f"/{words}"):
        asked = parse_quick_command(
            said.lower().replace("[topic]", "Retry Loop") if "[" in said else said
        )
        assert asked is not None
        assert asked.command.name == name
        assert asked.rest.lower() == ("retry loop" if name == "recover" else "")
    assert [usage_of(command) for command in QUICK if command.name == name] == [words]


def test_what_follows_a_command_keeps_its_spelling() -> None:
    recover = next(command for command in QUICK if command.name == "recover")
    assert parse_quick_command("Recover the RetryLoop") == ParsedCommand(recover, "the RetryLoop")


@pytest.mark.parametrize(
    "words",
    [
        *("compress these images", "status", "recovering", "", "the compression log shows 3"),
        *("clear", "Clear.", "checkpoint the model", "resume the work on the parser", "/clearing"),
    ],
)
def test_words_that_only_look_like_a_quick_command_are_none(words: str) -> None:
    assert parse_quick_command(words) is None


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_its_module_and_every_quick_one_its_act(command: object) -> None:
    name = getattr(command, "name", "")
    assert hasattr(import_module(f"holdfast.surfaces.cli.{name}"), name)
    assert not getattr(command, "words", ()) or hasattr(actions, name)


@pytest.mark.seed("R107", "R213")
@pytest.mark.usefixtures("live")
def test_context_status_reports_how_full_the_window_is() -> None:
    out = done("run", "Context Status")
    assert out.startswith("## Context Status Report\n")
    assert "**Level:** " in out


@pytest.mark.seed("R107", "R212", "R216")
@pytest.mark.usefixtures("live")
def test_compress_runs_the_planner_and_the_log_tells_of_it() -> None:
    out = done("run", "compress", "--window", window_for(0.9))
    assert out.startswith("compressed live: ")
    (event,) = document("log")["events"]
    assert f"**Tokens Saved:** {event['saved']:,}" in done("run", "compression log")


@pytest.mark.seed("R214", "R215")
@pytest.mark.usefixtures("live")
def test_recover_searches_and_intent_shows_the_request() -> None:
    assert NEEDLE in done("run", "recover", NEEDLE)
    assert done("run", "recover zzyqx") == "nothing in live holds 'zzyqx'\n"
    assert FIRST in done("run", "show session intent")


@pytest.mark.usefixtures("live")
def test_a_checkpoint_is_put_down_and_resumed_by_words() -> None:
    told = done("run", "checkpoint")
    (taken,) = document("checkpoint", "list")["checkpoints"]
    assert told.splitlines()[0] == f"checkpoint {taken['ref']} of live"
    assert told.splitlines()[-1] == f"go on from it: holdfast resume {taken['ref']}"
    assert done("run", "resume") == done("resume", "live")


@pytest.mark.seed("R105")
@pytest.mark.parametrize("words", ["/clear", "Checkpoint and reset."])
@pytest.mark.usefixtures("live")
def test_clear_puts_down_where_the_work_stands_and_starts_afresh(words: str) -> None:
    told = done("run", words)
    (taken,) = document("checkpoint", "list", "--session", "live")["checkpoints"]
    assert told.splitlines()[-1] == f"live ended at checkpoint {taken['ref']}; live-2 goes on"
    assert FIRST.splitlines()[0] in told
    rows = document("sessions")["sessions"]
    assert sorted(row["session"] for row in rows) == ["live", "live-2"]
    assert FIRST in done("run", "show session intent", "--session", "live-2")


def test_a_surface_may_ask_for_a_command_with_nothing_behind_it(live: Path) -> None:
    recover = next(command for command in QUICK if command.name == "recover")
    with open_session("live", root=live) as session:
        assert recover.run(session) == "say what to look for: recover [topic]"


@pytest.mark.usefixtures("live")
@pytest.mark.parametrize("words", ["make it so", "recover"])
def test_words_that_nobody_knows_are_answered_with_those_that_are(words: str) -> None:
    result = invoke("run", words)
    assert isinstance(result.exception, NotUnderstood)
    assert (result.exception.words, result.exception.exit_code) == (words, 64)
    assert sorted(result.exception.known) == sorted(words for words, _ in [*WORDS, *MORE])


def test_a_quick_command_is_run_by_a_process_of_its_own(live: Path) -> None:
    ran = run("run", "context status", "--json", cwd=live)
    assert (ran.code, ran.err) == (0, "")
    assert document("run", "context status")["command"] == "status"
    unknown = run("run", "make it so", cwd=live)
    assert (unknown.code, unknown.out, len(unknown.err.splitlines())) == (64, "", 1)
