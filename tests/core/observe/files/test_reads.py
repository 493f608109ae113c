import pytest

from holdfast.core.observe.files.reads import NewerCall, superseded_reads
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.scene import read_scene
from tests.core.building import Told, back, bash, call, items, lines

FILE = lines(40)


def found(*messages: Told) -> dict[int, NewerCall]:
    scene = read_scene(items(*messages))
    return superseded_reads(scene, [touch_of(pair.body) for pair in scene.pairs])


def whole(name: str, path: str = "a.py") -> Told:
    return call(name, "Read", file_path=path)


def page(name: str, offset: int, limit: int) -> Told:
    return call(name, "Read", file_path="a.py", offset=offset, limit=limit)


@pytest.mark.seed("R118")
def test_a_file_read_again_makes_the_earlier_read_redundant() -> None:
    assert found(whole("a"), back("a", FILE), whole("b"), back("b", FILE)) == {
        1: NewerCall(2, "read")
    }


@pytest.mark.seed("R118")
def test_a_file_written_since_makes_the_read_before_it_redundant() -> None:
    wrote = call("b", "Write", file_path="a.py", content="new")
    assert found(whole("a"), back("a", FILE), wrote, back("b", "ok")) == {1: NewerCall(2, "write")}


def test_an_edit_leaves_the_read_that_it_was_made_on() -> None:
    edited = call("b", "Edit", file_path="a.py", old_string="row 1", new_string="row one")
    assert found(whole("a"), back("a", FILE), edited, back("b", "ok")) == {}


def test_of_three_reads_the_last_one_stays() -> None:
    three = (whole("a"), back("a", FILE), whole("b"), back("b", FILE), whole("c"), back("c", FILE))
    assert found(*three) == {1: NewerCall(4, "read"), 3: NewerCall(4, "read")}


def test_the_answer_that_a_file_is_unchanged_supersedes_nothing() -> None:
    assert found(whole("a"), back("a", FILE), whole("b"), back("b", "File unchanged.")) == {}


def test_the_read_that_shows_the_file_is_found_behind_one_that_shows_nothing() -> None:
    unchanged = (whole("c"), back("c", "File unchanged."))
    shown = found(whole("a"), back("a", FILE), whole("b"), back("b", FILE), *unchanged)
    assert shown == {1: NewerCall(2, "read")}


@pytest.mark.parametrize(
    ("older", "newer", "covered"),
    [
        ((1, 20), (1, 20), True),
        ((5, 10), (1, 40), True),
        ((1, 40), (5, 10), False),
        ((1, 20), (21, 20), False),
        ((1, 20), (10, 20), False),
        ((0, 0), (1, 20), False),
        ((1, 20), (0, 0), True),
    ],
)
def test_only_a_later_read_of_all_its_lines_supersedes_a_page(
    older: tuple[int, int], newer: tuple[int, int], covered: bool
) -> None:
    before = page("a", *older) if older[0] else whole("a")
    after = page("b", *newer) if newer[0] else whole("b")
    shown = found(before, back("a", FILE), after, back("b", FILE))
    assert shown == ({1: NewerCall(2, "read")} if covered else {})


@pytest.mark.parametrize(
    "later",
    [
        pytest.param((whole("b"), back("b", FILE, failed=True)), id="failed"),
        pytest.param((whole("b"),), id="unanswered"),
        pytest.param((whole("b", "b.py"), back("b", FILE)), id="another file"),
        pytest.param((bash("b", "wc -l a.py"), back("b", FILE)), id="no read"),
    ],
)
def test_what_does_not_show_the_file_supersedes_nothing(later: tuple[Told, ...]) -> None:
    assert found(whole("a"), back("a", FILE), *later) == {}


def test_a_read_that_failed_is_not_superseded() -> None:
    failed = back("a", "no such file", failed=True)
    assert found(whole("a"), failed, whole("b"), back("b", FILE)) == {}


def test_the_shell_reads_files_too() -> None:
    shell = (bash("a", "cat a.py"), back("a", FILE), whole("b"), back("b", FILE))
    assert found(*shell) == {1: NewerCall(2, "read")}
