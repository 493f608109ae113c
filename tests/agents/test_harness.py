"""Every client talks to our provider and does what the script says, without Holdfast."""

from collections.abc import Callable

import pytest

from tests.agents.driving import ClaudeCode, Codex, Driven, Gemini, OpenCode
from tests.agents.script import Call, Turn

CALLS: dict[type[Driven], Call] = {
    ClaudeCode: Call("Bash", {"command": "seq 1 30", "description": "count"}),
    Codex: Call("exec_command", {"cmd": "seq 1 30"}),
    OpenCode: Call("bash", {"command": "seq 1 30", "description": "count"}),
    Gemini: Call("run_shell_command", {"command": "seq 1 30", "description": "count"}),
}


@pytest.mark.parametrize("kind", CALLS, ids=lambda kind: kind.client.name)
def test_a_client_runs_what_the_script_calls_and_sends_the_result_back(
    kind: type[Driven], driven: Callable[[type[Driven]], Driven]
) -> None:
    agent = driven(kind)
    agent.provider.say(Turn("Counting.", (CALLS[kind],)), Turn("It counts to thirty."))

    ran = agent.ask("count for me")

    assert ran.code == 0, ran.err
    first, second = agent.provider.asked("turn")
    assert "count for me" in first.said
    assert "\n29\n30" in second.said
    assert "It counts to thirty." in ran.out
