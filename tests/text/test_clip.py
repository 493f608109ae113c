"""Cut texts: within their limits, and a short text stays as it is."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.clip import (
    MAX_JOINED,
    and_more,
    clip,
    clip_and_mark,
    clip_foreign,
    clip_line,
    clip_middle,
    clip_words,
    join_few,
    most_that_fit,
    one_line,
    without_controls,
)

TEXT = st.text(st.sampled_from("ab \n\t\x1b\x00é漢…"), max_size=60)
LIMIT = st.integers(1, 50)
GAP = "[… {:,} characters …]"


@given(TEXT, LIMIT)
def test_a_clipped_text_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= limit
    assert len(clip_line(text, limit)) <= limit
    assert len(clip_foreign(text, limit)) <= limit
    assert len(clip_words(text, limit)) <= limit


@given(TEXT, LIMIT)
def test_a_mark_is_all_that_exceeds_the_limit(text: str, limit: int) -> None:
    assert len(clip_and_mark(text, limit, " …")) <= limit + 2
    assert len(clip_words(text, limit, "…")) <= limit + 1


@given(TEXT)
def test_a_short_text_stays_as_it_is(text: str) -> None:
    limit = max(len(text), 1)
    assert clip(text, limit) == clip_and_mark(text, limit) == clip_words(text, limit) == text
    assert clip_middle(text, limit, 0, GAP) == text


@given(TEXT, LIMIT)
def test_a_clipped_text_begins_like_the_text(text: str, limit: int) -> None:
    assert text.startswith(clip(text, limit).removesuffix("…"))
    assert text.startswith(clip_words(text, limit))


def test_an_ellipsis_shows_that_a_text_was_cut() -> None:
    assert clip("abcdef", 4) == "abc…"
    assert clip_and_mark("abcdef", 4) == "abcd…"


def test_a_mark_with_a_blank_replaces_the_blanks_before_it() -> None:
    assert clip_and_mark("abc   def", 5, " […]") == "abc […]"


def test_a_text_is_cut_between_words() -> None:
    assert clip_words("one two three", 9, "…") == "one two…"
    assert clip_words("one two three", 7) == "one two"
    assert clip_words("one two three", 7, within=7) == "one"


def test_a_first_word_that_is_too_long_is_split_or_left_out() -> None:
    assert clip_words("abcdefgh", 4, "…") == "abcd…"
    assert clip_words("abcdefgh", 4, "…", split=False) == "…"


def test_the_middle_of_a_long_text_is_replaced_by_its_size() -> None:
    assert clip_middle("ab" + "x" * 2_000 + "yz", 2, 2, GAP) == "ab[… 2,000 characters …]yz"
    assert clip_middle("abcdef", 2, 0, "({})") == "ab(4)"


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_largest_number_that_fits_is_found(limit: int, room: int) -> None:
    assert most_that_fit(limit, lambda size: size <= room) == min(limit, room)


@given(st.text(max_size=40))
def test_one_line_has_single_blanks_only(text: str) -> None:
    line = one_line(text)
    assert line.split(" ") == (text.split() or [""])
    assert one_line(line) == line


@given(st.text(max_size=40))
def test_a_text_without_controls_can_be_printed(text: str) -> None:
    assert without_controls(text).isprintable()
    assert len(without_controls(text, "?")) == len(text)


def test_controls_are_shown_in_our_own_texts_and_become_blanks_in_those_of_others() -> None:
    assert clip_line("a\x1bb\nc", 9) == "a\ufffdb c"
    assert clip_foreign("a\x1bb\nc", 9) == "a b c"


def test_the_first_few_are_named_and_the_rest_is_counted() -> None:
    assert join_few(["a", "b"]) == "a; b"
    assert join_few(["a"] * (MAX_JOINED + 2)) == "; ".join("a" * MAX_JOINED) + " and 2 more"
    assert and_more(0) == and_more(-1) == ""
