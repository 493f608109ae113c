import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Media, ToolReturned
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.plan.policy import Offload
from holdfast.core.shrink.offload import OriginalLocation, mask, offload
from holdfast.models.tokenizers import counter
from tests.core.building import back, lines, words

HERE = OriginalLocation("0123456789ab", ".holdfast/cache/offloaded/20260129_142530_web_search.md")
count = counter("o200k_base")


def offloaded(
    body: ToolReturned, source: OriginalLocation = HERE, rules: Offload | None = None
) -> str:
    made = offload(body, tool="web_search", location=source, rules=rules or Offload(), count=count)
    assert (made.call, made.failed, made.media) == (body.call, body.failed, ())
    return made.output


@pytest.mark.seed("R043", "R049")
def test_a_reference_has_the_form_of_the_documents() -> None:
    text = lines(8_000)
    made = offloaded(back("a", text))
    shown = made.split("\n")
    saved = count(text) - count(made)
    assert shown[:4] == [
        "## Offloaded: web_search Result",
        "**Path:** .holdfast/cache/offloaded/20260129_142530_web_search.md",
        "**Ref:** 0123456789ab",
        f"**Tokens Saved:** {saved:,}",
    ]
    assert shown[4:15] == ["**Preview:**", *(f"> row {number}" for number in range(10))]
    assert shown[15].startswith("**Outline:** ")
    assert made.rstrip(" .\n").endswith("\n\n*Use file read to access full content*")


@pytest.mark.seed("R045")
def test_a_reference_can_have_the_form_of_the_protocol() -> None:
    text = lines(8_000)
    made = offloaded(back("a", text), rules=Offload(form="ctx-001"))
    shown = made.split("\n")
    assert shown[:15] == [
        "## Offloaded Content Reference",
        "**File:** .holdfast/cache/offloaded/20260129_142530_web_search.md",
        "**Ref:** 0123456789ab",
        f"**Tokens Saved:** {count(text) - count(made):,}",
        "**Preview:**",
        *(f"> row {number}" for number in range(10)),
    ]
    assert made.rstrip(" .\n").endswith("\n\n*Full content available via file read*")
    assert is_stand_in(made)


@pytest.mark.seed("R043")
@given(st.integers(200, 4_000), st.text(min_size=1, max_size=30))
def test_the_tokens_saved_are_those_that_are_saved(number: int, word: str) -> None:
    text = lines(number, word)
    made = offloaded(back("a", text))
    found = re.search(r"^\*\*Tokens Saved:\*\* (-?[\d,]+)$", made, re.MULTILINE)
    assert found is not None
    assert int(found[1].replace(",", "")) == count(text) - count(made)


def test_a_count_that_never_settles_still_gives_a_reference() -> None:
    ticks = iter(range(1_000))
    made = offload(
        back("a", lines(8_000)),
        tool="t",
        location=HERE,
        rules=Offload(),
        count=lambda _: 9_000 - 2 * next(ticks),
    )
    assert is_stand_in(made.output)


def test_without_a_file_the_reference_tells_how_to_get_it() -> None:
    made = offloaded(back("a", lines(8_000)), OriginalLocation("0123456789ab"))
    assert "**Path:**" not in made
    assert made.split("\n")[1] == "**Ref:** 0123456789ab"
    assert made.rstrip(" .\n").endswith("*Full content by its reference*")


def test_a_failure_stands_in_as_a_failure() -> None:
    assert offload(
        back("a", lines(8_000), failed=True), tool="t", location=HERE, rules=Offload(), count=count
    ).failed


def test_one_line_of_any_size_is_shown_cut() -> None:
    made = offloaded(back("a", "x" * 500_000))
    assert len(made) < 3_000
    assert max(len(line) for line in made.split("\n")) < 400


def test_how_much_is_shown_can_be_said() -> None:
    rules = Offload(lines=3, width=20, outline=0)
    shown = offloaded(back("a", lines(20_000)), rules=rules).split("\n")
    preview = shown[shown.index("**Preview:**") + 1 :]
    assert preview[:3] == ["> row 0", "> row 1", "> row 2"]
    assert preview[3].startswith("**Outline:** ")


def test_pictures_that_leave_are_told_of() -> None:
    picture = Media("image", "image/png", "d", 90_000, 800, 600)
    made = offloaded(ToolReturned("a", lines(100), media=(picture,)))
    assert "**Attached:** image image/png 800×600, 90,000 bytes" in made.split("\n")


def test_a_mask_is_one_line() -> None:
    made = mask(back("a", lines(40)), tool="Bash", location=OriginalLocation("0123456789ab"))
    assert made.output.startswith("[holdfast 0123456789ab] Bash result out of sight: ")
    assert "\n" not in made.output


@pytest.mark.seed("R229")
def test_a_mask_keeps_the_lines_that_were_used() -> None:
    text = "\n".join([*lines(40).split("\n"), "tax_rate = 0.19", *lines(40).split("\n")])
    made = mask(
        back("a", text),
        tool="Bash",
        location=OriginalLocation("0123456789ab"),
        key_words=frozenset({"tax_rate"}),
    )
    assert any("tax_rate = 0.19" in line for line in made.output.split("\n")[1:])


def test_a_mask_tells_of_pictures() -> None:
    body = ToolReturned("a", "", media=(Media("document", "application/pdf", "d", 1_000),))
    made = mask(body, tool="Read", location=OriginalLocation("0123456789ab"))
    assert made.output.endswith("; document application/pdf, 1,000 bytes")


@given(st.text(max_size=400), st.booleans())
def test_what_stands_in_is_known_again(text: str, failed: bool) -> None:
    body = back("a", text, failed=failed)
    assert is_stand_in(mask(body, tool="t", location=HERE).output)
    made = offload(body, tool="t", location=HERE, rules=Offload(), count=words)
    assert is_stand_in(made.output)
