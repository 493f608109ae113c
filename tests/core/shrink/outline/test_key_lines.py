from holdfast.core.shrink.outline.outline import outline

ROWS = [f"Line {at} of the text says something about item{at} and all." for at in range(60)]
TEXT = "\n".join(ROWS)


def test_a_line_with_a_telling_word_is_shown_with_its_number() -> None:
    found = outline(TEXT, lines=6, key_words=frozenset({"item41", "absent"}))
    assert found.lines[-1] == "L42: Line 41 of the text says something about item41 and all."


def test_a_word_counts_only_where_it_stands_alone() -> None:
    found = outline(TEXT, lines=6, key_words=frozenset({"item"}))
    assert found == outline(TEXT, lines=6)


def test_the_rarest_words_come_first_and_take_half_the_lines_at_most() -> None:
    words = frozenset({"something", "item31", "item37", "item43", "item47"})
    found = outline(TEXT, lines=6, key_words=words)
    told = [line for line in found.lines if line.split(":")[0] in {"L32", "L38", "L44", "L48"}]
    assert len(found.lines) == 6
    assert len(told) == 3


def test_one_line_serves_all_its_words() -> None:
    found = outline(TEXT, lines=6, key_words=frozenset({"item41", "Line 41"}))
    assert sum("item41" in line for line in found.lines) == 1


def test_of_a_long_line_the_part_around_the_word_is_shown() -> None:
    text = "start " + "x" * 5_000 + " the needle42 is here " + "y" * 5_000
    found = outline(text, lines=4, width=60, key_words=frozenset({"needle42"}))
    assert "needle42" in found.lines[-1]
    assert found.lines[-1].startswith("L1: …")


def test_the_number_is_that_of_the_read_tool() -> None:
    rows = ("import os", "", "def load():", "    return needle42")
    text = "".join(f"{at:6}→{row}\n" for at, row in enumerate(rows, start=98))
    found = outline(text, key_words=frozenset({"needle42"}))
    assert found.lines == ("L100 def load():", "L101: return needle42")
