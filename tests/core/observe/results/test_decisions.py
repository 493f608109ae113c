import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Said
from holdfast.core.ledger.summary import Decision
from holdfast.core.observe.results.choices import (
    MAX_CHOICE_CHARS,
    not_overruled,
    overruled_decisions,
)
from holdfast.core.observe.results.decisions import decisions_of
from tests.core.building import Told, answer, ask, back, bash, call, named, scene, thought


def said(text: str) -> list[tuple[str, str]]:
    """What the agent decides with a text: choices and reasons."""
    found = decisions_of(scene(ask("Build it"), answer(text)))
    assert all((row.entry, row.by) == (named(2), "agent") for row in found)
    return [(row.choice, row.reason) for row in found]


def wished(text: str) -> list[tuple[str, str]]:
    """What the user decides with a text that is not the first."""
    found = decisions_of(scene(ask("Build it"), answer("Fine."), ask(text)))
    assert all((row.entry, row.by) == (named(3), "user") for row in found)
    return [(row.choice, row.reason) for row in found]


def test_every_item_under_a_heading_of_decisions_is_one() -> None:
    text = "## Key Decisions\n- RS256 keys\n- 24 hours\n\nThat is all.\n\n- another list"
    assert said(text) == [("RS256 keys", ""), ("24 hours", "")]


def test_in_a_request_that_opens_or_is_long_only_plain_choices_count() -> None:
    orders = "Use bun.\n\nLet's use JWT."
    assert [row.choice for row in decisions_of(scene(ask(orders)))] == ["Let's use JWT."]
    filler = "Look at the file of names. " * 100
    assert wished(f"{filler}\n\n{orders}") == [("Let's use JWT.", "")]
    assert wished(orders) == [("Use bun.", ""), ("Let's use JWT.", "")]


def test_what_tools_print_and_programs_say_decides_nothing() -> None:
    text = "I decided to use Redis because it is fast."
    printed = (bash("c", "cat notes.md"), back("c", text))
    shown = scene(ask("Go"), *printed, Said("user", text, "host"), Said("user", text, "summary"))
    assert decisions_of(shown) == ()


@pytest.mark.seed("R247")
def test_the_answer_to_a_question_is_the_users_decision() -> None:
    asked = call(
        "q",
        "AskUserQuestion",
        questions=[
            {"question": "Which store?", "header": "Store"},
            {"question": "More about it?", "header": "More"},
            {"question": "How long?", "header": "Time"},
        ],
    )
    told = back(
        "q",
        'User has answered your questions: "Which store?"="SQLite", "More about it?"="Next area",'
        ' "How long?"="One day". You can now continue.',
    )
    assert decisions_of(scene(ask("Go"), asked, told)) == (
        Decision("Which store? SQLite", named(3), by="user"),
        Decision("How long? One day", named(3), by="user"),
    )


def answered(arguments: dict[str, object], output: str, *, failed: bool = False) -> list[str]:
    """The decisions that one question and its answer make."""
    shown = scene(ask("Go"), call("q", "question", **arguments), back("q", output, failed=failed))
    return [row.choice for row in decisions_of(shown)]


def test_an_answer_is_read_in_whatever_form_it_comes() -> None:
    one: dict[str, object] = {"question": "Which store?"}
    several: dict[str, object] = {"questions": [{"id": "a", "question": "Which store?"}]}
    assert answered(one, "SQLite\n") == ["Which store? SQLite"]
    assert answered(several, '{"answers":{"a":{"answers":["SQLite","WAL"]}}}') == [
        "Which store? SQLite, WAL"
    ]
    assert answered(several, '{"answers":{"a":"SQLite"}}') == ["Which store? SQLite"]
    assert answered(one, '"Which store?"="SQLite"') == ["Which store? SQLite"]
    long: dict[str, object] = {"question": "Which store? " * 20, "header": "Store"}
    assert answered(long, "SQLite") == ["Store: SQLite"]


def test_a_question_that_was_refused_or_not_answered_decides_nothing() -> None:
    one: dict[str, object] = {"question": "Which store?"}
    assert answered(one, "SQLite", failed=True) == []
    assert answered(one, "The user doesn't want to proceed with this tool use.") == []
    assert answered(one, "word " * 100) == []
    assert (
        answered({"questions": [{"id": "a", "question": "Which?"}]}, '{"answers":{"b":"x"}}') == []
    )


def test_what_the_user_said_when_refusing_a_plan_is_the_users_decision() -> None:
    plan = call("p", "ExitPlanMode", plan="# Plan: Ship it\n\nAll of it.")
    refusal = "The user doesn't want to proceed. The user said:\n"
    refused = back(
        "p", f"{refusal.replace('The user said', 'To tell you, the user said')}Let's use npm."
    )
    assert decisions_of(scene(ask("Go"), plan, refused)) == (
        Decision("Let's use npm.", named(3), by="user"),
    )


def test_a_plan_that_the_user_approved_is_decided() -> None:
    plan = call("p", "ExitPlanMode", plan="# Plan: Ship it\n\nAll of it.")
    approved = back("p", "User has approved your plan. You can now start coding.")
    assert decisions_of(scene(ask("Go"), plan, approved)) == (
        Decision("Plan: Ship it", named(3), by="user"),
    )
    assert decisions_of(scene(ask("Go"), plan, back("p", "Still waiting."))) == ()


def test_what_the_agent_only_thinks_decides_nothing() -> None:
    chosen = "I'm going with a lock because of races."
    assert decisions_of(scene(ask("Go"), (thought(chosen), bash("c", "ls")))) == ()


