"""YAML that every reader takes for the same values."""

from collections.abc import Callable
from importlib import import_module
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.yaml import to_yaml

loads = cast("Callable[[str], object]", import_module("ryaml").loads)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
values = st.recursive(
    texts | st.booleans() | st.none() | st.integers(-(2**53), 2**53),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.seed("R243")
@given(st.dictionaries(texts, values, max_size=6))
def test_whatever_is_written_is_read_back(document: dict[str, object]) -> None:
    assert loads(to_yaml(document)) == (document or None)


@pytest.mark.parametrize(
    "text",
    ["no", "yes", "on", "1.10", "12:30", "012", "0x1f", "2024-01-15", "~", "null", "true", ""],
)
def test_a_text_that_looks_like_another_value_stands_in_quotes(text: str) -> None:
    assert to_yaml({"a": text, "b": [text]}) == f'a: "{text}"\nb:\n  - "{text}"\n'


@pytest.mark.parametrize(
    "text",
    [
        "a: b\n# c\n- d",
        "x\n",
        "x\n\n",
        " lead\nmore",
        "tab\there\nnext",
        "end \nnext",
        "é\n日本\n🚀",
    ],
)
def test_texts_of_several_lines_come_back_as_they_were(text: str) -> None:
    assert loads(to_yaml({"goal": {"inner": [text, {"k": text}]}})) == {
        "goal": {"inner": [text, {"k": text}]}
    }


def test_half_a_character_is_written_as_what_a_file_can_hold() -> None:
    assert loads(to_yaml({"a": "x\ud83dy"})) == {"a": "x\ufffdy"}


def test_a_name_that_is_a_word_of_yaml_is_quoted() -> None:
    assert to_yaml({"no": 1, "on": 2, "plain-name": 3, "a b": 4}).split("\n")[:4] == [
        '"no": 1',
        '"on": 2',
        "plain-name: 3",
        '"a b": 4',
    ]
