from tests.core.building import answer, ask, back, bash, call
from tests.core.observe.moments.reading import texts


def test_a_report_of_another_agent_is_its_sentences() -> None:
    report = "The schema is in rows.sql. It has no index.\n\nagentId: a1b2c3 (for resuming)\n"
    report += "<usage>total_tokens: 5000</usage>"
    assert texts(call("a", "Task", prompt="Look"), back("a", report)) == [
        "The schema is in rows.sql.",
        "It has no index.",
    ]


def test_a_refusal_of_the_user_is_an_answer() -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it "
        "was a file edit, the new_string was NOT written to the file). "
        "To tell you how to proceed, the user said:\nuse pnpm"
    )
    found = texts(bash("a", "npm install"), back("a", refusal, failed=True))
    assert found == ["the user refused npm install: use pnpm"]


HANDED_OVER = """This session is being continued from a previous conversation.
The conversation is summarized below:
- The parser keeps its old entry points because two plug-ins call them.
- `load_plan` raises KeyError for empty plans."""


def test_a_summary_that_the_record_begins_with_is_read() -> None:
    found = texts(ask(HANDED_OVER), answer("The parser is fixed."), kind="reported")
    assert any("two plug-ins call them" in text for text in found)


def test_a_summary_of_what_the_record_has_itself_is_not_read() -> None:
    assert texts(ask("Fix it."), answer("It is done."), ask(HANDED_OVER), kind="reported") == []


def test_an_agent_that_was_only_started_has_no_report() -> None:
    started = "Async agent launched successfully.\nDo not duplicate this agent's work."
    call_of_agent = call("a", "Task", description="Draw the dialogs", subagent_type="designer")
    assert texts(call_of_agent, back("a", started)) == [
        "$ Task designer → started in the background"
    ]
