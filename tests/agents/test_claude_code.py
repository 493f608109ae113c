"""Holdfast inside the real Claude Code: with function hooks, and before it had them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.driving import ClaudeCode, OlderClaudeCode
from tests.agents.scratch import Ran
from tests.agents.script import Call, Request, Turn, strings, too_long
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

NOISE = f"seq 1 1300 | sed 's/^/request served /'; echo '{NEEDLE}'"
"""Large, and yet short enough for the client to show all of it by itself."""
RECOVER = "mcp__plugin_holdfast_holdfast__context_recover"
WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
"""A window that a script can fill."""
THEIRS = {
    "cleanupPeriodDays": 30,
    "hooks": {
        "PostToolUse": [{"hooks": [{"type": "command", "command": "cat >> seen.jsonl"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
    },
}
BOTH = pytest.mark.parametrize("kind", [ClaudeCode, OlderClaudeCode], ids=["newer", "older"])


@pytest.fixture
def bare(driven: Callable[[type[ClaudeCode]], ClaudeCode], kind: type[ClaudeCode]) -> ClaudeCode:
    return driven(kind)


@pytest.fixture
def claude(bare: ClaudeCode) -> ClaudeCode:
    bare.holdfast("install", "claude-code")
    return bare


def shell(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "look"})


def outputs(request: Request) -> list[str]:
    """What tools answered, as the model sees it."""
    messages: list[dict[str, Any]] = request.body["messages"]
    lists = (one["content"] for one in messages if not isinstance(one["content"], str))
    results = (one for blocks in lists for one in blocks if one["type"] == "tool_result")
    return ["\n".join(strings(one["content"])) for one in results]


def session_of(ran: Ran) -> str:
    return next(one["session_id"] for one in ran.events if one.get("session_id"))


def last(claude: ClaudeCode) -> Request:
    return claude.provider.asked("turn")[-1]


def finding(request: Request) -> Turn:
    """Loads our tool, which the client keeps back until it is asked for."""
    return Turn("", (Call("ToolSearch", {"query": f"select:{RECOVER}"}),))


def recovering(request: Request) -> Turn:
    """Asks for what left, by the reference that stands in its place."""
    wanted = {"ref": reference(outputs(request)), "lines": LINES}
    return Turn("", (Call(RECOVER, wanted),))


@BOTH
def test_a_large_result_leaves_and_comes_back_by_its_reference(claude: ClaudeCode) -> None:
    claude.provider.say(Turn("", (shell(NOISY),)), finding, recovering, Turn("The disk is full."))
    ran = claude.ask(GOAL)
    assert ran.code == 0, ran.err
    shown, recovered = claude.provider.asked("turn")[1], last(claude)
    assert MIDDLE not in outputs(shown)[0]
    assert len(outputs(shown)[0]) < 6_000
    assert MIDDLE in outputs(recovered)[-1]
    assert NEEDLE in outputs(recovered)[-1]


@BOTH
def test_a_session_is_followed_and_its_original_stands_in_the_ledger(claude: ClaudeCode) -> None:
    claude.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    claude.ask(GOAL)
    assert NEEDLE in claude.holdfast("recover", "disk is full code 4711").out
    assert GOAL in claude.holdfast("intent").out
    assert "Tool results offloaded: 1" in claude.holdfast("status").out
    assert "**Event Type:** TIER_1" in claude.holdfast("log").out
    (transcript,) = claude.transcripts()
    assert claude.run("holdfast", "export").out == transcript.read_text()
    assert claude.holdfast("fsck").code == 0


@BOTH
def test_output_that_the_client_keeps_in_a_file_is_read_whole_and_leaves_once(
    claude: ClaudeCode,
) -> None:
    command = f"seq 1 9000 | sed 's/^/row /'; echo '{NEEDLE}'"
    claude.provider.say(Turn("", (shell(command),)), finding, Turn("It is there."))
    assert claude.ask(GOAL).code == 0
    (shown, *_) = outputs(last(claude))
    assert "persisted-output" not in shown
    assert shown.count("## Offloaded") == 1
    ref = reference([shown])
    end = claude.holdfast("recover", "--ref", ref, "--lines", "8999-9001").out
    assert "row 8999\n" in end
    assert NEEDLE in end


@BOTH
def test_a_file_that_is_read_leaves_in_the_shape_of_the_tool(claude: ClaudeCode) -> None:
    path = claude.write("export.log", "".join(f"request served {n}\n" for n in range(2_000)))
    claude.provider.say(Turn("", (Call("Read", {"file_path": str(path)}),)), Turn("Read."))
    assert claude.ask(GOAL).code == 0
    assert REF.search(outputs(last(claude))[0])
    assert "does not match" not in claude.transcripts()[0].read_text()


@BOTH
def test_what_matters_is_in_the_first_request_after_a_compaction(claude: ClaudeCode) -> None:
    path = str(claude.project / "export.py")
    claude.provider.say(
        Turn(
            "I will use a lock file because two exports may overlap.",
            (Call("Write", {"file_path": path, "content": "lock = True\n"}),),
            used=20_000,
        ),
        Turn("", (shell(NOISY),), used=30_000),
        Turn("", (shell("echo checked"),), used=120_000),
        Turn("Going on."),
    )
    ran = claude.ask(GOAL, **WINDOW)
    assert ran.code == 0, ran.err
    said = last(claude).said
    for words in (ASKED, FORBIDDEN, path, "lock file", "context_recover"):
        assert words in said
    assert list(claude.project.glob(".holdfast/cache/conversations/*_full.md"))
    assert list(claude.project.glob(".holdfast/cache/checkpoints/*.md"))


@pytest.mark.parametrize("kind", [ClaudeCode])
def test_no_model_is_asked_for_a_summary_where_the_client_lets_us_write_it(
    claude: ClaudeCode,
) -> None:
    claude.provider.say(
        Turn("", (shell(NOISY),), used=30_000),
        Turn("", (shell("echo checked"),), used=120_000),
        Turn("Going on."),
    )
    assert claude.ask(GOAL, **WINDOW).code == 0
    assert claude.provider.asked("compact") == []
    assert "## Session Summary [" in last(claude).said
    assert MIDDLE not in last(claude).said


@pytest.mark.parametrize("kind", [OlderClaudeCode])
def test_the_summary_of_an_older_client_is_steered(claude: ClaudeCode) -> None:
    claude.provider.say(
        Turn("", (shell(NOISY),), used=30_000),
        Turn("", (shell("echo checked"),), used=120_000),
        Turn("Going on."),
    )
    assert claude.ask(GOAL, **WINDOW).code == 0
    (asked,) = claude.provider.asked("compact")
    assert "the record is right" in asked.said
    assert "Request [" in asked.said.partition("the record is right")[2]


@BOTH
def test_a_compaction_by_hand_keeps_what_matters(claude: ClaudeCode) -> None:
    claude.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    session = session_of(claude.ask(GOAL))
    assert claude.ask("/compact keep the code", "--resume", session).code == 0
    claude.provider.say(Turn("Going on."))
    assert claude.ask("Go on.", "--resume", session).code == 0
    said = last(claude).said
    assert ASKED in said
    assert FORBIDDEN in said


@pytest.mark.parametrize("kind", [ClaudeCode])  # the older one gives up in a first turn
def test_a_prompt_that_is_too_long_is_compacted_and_the_work_goes_on(claude: ClaudeCode) -> None:
    claude.provider.say(
        Turn("", (shell("echo one"),)),
        Turn(refusal=too_long("/v1/messages")),
        Turn("Recovered."),
    )
    ran = claude.ask(GOAL)
    assert (ran.code, "Recovered." in ran.out) == (0, True), ran.err
    assert FORBIDDEN in last(claude).said


@BOTH
def test_a_session_that_is_resumed_is_told_where_it_stood(claude: ClaudeCode) -> None:
    claude.provider.say(Turn("Noted: the export runs at 3."))
    session = session_of(claude.ask(GOAL))
    claude.provider.say(Turn("It stopped at 4."))
    assert claude.ask("And yesterday?", "--resume", session).code == 0
    assert RECORD in last(claude).said
    assert "where it stood" in last(claude).said


@BOTH
def test_a_quick_command_is_answered_without_asking_the_model(claude: ClaudeCode) -> None:
    claude.provider.say(Turn("Noted."))
    session = session_of(claude.ask(GOAL))
    before = len(claude.provider.asked("turn"))
    ran = claude.ask("context status", "--resume", session)
    assert len(claude.provider.asked("turn")) == before
    assert "Context Status Report" in "\n".join(strings(ran.events)) + ran.out


@BOTH
def test_what_is_recovered_by_words_is_told_to_the_model(claude: ClaudeCode) -> None:
    claude.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    session = session_of(claude.ask(GOAL))
    claude.provider.say(Turn("I see."))
    assert claude.ask("recover code 4711", "--resume", session).code == 0
    assert "--- data" in last(claude).said
    assert NEEDLE in last(claude).said


@BOTH
def test_a_command_that_fails_is_on_record_and_a_large_one_leaves_where_it_may(
    claude: ClaudeCode,
) -> None:
    claude.provider.say(
        Turn("", (shell("echo no such export >&2; exit 3"),)),
        Turn("", (shell("seq 1 5000; exit 3"),)),
        Turn("It fails."),
    )
    assert claude.ask(GOAL).code == 0
    small, large = outputs(last(claude))
    assert "no such export" in small
    assert bool(REF.search(large)) == (type(claude) is ClaudeCode)
    assert "no such export" in claude.holdfast("recover", "no such export").out


@BOTH
def test_a_worker_starts_with_a_packet_and_its_report_is_kept(claude: ClaudeCode) -> None:
    worker = {
        "description": "look",
        "prompt": "Look for the export job in cron.",
        "subagent_type": "general-purpose",
    }
    told = "context_gaps:\n- where cron keeps it\ncontext_unused: []\noutcome: done"
    claude.provider.say(Turn("", (Call("Agent", worker),)), Turn("Waiting."), Turn("Done."))
    claude.provider.say_as_worker(Turn(f"Found.\n\n```yaml\n{told}\n```"))
    assert claude.ask(GOAL).code == 0
    first = claude.provider.asked("worker")[0]
    assert "context packet" in first.said
    assert FORBIDDEN in first.said
    assert "Look for the export job in cron." in first.said
    assert "context_gaps" in first.said
    assert "cron" in claude.holdfast("context", "stats").out


@BOTH
def test_a_server_that_was_killed_does_not_stop_the_agent(claude: ClaudeCode) -> None:
    killed: list[int] = []

    def kill_first(request: Request) -> Turn:
        killed.append(kill_servers(claude.project))
        return recovering(request)

    claude.provider.say(Turn("", (shell(NOISY),)), finding, kill_first, Turn("Then without."))
    ran = claude.ask(GOAL)
    assert (ran.code, killed) == (0, [1]), ran.err
    assert "Then without." in ran.out


@BOTH
def test_a_hook_that_hangs_is_given_up_and_the_result_is_whole(claude: ClaudeCode) -> None:
    claude.provider.say(Turn("Noted."))
    claude.ask(GOAL)
    with held_ledger(claude.project) as held:

        def hold(request: Request) -> Turn:
            held.begin()
            return Turn("", (shell(NOISE),))

        def let_go(request: Request) -> Turn:
            held.end()
            return Turn("The disk is full.")

        claude.provider.say(hold, let_go)
        ran = claude.ask("Look at the log.")
    assert (ran.code, "The disk is full." in ran.out) == (0, True), ran.err
    assert MIDDLE in outputs(last(claude))[0]


@BOTH
@pytest.mark.parametrize("trouble", ["a ledger that is none", "a program that is gone"])
def test_the_agent_does_not_notice_that_holdfast_is_broken(
    claude: ClaudeCode, trouble: str
) -> None:
    plugin = claude.project / ".holdfast/agents/claude-code/holdfast"
    if "ledger" in trouble:
        break_ledger(claude.project)
    else:
        lose_program(plugin / "hooks/hooks.json", plugin / "hooks/register.js")
    claude.provider.say(
        Turn("", (shell(NOISE),), used=30_000),
        Turn("", (shell("echo checked"),), used=120_000),
        Turn("The disk is full."),
    )
    ran = claude.ask(GOAL, **WINDOW)
    assert (ran.code, ran.err) == (0, "")
    assert "The disk is full." in ran.out
    assert MIDDLE in outputs(claude.provider.asked("turn")[1])[0]
    assert len(claude.provider.asked("compact")) == 1


@BOTH
@pytest.mark.parametrize("scope", ["--user", "--project"])
def test_hooks_of_others_stay_and_uninstall_brings_the_bytes_back(
    bare: ClaudeCode, scope: str
) -> None:
    mine = bare.home / ".claude/settings.json"
    settings = mine if scope == "--user" else bare.project / ".claude/settings.local.json"
    text = json.dumps(THEIRS, indent="\t")
    bare.write(settings, text)
    before = settings.read_bytes()
    bare.holdfast("install", "claude-code", scope)
    bare.holdfast("install", "claude-code", scope)
    bare.provider.say(Turn("", (shell(NOISE),)), Turn("The disk is full."))
    assert bare.ask(GOAL).code == 0
    assert REF.search(outputs(last(bare))[0])
    assert (
        MIDDLE in json.loads((bare.project / "seen.jsonl").read_text())["tool_response"]["stdout"]
    )
    rewritten = _less_ours(json.loads(settings.read_text())) == json.loads(before)
    whole = settings.read_bytes()
    bare.holdfast("uninstall", "claude-code", scope)
    assert rewritten
    # The older client writes its user's settings anew; then only our parts may go.
    assert settings.read_bytes() == before or b"\t" not in whole
    assert json.loads(settings.read_text()) == json.loads(before)


@pytest.mark.parametrize("kind", [ClaudeCode])
def test_nothing_is_left_where_nothing_was(bare: ClaudeCode) -> None:
    before = _tree(bare.home), _tree(bare.project)
    for scope in ("--user", "--project"):
        bare.holdfast("install", "claude-code", scope)
        assert (_tree(bare.home), _tree(bare.project)) != before
        bare.holdfast("uninstall", "claude-code", scope)
        assert (_tree(bare.home), _tree(bare.project)) == before


@BOTH
def test_the_client_takes_the_plugin_for_a_good_one(claude: ClaudeCode) -> None:
    plugin = claude.project / ".holdfast/agents/claude-code/holdfast"
    ran = claude.start(claude.client, ["plugin", "validate", str(plugin)])
    assert ran.code == 0, ran.out + ran.err
    assert "error" not in ran.out.lower()


@BOTH
def test_doctor_finds_everything_working(claude: ClaudeCode) -> None:
    told = claude.told("doctor", "claude-code")
    assert [one for one in told["checks"] if not one["holds"]] == []
    assert {"hook PostToolUse", "hook PreCompact", "server holdfast", "client"} <= {
        one["what"] for one in told["checks"]
    }


def _less_ours(settings: dict[str, Any]) -> dict[str, Any]:
    ours = ("extraKnownMarketplaces", "enabledPlugins", "statusLine")
    return {name: value for name, value in settings.items() if name not in ours}


def _tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
