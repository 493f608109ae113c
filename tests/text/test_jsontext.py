import json
from typing import Any

import pytest

from holdfast.text.jsontext import (
    NotJson,
    as_count,
    as_list,
    as_object,
    as_text,
    canonical,
    canonical_text,
    elements,
    encode,
    join_array,
    join_object,
    members,
    parse,
    without_surrogates,
)

DEEP = b"[" * 100_000 + b"]" * 100_000
DEEP_AND_ODD = b"[NaN," + b"[" * 100_000 + b"]" * 100_000 + b"]"


@pytest.mark.parametrize("raw", [b"1", b'"a"', b"[1,2]", b'{"a":null}', b" true "])
def test_strict_json_is_read_without_a_word(raw: bytes) -> None:
    assert parse(raw) == (json.loads(raw), None)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"\\ud800"', "\ud800"),
        (b'{"a":NaN}', None),
        (b"1e400", float("inf")),
        (b'"\xff"', "\udcff"),
        (b'"\x01"', None),
    ],
)
def test_what_strict_readers_refuse_is_read_with_a_word_or_refused(
    raw: bytes, value: object
) -> None:
    try:
        read, flaw = parse(raw)
    except NotJson:
        assert raw == b'"\x01"'
        return
    assert flaw is not None
    assert read == value or value is None


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[1", b"nothing", b'{"a" 1}', DEEP, DEEP_AND_ODD, b"1" * 5_000]
)
def test_what_no_reader_can_read_is_refused(raw: bytes) -> None:
    with pytest.raises(NotJson) as caught:
        parse(raw)
    assert str(caught.value) != ""


def test_a_text_that_breaks_off_is_told_from_one_that_is_wrong() -> None:
    reasons: list[str] = []
    for raw in (b'{"a":1', b'{"a":1} x'):
        with pytest.raises(NotJson) as caught:
            parse(raw)
        reasons.append(str(caught.value))
    assert reasons[0] == "the JSON ends in the middle"
    assert reasons[0] != reasons[1]


@pytest.mark.parametrize(
    "value",
    [None, {"b": 1, "a": [1.0, "é"]}, "\ud800", [float("inf"), None], {"n": float("nan")}],
)
def test_a_value_written_reads_back(value: object) -> None:
    assert repr(json.loads(encode(value))) == repr(value)


def test_an_object_of_a_provider_is_written_by_its_own_form() -> None:
    class Message:
        def model_dump(self, **options: Any) -> dict[str, object]:
            return {"role": "user", **options}

    assert json.loads(encode({"m": Message()})) == {
        "m": {"role": "user", "mode": "json", "exclude_unset": True}
    }


@pytest.mark.parametrize("value", [object(), {"a": object()}, {1: object()}, ["\ud800", object()]])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(NotJson) as caught:
        encode(value)
    assert str(caught.value) != ""


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(NotJson) as caught:
        encode(endless)
    assert str(caught.value) != ""


def test_there_is_one_spelling_a_value() -> None:
    assert canonical({"b": [1, {"d": 1, "c": 2}], "a": 1.0}) == b'{"a":1.0,"b":[1,{"c":2,"d":1}]}'
    assert canonical({"b": "\ud800", "a": 1}) == b'{"a":1,"b":"\\ud800"}'


@pytest.mark.parametrize(
    ("text", "spelled"),
    [('{ "b":1,"a":2 }', '{"a":2,"b":1}'), ("  no JSON ", "no JSON"), ("", "")],
)
def test_arguments_are_spelled_in_one_way(text: str, spelled: str) -> None:
    assert canonical_text(text) == spelled


def test_members_keep_the_bytes_they_were_written_in() -> None:
    raw = b'{ "a" : [1, 2.50] ,"b":1E+2,"a":0}'
    assert members(raw) == {"a": b"0", "b": b"1E+2"}
    assert members(b'{"a":"\\ud800","b":{"c": 1}}')["b"] in (b'{"c":1}', b'{"c": 1}')


def test_elements_keep_the_bytes_they_were_written_in() -> None:
    assert elements(b'[1.0, {"a" :1},"\\u00e9"]') == [b"1.0", b'{"a" :1}', b'"\\u00e9"']
    assert elements(b"[NaN]") == [b"NaN"]


def test_members_of_what_is_no_object_are_none() -> None:
    assert (members(b"[1]"), elements(b"{}")) == ({}, [])


def test_parts_are_joined_as_they_are() -> None:
    assert join_object({"a": b"1.0", 'q"': b"[ ]"}) == b'{"a":1.0,"q\\"":[ ]}'
    assert join_array([b"1.0", b"{ }"]) == b"[1.0,{ }]"


def test_absent_and_misshapen_read_alike() -> None:
    assert (as_object([1]), as_list({}), as_text(None)) == ({}, [], "")
    assert (as_object({"a": 1}), as_list([1]), as_text("a")) == ({"a": 1}, [1], "a")
    assert [as_count(value) for value in (5, -5, True, 1.0, "5", None)] == [5, 0, 0, 0, 0, 0]


def test_lone_surrogates_are_replaced_all_the_way_down() -> None:
    assert without_surrogates({"\ud800": ["a\udfff", 1, None]}) == {"\ufffd": ["a\ufffd", 1, None]}
    assert without_surrogates("é\U0001f600") == "é\U0001f600"
