"""Each sign of drift: one message that shows it, and one that comes near and does not."""

import pytest

from holdfast.core.ledger.entry import Said, ToolCalled
from holdfast.core.ledger.notes import Finding
from holdfast.core.verify.drift.evidence import Evidence
from holdfast.core.verify.drift.judge import RULES, judge
from holdfast.core.verify.drift.message import AgentMessage, agent_message
from holdfast.core.verify.drift.signs import SIGN_THRESHOLD, SIGNS, combine_findings
from tests.core.building import Told, answer, ask, back, bash, call
from tests.core.verify.drift.evidence import evidence, finding_of, says

WRITE = call("w1", "Write", file_path="src/export.py", content="retry = 3\n")
WRITTEN: tuple[Told, ...] = (WRITE, back("w1", "File created successfully at: src/export.py"))
FAILED: tuple[Told, ...] = (bash("t1", "pytest -q"), back("t1", "3 failed, 4 passed in 0.12s"))
PASSED: tuple[Told, ...] = (bash("t2", "pytest -q"), back("t2", "7 passed in 0.12s"))
ELSEWHERE = (
    "Let me wire the carousel's swipe gestures to the Lottie onboarding animation in "
    "app/ui/CarouselView.swift and regenerate the storyboard localisation for Xcode."
)
ONWARD = says("Now let me add the retries to the export.", call("e", "Read", file_path="src/a.py"))


def shows(sign: str, move: AgentMessage, where: Evidence) -> bool:
    return finding_of(sign, move, where).strength >= SIGN_THRESHOLD


@pytest.mark.seed("R147", "R149", "R154")
@pytest.mark.parametrize(
    "text",
    [
        "Could you remind me what we are working on?",
        "What would you like me to do?",
        "I don't have access to our earlier conversation.",
        "Please share the requirements again.",
        "Before I start: which type should I use for the amounts, Decimal or float?",
    ],
)
def test_asking_at_once_for_what_was_said_is_a_sign(text: str) -> None:
    signal = judge(says(text), evidence()).signals[0]
    assert (signal.name, signal.severity) == ("clarification", "HIGH")
    assert signal.action == "Check if summarisation lost critical info"
    assert signal.finding.evidence in text
    assert signal.finding.quote != ""


@pytest.mark.parametrize(
    "move",
    [
        pytest.param(says("Want me to open a pull request?"), id="an offer"),
        pytest.param(says("Should I proceed?"), id="leave"),
        pytest.param(says("Which colour should the dashboard have?"), id="never said"),
        pytest.param(says("What is the goal here? Let me look.", bash("b", "ls")), id="to itself"),
    ],
)
def test_an_offer_or_a_question_that_nobody_answered_is_none(move: AgentMessage) -> None:
    assert not shows("clarification", move, evidence())


def test_a_question_is_at_once_for_two_steps_only() -> None:
    lost = says("Could you remind me what we are working on?")
    one = (bash("a", "git status"), back("a", "clean"))
    two = (*one, bash("b", "git diff"), back("b", "none"))
    assert [shows("clarification", lost, evidence(*more)) for more in ((), one, two)] == [
        True,
        True,
        False,
    ]


def test_a_question_about_a_new_task_of_the_user_is_none() -> None:
    lost = says("What would you like me to do?")
    assert not shows("clarification", lost, evidence(ask("Build a dashboard for the sales team.")))
    assert shows("clarification", lost, evidence(ask("ok, go on")))


@pytest.mark.seed("R148", "R155")
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ((), "nothing was written, changed or checked for this request"),
        ((*WRITTEN, *FAILED), "the last check failed: `pytest -q`: 3 failed, 4 passed in 0.12s"),
    ],
)
def test_calling_it_done_with_nothing_to_show_is_critical(more: tuple[Told, ...], why: str) -> None:
    signal = judge(says("All done! The export is complete."), evidence(*more)).signals[0]
    assert (signal.name, signal.severity) == ("completion", "CRITICAL")
    assert (signal.action, signal.finding.why) == ("Verify against original intent", why)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("All done! The export is complete.", (*WRITTEN, *PASSED)),
        ("All done! The export is complete.", WRITTEN),
        ("Once the export is complete I will run the linter.", ()),
        ("Is the export complete?", ()),
    ],
)
def test_calling_it_done_with_work_to_show_is_none(text: str, more: tuple[Told, ...]) -> None:
    assert not shows("completion", says(text), evidence(*more))


@pytest.mark.parametrize("text", ["The matter is settled.", "That should satisfy the partner."])
def test_a_few_words_that_end_the_turn_in_the_middle_say_the_same(text: str) -> None:
    assert shows("completion", says(text), evidence())
    assert shows("completion", says(text), evidence(*WRITTEN, *FAILED))


