import pytest

from holdfast.core.observe.worth import (
    MAX_TEXT_CHARS,
    NameUses,
    Worth,
    find_names,
    is_by_agent,
    name_uses_of,
    names_by_entry,
    worth_of,
)
from tests.core.building import (
    answer,
    ask,
    back,
    bash,
    items,
    named,
    scene,
    standing,
    thought,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see src/holdfast/engine.py.", {"src/holdfast/engine.py", "engine.py"}),
        ("call parseInvoice and the rest", {"parseInvoice"}),
        ("error 4711 in row 12", {"4711"}),
        ("plain words only, no more", set[str]()),
        ("snake_case x9z a1", {"snake_case", "x9z"}),
        ("", set[str]()),
    ],
)
def test_the_names_of_a_text_are_what_would_have_to_be_looked_up(
    text: str, names: set[str]
) -> None:
    assert find_names(text) == frozenset(names)


def test_a_text_that_is_too_long_is_looked_at_from_both_ends() -> None:
    filler = "word " * (MAX_TEXT_CHARS // 4)
    assert find_names(f"first_name {filler} mid_name {filler} last_name") == {
        "first_name",
        "last_name",
    }


def test_what_the_agent_wrote_is_its_own() -> None:
    own = [thought("t"), bash("a", "ls"), answer("yes"), ask("no"), back("a", "x")]
    assert [is_by_agent(body) for body in own] == [True, True, True, False, False]


def test_a_block_is_worth_what_the_agent_used_of_it_and_when() -> None:
    shown = scene(
        ask("Go."),
        bash("a", "ls"),
        back("a", "net_total tax_rate vat_code"),
        bash("b", "grep tax_rate"),
        back("b", "no"),
        answer("net_total is the one."),
        ask("And?"),
        answer("Nothing."),
    )
    held = names_by_entry(shown.items, {})
    uses = name_uses_of(shown, held)
    assert uses == NameUses({"tax_rate": [2], "net_total": [3]})
    holds = frozenset({"net_total", "tax_rate", "vat_code"})
    assert worth_of(2, shown, held, uses) == Worth(
        holds, frozenset({"net_total", "tax_rate"}), since=1, age=3
    )
    assert worth_of(4, shown, held, uses) == Worth(since=2, age=2)


def test_what_the_agent_wrote_before_a_block_came_is_no_use_of_it() -> None:
    shown = scene(bash("a", "grep tax_rate"), back("a", "tax_rate = 7"), answer("I see."))
    held = names_by_entry(shown.items, {})
    worth = worth_of(1, shown, held, name_uses_of(shown, held))
    assert worth == Worth(frozenset({"tax_rate"}), frozenset(), since=1, age=1)


def test_what_is_known_is_not_looked_at_again_unless_something_else_stands_there() -> None:
    one, two = items(ask("net_total"), ask("tax_rate"))
    known = {named(1): frozenset({"known_one"}), named(2): frozenset({"known_two"})}
    assert names_by_entry([one, standing(two, ask("vat_code"))], known) == {
        named(1): frozenset({"known_one"}),
        named(2): frozenset({"vat_code"}),
    }
