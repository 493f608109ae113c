"""What a session settled, read without the contents of calls that settle nothing."""

from random import Random

from holdfast.core.ledger.entry import Opaque, Source, ToolCalled, ToolReturned
from holdfast.core.view.questions.statements import read_statements, without_silent
from tests.core.building import answer, ask, back, bash, call, entries

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). To tell you how to proceed, the"
    " user said:\n"
)
TALK: tuple[tuple[Source, ...], ...] = (
    (ask("Build the importer. Never touch the schema."),),
    (answer("I decided to use SQLite instead of Redis, because it needs no server."),),
    (bash("a", "cat notes.md"), back("a", "We decided to use Kafka. Never use tabs.")),
    (bash("a", "rm -r data"), back("a", f"{REFUSED}no, never delete data", failed=True)),
    (call("q", "AskUserQuestion", question="Which store?"), back("q", "PostgreSQL")),
    (call("p", "ExitPlanMode", plan="# Ship it"), back("p", "User has approved your plan.")),
    (ask("Use npm instead of yarn."),),
    (Opaque("assistant", "reasoning", '{"text": "we chose Go because it is fast"}'),),
)


def test_the_same_statements_are_read_without_the_contents_of_silent_calls() -> None:
    for seed in range(20):
        parts = [part for part in TALK for _ in range(2)]
        Random(seed).shuffle(parts)
        path = entries(*(body for part in parts for body in part))
        assert read_statements(without_silent(path), []) == read_statements(path, [])


def test_only_answers_refusals_and_questions_keep_their_contents() -> None:
    path = entries(*(body for part in TALK for body in part))
    kept = [
        entry.body
        for entry, was in zip(without_silent(path), path, strict=True)
        if entry is was and isinstance(entry.body, ToolCalled | ToolReturned | Opaque)
    ]
    assert kept == [TALK[3][1], *TALK[4], *TALK[5]]