@pytest.mark.parametrize(
    ("text", "more"),
    [
        pytest.param("The matter is settled.", (*WRITTEN, *PASSED), id="it is"),
        pytest.param("You're welcome.", (ask("thanks"),), id="the user spoke"),
        pytest.param("Please add src/export.py to the chat.", (), id="the user is next"),
        pytest.param("I cannot read src/export.py here.", (), id="it says why"),
        pytest.param("The matter is settled. " * 20, (), id="it explains something"),
    ],
)
def test_a_few_words_that_end_the_turn_for_a_reason_are_none(
    text: str, more: tuple[Told, ...]
) -> None:
    assert not shows("completion", says(text), evidence(*more))


@pytest.mark.parametrize(
    "text",
    [
        "My view of all this is gone. Where were we?",
        "Who are we doing this for?",
        "Did you have something in mind about the partner's endpoint is called?",
        "I want your view on the partner's endpoint is called.",
    ],
)
def test_a_question_in_any_words_is_known_by_what_it_is_about(text: str) -> None:
    assert shows("clarification", says(text), evidence())


@pytest.mark.parametrize(
    ("text", "more"),
    [
        pytest.param("Where were we?", (ask("hm, wait"),), id="the user spoke"),
        pytest.param("Should we keep the totals?", (), id="it proposes something"),
        pytest.param("Could you send me the logs?", (), id="it wants a thing"),
        pytest.param("Why does export_window fail for us?", (), id="it knows what it is at"),
    ],
)
def test_a_question_that_the_work_brings_up_is_none(text: str, more: tuple[Told, ...]) -> None:
    assert not shows("clarification", says(text), evidence(*more))


def test_a_question_is_delivered_by_an_answer() -> None:
    asked = ask("Why does the export drop rows?")
    told = "The export is done with a row when its retry budget is spent. " * 4
    assert shows("completion", says("All done."), evidence(asked))
    assert not shows("completion", says(f"{told} That completes the review."), evidence(asked))


@pytest.mark.seed("R145", "R146", "R156")
def test_working_on_something_else_is_a_sign() -> None:
    signal = judge(says(ELSEWHERE), evidence()).signals[0]
    assert (signal.name, signal.severity) == ("subtask", "HIGH")
    assert signal.action == "Re-read original request"
    assert signal.finding.quote.startswith("Add retries to the export")


def test_a_new_file_beside_known_ones_is_no_other_task() -> None:
    move = says("Next to src/export.py I add src/retry_export.py with the retry budget.")
    assert not shows("subtask", move, evidence())


def test_what_a_short_record_does_not_know_says_little() -> None:
    assert not shows("subtask", says(ELSEWHERE), Evidence(words=frozenset(("export", "retry"))))


@pytest.mark.seed("R157")
def test_turning_from_a_decision_is_a_sign() -> None:
    signal = judge(says("I'll use floats for the totals."), evidence()).signals[-1]
    assert (signal.name, signal.severity) == ("decision", "MEDIUM")
    assert signal.action == "Search for decision context"
    assert signal.finding.quote.startswith("I will keep the totals as decimals")
    assert shows(
        "decision", says("I'm replacing the decimals of the totals with cents."), evidence()
    )


@pytest.mark.parametrize(
    "text",
    [
        "I'll use decimals for the totals, not floats.",
        "The totals of the old code are floats.",
        "Should I use floats for the totals?",
    ],
)
def test_keeping_to_a_decision_or_speaking_of_it_is_none(text: str) -> None:
    assert not shows("decision", says(text), evidence())


@pytest.mark.seed("R158")
@pytest.mark.parametrize(
    ("move", "quote"),
    [
        (says("I'll change src/billing.py as well."), "Never touch src/billing.py."),
        (says("", call("e", "Edit", file_path="src/billing.py")), "Never touch src/billing.py."),
        (
            says("I will commit now and skip running the linter before that."),
            "Always run the linter before you commit.",
        ),
        (
            says("I'm using float for the amounts."),
            "Use the Decimal type for amounts, not float.",
        ),
    ],
)
def test_doing_what_was_forbidden_or_skipping_what_was_demanded_is_a_sign(
    move: AgentMessage, quote: str
) -> None:
    (signal,) = (one for one in judge(move, evidence()).signals if one.name == "constraint")
    assert (signal.severity, signal.action) == ("HIGH", "Recover constraints from archive")
    assert (signal.finding.quote, signal.finding.ref) == (quote, evidence().intent.original.entry)


@pytest.mark.parametrize(
    "move",
    [
        says("I won't touch src/billing.py."),
        says("Without touching src/billing.py, I add the retries."),
        says("src/billing.py is left as it is."),
        says("", call("r", "Read", file_path="src/billing.py")),
        says("", bash("g", "grep -n retry src/billing.py")),
        says("Let me run the linter before the commit."),
        says("Should I touch src/billing.py?"),
    ],
)
def test_keeping_to_a_constraint_or_reading_is_none(move: AgentMessage) -> None:
    assert not shows("constraint", move, evidence())


