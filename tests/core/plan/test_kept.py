from holdfast.core.ledger.entry import Opaque
from holdfast.core.plan.kept import kept_of
from holdfast.core.plan.plan import Kept
from holdfast.core.plan.state import look
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
    assert kept_of(look(state(shown), words), set(), NEVER) == (
        Kept("Skill results", 1, 16, "exempt"),
        Kept("Bash results", 1, 14, "an error that is still open"),
        Kept("Write calls", 1, 10, "too small, or not seen on disk"),
        Kept("user", 1, 5, "the user's words"),
        Kept("Bash calls", 2, 4, "no write"),
        Kept("thinking", 1, 4, "part of the loop under way"),
        Kept("Bash results", 1, 3, "stands in already"),
        Kept("odd", 1, 3, "not ours to shorten"),
        Kept("Bash calls", 1, 2, "recent"),
        Kept("Bash results", 1, 2, "recent"),
        Kept("Skill calls", 1, 2, "no write"),
        Kept("assistant", 1, 2, "words are not cut"),
        Kept("Write results", 1, 1, "too small"),
    )


def test_what_is_taken_is_not_kept_and_what_is_only_proposed_would_not_pay() -> None:
    looked = look(
        state(items(ask("Go."), bash("a", "ls"), back("a", lines(9)), answer("x"))), words
    )
    rows = {(row.what, row.reason) for row in kept_of(looked, set())}
    assert ("Bash results", "would not pay") in rows
    assert kept_of(looked, {2}) == tuple(
        row for row in kept_of(looked, set()) if row.what != "Bash results"
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
    rows = kept_of(look(state(shown, model=BOUND), words), set())
    assert rows[0] == Kept("Bash results", 1, 18, "the provider wants it as it was sent")
