from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Said
from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.results.findings import findings_of
from holdfast.core.observe.scene import Scene
from tests.core.building import answer, ask, back, bash, named, scene, thought

CAUSE = "The root cause is that `read_token` never checks the expiry."
REPORT = "The expiry is checked in `read_token` now."


def found(shown: Scene) -> tuple[Quote, ...]:
    return findings_of(shown, {item.entry.id for item in shown.items})


def test_what_was_found_on_the_way_and_what_a_turn_came_to_are_told_in_order() -> None:
    shown = scene(
        ask("Why does the login fail?"),
        answer(f"Let me look at the reader. {CAUSE}"),
        bash("a", "pytest"),
        back("a", "5 passed in 1.0s"),
        answer(f"{REPORT} Tests pass. I also kept the old name as an alias."),
    )
    assert found(shown) == (
        Quote(CAUSE, named(2)),
        Quote(REPORT, named(5)),
        Quote("I also kept the old name as an alias.", named(5)),
    )


def test_of_long_last_words_the_beginning_the_end_and_what_was_found_are_told() -> None:
    told = [f"Part {number} of the report was written anew." for number in range(6)]
    shown = scene(ask("Go"), answer(" ".join([*told[:4], CAUSE, *told[4:]])))
    assert [quote.text for quote in found(shown)] == [told[0], told[1], CAUSE, told[5]]


def test_words_before_a_call_are_no_report() -> None:
    shown = scene(ask("Go"), answer(REPORT), bash("a", "pytest"), back("a", "ok"))
    assert found(shown) == ()


def test_a_report_that_is_a_list_is_told_by_its_first_items() -> None:
    items = [f"`src/part_{number}.py` now reads its own settings" for number in range(6)]
    text = "I've changed how settings are read:\n" + "\n".join(f"- {one}" for one in items)
    shown = scene(ask("Go"), answer(text))
    assert [quote.text for quote in found(shown)] == [text.partition("\n")[0], *items[:3]]


def test_what_a_program_says_in_the_users_place_ends_no_turn() -> None:
    shown = scene(
        ask("Go"),
        answer(REPORT),
        ask("<returncode>0</returncode>\n<output>ok</output>"),
        answer(f"THOUGHT: {CAUSE}"),
        ask("<returncode>0</returncode>\n<output>ok</output>"),
        answer("The fix holds for both kinds of tokens."),
    )
    assert [quote.text for quote in found(shown)] == [
        CAUSE,
        "The fix holds for both kinds of tokens.",
    ]


def test_a_sentence_that_points_back_is_told_only_for_what_it_found() -> None:
    told = (
        "It is so much cleaner when it is read once. This means both callers can go."
        " Both of the callers were removed as well."
    )
    assert [quote.text for quote in found(scene(ask("Go"), answer(told)))] == [
        "This means both callers can go.",
        "Both of the callers were removed as well.",
    ]


def test_only_the_agent_finds_out() -> None:
    shown = scene(
        ask(CAUSE),
        thought(CAUSE),
        bash("a", "cat notes"),
        back("a", CAUSE),
        Said("assistant", CAUSE, by="holdfast"),
    )
    assert found(shown) == ()


def test_what_is_said_twice_is_told_where_it_was_first_said() -> None:
    shown = scene(ask("Go"), answer(REPORT), ask("And?"), answer(REPORT))
    assert found(shown) == (Quote(REPORT, named(2)),)


def test_only_what_is_asked_about_is_looked_at() -> None:
    shown = scene(ask("Go"), answer(REPORT), ask("And?"), answer(CAUSE))
    assert findings_of(shown, {named(4)}) == (Quote(CAUSE, named(4)),)


@given(st.text())
def test_a_finding_stands_in_what_the_agent_said(text: str) -> None:
    said = f"{text}\n\n{CAUSE}"
    assert all(quote.text in said for quote in found(scene(ask("Go"), answer(said))))
