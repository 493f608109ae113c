import pytest

from holdfast.core.ledger.entry import Entry, Noted, Said
from holdfast.core.ledger.summary import Constraint
from holdfast.core.observe.requests.pins import lift_unpinned, pinned_constraints
from tests.core.building import named

RULE = Constraint("Never touch the tests.", named(1), negative=True)


def noted(seq: int, what: str, **facts: str) -> Entry:
    return Entry(named(seq), named(1), Noted(what, facts), seq)


def test_what_was_pinned_is_a_constraint_of_the_user() -> None:
    said = Entry(named(1), None, Said("user", "pinned"), 1)
    ledger = [said, noted(2, "pinned", text="Port 8443."), noted(3, "task_done", text="x")]
    assert pinned_constraints(ledger) == (Constraint("Port 8443.", named(2), "user"),)


@pytest.mark.parametrize(
    "pin", [named(1), named(1)[:8], RULE.text], ids=["its entry", "its short name", "its words"]
)
def test_what_is_unpinned_is_lifted_by_the_note_that_says_so(pin: str) -> None:
    (row,) = lift_unpinned([RULE], [noted(7, "unpinned", pin=pin)])
    assert row == Constraint(RULE.text, RULE.entry, "user", True, named(7))


@pytest.mark.parametrize("pin", ["", "Never touch", named(2)])
def test_what_names_nothing_lifts_nothing(pin: str) -> None:
    assert lift_unpinned([RULE], [noted(7, "unpinned", pin=pin)]) == (RULE,)


def test_what_is_lifted_stays_lifted_by_what_lifted_it_first() -> None:
    gone = Constraint(RULE.text, RULE.entry, lifted=named(4))
    assert lift_unpinned([gone], [noted(7, "unpinned", pin=RULE.text)]) == (gone,)


def test_only_a_note_unpins_not_what_somebody_says() -> None:
    words = Entry(named(5), named(1), Said("user", f"unpinned {RULE.text}"), 5)
    assert lift_unpinned([RULE], [words]) == (RULE,)
