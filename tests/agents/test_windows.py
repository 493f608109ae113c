"""Holdfast in the windows that people have before them: what takes a typed command or a screen."""

import re
from collections.abc import Callable, Iterator

import pytest

from tests.agents.driving import Driven
from tests.agents.script import Turn, too_long
from tests.agents.story import ASKED, FORBIDDEN, GOAL, NOISY, RECORD
from tests.agents.windows import IN_CODEX, IN_GEMINI, NEWER, OLDER, Manner, Window

NAMES = {id(NEWER): "claude-newer", id(OLDER): "claude-older"}
SNAPSHOT = "<state_snapshot><overall_goal>Some export.</overall_goal></state_snapshot>"
LATER = "And yesterday?"
LINE = re.compile(r"holdfast 4\d% [A-Z]+ · 1 offloaded")


def of(*manners: Manner) -> pytest.MarkDecorator:
    """A scenario that is the same in several windows."""
    names = [NAMES.get(id(manner), manner.kind.client.name) for manner in manners]
    return pytest.mark.parametrize("manner", manners, ids=names)


@pytest.fixture
def agent(manner: Manner, driven: Callable[[type[Driven]], Driven]) -> Driven:
    return driven(manner.kind)


@pytest.fixture
def window(manner: Manner, agent: Driven) -> Iterator[Window]:
    agent.provider.summarize(SNAPSHOT)
    with manner.open(agent) as made:
        made.shows(manner.ready)
        made.calm()
        yield made


def on_record(agent: Driven, window: Window, words: str) -> None:
    """Wait until a turn has been read: the screen does not tell."""
    window.until(lambda: words in agent.run("holdfast", "show").out)


FENCE = re.compile(r"(?s)--- data ([0-9a-f]{6}):.*?--- end \1 ---")
"""The record that Holdfast injects; what the agent said before is nowhere else."""


@of(NEWER, OLDER, IN_CODEX, IN_GEMINI)
def test_after_a_clear_the_first_request_holds_what_stood_before(
    agent: Driven, window: Window
) -> None:
    window.answer(Turn("Noted: it runs at 3."))
    window.ask(GOAL, "Noted: it runs at 3.")
    on_record(agent, window, "Noted: it runs at 3.")
    window.say("/clear")
    window.until(lambda: "Noted: it runs at 3." not in window.text)
    window.answer(Turn("Going on."))
    first = window.ask("Go on with it.", "Going on.")
    assert "Noted: it runs at 3." not in FENCE.sub("", first.said)
    for words in (RECORD, "was cleared", ASKED, FORBIDDEN, "context_recover"):
        assert words in first.said


@of(NEWER, OLDER, IN_CODEX, IN_GEMINI)
def test_a_compaction_that_was_typed_is_followed_by_what_matters(
    manner: Manner, agent: Driven, window: Window
) -> None:
    window.answer(Turn("Noted."))
    window.ask(GOAL, "Noted.")
    window.answer(Turn("It ran."))
    window.ask(LATER, "It ran.")
    on_record(agent, window, "It ran.")
    window.say(manner.compact)
    window.shows(manner.compacted)
    window.answer(Turn("Going on."))
    first = window.ask("And now?", "Going on.")
    for words in (RECORD, ASKED, FORBIDDEN, "context_recover", "And now?"):
        assert words in first.said
    assert list(agent.project.glob(".holdfast/cache/conversations/*_full.md"))


@of(NEWER, OLDER)
def test_a_request_that_is_too_long_is_compacted_and_sent_again(
    manner: Manner, agent: Driven, window: Window
) -> None:
    window.answer(Turn("Noted."))
    window.ask(GOAL, "Noted.")
    refused = Turn(refusal=too_long(manner.path))
    window.answer(Turn("Looking.", (manner.look("echo one"),)), refused, Turn("Recovered."))
    window.ask(LATER, "Recovered.")
    for words in (RECORD, ASKED, FORBIDDEN):
        assert words in agent.provider.asked("turn")[-1].said


@pytest.mark.parametrize(
    ("manner", "requests"),
    [(OLDER, [GOAL]), (IN_CODEX, [GOAL, LATER]), (IN_GEMINI, [GOAL, LATER])],
    ids=["claude-older-at-once", "codex", "gemini"],
)
def test_a_request_that_is_too_long_ends_the_turn_and_a_typed_compaction_helps(
    manner: Manner, requests: list[str], agent: Driven, window: Window
) -> None:
    *earlier, last = requests
    for request in earlier:
        window.answer(Turn("Noted."))
        window.ask(request, "Noted.")
    refused = [Turn(refusal=too_long(manner.path))] * 9  # some try the same again
    window.answer(Turn("Looking.", (manner.look("echo one"),)), *refused)
    window.ask(last, manner.refused)
    window.calm()
    assert agent.provider.asked("compact") == []
    window.say(manner.compact)
    window.shows(manner.compacted)
    window.answer(Turn("Going on."))
    first = window.ask("And now?", "Going on.")
    for words in (RECORD, ASKED, FORBIDDEN, "And now?"):
        assert words in first.said


@of(NEWER, OLDER)
def test_the_status_line_is_shown_below_what_is_typed(manner: Manner, window: Window) -> None:
    window.answer(
        Turn("", (manner.look(NOISY),), used=20_000), Turn("The disk is full.", used=400_000)
    )
    window.ask(GOAL, "The disk is full.")
    window.until(lambda: any(map(LINE.search, window.lines[-3:])))


@of(NEWER, OLDER, IN_CODEX, IN_GEMINI)
def test_a_quick_command_is_answered_on_the_screen_and_nowhere_else(
    agent: Driven, window: Window
) -> None:
    window.say("context status")
    window.shows("Context Status Report", "Tool results offloaded: 0")
    assert agent.provider.asked("turn") == []
