"""Holdfast inside the real opencode."""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agents.clients import OPENCODE, absence
from tests.agents.driving import OpenCode, OpenCodeServer
from tests.agents.provider import Provider
from tests.agents.script import Call, Request, Turn, too_long
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

EAGER = """
[batch]
reclaim = 1
margin = 0
requests = 200
[tail]
percent = 2
steps = 1
"""
"""Settings with which a batch is made although it hardly pays."""


class Day:
    """opencode with Holdfast in it, running."""

    def __init__(self, agent: OpenCode, server: OpenCodeServer) -> None:
        self.agent, self.server, self.provider = agent, server, agent.provider

    def asked(self, session: str, *kinds: str) -> list[Request]:
        """The requests of one session."""
        return [
            request
            for request in self.provider.asked(*(kinds or ("turn",)))
            if request.headers.get("x-session-id") == session
        ]


@contextmanager
def started(folder: Path) -> Generator[Day]:
    """opencode with Holdfast in it, where there is one."""
    if absence(OPENCODE):
        pytest.skip(absence(OPENCODE))
    with Provider() as provider:
        agent = OpenCode(folder, provider)
        agent.holdfast("install", "opencode", "--project")
        with OpenCodeServer(agent) as server:
            yield Day(agent, server)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """One server for all scenarios that leave it as it is: starting one takes long."""
    with started(tmp_path_factory.mktemp("opencode")) as made:
        yield made


@pytest.fixture
def bad_day(tmp_path: Path) -> Iterator[Day]:
    """A server of one's own, for a scenario that breaks something."""
    with started(tmp_path) as made:
        yield made


@pytest.fixture
def bare(driven: Callable[[type[OpenCode]], OpenCode]) -> OpenCode:
    return driven(OpenCode)


def shell(command: str) -> Call:
    return Call("bash", {"command": command, "description": "look"})


def outputs(request: Request) -> list[str]:
    """What tools answered, as the model sees it."""
    messages: list[dict[str, Any]] = request.body["messages"]
    return [one["content"] for one in messages if one["role"] == "tool"]


def recovering(request: Request) -> Turn:
    """Asks for what left, by the reference that stands in its place."""
    wanted = {"ref": reference(outputs(request)), "lines": LINES}
    return Turn("", (Call("holdfast_context_recover", wanted),))


def test_a_large_result_leaves_and_comes_back_by_its_reference(day: Day) -> None:
    day.provider.say(Turn("", (shell(NOISY),)), recovering, Turn("The disk is full."))
    session = day.server.begin()
    assert day.server.say(session, GOAL) == "The disk is full."
    _, shown, recovered = day.asked(session)
    assert MIDDLE not in outputs(shown)[0]
    assert len(outputs(shown)[0]) < 6_000
    assert MIDDLE in outputs(recovered)[-1]
    assert NEEDLE in outputs(recovered)[-1]


def test_a_session_is_followed_and_its_original_stands_in_the_ledger(day: Day) -> None:
    day.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    session = day.server.begin()
    day.server.say(session, GOAL)
    day.agent.holdfast("ingest")
    mine = ("--session", session)
    assert NEEDLE in day.agent.holdfast("recover", "disk is full code 4711", *mine).out
    assert GOAL in day.agent.holdfast("intent", *mine).out
    assert "Tool results offloaded: 1" in day.agent.holdfast("status", *mine).out


def test_what_matters_is_in_the_first_request_after_a_compaction(day: Day) -> None:
    day.provider.say(
        Turn("Looking.", (shell("echo look 1"),)),
        Turn("It stopped.", used=97_000),
        Turn("Going on."),
    )
    session = day.server.begin()
    day.server.say(session, GOAL)
    (summing,) = day.asked(session, "compact")
    assert FORBIDDEN in summing.said
    assert "Keep word for word" in summing.said
    last = day.asked(session)[-1]
    for words in (ASKED, FORBIDDEN, RECORD, "What did we do so far?"):
        assert words in last.said
    assert list(day.agent.project.glob(f".holdfast/cache/conversations/{session.lower()}_full.md"))


def test_a_compaction_that_was_asked_for_is_steered_as_well(day: Day) -> None:
    day.provider.say(Turn("Noted."))
    session = day.server.begin()
    day.server.say(session, GOAL)
    day.server.compact(session)
    day.provider.say(Turn("Going on."))
    day.server.say(session, "And now?")
    assert "Keep word for word" in day.asked(session, "compact")[0].said
    for words in (ASKED, FORBIDDEN, RECORD):
        assert words in day.asked(session)[-1].said


def test_a_request_that_is_too_long_is_compacted_and_sent_again(day: Day) -> None:
    refused = Turn(refusal=too_long("/v1/chat/completions"))
    day.provider.say(Turn("", (shell("echo look 1"),)), refused, Turn("Recovered."))
    session = day.server.begin()
    assert day.server.say(session, GOAL) == "Recovered."
    assert day.asked(session, "compact")
    for words in (ASKED, FORBIDDEN, RECORD):
        assert words in day.asked(session)[-1].said


def test_a_worker_is_handed_a_packet_and_its_report_goes_on_record(day: Day) -> None:
    task = {"description": "look", "prompt": "Count the exports.", "subagent_type": "general"}
    report = 'Three.\n```yaml\ncontext_gaps: ["where exports are"]\ncontext_unused: []\n```'
    day.provider.say(Turn("", (Call("task", task),)), Turn("Three of them."))
    day.provider.say_as_worker(Turn(report))
    session = day.server.begin()
    assert day.server.say(session, GOAL) == "Three of them."
    worker = day.provider.asked("worker")[-1]
    for words in ("Count the exports.", FORBIDDEN, "What you have to know (a context packet"):
        assert words in worker.said
    assert "where exports are" in day.agent.holdfast("context", "stats", "--json").out


