import pytest

from holdfast.core.ledger.chain import derived_id, meaning, source_id
from holdfast.core.ledger.entry import (
    Attached,
    Media,
    Noted,
    Opaque,
    Said,
    Source,
    ToolCalled,
    ToolReturned,
)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Said("user", "hi"), Said("user", " hi\n")),
        (Said("user", "hi"), Said("user", "hi", "host")),
        (ToolCalled("c", "f", '{"a":1,"b":2}'), ToolCalled("c", "f", '{ "b":2, "a":1 }')),
        (ToolCalled("c", "f", "free text"), ToolCalled("c", "f", " free text ")),
        (
            Opaque("user", "odd", '{"a":[{"b":1,"cache_control":2}]}'),
            Opaque("user", "odd", '{"cache_control":9,"a":[{"b":1}]}'),
        ),
        (Opaque("", "line", " not JSON"), Opaque("", "line", "not JSON\n")),
        (
            ToolReturned("c", "out", media=(Media("image", digest="d", size=1),)),
            ToolReturned("c", "out ", media=(Media("image", digest="d", size=2),)),
        ),
    ],
)
def test_bodies_that_say_the_same_mean_the_same(one: Source, two: Source) -> None:
    assert meaning(one) == meaning(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Said("user", "ab"), Said("userab", "")),
        (ToolCalled("c", "f", '{"n":1}'), ToolCalled("c", "f", '{"n":1.0}')),
        (ToolCalled("c", "f", "{}"), ToolCalled("c", "f", '{"cache_control":1}')),
        (ToolReturned("c", "out"), ToolReturned("c", "out", failed=True)),
        (Attached("user", Media("image")), Attached("user", Media("document"))),
        (Opaque("user", "odd", "[1]"), Opaque("user", "odd", "[2]")),
    ],
)
def test_bodies_that_say_different_things_mean_different_things(one: Source, two: Source) -> None:
    assert meaning(one) != meaning(two)


def test_a_name_is_thirty_two_hex_digits_of_what_came_before_and_what_is_said() -> None:
    first = source_id(None, meaning(Said("user", "hi")))
    second = source_id(first, meaning(Said("user", "hi")))
    assert (len(first), int(first, 16) >= 0, first == second) == (32, True, False)
    assert source_id(None, meaning(Said("user", "hi"))) == first


def test_the_first_entry_of_each_lane_has_a_name_of_its_own() -> None:
    meant = meaning(Said("user", "hi"))
    assert (
        len(
            {
                source_id(None, meant),
                source_id(None, meant, lane="a"),
                source_id(None, meant, lane="b"),
            }
        )
        == 3
    )


def test_a_derived_entry_is_named_by_what_it_is_about_when_and_what_it_says() -> None:
    parent = "a" * 32
    names = {
        derived_id(parent, 1, Noted("x")),
        derived_id(parent, 2, Noted("x")),
        derived_id(None, 1, Noted("x")),
        derived_id(parent, 1, Noted("y")),
    }
    assert len(names) == 4