def test_the_next_move_decides_nothing() -> None:
    assert said("Let me fix those.") == []
    assert said("Now let me queue them instead of appending.") == []
    assert said("First, I'll add the lock because the tests need it.") == []


def test_a_choice_may_follow_a_word_of_consent() -> None:
    (row,) = wished("OK. And go with route-level middleware")
    assert row == ("And go with route-level middleware", "")


@pytest.mark.seed("R356")
def test_a_decision_names_the_one_that_it_takes_the_place_of() -> None:
    shown = scene(
        ask("Go"),
        answer("I'll use Redis for caching because it is fast."),
        ask("Let's use Memcached instead of Redis."),
        answer("I've decided to log in plain text."),
        answer("We switched from Memcached to Valkey because of its licence."),
    )
    assert [(row.entry, row.overrules) for row in decisions_of(shown)] == [
        (named(2), ""),
        (named(3), named(2)),
        (named(4), ""),
        (named(5), named(3)),
    ]


def test_a_change_of_mind_overrules_what_was_decided_on_the_same_thing() -> None:
    shown = scene(
        ask("Go"),
        ask("let's use tabs for indentation"),
        ask("Actually, let's use spaces for indentation"),
    )
    assert [row.overrules for row in decisions_of(shown)] == ["", named(2)]
    beside = scene(
        ask("Go"),
        ask("let's use tabs for indentation"),
        ask("I would prefer the indentation is actually tested"),
    )
    assert [row.overrules for row in decisions_of(beside)] == ["", ""]
    again = scene(ask("Go"), ask("let's use tabs"), ask("Actually, we'll use tabs"))
    assert [row.overrules for row in decisions_of(again)] == ["", ""]


def test_to_switch_a_thing_overrules_what_was_decided_on_that_thing_alone() -> None:
    shown = scene(
        ask("Go"),
        ask("let's use tabs for the nightly export"),
        ask("let's use plain mail for push reports"),
        ask("Switch the nightly export to push"),
    )
    assert [row.overrules for row in decisions_of(shown)] == ["", "", named(2)]


@pytest.mark.parametrize(
    "text",
    [
        "actually, use HALF_EVEN, not HALF_UP \u2014 finance confirmed it for their bookings.",
        "Use HALF_EVEN, not HALF_UP.",
    ],
)
def test_what_the_user_turns_down_beside_what_is_wanted_is_overruled(text: str) -> None:
    made = "Decision: rounding gets a module. I keep HALF_UP there for now, so that it is small."
    found = decisions_of(scene(ask("Build it"), answer(made), ask(text)))
    assert [(row.by, row.overrules) for row in found] == [
        ("agent", ""),
        ("agent", ""),
        ("user", named(2)),
    ]
    assert [row.choice for row in not_overruled(found)] == [found[0].choice, found[2].choice]


def test_where_it_is_not_told_which_of_several_is_overruled_all_of_them_are() -> None:
    rows = [
        Decision("Use A", "e1"),
        Decision("Use B", "e1"),
        Decision("Use C", "e2", "", "user", "e1"),
    ]
    assert not_overruled(rows) == (rows[2],)
    assert overruled_decisions(rows) == {0: 2, 1: 2}


def test_of_several_answers_the_one_to_the_same_question_is_overruled() -> None:
    rows = [
        Decision("Which color? Red", "e1", by="user"),
        Decision("Which size? Large", "e1", by="user"),
        Decision("Which color? Blue", "e2", by="user", overrules="e1"),
    ]
    assert not_overruled(rows) == (rows[1], rows[2])


def test_the_newer_answer_to_a_question_overrules_the_older() -> None:
    def asked(name: str, told: str) -> tuple[Told, Told]:
        return call(name, "question", question="Which store?"), back(name, told)

    shown = scene(ask("Go"), *asked("a", "SQLite"), *asked("b", "Postgres"))
    assert [(row.choice, row.overrules) for row in decisions_of(shown)] == [
        ("Which store? SQLite", ""),
        ("Which store? Postgres", named(3)),
    ]


def test_a_decision_told_twice_is_one() -> None:
    text = "I decided to use Redis."
    shown = scene(ask("Go"), answer(text), answer(text.replace("Redis", "  REDIS")), answer(text))
    assert [row.entry for row in decisions_of(shown)] == [named(2)]


def test_a_long_choice_ends_at_a_word() -> None:
    (row,) = said("I decided to use " + "word " * 80)
    assert row[0].endswith("word") and len(row[0]) <= MAX_CHOICE_CHARS
    (row,) = said("I decided to " + "x" * 400)
    assert len(row[0]) <= MAX_CHOICE_CHARS


WORDS = st.lists(
    st.sampled_from(
        [
            "I'll use",
            "we decided to",
            "Redis",
            "because",
            "instead of",
            "since",
            "it",
            "is",
            ",",
            ".",
            "\n",
        ]
    )
).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), WORDS), max_size=6))
def test_choices_and_reasons_stand_in_the_entry_they_name(told: list[tuple[str, str]]) -> None:
    shown = scene(*(Said(role, text) for role, text in told))
    texts = {item.entry.id: told[at][1] for at, item in enumerate(shown.items)}
    found = decisions_of(shown)
    assert found == decisions_of(shown)
    for row in found:
        assert row.choice in texts[row.entry] and row.reason in texts[row.entry]
        assert len(row.choice) <= MAX_CHOICE_CHARS and len(row.reason) <= MAX_CHOICE_CHARS
        assert row.overrules in {"", *(other.entry for other in found)}
