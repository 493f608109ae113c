"""A JSON file is changed where it has to be and nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import Unreadable
from holdfast.surfaces.install import jsonc
from holdfast.surfaces.install.plan import edit_bytes

COMMENTED = """{
  // mine
  "a": 1, /* x */
  "hooks": {"X": [1, 2,],},
}
"""
TEXTS = [
    COMMENTED,
    '{"a":{"b":1}}',
    '{\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}\r\n',
    '{\n    "a": {},\n    "b": []\n}',
    '\ufeff{ "a" : "// no comment", "b":"}" }  \n',
    '{"a": 1 // last\n}',
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("path", [("mine",), ("mine", "deeper", "x@y"), ("a2", "b2")])
def test_what_is_put_in_comes_out_again_and_the_bytes_are_as_before(
    text: str, path: tuple[str, ...]
) -> None:
    made = jsonc.with_member(text, path, {"k": [1, True, None]})
    assert jsonc.value_at(made, path) == {"k": [1, True, None]}
    assert jsonc.with_member(made, path, {"k": [1, True, None]}) == made
    assert jsonc.without_member(made, path) == text


@pytest.mark.parametrize("text", TEXTS)
def test_comments_and_what_others_wrote_are_all_still_there(text: str) -> None:
    made = jsonc.with_member(text, ("mine",), 1)
    rest = iter(made)
    assert all(char in rest for char in text)


def test_a_list_gets_our_item_last_and_loses_only_that() -> None:
    made = jsonc.with_item(COMMENTED, ("hooks", "X"), {"k": 1})
    assert jsonc.value_at(made, ("hooks", "X")) == [1, 2, {"k": 1}]
    assert jsonc.with_item(made, ("hooks", "X"), {"k": 1}) == made
    assert jsonc.without_items(made, ("hooks", "X"), lambda one: one == {"k": 1}) == COMMENTED


@pytest.mark.parametrize("text", ["", "\n", "{}", "{\n}\n"])
def test_an_empty_file_becomes_one_object(text: str) -> None:
    made = jsonc.with_member(text, ("a", "b"), True)
    assert json.loads(made) == {"a": {"b": True}}


@pytest.mark.parametrize(
    "text", ["{", "[1", '{"a" 1}', '{"a": nope}', "{} {}", '{"a": 1,, }', "null x", "{'a': 1}"]
)
def test_what_is_no_json_is_refused_with_where(text: str) -> None:
    with pytest.raises(Unreadable, match="left as it is"):
        edit_bytes(
            Path("settings.json"), text.encode(), lambda it: jsonc.with_member(it, ("a",), 1)
        )


def test_something_else_than_an_object_on_the_way_is_refused() -> None:
    with pytest.raises(Unreadable, match="a is no object"):
        edit_bytes(Path("s.json"), b'{"a": 7}', lambda it: jsonc.with_member(it, ("a", "b"), 1))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(), values, max_size=4),
    st.text(min_size=1),
    values,
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_any_object_takes_any_member_and_gives_it_back(
    known: dict[str, Any], name: str, value: Any, indent: Any
) -> None:
    text = json.dumps(known, indent=indent)
    made = jsonc.with_member(text, (name,), value)
    assert json.loads(made) == {**known, name: value}
    if name not in known:
        assert json.loads(jsonc.without_member(made, (name,))) == known
