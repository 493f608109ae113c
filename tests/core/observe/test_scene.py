from holdfast.core.ledger.entry import Said
from holdfast.core.observe.scene import Pair, Scene, final_answers, read_scene
from tests.core.building import answer, ask, back, bash, items, scene, thought


def test_a_window_is_read_as_steps_turns_and_calls() -> None:
    first, second = bash("a", "ls"), bash("b", "pwd")
    shown = items(
        ask("Look."),
        (thought("Hm."), first, second),
        back("a", "x"),
        back("b", "y"),
        answer("Done."),
        ask("And now?"),
        answer("Nothing."),
    )
    one, two = Pair(2, first, 4, 1), Pair(3, second, 5, 1)
    assert read_scene(shown) == Scene(
        items=tuple(shown),
        steps=(0, 1, 1, 1, 1, 1, 2, 2, 3),
        turns=(1, 1, 1, 1, 1, 1, 1, 2, 2),
        pairs=(one, two),
        by_result={4: one, 5: two},
        by_call={2: one, 3: two},
    )


def test_nothing_in_sight_is_no_step() -> None:
    empty = Scene((), (), (), (), {}, {})
    assert (read_scene([]), empty.step_count, final_answers(empty)) == (empty, 0, {})


def test_a_result_belongs_to_the_newest_call_of_its_id_that_waits_for_one() -> None:
    shown = scene(bash("a", "one"), back("a", "1"), bash("a", "two"), back("a", "2"))
    assert [(pair.call, pair.result) for pair in shown.pairs] == [(0, 1), (2, 3)]


def test_a_second_result_of_one_call_belongs_to_none() -> None:
    shown = scene(bash("a", "one"), back("a", "1"), back("a", "again"))
    assert (list(shown.by_result), shown.pairs[0].result) == ([1], 1)


def test_of_two_open_calls_with_one_id_the_newer_is_answered_first() -> None:
    shown = scene(bash("a", "one"), bash("a", "two"), back("a", "2"), back("a", "1"))
    assert [(pair.call, pair.result) for pair in shown.pairs] == [(0, 3), (1, 2)]


def test_a_result_without_a_call_and_a_call_without_a_result_stay_alone() -> None:
    shown = scene(back("z", "lost"), bash("a", "ls"))
    assert (shown.by_result, shown.by_call) == ({}, {1: Pair(1, bash("a", "ls"), None, 1)})


def test_words_that_the_host_put_in_begin_no_turn() -> None:
    assert scene(ask("Go."), Said("user", "<reminder>", by="host"), answer("Yes.")).turns == (
        1,
        1,
        1,
    )


def test_a_finished_turn_has_the_text_it_ended_with() -> None:
    shown = scene(
        ask("One."),
        answer("Let me look."),
        bash("a", "ls"),
        back("a", "x"),
        answer("It is x."),
        ask("Two."),
        answer("Under way."),
    )
    assert final_answers(shown) == {1: 4}


def test_a_turn_that_ended_with_a_call_has_no_answer() -> None:
    shown = scene(ask("One."), answer("Let me look."), bash("a", "ls"), back("a", "x"), ask("Two."))
    assert final_answers(shown) == {}


def test_what_was_said_before_the_first_request_answers_nothing() -> None:
    assert final_answers(scene(answer("Hello."), ask("One."), answer("Yes."))) == {}
