"""Names in a text, and the words that a name is made of."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.names import is_name, names_in
from holdfast.text.words import name_parts


def test_paths_identifiers_and_numbers_are_names_and_plain_words_are_not() -> None:
    text = "please open src/app.py and call parseArgs with max_size 4096."
    assert set(names_in(text)) == {"src/app.py", "app.py", "parseArgs", "max_size", "4096"}


def test_a_name_does_not_end_with_the_end_of_a_sentence() -> None:
    assert set(names_in("see docs/guide/. Then go")) == {"docs/guide", "guide"}


@given(st.text(max_size=60))
def test_every_whole_token_among_the_names_of_a_text_is_a_part_of_it(text: str) -> None:
    assert all(name in text for name in names_in(text))


def test_two_characters_are_no_name() -> None:
    assert not is_name("x1")
    assert is_name("x12")


def test_a_name_is_made_of_words_of_more_than_two_letters() -> None:
    assert name_parts("parseHTTPArgs_of-thing") == {"parse", "http", "args", "thing"}
