"""How well words are understood: labelled rows, with the hits and false hits that are allowed.

A row of `tests/data/phrases` has a text, the label it deserves (none for a text that must not be
taken for one) and the words that have to be quoted, if not the whole text. Rows marked `unseen`
were written without a look at the patterns; the others are what the patterns were written for. A
change may miss a row if it finds as many others. Raise the numbers when it finds more.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
from msgspec import Struct

from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.observe.requests.intent import read_intent
from holdfast.core.observe.results.decisions import decisions_of
from holdfast.core.observe.results.errors import errors_of
from holdfast.core.observe.results.failures import shows_failure
from holdfast.core.observe.results.progress import next_steps_of, progress_of
from holdfast.core.observe.results.tests import counts_in
from tests.core.building import Told, answer, ask, back, bash, call, scene

PHRASES = Path(__file__).parents[2] / "data" / "phrases"


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """One text and what has to be found in it."""

    text: str
    label: str = ""
    quote: str = ""
    reason: str = ""
    given: str = ""
    """What was said, asked or run before it."""
    unseen: bool = False

    def expected(self) -> tuple[str, str, str]:
        """What a reader should find."""
        return self.label, self.quote or self.text, self.reason


Found: TypeAlias = list[tuple[str, str, str]]
"""Labels with the words they were given to, and the reason where there is one."""
Reader: TypeAlias = Callable[[Row], Found]


def rows_of(name: str) -> list[Row]:
    """The rows of a file."""
    lines = (PHRASES / f"{name}.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Row) for line in lines]


def check(name: str, label: str, read: Reader, *, hits: int, of: int, false: int = 0) -> None:
    """At least `hits` rows with the label are found; at most `false` texts are taken for it."""
    rows = rows_of(name)
    labelled = [row for row in rows if row.label == label]
    assert len(labelled) == of
    missed = [row for row in labelled if row.expected() not in read(row)]
    wrong = [
        (row.text, one)
        for row in rows
        for one in read(row)
        if one[0] == label and one != row.expected()
    ]
    found = of - len(missed)
    for row in missed:
        print(f"missed: {row.text!r} {read(row)}")
    for text, one in wrong:
        print(f"false: {text!r} {one}")
    assert (found, len(wrong)) == (max(found, hits), min(len(wrong), false))


def told(row: Row, *before: Told) -> tuple[Told, ...]:
    """The messages before the row's text, and the text as the user's."""
    given = (ask(row.given), answer("Sure.")) if row.given else ()
    return (*before, *given, ask(row.text))


def rules(row: Row) -> Found:
    """The rules in words of the user."""
    found = read_intent(scene(*told(row, ask("Hello, build the app.")))).constraints
    return [("forbids" if one.negative else "binds", one.text, "") for one in found]


def overrides(row: Row) -> Found:
    """The newer words, if what was said before them is all that they take back."""
    found = read_intent(scene(*told(row, ask("Hello, build the app.")))).constraints
    lifted = [one.text for one in found if one.lifted]
    return [("takes back", row.text if one == row.given else one, "") for one in lifted]


def agent_decisions(row: Row) -> Found:
    """What the agent decides."""
    found = decisions_of(scene(ask("Build it"), answer(row.text)))
    return [("decides", one.choice, one.reason) for one in found if one.by == "agent"]


def user_decisions(row: Row) -> Found:
    """What the user decides, in words or as the answer to a question."""
    asked = (call("q", "question", question=row.given), back("q", row.text))
    spoken = (answer("Fine."), ask(row.text))
    found = decisions_of(scene(ask("Build it"), *(asked if row.given else spoken)))
    return [("decides", one.choice, one.reason) for one in found if one.by == "user"]


def changes(row: Row) -> Found:
    """The sentences that change what was asked for."""
    found = read_intent(scene(ask("Build the app."), ask(row.text))).intent.changes
    return [("changes the scope", one.text, "") for one in found]


def requests(row: Row) -> Found:
    """Whether words ask for nothing new."""
    asked = "Also port the lexer."
    found = read_intent(scene(ask("Port the parser."), ask(asked), ask(row.text)))
    words = [one.text for one in found.words]
    empty = found.intent.current.text == asked and row.text in words
    return [("asks for nothing new", row.text, "")] if empty else []


def counted(row: Row) -> Found:
    """The counts of a test run."""
    counts = counts_in(row.text)
    ran = scene(ask("Go"), bash("c", "make check"), back("c", row.text))
    assert progress_of(ran).tests == counts
    return [("tests ran", counts, "")] if counts else []


def work_done(row: Row) -> Found:
    """What the agent reports as done, after a look or after a change."""
    looked = (bash("a", row.given), back("a", "+x")) if row.given else ()
    done = progress_of(scene(ask("Go"), *looked, answer(row.text))).completed
    return [("done", text, "") for text in done]


def left_to_user(row: Row) -> Found:
    """The steps that the agent leaves to the user."""
    found = next_steps_of(scene(ask("Go"), answer(row.text)))
    return [("left to the user", one.step, "") for one in found if one.owner == "user"]


def errors(row: Row) -> Found:
    """The line that tells of an error in what a command printed."""
    found = errors_of(scene(ask("Go"), bash("c", row.given or "make all"), back("c", row.text)))
    return [("error", one.text, "") for one in found]


def failures(row: Row) -> Found:
    """Whether an output shows that its command failed."""
    return [("failure", row.text, "")] if shows_failure(ToolReturned("c", row.text)) else []


@pytest.mark.seed("R236", "R251")
def test_what_forbids_is_a_negative_constraint() -> None:
    check("rules", "forbids", rules, hits=54, of=58, false=0)


@pytest.mark.seed("R236")
def test_what_binds_is_a_constraint() -> None:
    check("rules", "binds", rules, hits=38, of=48, false=0)


def test_newer_words_take_back_what_they_override() -> None:
    check("overrides", "takes back", overrides, hits=19, of=24)


@pytest.mark.seed("R077", "R084")
def test_what_the_agent_decides_is_told_with_its_reason() -> None:
    check("agent_decisions", "decides", agent_decisions, hits=18, of=23)


def test_what_the_user_decides_is_told() -> None:
    check("user_decisions", "decides", user_decisions, hits=10, of=18)


@pytest.mark.seed("R081", "R089")
def test_a_change_of_scope_is_the_sentence_that_makes_it() -> None:
    check("changes", "changes the scope", changes, hits=19, of=25)


def test_words_that_ask_for_nothing_new_are_not_the_current_request() -> None:
    check("requests", "asks for nothing new", requests, hits=31, of=32)


@pytest.mark.seed("R085")
def test_a_run_of_tests_is_told_in_its_own_words() -> None:
    check("test_runs", "tests ran", counted, hits=17, of=17)


def test_work_that_the_agent_reports_is_done() -> None:
    check("work_done", "done", work_done, hits=7, of=11)


def test_a_step_that_only_the_user_can_take_is_left_to_the_user() -> None:
    check("left_to_user", "left to the user", left_to_user, hits=4, of=7)


@pytest.mark.seed("R087")
def test_an_error_is_told_by_the_line_that_says_it_best() -> None:
    check("errors", "error", errors, hits=16, of=21)


def test_an_output_that_tells_of_a_failure_shows_one() -> None:
    check("failures", "failure", failures, hits=10, of=16)
