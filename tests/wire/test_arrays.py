from holdfast.wire.arrays import TOKEN, end_of_value


def test_an_object_ends_behind_its_last_bracket_whatever_its_strings_hold() -> None:
    data = rb'{"a": "}\"]", "b": [1, {"c": "\\"}]} and more'
    assert data[: end_of_value(data, 0)] == rb'{"a": "}\"]", "b": [1, {"c": "\\"}]}'


def test_nothing_is_tried_again_inside_a_string_that_is_not_closed() -> None:
    torn = b'{"a": "' + rb"{\"b\": [\"c\"]}" * 200
    assert TOKEN.findall(torn) == [b"{", b'"a"', torn[6:]]
    assert end_of_value(torn, 0) == -1
    assert end_of_value(torn + b"\\", 0) == -1
