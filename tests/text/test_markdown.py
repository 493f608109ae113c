import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.markdown import newline_of, sections_of, sections_titled

TEXT = """# Notes
before
## Session Continuity
one
### Decision Log
two
## Other
```
## Session Continuity
```
<!--
## Decision Log
-->
"""


def body(text: str, title: str) -> list[str]:
    return [text[one.body : one.end] for one in sections_titled(text, title)]


def test_a_section_ends_at_the_next_heading_of_its_rank_or_a_higher_one() -> None:
    assert body(TEXT, "Session Continuity") == ["one\n### Decision Log\ntwo\n"]
    assert body(TEXT, "Decision Log") == ["two\n"]


@pytest.mark.parametrize(
    "heading",
    [
        "## session continuity",
        "## **Session Continuity**",
        "### Session  Continuity ##",
        "##\tSession Continuity:",
    ],
)
def test_a_heading_is_known_however_it_is_dressed(heading: str) -> None:
    assert body(f"{heading}\nwords\n", "Session Continuity") == ["words\n"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n## Session Continuity\n```\n",
        "~~~~\n```\n## Session Continuity\n",
        "<!-- a\n## Session Continuity\n-->\n",
        "##Session Continuity\n",
        "    ## Session Continuity\n",
        "words ## Session Continuity\n",
    ],
)
def test_what_stands_in_a_fence_or_a_comment_or_is_no_heading_is_none(text: str) -> None:
    assert sections_titled(text, "Session Continuity") == []


def test_a_fence_that_closed_hides_nothing_more() -> None:
    assert body("```sh\nls\n```\n## Session Continuity\nx", "Session Continuity") == ["x"]


def test_a_comment_that_ends_on_its_line_hides_nothing() -> None:
    assert body("<!-- a -->\n## Decision Log\nx", "Decision Log") == ["x"]


@given(st.text(alphabet="#` ~ab\r\n<!->", max_size=200))
def test_sections_are_in_order_and_lie_inside_the_text(text: str) -> None:
    found = sections_of(text)
    assert [one.start for one in found] == sorted({one.start for one in found})
    assert all(0 <= one.start < one.body <= one.end <= len(text) for one in found)
    assert all(text[one.start] == "#" for one in found)


@pytest.mark.parametrize(
    ("text", "newline"), [("a\r\nb", "\r\n"), ("a\nb\r\n", "\n"), ("", "\n"), ("a", "\n")]
)
def test_lines_end_as_the_first_of_them_does(text: str, newline: str) -> None:
    assert newline_of(text) == newline
