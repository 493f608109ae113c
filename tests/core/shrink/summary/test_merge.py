import pytest

from holdfast.core.ledger.summary import (
    Action,
    Constraint,
    Error,
    File,
    Intent,
    Next,
    Progress,
    Quote,
    Summary,
)
from holdfast.core.shrink.summary.merge import (
    merge,
    merge_constraints,
    merge_errors,
    merge_file,
    merge_files,
    merge_spans,
)
from tests.core.building import named

FIRST = Quote("Build the importer.", named(1))
SECOND = Quote("Now the exporter.", named(5))
THIRD = Quote("Now the docs.", named(9))


def said(*quotes: Quote) -> Summary:
    return Summary(intent=Intent(quotes[0], quotes[-1]), words=quotes[1:-1])


@pytest.mark.seed("R089")
def test_a_request_that_is_no_longer_current_is_kept_among_the_words() -> None:
    known = merge(Summary(), said(FIRST, SECOND))
    made = merge(known, said(THIRD))
    assert (made.intent.original, made.intent.current) == (FIRST, THIRD)
    assert made.words == (SECOND,)


def test_the_same_words_by_their_short_name_are_told_once() -> None:
    short = Quote(SECOND.text, SECOND.entry[:8])
    made = merge(said(FIRST, short, THIRD), said(SECOND))
    assert [quote.text for quote in made.words] == [THIRD.text]


@pytest.mark.seed("R090")
@pytest.mark.parametrize(
    ("known", "new", "made"),
    [
        ("read", "modified", "modified"),
        ("read", "created", "modified"),
        ("created", "modified", "created"),
        ("created", "read", "created"),
        ("modified", "read", "modified"),
        ("modified", "deleted", "deleted"),
        ("created", "deleted", "deleted"),
        ("deleted", "created", "created"),
        ("renamed", "modified", "renamed"),
        ("read", "read", "read"),
    ],
)
def test_what_two_touches_of_a_file_come_to(known: Action, new: Action, made: Action) -> None:
    told, now = File("a.py", known), File("a.py", new, named(2))
    assert merge_file(told, now).action == made
    assert merge_file(told, now).entry == named(2)


def test_a_later_part_of_the_record_adds_to_what_changed_before() -> None:
    known = File("a.py", "modified", named(1), change="run(), stop(); +3 −1")
    new = File("a.py", "created", named(2), change="run(), start(); +4")
    made = merge_file(known, new)
    assert (made.action, made.entry) == ("modified", named(2))
    assert made.change == "run(), stop(), start(); +7 −1"
    assert merge_file(made, new) == made


def test_a_change_that_was_merged_often_stays_short_and_keeps_its_newest_names() -> None:
    made = File("a.py", "modified", named(1), change="first(); +1")
    for at in range(2, 60):
        made = merge_file(made, File("a.py", "modified", named(at), change=f"part_{at}(); +1"))
    assert len(made.change) <= 160
    assert made.change.endswith("part_59(); +59")


def test_lines_that_were_read_are_joined_and_the_whole_file_is_the_whole_file() -> None:
    def of(*lines: tuple[int, int], why: str = "") -> File:
        return File("a.py", "read", lines=lines, why=why)

    assert merge_file(of((1, 5), why="the parser"), of((6, 9), why="x")) == of(
        (1, 9), why="the parser"
    )
    assert merge_file(of((1, 5)), of()) == of()
    assert merge_spans([(7, 9), (1, 3), (2, 5)]) == ((1, 5), (7, 9))


def test_a_row_of_a_text_adds_nothing_to_what_the_record_says_changed() -> None:
    one = File("a.py", "modified", named(1), change="+3")
    assert merge_file(one, File("a.py", "modified", change="adds run()")).change == "+3"
    bare = File("a.py", "modified", named(1))
    assert merge_file(bare, File("a.py", "modified", change="adds run()")).change == "adds run()"
    assert merge_file(one, File("a.py", "deleted", named(2))).change == ""


