"""Holdfast inside the real Gemini CLI."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.driving import Gemini
from tests.agents.script import Call, Request, Turn, strings
from tests.agents.story import (
    ASKED,
    FORBIDDEN,
    GOAL,
    LINES,
    MIDDLE,
    NEEDLE,
    NOISY,
    RECORD,
    REF,
    reference,
)
from tests.agents.trouble import break_ledger, held_ledger, kill_servers, lose_program

SNAPSHOT = "<state_snapshot><overall_goal>Some export.</overall_goal></state_snapshot>"
THEIRS = {
    "AfterTool": [{"hooks": [{"type": "command", "command": "cat >> seen.jsonl; echo {}"}]}],
    "AfterAgent": [{"matcher": "*", "hooks": [{"type": "command", "command": "echo {}"}]}],
}


@pytest.fixture
def bare(driven: Callable[[type[Gemini]], Gemini]) -> Gemini:
    return driven(Gemini)


@pytest.fixture
def gemini(bare: Gemini) -> Gemini:
    bare.holdfast("install", "gemini", "--user")
    return bare


def shell(command: str) -> Call:
    return Call("run_shell_command", {"command": command, "description": "look"})


def outputs(request: Request) -> list[str]:
    """What tools answered, as the model sees it."""
    parts: list[dict[str, Any]] = [p for c in request.body["contents"] for p in c["parts"]]
    given = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return ["\n".join(strings(one["response"])) for one in given]


def recovering(request: Request) -> Turn:
    """Asks for what left, by the reference that stands in its place."""
    wanted = {"ref": reference(outputs(request)), "lines": LINES}
    return Turn("", (Call("mcp_holdfast_context_recover", wanted),))


def test_a_large_result_leaves_and_comes_back_by_its_reference(gemini: Gemini) -> None:
    gemini.provider.say(Turn("", (shell(NOISY),)), recovering, Turn("The disk is full."))
    ran = gemini.ask(GOAL)
    assert ran.code == 0, ran.err
    first, shown, recovered = gemini.provider.asked("turn")
    assert RECORD not in first.said
    assert MIDDLE not in outputs(shown)[0]
    assert len(outputs(shown)[0]) < 6_000
    assert MIDDLE in outputs(recovered)[-1]
    assert NEEDLE in outputs(recovered)[-1]


def test_a_session_is_followed_and_its_original_stands_in_the_ledger(gemini: Gemini) -> None:
    gemini.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    gemini.ask(GOAL)
    gemini.holdfast("ingest")
    assert NEEDLE in gemini.holdfast("recover", "disk is full code 4711").out
    assert GOAL in gemini.holdfast("intent").out
    assert "Tool results offloaded: 1" in gemini.holdfast("status").out
    (chat,) = gemini.chats()
    assert gemini.run("holdfast", "export").out == chat.read_text()
    assert "every byte" in gemini.holdfast("fsck").out


def test_what_matters_is_in_the_first_request_after_a_compaction(gemini: Gemini) -> None:
    known = json.loads(gemini.settings.read_text())
    low = {**known, "model": {"compressionThreshold": 0.0005}}
    gemini.settings.write_text(json.dumps(low))
    gemini.provider.summarize(SNAPSHOT)
    looks = [Turn(f"Look {at}.", (shell(f"echo look {at}"),)) for at in range(3)]
    gemini.provider.say(*looks, Turn("The disk is full.", used=900_000))
    gemini.ask(GOAL)
    gemini.provider.say(Turn("Going on."))
    ran = gemini.ask("And now?", "--resume", "latest")
    assert ran.code == 0, ran.err
    assert gemini.provider.asked("compact")
    last = gemini.provider.asked("turn")[-1]
    for words in (SNAPSHOT, ASKED, FORBIDDEN, "context_recover", "And now?"):
        assert words in last.said
    assert list(gemini.project.glob(".holdfast/cache/conversations/*_full.md"))
    gemini.holdfast("ingest")
    assert "Host compaction" in gemini.holdfast("status").out


def test_a_session_that_is_resumed_is_told_where_it_stood(gemini: Gemini) -> None:
    gemini.provider.say(Turn("Noted: the export runs at 3."))
    gemini.ask(GOAL)
    gemini.provider.say(Turn("It stopped at 4."))
    ran = gemini.ask("And yesterday?", "--resume", "latest")
    assert ran.code == 0, ran.err
    told = gemini.provider.asked("turn")[-1]
    assert RECORD in told.said


def test_a_quick_command_is_answered_without_asking_the_model(gemini: Gemini) -> None:
    gemini.ask("context status")
    assert gemini.provider.asked("turn") == []


def test_a_command_that_fails_is_shown_as_it_was_and_a_large_one_leaves(gemini: Gemini) -> None:
    gemini.provider.say(
        Turn("", (shell("echo no such export >&2; exit 3"),)),
        Turn("", (shell(f"{NOISY}; exit 3"),)),
        Turn("It fails."),
    )
    assert gemini.ask(GOAL).code == 0
    small, large = outputs(gemini.provider.asked("turn")[-1])
    assert "no such export" in small
    assert "Exit Code: 3" in small
    assert REF.search(large)


def test_a_server_that_was_killed_does_not_stop_the_agent(gemini: Gemini) -> None:
    killed: list[int] = []

    def kill_first(request: Request) -> Turn:
        killed.append(kill_servers(gemini.project))
        return recovering(request)

    gemini.provider.say(Turn("", (shell(NOISY),)), kill_first, Turn("Then without."))
    ran = gemini.ask(GOAL)
    assert (ran.code, killed) == (0, [1]), ran.err
    assert "Then without." in ran.out


def test_a_hook_that_hangs_is_given_up_and_the_result_is_whole(gemini: Gemini) -> None:
    with held_ledger(gemini.project) as held:

        def hold(request: Request) -> Turn:
            held.begin()
            return Turn("", (shell(NOISY),))

        def let_go(request: Request) -> Turn:
            held.end()
            return Turn("The disk is full.")

        gemini.provider.say(hold, let_go)
        ran = gemini.ask(GOAL)
    assert (ran.code, "The disk is full." in ran.out) == (0, True), ran.err
    assert MIDDLE in outputs(gemini.provider.asked("turn")[-1])[0]


@pytest.mark.parametrize("trouble", ["a ledger that is none", "a program that is gone"])
def test_the_agent_does_not_notice_that_it_is_broken(gemini: Gemini, trouble: str) -> None:
    if "ledger" in trouble:
        break_ledger(gemini.project)
    else:
        lose_program(gemini.settings)
    gemini.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    ran = gemini.ask(GOAL)
    assert (ran.code, "The disk is full." in ran.out) == (0, True), ran.err
    last = gemini.provider.asked("turn")[-1]
    assert MIDDLE in outputs(last)[0]
    assert "<hook_context>" not in json.dumps(last.body["contents"])


def test_hooks_of_others_stay_and_uninstall_brings_the_bytes_back(bare: Gemini) -> None:
    known = json.loads(bare.settings.read_text())
    text = json.dumps({**known, "hooks": THEIRS}, indent=4).replace("{", "{ // mine, by hand", 1)
    bare.settings.write_text(text)
    bare.holdfast("install", "gemini", "--user")
    bare.holdfast("install", "gemini", "--user")
    bare.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    assert bare.ask(GOAL).code == 0
    assert REF.search(outputs(bare.provider.asked("turn")[-1])[0])
    seen = json.loads((bare.project / "seen.jsonl").read_text())
    assert MIDDLE in seen["tool_response"]["llmContent"]
    bare.holdfast("uninstall", "gemini", "--user")
    assert bare.settings.read_text() == text


def test_installed_for_a_project_it_holds_there(bare: Gemini) -> None:
    bare.holdfast("install", "gemini", "--project")
    bare.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    assert bare.ask(GOAL).code == 0
    assert REF.search(outputs(bare.provider.asked("turn")[-1])[0])
    bare.holdfast("uninstall", "gemini", "--project")
    assert not (bare.project / ".gemini").exists()
