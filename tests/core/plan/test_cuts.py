import pytest
from msgspec.structs import replace

from holdfast.core.measure.models import UNKNOWN_MODEL, Model
from holdfast.core.observe.scene import read_scene
from holdfast.core.plan.cuts import EditContext, legal_cuts, may_change, tail_start
from tests.core.building import (
    BOUND,
    PLAIN,
    Told,
    answer,
    ask,
    back,
    bash,
    items,
    scene,
    standing,
    thought,
)

TURN = (ask("Go."), bash("a", "ls"), back("a", "x"), answer("Done."))


def ground(*messages: Told, model: Model = PLAIN) -> EditContext:
    return EditContext(scene(*messages), model)


def test_history_may_be_cut_between_messages_and_not_between_a_call_and_its_result() -> None:
    assert legal_cuts(ground(*TURN)) == [0, 1, 3, 4]


def test_an_empty_window_may_be_cut_where_it_begins() -> None:
    assert legal_cuts(ground()) == [0]


def test_parallel_calls_stay_with_all_their_results() -> None:
    calls = (bash("a", "one"), bash("b", "two"))
    assert legal_cuts(ground(ask("Go."), calls, back("b", "2"), back("a", "1"))) == [0, 1, 5]


def test_a_call_that_waits_for_its_result_stays_with_what_follows() -> None:
    assert legal_cuts(ground(ask("Go."), bash("a", "one"))) == [0, 1]


def test_a_call_that_the_agent_went_on_without_blocks_nothing() -> None:
    dead = (ask("Go."), bash("a", "one"), ask("Stop."), answer("Yes."), ask("And?"))
    assert legal_cuts(ground(*dead)) == [0, 1, 2, 3, 4, 5]


def test_parts_of_one_message_stay_together() -> None:
    assert legal_cuts(ground(ask("Go."), (thought("Hm."), answer("Yes.")), ask("And?"))) == [
        0,
        1,
        3,
        4,
    ]


def test_thinking_that_arrives_after_the_result_stays_with_the_calls_of_its_message() -> None:
    shown = items(ask("Go."), bash("a", "ls"), back("a", "x"), thought("Hm."), ask("And?"))
    late = shown[3].entry
    shown[3] = replace(shown[3], entry=replace(late, message=shown[1].entry.message))
    assert legal_cuts(EditContext(read_scene(shown), PLAIN)) == [0, 1, 4, 5]


def test_no_cut_leaves_a_result_first_also_where_it_came_before_its_call() -> None:
    mixed = (ask("Go."), back("a", "x"), bash("a", "ls"), ask("And?"), answer("Done."))
    assert legal_cuts(ground(*mixed)) == [0, 2, 3, 4, 5]


def test_sealed_thinking_stays_with_the_whole_loop_it_is_part_of() -> None:
    loop = (
        ask("Go."),
        (thought("Hm.", "S"), bash("a", "ls")),
        back("a", "x"),
        bash("b", "pwd"),
        back("b", "y"),
        answer("Done."),
        ask("And?"),
    )
    assert legal_cuts(ground(*loop)) == [0, 1, 7, 8]
    unsealed = (loop[0], (thought("Hm."), bash("a", "ls")), *loop[2:])
    assert legal_cuts(ground(*unsealed)) == [0, 1, 4, 6, 7, 8]


def test_every_part_of_an_ordinary_window_may_change() -> None:
    assert may_change(ground(*TURN)) == [True] * 4


@pytest.mark.parametrize("model", [BOUND, UNKNOWN_MODEL, replace(PLAIN, known=False)])
def test_what_stands_before_thinking_that_is_bound_may_not_change(model: Model) -> None:
    shown = (
        ask("Go."),
        bash("a", "ls"),
        back("a", "x"),
        (thought("Hm.", "S"), bash("b", "pwd")),
        back("b", "y"),
    )
    assert may_change(ground(*shown, model=model)) == [False] * 4 + [True, True]
    assert may_change(ground(*shown)) == [True] * 6


def test_thinking_that_nobody_sealed_binds_nothing() -> None:
    shown = (*TURN[:3], (thought("Hm."), answer("Done.")))
    assert may_change(ground(*shown, model=BOUND)) == [True] * 5


@pytest.mark.parametrize("name", ["srvtoolu_01", "mcptoolu_01"])
def test_what_the_provider_itself_ran_may_not_change(name: str) -> None:
    assert may_change(ground(ask("Go."), bash(name, "ls"), back(name, "x"))) == [
        True,
        False,
        False,
    ]


def test_a_stand_in_may_not_change_again() -> None:
    shown = items(*TURN)
    shown[2] = standing(shown[2], back("a", "[holdfast 0123] gone"))
    assert may_change(EditContext(read_scene(shown), PLAIN)) == [True, True, False, True]


def test_a_call_without_a_result_and_a_result_without_a_call_are_left_alone() -> None:
    shown = (back("z", "lost"), bash("a", "ls"), ask("Stop."), answer("Yes."))
    assert may_change(ground(*shown)) == [False, False, True, True]


STEPS = tuple(
    message for name in "abcd" for message in (bash(name, "ls"), back(name, "one two three"))
)
TOKENS = [2, 3] * 4


@pytest.mark.parametrize(
    ("share", "steps", "start"),
    [
        (0, 0, 8),
        (0, 1, 6),
        (0, 2, 4),
        (5, 1, 6),
        (10, 1, 4),
        (12, 1, 4),
        (15, 1, 2),
        (99, 1, 0),
        (0, 9, 0),
        (4, 0, 6),
    ],
)
def test_the_tail_is_so_many_steps_or_tokens_whichever_is_more(
    share: int, steps: int, start: int
) -> None:
    assert tail_start(ground(*STEPS), TOKENS, max_tokens=share, min_steps=steps) == start


def test_the_tail_parts_no_call_from_its_result() -> None:
    calls = (bash("a", "one"), bash("b", "two"))
    shown = (ask("Go."), calls, back("a", "1"), back("b", "2"), answer("Done."))
    assert tail_start(ground(*shown), [1] * 6, max_tokens=2, min_steps=0) == 1