def test_a_command_that_fails_is_shown_as_it_was_and_a_large_one_leaves(day: Day) -> None:
    day.provider.say(
        Turn("", (shell("echo no such export >&2; exit 3"),)),
        Turn("", (shell(f"{NOISY}; exit 3"),)),
        Turn("It fails."),
    )
    session = day.server.begin()
    day.server.say(session, GOAL)
    small, large = outputs(day.asked(session)[-1])
    assert "no such export" in small
    assert REF.search(large)


def test_a_fresh_session_learns_that_there_is_a_record(day: Day) -> None:
    day.server.say(day.server.begin(), GOAL)
    session = day.server.begin()
    day.server.say(session, "Hello.")
    assert RECORD in day.asked(session)[-1].said


def test_old_writes_are_told_shorter_once_the_window_fills(day: Day) -> None:
    text = "\n".join(f"line {at} of the report that is on disk now" for at in range(1_200))
    path = str(day.agent.project / "report.md")
    writes = Turn("", (Call("write", {"filePath": path, "content": text}),), used=30_000)
    looks = [Turn("", (shell(f"seq {at} 900"),), used=70_000) for at in range(4)]
    day.provider.say(writes, *looks, Turn("Done.", used=70_000))
    session = day.server.begin()
    eager = day.agent.write("holdfast.toml", EAGER)
    day.server.say(session, GOAL)
    eager.unlink()
    first, *_, last = day.asked(session)[1:]
    assert "line 1199 of the report" in first.said
    assert "line 1199 of the report" not in last.said
    assert Path(path).read_text() == text


def test_a_server_that_was_killed_does_not_stop_the_agent(bad_day: Day) -> None:
    killed: list[int] = []

    def kill_first(request: Request) -> Turn:
        killed.append(kill_servers(bad_day.agent.project))
        return recovering(request)

    bad_day.provider.say(Turn("", (shell(NOISY),)), kill_first, Turn("Then without."))
    assert bad_day.server.say(bad_day.server.begin(), GOAL) == "Then without."
    assert killed == [1]


def test_a_hook_that_hangs_is_given_up_and_the_result_is_whole(bad_day: Day) -> None:
    with held_ledger(bad_day.agent.project) as held:

        def hold(request: Request) -> Turn:
            held.begin()
            return Turn("", (shell(NOISY),))

        def let_go(request: Request) -> Turn:
            held.end()
            return Turn("The disk is full.")

        bad_day.provider.say(hold, let_go)
        session = bad_day.server.begin()
        assert bad_day.server.say(session, GOAL) == "The disk is full."
    assert MIDDLE in outputs(bad_day.asked(session)[-1])[0]


@pytest.mark.parametrize("trouble", ["a ledger that is none", "a program that is gone"])
def test_the_agent_does_not_notice_that_it_is_broken(bare: OpenCode, trouble: str) -> None:
    bare.holdfast("install", "opencode", "--project")
    if "ledger" in trouble:
        break_ledger(bare.project)
    else:
        lose_program(bare.project / ".opencode/plugin/holdfast.js")
    bare.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    ran = bare.ask(GOAL)
    assert (ran.code, "The disk is full." in ran.out) == (0, True), ran.err
    last = bare.provider.asked("turn")[-1]
    assert MIDDLE in outputs(last)[0]
    assert RECORD not in last.said


def test_plugins_of_others_stay_and_uninstall_brings_the_bytes_back(bare: OpenCode) -> None:
    theirs = bare.write(
        ".opencode/plugin/theirs.js",
        'import { appendFileSync } from "node:fs"\n'
        'export const T = async () => ({"tool.execute.after": async (i, o) => {\n'
        '  appendFileSync("seen.txt", i.tool + "\\n") }})\n',
    )
    text = bare.settings.read_text().replace("{", "{ // mine, by hand", 1)
    bare.settings.write_text(text)
    before = (theirs.read_bytes(), bare.settings.read_bytes())
    bare.holdfast("install", "opencode")
    bare.holdfast("install", "opencode")
    bare.provider.say(Turn("", (shell(NOISY),)), Turn("The disk is full."))
    assert bare.ask(GOAL).code == 0
    assert REF.search(outputs(bare.provider.asked("turn")[-1])[0])
    assert (bare.project / "seen.txt").read_text() == "bash\n"
    bare.holdfast("uninstall", "opencode")
    assert (theirs.read_bytes(), bare.settings.read_bytes()) == before
    assert not (bare.project / ".opencode/plugin/holdfast.js").exists()


def test_a_session_that_is_continued_is_one_and_is_told_where_it_stood(bare: OpenCode) -> None:
    bare.holdfast("install", "opencode", "--user")
    bare.provider.say(Turn("Noted."))
    bare.ask(GOAL)
    bare.provider.say(Turn("At 4."))
    bare.ask("And yesterday?", "--continue")
    assert RECORD in bare.provider.asked("turn")[-1].said
    bare.holdfast("ingest")
    listed = json.loads(bare.holdfast("sessions", "--json").out)
    assert len(listed["sessions"]) == 1
    assert "And yesterday?" in bare.holdfast("show").out
