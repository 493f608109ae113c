"""Names in a packet: those that the agent wrote last first, below their files, and no values."""

import pytest

from holdfast.core.observe.moments.moment import Moment
from holdfast.core.view.packet.moments import MomentChoice, PacketAim, PacketSelection
from holdfast.core.view.packet.names import (
    MAX_LOOSE_NAMES,
    UsedName,
    name_in_place,
    names_used,
    says_itself,
    stands_in,
)
from tests.core.building import Told, answer, ask, back, bash, call, scene


def names_of(*told: Told, moments: tuple[Moment, ...] = ()) -> list[tuple[str, str]]:
    """The names of a record with their files, the most needed first."""
    return [(one.text, one.path) for one in names_used(scene(*told), moments, lambda one: one.turn)]


def edit(name: str, path: str, text: str) -> list[Told]:
    return [call(name, "Edit", file_path=path, old_string="", new_string=text), back(name, "ok")]


def selected(names: tuple[UsedName, ...], room: int = 200, shown: str = "") -> PacketSelection:
    aim = PacketAim(layers=(1, 2, 3), ranks={"/app/cart.py": 0}, shown=shown, names=names)
    return MomentChoice((), aim).fill(room)


def test_names_that_the_agent_wrote_last_and_often_come_first() -> None:
    found = names_of(
        ask("Go on"),
        *edit("a", "/app/cart.py", "old_total = 1"),
        *edit("b", "/app/cart.py", "load_cart()"),
        *edit("c", "/app/cart.py", "load_cart(new_total)"),
    )
    assert [name for name, _ in found if "_" in name] == ["load_cart", "new_total", "old_total"]


def test_a_name_is_below_the_file_that_it_was_written_in() -> None:
    found = dict(
        names_of(ask("Go on"), *edit("a", "/app/cart.py", "load_cart()"), answer("uses new_total"))
    )
    assert found["load_cart"] == "/app/cart.py"
    assert found["new_total"] == ""


def test_a_name_that_was_only_seen_comes_after_those_that_were_written() -> None:
    record = [ask("Go on"), *edit("a", "/app/cart.py", "load_cart()")]
    seen = Moment("content", "shop.py:12: def open_shop()", "e9", turn="/app/shop.py")
    found = names_of(*record, moments=(seen,))
    assert found.index(("load_cart", "/app/cart.py")) < found.index(("open_shop", "/app/shop.py"))


def test_items_of_a_todo_list_give_no_names() -> None:
    listed = call("t", "TodoWrite", todos=[{"content": "Fix load_cart", "status": "in_progress"}])
    assert names_of(ask("Go on"), listed, back("t", "ok")) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("load_plan", True),
        ("src/shop_2", True),
        ("./shop", False),
        ("src/shop/cart.py", True),
        ("and/or", False),
        ("/print", False),
        ("s/if", False),
        ("10_000", False),
        ("1.8M", False),
        ("3f2a91c0", False),
        ("main...HEAD", False),
        ("read-only", False),
        ("plain", False),
    ],
)
def test_a_name_says_something_without_its_line(name: str, says: bool) -> None:
    assert says_itself(name) is says


def test_a_word_of_a_moment_is_a_name_as_it_stands_there() -> None:
    assert name_in_place("load_plan:12", "plan.py defines _load_plan:12") == "_load_plan"
    assert name_in_place("app/plan.py", "read ../app/plan.py") == "../app/plan.py"
    assert name_in_place("load_pl", "def load_pl…") == ""
    assert name_in_place("plan.py", "read src/a…plan.py") == ""


def test_a_name_stands_in_a_text_as_a_word() -> None:
    assert stands_in("load", "self.load(path)")
    assert not stands_in("load", "reload load_plan")


def test_names_are_shown_below_their_file_or_in_a_row_of_their_own() -> None:
    names = (
        UsedName("load_cart", 3.0, "/app/cart.py"),
        UsedName("new_total", 2.0, "/app/cart.py"),
        UsedName("make_rates", 1.0),
        UsedName("only_seen", 0.1, written=False),
    )
    found = selected(names)
    assert [(file.path, file.summary) for file in found.files] == [
        ("/app/cart.py", "names load_cart, new_total")
    ]
    assert found.state == ("Other names used: make_rates",)


def test_a_file_that_was_used_gets_a_row_by_its_path_or_name() -> None:
    found = selected((UsedName("cart.py", 1.0),))
    assert [(file.path, file.summary) for file in found.files] == [("/app/cart.py", "")]


def test_a_name_that_the_packet_shows_is_not_shown_again() -> None:
    names = (UsedName("load_cart", 3.0), UsedName("new_total", 2.0))
    assert selected(names, shown="Fix load_cart().").state == ("Other names used: new_total",)


def test_a_path_takes_the_place_of_the_name_of_its_file() -> None:
    names = (UsedName("rates.sql", 2.0), UsedName("make_rates", 1.5), UsedName("db/rates.sql", 1.0))
    assert selected(names).state == ("Other names used: make_rates, db/rates.sql",)


def test_names_of_no_file_are_few_and_fit_the_room() -> None:
    names = tuple(UsedName(f"rate_{at}_of_day", 1.0) for at in range(80))
    (row,) = selected(names, room=800).state
    assert row.count("rate_") == MAX_LOOSE_NAMES
    assert selected(names, room=10).state in ((), ("Other names used: rate_0_of_day",))


def test_a_command_that_failed_gives_the_names_that_the_agent_wrote_in_it() -> None:
    found = names_of(ask("Go on"), bash("a", "make check_rates"), back("a", "Exit code 2"))
    assert found == [("check_rates", "")]


def test_a_word_that_a_text_does_not_have_is_no_name_of_it() -> None:
    assert name_in_place("load_plan", "See rows.py.") == ""
