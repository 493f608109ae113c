import pytest

from holdfast.core.ledger.entry import Body, Compressed, Entry, Noted, Restored, Said, Step
from holdfast.core.ledger.guard import check_compression
from holdfast.core.ledger.head import Lane
from holdfast.errors import BadCompression, Conflict


def hiding(*names: str, generation: int = 2, watermark: int = 9) -> Compressed:
    """A compression with one step a name."""
    steps = tuple(Step((name,), "large") for name in names)
    return Compressed(steps, generation, watermark)


def ledger(*bodies: Body) -> dict[str, Entry]:
    """Entries by name: a, b, c … in order, numbered from 1."""
    names = "abcdefghij"
    return {names[at]: Entry(names[at], None, body, at + 1) for at, body in enumerate(bodies)}


HI = Said("user", "hi")


def test_a_compression_planned_on_what_still_stands_is_let_through() -> None:
    assert (
        check_compression("s", Lane(generation=2), hiding("a", "b", watermark=2), ledger(HI, HI))
        is None
    )


def test_an_undoing_of_a_compression_in_force_is_let_through() -> None:
    entries = ledger(HI, hiding("a"))
    assert check_compression("s", Lane(generation=2), Restored("b", 2), entries) is None


@pytest.mark.parametrize("body", [hiding("a"), Restored("b", 2)])
def test_a_plan_made_on_another_generation_is_refused_with_both_told(
    body: Compressed | Restored,
) -> None:
    with pytest.raises(Conflict) as caught:
        check_compression("s", Lane(generation=3), body, ledger(HI, hiding("a")))
    refusal = caught.value
    assert (refusal.session, refusal.expected, refusal.found) == ("s", 2, 3)


@pytest.mark.parametrize(
    ("body", "entries"),
    [
        (hiding(), ledger(HI)),
        (hiding("a", "a"), ledger(HI)),
        (hiding("a", "b"), ledger(HI)),
        (hiding("a", "b"), ledger(HI, Noted("x"))),
        (hiding("a", "b", watermark=1), ledger(HI, HI)),
        (Restored("b", 2), ledger(HI)),
        (Restored("a", 2), ledger(HI, hiding("a"))),
        (Restored("b", 2), ledger(HI, hiding("a"), Restored("b", 1))),
    ],
    ids=[
        "nothing",
        "twice",
        "unknown",
        "derived",
        "later",
        "no compression",
        "no compression but words",
        "lifted before",
    ],
)
def test_what_must_not_be_hidden_or_lifted_is_refused(
    body: Compressed | Restored, entries: dict[str, Entry]
) -> None:
    with pytest.raises(BadCompression) as caught:
        check_compression("s", Lane(generation=2), body, entries)
    assert caught.value.session == "s"
