from holdfast.core.ledger.entry import Opaque
from holdfast.core.plan.kept import kept_items
from holdfast.core.plan.plan import KeptItem
from holdfast.core.plan.state import survey
from tests.core.building import (
    BOUND,
    Told,
    answer,
    ask,
    back,
    bash,
    call,
    items,
    lines,
    standing,
    state,
    thought,
    words,
)

NEVER = ("Skill",)
OPEN: tuple[Told, ...] = (
    ask("one two three four five"),
    Opaque("user", "odd", '"x y z"'),
    (thought("a b c d", "S"), bash("a", "ls")),
    back("a", lines(9)),
    call("b", "Skill", name="x"),
    back("b", lines(8)),
    bash("c", "make"),
    back("c", lines(7), failed=True),
    call("d", "Write", file_path="a", content=lines(6)),
    back("d", "ok"),
    answer("recent words"),
    bash("e", "ls"),
    back("e", "so so"),
)


def test_what_stays_is_told_with_its_reason_the_largest_share_first() -> None:
    shown = items(*OPEN)
    shown[4] = standing(shown[4], back("a", "[holdfast 0123456789ab] gone"))
    assert kept_items(survey(state(shown), words), set(), NEVER) == (
        KeptItem("Skill results", 1, 16, "exempt"),
        KeptItem("Bash results", 1, 14, "an error that is still open"),
        KeptItem("Write calls", 1, 10, "too small, or not seen on disk"),
        KeptItem("user", 1, 5, "the user's words"),
        KeptItem("Bash calls", 2, 4, "no write"),
        KeptItem("thinking", 1, 4, "part of the loop under way"),
        KeptItem("Bash results", 1, 3, "stands in already"),
        KeptItem("odd", 1, 3, "not ours to shorten"),
        KeptItem("Bash calls", 1, 2, "recent"),
        KeptItem("Bash results", 1, 2, "recent"),
        KeptItem("Skill calls", 1, 2, "no write"),
        KeptItem("assistant", 1, 2, "words are not cut"),
        KeptItem("Write results", 1, 1, "too small"),
    )


def test_what_is_taken_is_not_kept_and_what_is_only_proposed_would_not_pay() -> None:
    looked = survey(
        state(items(ask("Go."), bash("a", "ls"), back("a", lines(9)), answer("x"))), words
    )
    rows = {(row.what, row.reason) for row in kept_items(looked, set())}
    assert ("Bash results", "would not pay") in rows
    assert kept_items(looked, {2}) == tuple(
        row for row in kept_items(looked, set()) if row.what != "Bash results"
    )


def test_what_the_provider_wants_as_it_was_says_so() -> None:
    shown = items(
        ask("Go."),
        bash("a", "ls"),
        back("a", lines(9)),
        (thought("hm", "S"), bash("b", "ls")),
        back("b", "x y"),
        answer("x"),
    )
    rows = kept_items(survey(state(shown, model=BOUND), words), set())
    assert rows[0] == KeptItem("Bash results", 1, 18, "the provider wants it as it was sent")
