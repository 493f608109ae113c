"""What workers write about their packets, in whatever shape they write it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.packet import Feedback
from holdfast.core.view.packet_stats.feedback import (
    MAX_ITEM_CHARS,
    MAX_ITEMS,
    feedback_document,
    feedback_from_mapping,
    read_feedback,
)
from holdfast.errors import BadPacket
from holdfast.packets.packet import read_yaml
from holdfast.text.yaml import to_yaml


def loads(text: str) -> Mapping[str, object] | None:
    try:
        return read_yaml(text, "the report")
    except BadPacket:
        return None


def read(text: str) -> Feedback:
    return read_feedback(text, loads)


SEED = """\
context_gaps:
  - "Needed: existing error handling patterns"
  - "Needed: testing approach (unit vs integration)"

context_unused:
  - "Received: failed_attempts (didn't reference)"
"""
MEANT = Feedback(
    gaps=(
        "Needed: existing error handling patterns",
        "Needed: testing approach (unit vs integration)",
    ),
    unused=("Received: failed_attempts (didn't reference)",),
)


@pytest.mark.seed("R261", "R262")
def test_the_protocols_own_feedback_is_read() -> None:
    assert read(SEED) == MEANT


def test_items_that_nobody_quoted_are_read_as_they_were_written() -> None:
    assert read(SEED.replace('"', "")) == MEANT


@pytest.mark.parametrize(
    "text",
    [
        f"---\n{SEED}---\n",
        f"```yaml\n{SEED}```\n",
        f"\n---\n{SEED}...\n",
    ],
)
def test_front_matter_and_a_fence_say_the_same_as_bare_yaml(text: str) -> None:
    assert read(text) == MEANT


def test_what_stands_behind_front_matter_is_the_note() -> None:
    assert read("---\noutcome: done\n---\nAll went well.\n") == Feedback(
        outcome="done", note="All went well."
    )


def test_markdown_with_headings_is_understood() -> None:
    text = """# Report
Outcome: blocked

## Context gaps
- the API key
* which queue

## Unused context
1. failed attempts

## Explored again
- src/app.py
"""
    assert read(text) == Feedback(
        gaps=("the API key", "which queue"),
        unused=("failed attempts",),
        explored=("src/app.py",),
        outcome="blocked",
        note="# Report\nOutcome: blocked",
    )


@pytest.mark.parametrize("text", ["No context gaps", "context_gaps: none", "gaps: []", "gaps: ~"])
@pytest.mark.seed("R351")
def test_no_gaps_are_no_gap(text: str) -> None:
    assert read(text).gaps == ()


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("done", "done"),
        ("Success", "done"),
        ("needs input", "blocked"),
        ("FAILED", "failed"),
        ("perhaps", ""),
        ("[1, 2]", ""),
    ],
)
def test_an_outcome_is_one_of_three_or_none(word: str, outcome: str) -> None:
    assert read(f"outcome: {word}\ngaps: []").outcome == outcome


def test_other_spellings_of_the_members_are_known() -> None:
    found = feedback_from_mapping(
        {
            "Context Gaps": "- a thing\n- another",
            "not-used": {"decisions": "all of them"},
            "tokens": 1200,
            "looked_up": ["x", None, True, 3, ["a", "b"]],
            "task type": "fix",
            "something": "else",
        }
    )
    assert found == Feedback(
        gaps=("a thing", "another"),
        unused=("decisions: all of them",),
        tokens_used=1200,
        explored=("x", "yes", "3", "a, b"),
        task_type="fix",
    )


@pytest.mark.parametrize("number", [-5, True, "many", 1.5, None])
def test_what_is_no_count_counts_nothing(number: object) -> None:
    assert feedback_from_mapping({"tokens_used": number}).tokens_used == 0


def test_what_is_too_much_is_cut() -> None:
    found = feedback_from_mapping({"gaps": [f"{number} " + "x" * 5_000 for number in range(500)]})
    assert len(found.gaps) == MAX_ITEMS
    assert max(map(len, found.gaps)) == MAX_ITEM_CHARS


def test_control_characters_are_no_part_of_it() -> None:
    assert feedback_from_mapping({"gaps": ["a\x1b[31mred\x00"]}).gaps == ("a [31mred",)


HOSTILE = (
    "a: &a [x, x]\nb: &b [*a, *a, *a, *a]\ncontext_gaps: [*b, *b, *b]",
    "context_gaps: !!python/object/apply:os.system ['true']",
    "{" * 5_000,
    "---\n" * 5_000,
    "```yaml\n" * 5_000,
    "- " * 50_000,
    "context_gaps: " + "[" * 300 + "]" * 300,
    "context_gaps:\n" + "  - x\n" * 50_000,
    "\ud800",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_words_at_the_most(text: str) -> None:
    found = read(text)
    assert len(found.gaps) <= MAX_ITEMS
    assert all(len(gap) <= MAX_ITEM_CHARS for gap in found.gaps)


@given(st.text(max_size=2_000))
def test_any_text_is_feedback_of_some_kind(text: str) -> None:
    assert read(text) == read(text)


@given(
    st.builds(
        Feedback,
        gaps=st.lists(
            st.sampled_from(["a gap", "no: such key", "12:30", "#x", "- y"]), unique=True
        ).map(tuple),
        unused=st.lists(st.sampled_from(["decisions", "yes", "1.10"]), unique=True).map(tuple),
        outcome=st.sampled_from(["", "done", "blocked", "failed"]),
        note=st.sampled_from(["", "a note: with\ntwo lines"]),
        tokens_used=st.integers(0, 10**6),
    )
)
def test_feedback_that_was_written_is_read_back(feedback: Feedback) -> None:
    assert read(to_yaml(dict(feedback_document(feedback)))) == feedback
