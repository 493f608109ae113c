from holdfast.core.observe.moments.moment import Moment
from holdfast.core.shrink.summary.names import NameIndex, choose_names
from tests.core.building import named, words


def moments() -> list[Moment]:
    return [
        Moment("named", "old.py names load_plan, old_name", named(1)),
        Moment("said", "The store keeps load_plan.", named(2)),
        Moment("named", "new.py names save_plan, new_name", named(3)),
    ]


def texts(room: int, seen: frozenset[str] = frozenset()) -> list[str]:
    found = choose_names(NameIndex(moments()), room, seen=seen, count=words)
    return [moment.text for moment in found]


def test_names_are_shown_with_the_text_that_has_them() -> None:
    assert texts(100) == [
        "old.py names old.py, old_name",
        "the session names load_plan",
        "new.py names new.py, new_name, save_plan",
    ]


def test_names_that_are_shown_elsewhere_are_left_out() -> None:
    seen = frozenset({"load_plan", "new_name", "old.py", "new.py"})
    assert texts(100, seen) == ["old.py names old_name", "new.py names save_plan"]


def test_in_little_room_the_newest_names_and_those_that_came_back_are_shown() -> None:
    assert texts(9) == ["the session names load_plan"]
    assert texts(0) == []


def test_numbers_are_names_if_they_came_back_and_are_not_those_of_lines() -> None:
    pool = [
        Moment("content", "notes.md:104: Step 2048 follows localhost:8443", named(1)),
        Moment("said", "See notes.md:104: the port 8443 is taken.", named(2)),
    ]
    found = choose_names(NameIndex(pool), 100, seen=frozenset[str](), count=words)
    assert [moment.text for moment in found] == ["the session names 8443, notes.md"]
