from holdfast.core.shrink.outline.outline import first_lines, last_lines

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def test_the_head_is_the_first_lines() -> None:
    assert first_lines(TEXT, lines=2) == ("one", "two")


def test_the_tail_is_the_last_lines() -> None:
    assert last_lines(TEXT, lines=2) == ("four", "five")


def test_the_tail_never_goes_back_into_the_head() -> None:
    assert last_lines(TEXT, lines=4, after=3) == ("four", "five")
    assert last_lines(TEXT, lines=4, after=5) == ()


def test_a_long_line_is_cut_and_says_so() -> None:
    assert first_lines("abcdefgh\nij", width=4) == ("abcd…", "ij")


def test_the_lines_together_stay_within_the_total() -> None:
    assert first_lines("abcd\nefgh\nijkl", total=6) == ("abcd", "e…")
    assert last_lines("abcd\nefgh\nijkl", total=6) == ("e…", "ijkl")


def test_nothing_has_no_ends() -> None:
    assert (first_lines(""), last_lines("")) == ((), ())
