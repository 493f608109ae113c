from holdfast.core.shrink.outline.outline import outline
from holdfast.core.shrink.outline.reading import read_text


def test_numbers_of_a_read_tool_are_taken_off_and_kept() -> None:
    reading = read_text("    9→a\n   10→b\n")
    assert (reading.rows, reading.numbers, reading.numbered) == (["a", "b"], [9, 10], True)


def test_numbers_that_do_not_rise_by_one_are_text() -> None:
    assert read_text("7\ta\n9\tb\n").rows == ["7\ta", "9\tb"]


def test_colours_and_overwritten_lines_are_taken_off() -> None:
    assert read_text("\x1b[1mbold\x1b[0m\n10%\r50%\rdone\n").rows == ["bold", "done"]


def test_what_the_host_says_is_not_what_the_tool_said() -> None:
    reading = read_text("    1→a\n    2→b\n\n<system-reminder>\nBe good.\n</system-reminder>\n")
    assert list(filter(None, reading.rows)) == ["a", "b"]


def test_how_the_command_ended_and_what_was_left_out_are_told() -> None:
    found = outline("Exit code 1\nsome words here\n\n... [355 lines truncated] ...\n")
    assert found.summary.endswith("(exit code 1)")
    assert found.lines == ("L2: some words here", "... [355 lines truncated] ...")


def test_a_label_before_every_line_is_taken_off() -> None:
    text = "".join(f"apps/web build: warning: unused name {at}\n" for at in range(20))
    assert outline(text).lines[0] == "L1 ×20: warning: unused name 0"
