"""The four strategies by which a packet gets small, each by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.packet import Choice, RelevantFile
from holdfast.core.ledger.summary import Decision, Summary
from holdfast.core.view.packet.code import extract_patterns
from holdfast.core.view.packet.history import (
    LINE,
    DecisionsByAge,
    decisions_by_age,
    rejected_options,
)
from holdfast.core.view.packet.select import merge_decisions, relevant_items, similarity_by
from holdfast.models.thesaurus import similar_words

SIMILAR = similarity_by(similar_words)
EXACT = similarity_by()


@pytest.mark.seed("R257", "R018")
def test_only_what_is_about_the_task_is_kept_and_what_is_pinned_in_any_case() -> None:
    items = [
        "The login endpoint checks the password hash",
        "The invoice footer needs a new logo",
        "Never touch the registration flow",
    ]
    kept = relevant_items(
        items,
        "Add token authentication to the login endpoint",
        str,
        SIMILAR,
        pinned=lambda one: one.startswith("Never"),
    )
    assert kept == [items[0], items[2]]


@given(st.text(max_size=200), st.text(max_size=200))
def test_likeness_is_the_same_both_ways_and_between_nothing_and_all(one: str, other: str) -> None:
    found = EXACT(one, other)
    assert 0.0 <= found <= 1.0
    assert found == pytest.approx(EXACT(other, one))


def test_words_that_mean_nearly_the_same_count() -> None:
    assert SIMILAR("delete the folder", "remove this directory") > EXACT(
        "delete the folder", "remove this directory"
    )


@pytest.mark.seed("R258")
def test_the_farther_back_a_decision_lies_the_less_is_said_of_it() -> None:
    long = "Store every token in the cookie " * 6
    near = Choice("Use RS256", "no shared secret", refs=("a",))
    older = Choice(long, "it is safe", refs=("b",))
    ancient = Choice("Prefer tabs to spaces", "taste", refs=("c",))
    decreed = Choice("Ship on Friday", "the user said so", "user", ("d",))
    age = {"a": 1, "b": 100, "c": 900, "d": 900}
    found = decisions_by_age([near, older, ancient, decreed], lambda one: age[one.refs[0]])
    assert isinstance(found, DecisionsByAge)
    assert found.shown[0] == near
    assert found.shown[1].reason == ""
    assert len(found.shown[1].choice) <= LINE + 1
    assert found.shown[2] == Choice("Ship on Friday", "", "user", ("d",))
    assert found.tags == ("prefer",) or found.tags == ("spaces",)


@pytest.mark.seed("R259", "R238")
def test_files_that_are_alike_become_a_pattern_and_one_to_read() -> None:
    same = "async handlers, error format {error, code}"
    files = [
        RelevantFile("routes/users.py", same),
        RelevantFile("routes/products.py", same),
        RelevantFile("routes/orders.py", f"{same}, refunds need two keys"),
        RelevantFile("models/user.py", "User model"),
    ]
    found = extract_patterns(files)
    assert found.patterns == ("routes/*.py: async handlers, code}, error format {error",) or (
        "async handlers" in found.patterns[0]
    )
    assert found.examples == ("routes/orders.py",)
    assert [file.path for file in found.files] == ["routes/orders.py", "models/user.py"]


def test_a_pattern_is_read_off_the_code_as_well() -> None:
    text = "@router.get('/x')\nasync def get_x(request):\n    return {}\n"
    files = [RelevantFile(f"routes/r{number}.py", f"defines get_{number}") for number in range(4)]
    found = extract_patterns(files, {file.path: text for file in files})
    assert "handlers are async" in found.patterns[0]
    assert "decorated with @router.get" in found.patterns[0]
    assert len(found.files) == 4, "each still defines something of its own"


def test_two_files_are_no_pattern() -> None:
    files = [RelevantFile("a/x.py", "same"), RelevantFile("a/y.py", "same")]
    assert extract_patterns(files).files == tuple(files)
    assert extract_patterns(files).patterns == ()


@pytest.mark.seed("R260")
def test_decisions_made_together_become_one_choice_with_one_reason() -> None:
    said = ("0123456789ab",)
    found = merge_decisions(
        [
            Choice("JWT auth", "Stateless", "user", said),
            Choice("RS256", "secure", "user", said),
            Choice("24h expiry", "user-specified expiry", "user", said),
            Choice("httpOnly cookie storage", "secure", "user", said),
            Choice("JWT auth", "agreed", "orchestrator", said),
        ],
        EXACT,
    )
    assert found == (
        Choice(
            "JWT auth; RS256; 24h expiry; httpOnly cookie storage",
            "Stateless + secure + user-specified expiry",
            "user",
            said,
        ),
        Choice("JWT auth", "agreed", "orchestrator", said),
    )


def test_decisions_about_different_things_at_different_times_stay_apart() -> None:
    rows = (Choice("Use PostgreSQL", refs=("a",)), Choice("Name the branch fix", refs=("b",)))
    assert merge_decisions(rows, EXACT) == rows


def test_the_same_decision_told_twice_is_told_once() -> None:
    rows = [Choice("Use PostgreSQL", "it is there", refs=("a",)), Choice("use PostgreSQL")]
    assert [one.choice for one in merge_decisions(rows, EXACT)] == ["Use PostgreSQL"]


def test_what_was_turned_down_is_told_with_its_whole_name() -> None:
    told = "Write main-new.ts instead of changing main.ts. It is safer."
    rows = Summary(decisions=(Decision(told, entry="a"),))
    assert rejected_options(rows) == ("changing main.ts",)