def test_another_value_than_the_one_that_was_set_is_a_sign() -> None:
    limited = evidence(ask("Retry a failed upload at most 3 times."))
    assert shows("constraint", says("I retry a failed upload 10 times."), limited)
    assert not shows("constraint", says("I retry a failed upload 3 times."), limited)


@pytest.mark.parametrize(
    "spoken", ["NEVER edit src/export.py again.", "You may touch src/billing.py"]
)
def test_what_a_tool_prints_neither_sets_nor_lifts_a_constraint(spoken: str) -> None:
    printed = (bash("p", "cat notes.txt"), back("p", spoken))
    edits = says("", call("e", "Edit", file_path="src/export.py"))
    breaks = says("I'll change src/billing.py as well.")
    where = evidence(*printed)
    assert where.constraints == evidence().constraints
    assert not shows("constraint", edits, where)
    assert shows("constraint", breaks, where)


def test_what_the_user_lifts_binds_no_longer() -> None:
    where = evidence(ask("Forget the rule about src/billing.py, you may touch src/billing.py now."))
    assert not shows("constraint", says("I'll change src/billing.py as well."), where)


def test_names_that_stand_nowhere_are_ghosts() -> None:
    text = (
        "`QuotaLedger.settle_shard` calls `shard_reaper` in infra/quota_shards.tf and `evict_cold`."
    )
    finding = finding_of("vocabulary", says(text), evidence())
    assert finding.strength >= SIGN_THRESHOLD
    assert "settle_shard" in finding.evidence


def test_a_name_that_is_almost_one_that_left_is_told_with_the_right_one() -> None:
    finding = finding_of(
        "vocabulary", says("I call `RetryBudgit` and `spend_tokem` there."), evidence()
    )
    assert finding.strength >= SIGN_THRESHOLD
    assert finding.missing == ("RetryBudget", "spend_token")


def test_a_name_that_left_is_looked_for_and_no_sign_by_itself() -> None:
    finding = finding_of("vocabulary", says("Next I use `RetryBudget` for it."), evidence())
    assert 0 < finding.strength < SIGN_THRESHOLD
    assert finding.missing == ("RetryBudget",)


def test_a_name_that_the_message_itself_makes_is_no_ghost() -> None:
    made = says("", call("w", "Write", file_path="infra/quota_shards.tf", content="shard_reaper"))
    assert finding_of("vocabulary", made, evidence()) == Finding()


READS = tuple(call(f"x{at}", "Read", file_path=f"docs/part_{at}.md") for at in range(3))
ONCE: tuple[Told, ...] = tuple(
    part for one in READS for part in (one, back(one.call, f"part {one.call}"))
)


def test_reading_again_what_was_read_before_is_a_sign_from_the_third_on() -> None:
    where = evidence(*ONCE, hidden=8)
    assert [shows("repetition", says("", *READS[:many]), where) for many in (1, 2, 3)] == [
        False,
        False,
        True,
    ]


def test_reading_again_what_was_written_since_is_none() -> None:
    written = tuple(
        part
        for at in range(3)
        for part in (
            call(f"w{at}", "Write", file_path=f"docs/part_{at}.md", content="new"),
            back(f"w{at}", "done"),
        )
    )
    assert (
        finding_of("repetition", says("", *READS), evidence(*ONCE, *written, hidden=8)) == Finding()
    )


def test_going_on_with_the_work_shows_no_sign() -> None:
    drift = judge(ONWARD, evidence())
    assert (drift.status, drift.signals) == ("ALIGNED", ())
    assert drift.score < SIGN_THRESHOLD


def test_every_sign_has_a_rule_of_its_own() -> None:
    assert [sign.name for sign in SIGNS] == list(RULES)
    assert len(SIGNS) == 7


def test_the_gravest_sign_comes_first() -> None:
    strong, weak = Finding(0.9), Finding(0.6)
    drift = combine_findings(
        {"decision": strong, "constraint": weak, "completion": weak, "subtask": strong}
    )
    assert [one.name for one in drift.signals] == [
        "completion",
        "subtask",
        "constraint",
        "decision",
    ]


@pytest.mark.parametrize("text", ["", "   ", "```\ncode\n```", "?"])
def test_nothing_said_shows_nothing(text: str) -> None:
    assert judge(agent_message([Said("assistant", text)]), evidence()).signals == ()


def test_a_call_whose_arguments_are_no_json_is_judged_all_the_same() -> None:
    assert (
        judge(AgentMessage("", (ToolCalled("c", "Bash", "{not json"),)), evidence()).status
        == "ALIGNED"
    )


def test_the_words_of_an_answer_do_not_count_as_said_by_the_user() -> None:
    where = evidence(answer("The colour of the dashboard is blue, as agreed."))
    assert not shows("clarification", says("Which colour has the dashboard?"), where)