def test_a_rename_takes_its_row_along_unless_there_is_a_new_file_in_its_place() -> None:
    known = (File("a.py", "created", change="+3"),)
    moved = File("b.py", "renamed", was="a.py")
    (row,) = merge_files(known, (moved,))
    assert (row.path, row.action, row.was) == ("b.py", "created", "a.py")
    both = (moved, File("a.py", "created", change="+9"))
    assert [file.path for file in merge_files(known, both)] == ["a.py", "b.py"]
    once = merge_files((), both)
    assert merge_files(once, both) == once == both


@pytest.mark.seed("R094")
def test_an_error_is_resolved_where_it_stands_and_a_new_one_is_appended() -> None:
    known = (Error("boom", named(1), "make"), Error("bang", named(2), "lint"))
    new = (Error("crash", named(7), "make"), Error("boom", named(1), "make", named(8)))
    assert merge_errors(known, new) == (
        Error("boom", named(1), "make", named(8)),
        Error("bang", named(2), "lint"),
        Error("crash", named(7), "make"),
    )


@pytest.mark.seed("R092", "R093")
def test_a_part_without_a_plan_and_without_the_user_changes_neither_steps_nor_questions() -> None:
    known = Summary(next=(Next("x", "1"),), questions=(Quote("Which port?", named(2)),))
    made = merge(known, Summary(files=(File("a.py", "read", named(3)),)))
    assert (made.next, made.questions) == (known.next, known.questions)
    spoken = merge(known, Summary(intent=Intent(current=Quote("Use 8443.", named(4)))))
    assert (spoken.next, spoken.questions) == (known.next, ())


def test_go_on_does_not_become_the_current_request() -> None:
    known = Summary(intent=Intent(Quote("Fix it.", named(1)), Quote("Fix the tests.", named(2))))
    made = merge(known, Summary(intent=Intent(current=Quote("continue", named(5)))))
    assert made.intent == known.intent
    assert made.words == (Quote("continue", named(5)),)


@pytest.mark.seed("R092", "R093")
def test_a_plan_that_was_carried_out_is_gone_though_nothing_takes_its_place() -> None:
    known = Summary(progress=Progress("parser", remaining=("tests",)), next=(Next("x", "1"),))
    new = Summary(progress=Progress("parser", completed=("tests",)))
    made = merge(known, new)
    assert (made.progress, made.next) == (new.progress, ())


def test_a_rule_is_taken_back_by_newer_words_and_not_by_its_own_told_again() -> None:
    rule = Constraint("Use port 8443.", named(1))
    back = Quote("Actually, use port 9000 instead of port 8443.", named(5))
    (lifted,) = merge_constraints((rule,), (), (back,))
    assert lifted == Constraint(rule.text, rule.entry, lifted=named(5))
    own = Quote("Use port 8443 instead.", named(1))
    once = merge(Summary(), Summary(intent=Intent(own, own, (own,)), constraints=(rule,)))
    again = merge(once, Summary(intent=Intent(own, own, (own,)), constraints=(rule,)))
    assert again.constraints == once.constraints == (rule,)


def test_constraints_of_the_system_stay_behind_newer_ones_of_the_user() -> None:
    system = Constraint("Reply in one block.", named(1), "system")
    old, new = Constraint("Never push.", named(2)), Constraint("Keep it small.", named(9))
    assert merge_constraints((old, system), (new,), ()) == (old, new, system)


def test_a_file_that_was_made_and_deleted_again_is_not_uncommitted() -> None:
    made = Summary(
        files=(File("/app/try.py", "created", named(1)), File("/app/a.py", "modified", named(2))),
        state=(Quote("not committed: try.py, a.py", named(2)),),
    )
    gone = Summary(files=(File("/app/try.py", "deleted", named(3)),))
    merged = merge(made, gone)
    assert [file.change for file in merged.files] == ["made and deleted again", ""]
    assert [row.text for row in merged.state] == ["not committed: a.py"]


def test_a_file_of_another_folder_with_the_name_of_a_deleted_one_stays_uncommitted() -> None:
    made = Summary(
        files=(File("/x/a.py", "created", named(1)), File("/y/a.py", "modified", named(2))),
        state=(Quote("not committed: x/a.py, y/a.py", named(2)),),
    )
    merged = merge(made, Summary(files=(File("/x/a.py", "deleted", named(3)),)))
    assert [row.text for row in merged.state] == ["not committed: x/a.py, y/a.py"]
