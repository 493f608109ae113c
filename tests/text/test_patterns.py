"""A cue finds what its pattern finds: the words by which it is found sooner leave nothing out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.observe.requests import constraints
from holdfast.core.observe.results import decisions
from holdfast.text.patterns import Cue, cue

CUES = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (constraints, decisions)
    for name, value in vars(module).items()
    if isinstance(value, Cue)
}
ASCII = st.characters(codec="ascii", exclude_characters="\x00")


def test_there_are_cues_to_look_at() -> None:
    assert len(CUES) > 15


@pytest.mark.parametrize("name", CUES)
@given(data=st.data())
def test_whatever_the_pattern_of_a_cue_finds_holds_one_of_its_words(
    name: str, data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(CUES[name].pattern, alphabet=ASCII))
    assert CUES[name].search(text) is not None


def test_a_pattern_is_not_tried_where_none_of_its_words_stands() -> None:
    found = cue("one|two", r"\b(?:one|two|three)\b")
    assert found.search("it takes two") is not None
    assert found.search("it takes three") is None
