"""A lazy pattern gives what `re` gives; a cue finds what its pattern finds."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.observe.requests import constraints
from holdfast.core.observe.results import decisions
from holdfast.text.patterns import Cue, Pattern, cue

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
    text = data.draw(st.from_regex(CUES[name].pattern.compiled, alphabet=ASCII))
    assert CUES[name].search(text) is not None


def test_a_pattern_is_not_tried_where_none_of_its_words_stands() -> None:
    found = cue("one|two", r"\b(?:one|two|three)\b")
    assert found.search("it takes two") is not None
    assert found.search("it takes three") is None


PATTERNS = [(r"a|b", 0), (r"(a)(b)?", 0), (r"^\s*", re.MULTILINE), (r"(?i)[A-C]+", 0), (r"", 0)]
CALLS: dict[str, tuple[Any, ...]] = {
    "findall": (),
    "split": (),
    "sub": ("-",),
    "search": (),
    "match": (),
    "fullmatch": (),
    "finditer": (),
}


def plain(result: Any) -> Any:
    """A result of `re` in a form that can be compared."""
    if hasattr(result, "span"):
        return result.span(), result.groups()
    if hasattr(result, "__next__"):
        return [plain(match) for match in result]
    return result


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("source", "flags"), PATTERNS)
@given(text=st.text("abAB \n", max_size=12))
def test_a_lazy_pattern_gives_what_re_gives(name: str, source: str, flags: int, text: str) -> None:
    expected = getattr(re.compile(source, flags), name)(*CALLS[name], text)
    assert plain(getattr(Pattern(source, flags), name)(*CALLS[name], text)) == plain(expected)


def test_a_lazy_pattern_over_bytes_gives_what_re_gives() -> None:
    assert Pattern(rb"\d+").findall(b"1 and 22") == [b"1", b"22"]


def test_a_pattern_is_not_compiled_before_it_is_used() -> None:
    wrong = Pattern("(")
    assert wrong.pattern == "("
    with pytest.raises(re.error):
        wrong.search("text")


def test_a_pattern_is_compiled_once() -> None:
    shape = Pattern("a")
    assert shape.compiled is shape.compiled
    assert shape.search is shape.search


def test_the_flags_of_a_pattern_are_those_that_re_reads() -> None:
    assert Pattern("(?i)a", re.DOTALL).flags == re.compile("(?i)a", re.DOTALL).flags
