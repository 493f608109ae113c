from tests.core.building import back, bash, call
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
