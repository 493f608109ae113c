import pytest

from holdfast.core.observe.worth import NeedEstimator, names_by_entry, shape_odds
from holdfast.text.words import name_parts
from tests.core.building import Told, answer, ask, back, bash, scene


def likely(*messages: Told) -> NeedEstimator:
    shown = scene(*messages)
    return NeedEstimator(shown, names_by_entry(shown.items, {}))


def test_what_the_agent_wrote_is_likelier_than_what_it_only_saw() -> None:
    weigh = likely(
        ask("Go."),
        bash("a", "ls"),
        back("a", "src/alpha_store.py src/gamma_index.py"),
        answer("I look at src/alpha_store.py."),
    )
    assert weigh("src/alpha_store.py") > weigh("src/gamma_index.py")


def test_what_was_seen_long_ago_is_less_likely_than_what_was_seen_now() -> None:
    steps: list[Told] = [ask("Go."), bash("a", "ls"), back("a", "old_handler_name")]
    for number in range(8):
        steps += [bash(f"c{number}", "ls"), back(f"c{number}", "nothing")]
    weigh = likely(*steps, bash("z", "ls"), back("z", "new_widget_title"))
    assert weigh("new_widget_title") > weigh("old_handler_name")


def test_a_name_made_of_the_agents_words_is_likelier() -> None:
    weigh = likely(
        ask("Go."),
        answer("The ledger store is wrong."),
        bash("a", "ls"),
        back("a", "ledger_store_path zebra_quilt_path"),
    )
    assert weigh("ledger_store_path") > weigh("zebra_quilt_path")


def test_a_name_that_nobody_knows_has_some_weight() -> None:
    assert likely(ask("Go."), answer("Yes."))("src/never_seen.py") > 0


@pytest.mark.parametrize(
    ("better", "worse"), [("src/a.py", "some-words"), ("48213", "482"), ("max_size", "some-words")]
)
def test_the_look_of_a_name_speaks_for_it(better: str, worse: str) -> None:
    assert shape_odds(better) > shape_odds(worse)


def test_a_name_is_taken_apart_into_words() -> None:
    assert name_parts("HTTPServer.readAll_lines2x") == {"http", "server", "read", "all", "lines"}


def test_the_same_window_weighs_the_same() -> None:
    told = (ask("Go."), bash("a", "ls"), back("a", "a_b c_d"), answer("a_b"))
    assert likely(*told)("a_b") == likely(*told)("a_b")
