"""Text to bytes and back, with halves of surrogate pairs in it."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.utf8 import from_bytes, to_bytes

ANY = st.text(st.characters(exclude_categories=()), max_size=30)


@given(ANY)
def test_a_text_comes_back_from_its_bytes(text: str) -> None:
    assert from_bytes(to_bytes(text)) == text


@given(st.text())
def test_a_text_without_surrogates_is_plain_utf_8(text: str) -> None:
    assert to_bytes(text) == text.encode()
