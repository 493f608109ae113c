"""What the record gives a packet: lines of likely names, few loose ones, and no pieces of text."""

from holdfast.core.ledger.summary import Decision, Summary
from holdfast.core.observe.worth import NeedEstimator, names_by_entry
from holdfast.core.view.packet.history import rejected_options
from holdfast.core.view.packet.lines import LOOSE, code_lines, file_named_in
from holdfast.core.view.packet.record import MOST_LOOSE, PacketSelection, line_pool, select_lines
from tests.core.building import Told, answer, ask, back, bash, call, scene


def found_in(*told: Told, room: int = 400) -> PacketSelection:
    """What a room is filled with from a record."""
    record = scene(*told)
    held = names_by_entry(record.items, {})
    likely = NeedEstimator(record, held)
    pool = line_pool(record, held, likely)
    return select_lines(pool, room, likely, covered=(), layers=(1, 2, 3))


def names_in(text: str, *names: str) -> list[str]:
    return [line.fact.text for line in code_lines(LOOSE, text, frozenset(names))]


def test_names_of_no_file_are_few() -> None:
    printed = " ".join(f"order_{number}_id" for number in range(80))
    found = found_in(ask("Go on"), bash("a", "gh api orders"), back("a", printed))
    assert len(found.loose) == MOST_LOOSE


def test_a_line_with_a_likely_name_is_told_under_its_file() -> None:
    code = "\n".join(["# the beginning", "total_price = unit_price * amount", "x = 1", "y = 2"])
    read = [call("r", "Read", file_path="/src/cart.py"), back("r", code)]
    found = found_in(ask("Fix total_price"), *read, answer("total_price is wrong in cart.py."))
    assert [file.path for file in found.files] == ["/src/cart.py"]
    assert "total_price = unit_price * amount" in found.files[0].summary


def test_a_letter_behind_a_backslash_begins_no_name() -> None:
    assert names_in(r"{'body': 'Done.\nThe userId is set'}", "nThe", "userId") == ["userId"]


def test_a_word_in_the_marks_of_emphasis_is_no_name() -> None:
    assert names_in("_Potential issue_ | the userId", "issue_", "userId") == ["userId"]


def test_a_name_behind_a_line_end_in_the_arguments_of_a_call_is_found() -> None:
    text = "import os\nretry_budget = 17  # how often the export tries again\n"
    wrote = [call("w", "Write", file_path="/src/export.py", content=text), back("w", "ok")]
    found = found_in(ask("Fix retry_budget in src/export.py"), *wrote, answer("That is done."))
    assert "retry_budget = 17 # how often the export tries again" in found.files[0].summary


def test_names_in_paths_of_windows_are_names() -> None:
    assert names_in(r"C:\repo\UserService.cs", "UserService.cs") == ["UserService.cs"]
    assert names_in("class_ and type_ = 1", "class_") == ["class_"]


def test_an_address_is_no_file() -> None:
    assert file_named_in("Co-Authored-By: Bot <noreply@example.com>") == ""
    assert file_named_in("cat node_modules/@scope/name.ts") == "node_modules/@scope/name.ts"


def test_what_was_turned_down_is_told_only_where_it_says_what_that_is() -> None:
    def avoided(*choices: str) -> tuple[str, ...]:
        return rejected_options(Summary(decisions=tuple(Decision(one, "e1") for one in choices)))

    assert avoided("Return early instead of erroring", "Take a number instead of a string") == ()
    assert avoided("Use the root instead of `os.Getwd") == ()
    assert avoided("Use the root instead of os.Getwd") == ("os.Getwd",)
    assert avoided("Ask rather than guess what it means") == ("guess what it means",)
