import pytest

from holdfast.text.words import (
    TERM,
    TERM_EDGES,
    content_words,
    folded_atoms,
    lower_words,
    name_parts_in,
    prefix_of,
    stem_of,
    verb_forms,
    without_doubled_end,
)


def test_content_words_are_returned_once_in_order_without_stop_words() -> None:
    words = ["the", "lock", "of", "the", "lock", "file"]
    assert content_words(words, {"the", "of"}) == ("lock", "file")


def test_short_words_and_numbers_can_be_left_out() -> None:
    words = ["go", "fix", "8443", "v2"]
    assert content_words(words, (), min_chars=3) == ("fix", "8443")
    assert content_words(words, (), numbers=False) == ("go", "fix", "v2")


def test_terms_keep_inner_signs_and_lose_those_at_their_ends() -> None:
    text = "Use src/App.py, and lock-files."
    assert lower_words(text, TERM, edges=TERM_EDGES) == ["use", "src/app.py", "and", "lock-files"]


def test_atoms_keep_underscores() -> None:
    assert folded_atoms("Read_File(x)") == ["read_file", "x"]


@pytest.mark.parametrize(
    ("word", "stem"),
    [("locked", "lock"), ("locks", "lock"), ("locking", "lock"), ("use", "use"), ("bed", "bed")],
)
def test_an_ending_is_cut_if_three_letters_remain(word: str, stem: str) -> None:
    assert stem_of(word) == stem


def test_the_stem_of_a_doubled_consonant_is_that_of_the_verb() -> None:
    assert without_doubled_end(stem_of("running")) == "run"
    assert without_doubled_end("add") == "add"


def test_forms_of_a_verb() -> None:
    assert {"modify", "modified", "modifies", "modifying"} <= set(verb_forms("modify"))
    assert {"drop", "drops", "dropping"} <= set(verb_forms("drop"))


def test_a_prefix_is_the_word_itself_if_that_is_short() -> None:
    assert (prefix_of("configure"), prefix_of("set")) == ("confi", "set")


def test_parts_of_names_are_found_in_prose() -> None:
    assert name_parts_in("call parseArgs in read_file") == {"call", "parse", "args", "read", "file"}
