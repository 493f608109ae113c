"""Frames: whatever comes in is read, and what bears an id is known by it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.mcp.frames import ID_SEARCH_BYTES, LineBuffer, RpcFrame, find_id, read_frames

IDS = st.integers(-(10**15), 10**15) | st.text(
    st.characters(codec="utf-8", exclude_characters='"\\'), max_size=40
)
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.binary(max_size=400))
def test_no_line_is_too_odd_to_be_read(line: bytes) -> None:
    for frame in read_frames(line):
        assert bool(frame.flaw) == bool(frame.code)


@given(IDS, JSON)
def test_a_request_is_read_as_it_was_written(name: int | str, params: Any) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": name, "method": "m", "params": {"p": params}})
    assert read_frames(line.encode()) == [RpcFrame("m", {"p": params}, name)]


@given(IDS, JSON, st.booleans())
def test_the_id_of_a_broken_request_is_found_at_either_end(
    name: int | str, params: Any, first: bool
) -> None:
    head = {"jsonrpc": "2.0", "id": name, "method": "m", "params": {"id": 1, "p": params}}
    tail = {"method": "m", "params": {"id": 1, "p": params}, "jsonrpc": "2.0", "id": name}
    text = json.dumps(head if first else tail, ensure_ascii=False).encode("utf-8", "replace")
    # A value that no reader takes stands in the middle, and a string that is never ended.
    broken = text.replace(b'"p": ', b'"p": tru, "q": ', 1)
    assert read_frames(broken)[0].id == name


def test_a_batch_is_as_many_frames() -> None:
    line = b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},7]'
    first, second, third = read_frames(line)
    assert (first, second) == (RpcFrame("a", id=1), RpcFrame("b"))
    assert third.flaw


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"q":"\\ud800"}}', 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"q":"\xff\xfe"}}', 7),
        (
            b'{"jsonrpc":"2.0","id":7,"method":"ping","params":' + b"[" * 5000 + b"]" * 5000 + b"}",
            7,
        ),
        (b'{"params":' + b"[" * 100_000 + b',"jsonrpc":"2.0","id":"a"}', "a"),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping"', 7),
        (b'{"jsonrpc":"2.0","id":7}', 7),
        (b'{"id":7,"method":"ping"}', 7),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', 7),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        (b'{"params":{"id":3},"nothing', None),
        (b"not json at all", None),
        (b'"id":5', None),
        (b"5", None),
        (b"[]", None),
        (b"\x00\x01", None),
    ],
)
def test_what_is_wrong_with_a_line_leaves_its_id_known(line: bytes, name: object) -> None:
    frame = read_frames(line)[0]
    assert frame.id == name


@pytest.mark.parametrize("line", [b"", b"  ", b"\r"])
def test_an_empty_line_says_nothing(line: bytes) -> None:
    assert read_frames(line) == []


def test_an_answer_to_a_question_that_we_never_asked_is_let_be() -> None:
    assert read_frames(b'{"jsonrpc":"2.0","id":3,"result":{}}') == [RpcFrame()]


@given(st.lists(st.binary(max_size=60)), st.integers(1, 7))
def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], size: int) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    whole = b"".join(line + b"\n" for line in lines)
    reader = LineBuffer()
    cut = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert [line for chunk in cut for line, _ in reader.feed(chunk)] == lines
    assert list(reader.flush()) == []


@pytest.mark.parametrize("tail", [b'"}', b'"},"jsonrpc":"2.0","id":12}'])
def test_a_line_that_is_too_long_is_dropped_but_for_its_ends(tail: bytes) -> None:
    head = b'{"jsonrpc":"2.0","id":12,"method":"m","params":{"q":"'
    if b"id" in tail:
        head = b'{"method":"m","params":{"q":"'
    reader, longest = LineBuffer(max_bytes=4 * ID_SEARCH_BYTES), 0
    found = list(reader.feed(head))
    for _ in range(400):
        found += reader.feed(b"x" * ID_SEARCH_BYTES)
        longest = max(longest, len(bytes(reader._buffer)))  # pyright: ignore[reportPrivateUsage]
    found += reader.feed(tail + b"\n")
    ((line, lost),) = found
    assert longest <= 5 * ID_SEARCH_BYTES
    assert lost + len(line) == len(head) + 400 * ID_SEARCH_BYTES + len(tail)
    (frame,) = read_frames(line, lost)
    assert (frame.id, bool(frame.flaw)) == (12, True)


def test_an_id_inside_of_a_value_is_nobodys() -> None:
    assert find_id(b'{"a":"\\"id\\":5","b":[{"id":6}],') is None
