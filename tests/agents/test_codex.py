"""Holdfast inside the real Codex."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.driving import Codex, CodexServer, trust_hooks
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

THEIRS = {
    "hooks": {
        "PostToolUse": [{"hooks": [{"type": "command", "command": "cat >> seen.jsonl"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
    }
}


@pytest.fixture
def bare(driven: Callable[[type[Codex]], Codex]) -> Codex:
    return driven(Codex)


@pytest.fixture
def codex(bare: Codex) -> Codex:
    bare.holdfast("install", "codex", "--user")
    return bare


def shell(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


def outputs(request: Request) -> list[str]:
    """What tools answered, as the model sees it."""
    items: list[dict[str, Any]] = request.body["input"]
    given = [one["output"] for one in items if one.get("type") == "function_call_output"]
    return ["\n".join(strings(one)) for one in given]


def recovering(request: Request) -> Turn:
    """Asks for what left, by the reference that stands in its place."""
    wanted = {"ref": reference(outputs(request)), "lines": LINES}
    return Turn("", (Call("context_recover", wanted, "mcp__holdfast"),))


def test_a_large_result_leaves_and_comes_back_by_its_reference(codex: Codex) -> None:
    codex.provider.say(Turn("", (shell(NOISY),)), recovering, Turn("The disk is full."))
    ran = codex.ask(GOAL)
    assert ran.code == 0, ran.err
    _, shown, recovered = codex.provider.asked("turn")
    assert MIDDLE not in outputs(shown)[0]
    assert len(outputs(shown)[0]) < 6_000
    assert MIDDLE in outputs(recovered)[-1]
    assert NEEDLE in outputs(recovered)[-1]


def test_a_session_is_followed_and_its_original_stands_in_the_ledger(codex: Codex) -> None:
    codex.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    codex.ask(GOAL)
    codex.holdfast("ingest")
    assert NEEDLE in codex.holdfast("recover", "disk is full code 4711").out
    assert GOAL in codex.holdfast("intent").out
    assert "Tool results offloaded: 1" in codex.holdfast("status").out
    (rollout,) = codex.rollouts()
    assert codex.run("holdfast", "export").out == rollout.read_text()


def test_what_matters_is_in_the_first_request_after_a_compaction(codex: Codex) -> None:
    limit = codex.settings.read_text().replace(
        'model = "gpt-5.5"\n', 'model = "gpt-5.5"\nmodel_auto_compact_token_limit = 50000\n'
    )
    codex.settings.write_text(limit)
    codex.provider.say(
        Turn("Looking at the log.", (shell(NOISY),), used=20_000),
        Turn("", (shell("echo checked > export.log"),), used=90_000),
        Turn("Going on."),
    )
    ran = codex.ask(GOAL)
    assert ran.code == 0, ran.err
    assert len(codex.provider.asked("compact")) == 1
    last = codex.provider.requests[-1]
    assert last.kind == "turn"
    for words in (ASKED, FORBIDDEN, "context_recover"):
        assert words in last.said
    assert list(codex.project.glob(".holdfast/cache/conversations/*_full.md"))
    assert list(codex.project.glob(".holdfast/cache/checkpoints/*.md"))


def test_a_compaction_that_was_asked_for_is_followed_by_what_matters(codex: Codex) -> None:
    told = codex.run("holdfast", "doctor", "codex", "--user")
    assert (told.code, "say /hooks" in told.out) == (1, True)
    trust_hooks(codex)
    codex.holdfast("doctor", "codex", "--user")
    codex.provider.say(Turn("Noted."))
    with CodexServer(codex) as server:
        session = server.begin()
        server.say(session, GOAL)
        server.compact(session)
        codex.provider.say(Turn("Going on."))
        server.say(session, "And now?")
    assert len(codex.provider.asked("compact")) == 1
    for words in (ASKED, FORBIDDEN, "after compaction", "And now?"):
        assert words in codex.provider.asked("turn")[-1].said


def test_a_session_that_is_resumed_is_told_where_it_stood(codex: Codex) -> None:
    codex.provider.say(Turn("Noted: the export runs at 3."))
    codex.ask(GOAL)
    codex.provider.say(Turn("It stopped at 4."))
    ran = codex.ask("And yesterday?", "resume", "--last")
    assert ran.code == 0, ran.err
    told = codex.provider.asked("turn")[-1]
    assert RECORD in told.said
    assert len(codex.rollouts()) == 1


def test_a_quick_command_is_answered_without_asking_the_model(codex: Codex) -> None:
    codex.provider.say(Turn("Noted."))
    codex.ask(GOAL)
    before = len(codex.provider.asked("turn"))
    codex.ask("context status", "resume", "--last")
    assert len(codex.provider.asked("turn")) == before


def test_a_command_that_fails_is_shown_as_it_was_and_a_large_one_leaves(codex: Codex) -> None:
    codex.provider.say(
        Turn("", (shell("echo no such export >&2; exit 3"),)),
        Turn("", (shell(f"{NOISY}; exit 3"),)),
        Turn("It fails."),
    )
    assert codex.ask(GOAL).code == 0
    small, large = outputs(codex.provider.asked("turn")[-1])
    assert "no such export" in small
    assert "exited with code 3" in small
    assert REF.search(large)


def test_a_worker_is_handed_a_packet_and_its_report_goes_on_record(codex: Codex) -> None:
    task = {"message": "Count the exports.", "task_name": "count"}
    report = 'Three.\n```yaml\ncontext_gaps: ["where exports are"]\ncontext_unused: []\n```'
    codex.provider.say(
        Turn("", (Call("spawn_agent", task, "collaboration"),)),
        Turn("", (Call("wait_agent", {"timeout_ms": 30_000}, "collaboration"),)),
        Turn("Three of them."),
    )
    codex.provider.say_as_worker(Turn(report))
    ran = codex.ask(GOAL, "-c", "features.multi_agent_v2=true")
    assert (ran.code, "Three of them." in ran.out) == (0, True), ran.err
    (worker,) = codex.provider.asked("worker")
    for words in ("Count the exports.", FORBIDDEN, "What you have to know (a context packet"):
        assert words in worker.said
    assert "where exports are" in codex.holdfast("context", "stats", "--json").out


def test_a_server_that_was_killed_does_not_stop_the_agent(codex: Codex) -> None:
    killed: list[int] = []

    def kill_first(request: Request) -> Turn:
        killed.append(kill_servers(codex.project))
        return recovering(request)

    codex.provider.say(Turn("", (shell(NOISY),)), kill_first, Turn("Then without."))
    ran = codex.ask(GOAL)
    assert (ran.code, killed) == (0, [1]), ran.err
    assert "Then without." in ran.out


def test_a_hook_that_hangs_is_given_up_and_the_result_is_whole(codex: Codex) -> None:
    codex.provider.say(Turn("Noted."))
    codex.ask(GOAL)
    with held_ledger(codex.project) as held:

        def hold(request: Request) -> Turn:
            held.begin()
            return Turn("", (shell(NOISY),))

        def let_go(request: Request) -> Turn:
            held.end()
            return Turn("The disk is full.")

        codex.provider.say(hold, let_go)
        ran = codex.ask("Look at the log.")
    assert (ran.code, "The disk is full." in ran.out) == (0, True), ran.err
    assert MIDDLE in outputs(codex.provider.asked("turn")[-1])[0]


@pytest.mark.parametrize("trouble", ["a ledger that is none", "a program that is gone"])
def test_the_agent_does_not_notice_that_it_is_broken(codex: Codex, trouble: str) -> None:
    if "ledger" in trouble:
        break_ledger(codex.project)
    else:
        lose_program(codex.home / ".codex/hooks.json")
    codex.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    ran = codex.ask(GOAL)
    assert (ran.code, "The disk is full." in ran.out) == (0, True), ran.err
    last = codex.provider.asked("turn")[-1]
    assert MIDDLE in outputs(last)[0]
    assert "holdfast-hook" not in last.said


@pytest.mark.parametrize("scope", ["--user", "--project"])
def test_hooks_of_others_stay_and_uninstall_brings_the_bytes_back(bare: Codex, scope: str) -> None:
    folder = bare.home / ".codex" if scope == "--user" else bare.project / ".codex"
    hooks = bare.write(folder / "hooks.json", json.dumps(THEIRS, indent=4))
    mine = bare.home / ".codex/config.toml"
    mine.write_text(
        f'# mine, by hand\n{mine.read_text()}\n[projects."{bare.project}"] # here\n'
        'trust_level = "trusted"\n'
    )
    settings = bare.write(
        folder / "config.toml", mine.read_text() if scope == "--user" else "# x\n"
    )
    before = (hooks.read_bytes(), settings.read_bytes())
    bare.holdfast("install", "codex", scope)
    bare.holdfast("install", "codex", scope)
    bare.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    assert bare.ask(GOAL).code == 0
    assert REF.search(outputs(bare.provider.asked("turn")[-1])[0])
    assert MIDDLE in json.loads((bare.project / "seen.jsonl").read_text())["tool_response"]
    bare.holdfast("uninstall", "codex", scope)
    assert (hooks.read_bytes(), settings.read_bytes()) == before


def test_nothing_is_left_where_nothing_was(bare: Codex) -> None:
    before = _tree(bare.home)
    bare.holdfast("install", "codex", "--user")
    assert _tree(bare.home) != before
    bare.holdfast("uninstall", "codex", "--user")
    assert _tree(bare.home) == before


def _tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
