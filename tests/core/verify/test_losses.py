import pytest

from holdfast.core.ledger.entry import Source, ToolCalled
from holdfast.core.ledger.window import Item
from holdfast.core.verify.losses import losses
from tests.core.building import answer, ask, back, bash, items, standing, thought

BEFORE = items(
    ask("Go."),
    (thought("one", "S1"), bash("a", "ls")),
    back("a", "x"),
    (thought("two", "S2"), thought("three"), answer("Done.")),
)


def lost(after: list[Item], *, saved: int = 1) -> list[str]:
    return list(losses(BEFORE, after, saved=saved))


def with_body(at: int, body: Source) -> list[Item]:
    return [standing(item, body) if number == at else item for number, item in enumerate(BEFORE)]


def without(*places: int) -> list[Item]:
    return [item for at, item in enumerate(BEFORE) if at not in places]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(BEFORE, id="the same"),
        pytest.param(with_body(3, back("a", "[holdfast 0123] gone")), id="a shorter result"),
        pytest.param(with_body(2, bash("a", "[holdfast] gone")), id="shorter arguments"),
        pytest.param(without(1), id="the first seal gone"),
        pytest.param(without(1, 4), id="all seals gone"),
        pytest.param(without(5), id="unsealed thinking gone"),
    ],
)
def test_what_keeps_its_promises_loses_nothing(after: list[Item]) -> None:
    assert lost(after) == []


@pytest.mark.seed("R229")
@pytest.mark.parametrize(
    ("after", "complaint"),
    [
        (without(2), "the calls in sight would not be the same"),
        (without(3), "the results in sight would not be the same"),
        (without(0), "words that were said would change"),
        (with_body(0, ask("Gone.")), "words that were said would change"),
        (with_body(6, answer("So.")), "words that were said would change"),
        (without(4), "sealed thinking would change in the middle"),
        (with_body(4, thought("other", "S2")), "sealed thinking would change in the middle"),
        (
            with_body(2, ToolCalled("a", "Bash", "{}")),
            "the arguments of call a would lose their shape",
        ),
        (
            with_body(2, ToolCalled("a", "Bash", "gone")),
            "the arguments of call a would lose their shape",
        ),
    ],
)
def test_a_promise_that_would_be_broken_is_told(after: list[Item], complaint: str) -> None:
    assert lost(after) == [complaint]


@pytest.mark.parametrize("saved", [0, -1])
def test_a_window_that_would_not_be_smaller_is_a_loss(saved: int) -> None:
    assert lost(BEFORE, saved=saved) == ["the window would not be smaller"]


@pytest.mark.parametrize("ours", [True, False])
def test_nothing_stands_in_for_a_stand_in(ours: bool) -> None:
    text = back("a", "[holdfast 0123456789ab] gone")
    call_, result = items(bash("a", "ls"), text)
    before = [call_, standing(result, text) if ours else result]
    after = [call_, standing(result, back("a", "less"))]
    assert losses(before, after, saved=1) == ("a stand-in for 000000000002 would be stood in for",)
    assert losses(before, before, saved=1) == ()


@pytest.mark.parametrize(
    ("was", "now", "kept"),
    [
        ('{"n": NaN, "text": "long"}', '{"n": NaN, "text": "x"}', True),
        ('["long"]', '["x"]', True),
        ('["long"]', '{"a": "x"}', False),
        ("no JSON", "none either", True),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', False),
    ],
)
def test_arguments_keep_their_shape_however_odd_it_is(was: str, now: str, kept: bool) -> None:
    before = items(ToolCalled("a", "Bash", was))
    after = [standing(before[0], ToolCalled("a", "Bash", now))]
    complaint = "the arguments of call a would lose their shape"
    assert losses(before, after, saved=1) == (() if kept else (complaint,))


def test_every_broken_promise_is_told() -> None:
    assert lost([], saved=0) == [
        "the calls in sight would not be the same",
        "words that were said would change",
        "the window would not be smaller",
    ]
