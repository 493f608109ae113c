"""Bytes told by what the entries say come out the same, whoever wrote them."""

import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Said, Source, Thought, ToolCalled, ToolReturned
from holdfast.stores.encoding import MIN_REFERENCED_CHARS, decode_references, encode_references

TEXTS = st.text(max_size=3 * MIN_REFERENCED_CHARS) | st.text(
    'ab\n"\\\x1b\u00e9\u4e2d\U0001f600', min_size=MIN_REFERENCED_CHARS
)
BODIES = st.lists(
    st.builds(Said, st.just("user"), TEXTS)
    | st.builds(Thought, TEXTS, TEXTS)
    | st.builds(ToolCalled, st.just("c1"), st.just("Bash"), TEXTS)
    | st.builds(ToolReturned, st.just("c1"), TEXTS),
    min_size=1,
    max_size=4,
)


def in_ascii(value: object) -> bytes:
    return json.dumps(value).encode()


def in_full(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def indented(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()


def words(body: Source) -> list[str]:
    return [value for value in msgspec.structs.astuple(body) if isinstance(value, str)]


@given(BODIES, st.sampled_from([in_ascii, in_full, indented]), st.binary(max_size=40))
def test_whatever_is_woven_comes_out_as_it_was(
    bodies: list[Source], spell: Callable[[object], bytes], noise: bytes
) -> None:
    raw = spell([words(body) for body in bodies]) + noise
    woven = encode_references(raw, bodies)
    if woven is not None:
        assert decode_references(woven, bodies) == raw


@given(st.lists(st.text("abc", min_size=1, max_size=30), max_size=40), st.binary(max_size=300))
def test_words_inside_words_are_told_once(parts: list[str], noise: bytes) -> None:
    """One body may say what another says in part, at its beginning or in its middle."""
    text = "".join(parts) + "x" * MIN_REFERENCED_CHARS
    bodies: list[Source] = [Said("user", text), Said("user", text[3:]), Said("user", text * 2)]
    raw = noise + json.dumps([text * 2, text, text[3:]]).encode() + noise
    woven = encode_references(raw, bodies)
    assert woven is not None
    assert decode_references(woven, bodies) == raw
    assert len(woven) < len(noise) * 2 + 120


def test_a_message_takes_next_to_nothing_beside_its_entry() -> None:
    text = "é and 中 and \U0001f600, line after line\n" * 50
    said = Said("tool", text)
    for spelled in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        raw = f'{{"role": "tool", "content": {spelled}, "stdout": {spelled}}}'.encode()
        woven = encode_references(raw, [said])
        assert woven is not None
        assert len(woven) < 100
        assert decode_references(woven, [said]) == raw


def test_what_no_entry_says_is_not_woven() -> None:
    assert (
        encode_references(
            b'{"role": "user", "content": "' + b"y" * 200 + b'"}', [Said("user", "z" * 200)]
        )
        is None
    )


def test_other_words_are_not_taken_for_those_that_were_there() -> None:
    said = Said("user", "a" * 100)
    woven = encode_references(json.dumps(said.text).encode(), [said])
    assert woven is not None
    for others in ([Said("user", "a" * 99 + "b")], []):
        with pytest.raises(ValueError):
            decode_references(woven, others)
    with pytest.raises(ValueError):
        decode_references(woven[:-1], [said])
