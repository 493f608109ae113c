from holdfast.core.ledger.entry import Said
from holdfast.core.observe.closing import closing_texts
from tests.core.building import answer, ask, back, bash, scene, thought


def test_words_before_a_call_end_no_turn() -> None:
    run = (bash("a", "pytest"), back("a", "ok"))
    assert closing_texts(scene(ask("Go"), answer("I look."), *run)) == []
    assert closing_texts(scene(ask("Go"), answer("I look."), *run, answer("It holds."))) == [4]


def test_a_turn_ends_where_the_user_speaks() -> None:
    run = (bash("a", "pytest"), back("a", "ok"))
    shown = scene(ask("Go"), answer("It holds."), ask("Sure?"), thought("Hm."), *run)
    assert closing_texts(shown) == [1]


def test_what_a_program_says_in_the_users_place_ends_no_turn() -> None:
    shown = scene(
        ask("Go"),
        answer("I look."),
        ask("<returncode>0</returncode>\n<output>ok</output>"),
        answer("It holds."),
        Said("user", "noise", "host"),
    )
    assert closing_texts(shown) == [3]
