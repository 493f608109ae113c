import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Attached, Media, Said, Source
from holdfast.core.ledger.summary import Next, Progress, Quote
from holdfast.core.observe.results.progress import next_steps_of, progress_of, unanswered_questions
from holdfast.core.observe.results.tests import counts_in
from tests.core.building import Told, answer, ask, back, bash, call, named, scene, thought

TODOS = call(
    "t",
    "TodoWrite",
    todos=[
        {"content": "Read it", "status": "completed"},
        {"content": "Test it", "status": "pending"},
        {"content": "Write it", "status": "in_progress"},
    ],
)


@pytest.mark.seed("R071", "R077")
def test_progress_is_what_the_list_says() -> None:
    assert progress_of(scene(ask("Go"), TODOS, back("t", "ok"))) == Progress(
        phase="Write it",
        completed=("Read it",),
        remaining=("Test it", "Write it"),
        entry=named(2),
    )


@pytest.mark.seed("R085", "R092")
def test_the_newest_account_is_what_counts() -> None:
    shown = scene(
        ask("Go"),
        bash("a", "pytest"),
        back("a", "2 failed, 3 passed in 1.0s"),
        answer("I've added the lock. Done: the lock holds."),
        ask("More"),
        bash("b", "pytest -q"),
        back("b", "5 passed in 1.2s"),
        answer("Fixed the race in the queue. Is that all?"),
    )
    assert progress_of(shown) == Progress(
        completed=("I've added the lock.", "Done: the lock holds.", "Fixed the race in the queue."),
        tests="5 passed in 1.2s",
        entry=named(8),
    )


def test_what_was_told_since_the_list_is_done_as_well() -> None:
    shown = scene(ask("Go"), TODOS, back("t", "ok"), answer("I've renamed the module."))
    assert progress_of(shown).completed == ("Read it", "I've renamed the module.")
    assert progress_of(scene(answer("I've renamed it all."), TODOS)).completed == ("Read it",)


def test_only_the_newest_of_what_was_told_is_kept() -> None:
    text = "\n".join(f"- Added part {number}" for number in range(12))
    shown = scene(ask("Go"), bash("a", "make"), back("a", "ok"), answer(text))
    assert progress_of(shown).completed == tuple(f"Added part {number}" for number in range(4, 12))


def test_what_is_not_done_yet_is_not_done() -> None:
    told = answer("I've added the fix but it has not been committed. Fixed the race in the queue.")
    shown = scene(ask("Go"), bash("a", "make"), back("a", "ok"), told)
    assert progress_of(shown).completed == ("Fixed the race in the queue.",)


def test_what_was_done_outside_of_the_files_is_told_by_what_it_came_to() -> None:
    shown = scene(
        ask("Cancel it"),
        call("b", "cancel_order", order_id="W-77", items=["a", "b"]),
        back("b", "{}"),
        answer("It is through."),
    )
    assert progress_of(shown).completed == ("cancel_order order_id=W-77 items=(2)",)


def test_what_the_agent_says_between_its_calls_is_no_account() -> None:
    shown = scene(ask("Go"), answer("I've added the lock."), bash("a", "ls"), back("a", "x"))
    assert progress_of(shown) == Progress()


def test_the_phase_is_the_step_in_hand_and_never_a_heading() -> None:
    plan = answer("## Moving house\n- [x] Pack the boxes\n- [ ] Carry them")
    assert progress_of(scene(ask("Go"), plan)).phase == ""
    begun = answer("## Moving house\n- [x] Pack the boxes\n- [~] Carry them")
    assert progress_of(scene(ask("Go"), begun)).phase == "Carry them"


def test_counts_are_found_at_the_end_of_a_long_output() -> None:
    output = "x\n" * 100_000 + "\x1b[32m7 passed\x1b[0m in 0.1s\r\n"
    assert counts_in(output) == "7 passed in 0.1s"


def test_counts_in_a_file_that_is_shown_are_no_run() -> None:
    shown = (bash("a", "cat log.txt"), back("a", "9 passed in 1s"), call("b", "Read", path="log"))
    assert progress_of(scene(ask("Go"), *shown, back("b", "9 passed in 1s"))) == Progress()
    assert progress_of(scene(ask("Go"), bash("c", "pytest"))) == Progress()


@pytest.mark.seed("R073", "R077", "R086")
def test_the_next_step_is_the_one_in_hand_then_the_rest_in_order() -> None:
    asked = answer("You need to restart the server.")
    assert next_steps_of(scene(ask("Go"), TODOS, back("t", "ok"), asked)) == (
        Next("Write it", named(2), status="in progress"),
        Next("Test it", named(2)),
        Next("You need to restart the server.", named(4), "user"),
    )


def test_a_step_that_the_user_has_to_take_is_the_users() -> None:
    todos = call("t", "TodoWrite", todos=["Waiting for your key", "Deploy"])
    assert [row.owner for row in next_steps_of(scene(ask("Go"), todos))] == ["user", "agent"]


@pytest.mark.seed("R093")
def test_without_a_list_the_next_step_is_what_the_agent_said_last() -> None:
    said = answer("The lock holds. Next, I'll add the queue.")
    step = "Next, I'll add the queue."
    bad = (bash("a", "make"), back("a", "error: bad"))
    assert next_steps_of(scene(ask("Go"), said)) == (Next(step, named(2)),)
    assert next_steps_of(scene(ask("Go"), said, bash("a", "make"))) == (
        Next(step, named(2), status="in progress"),
    )
    assert next_steps_of(scene(ask("Go"), said, *bad)) == (
        Next(step, named(2), status="in progress"),
    )


def test_the_users_word_to_go_on_changes_no_next_step() -> None:
    said = answer("The lock holds. Next, I'll add the queue.")
    (step,) = next_steps_of(scene(ask("Go"), said, ask("continue")))
    assert step.step == "Next, I'll add the queue."


def test_what_was_done_or_overtaken_is_no_next_step() -> None:
    said = answer("Now let me run the tests.")
    done = (bash("a", "make"), back("a", "fine"))
    assert next_steps_of(scene(ask("Go"), said, *done)) == ()
    assert next_steps_of(scene(ask("Go"), *done, said, ask("Fix the parser"))) == ()
    assert next_steps_of(scene(ask("Go"), said, answer("It is all there."))) == ()
    assert next_steps_of(scene(ask("Go"))) == ()


def test_a_list_worked_off_leaves_nothing_to_do() -> None:
    done = call("t", "TodoWrite", todos=[{"content": "Read it", "status": "completed"}])
    assert next_steps_of(scene(ask("Go"), done, back("t", "ok"))) == ()


def test_what_the_agent_asked_last_is_open() -> None:
    shown = scene(ask("Go"), answer("Both work. Which one do you want?\n\n- Should I push it?"))
    assert unanswered_questions(shown) == (
        Quote("Which one do you want?", named(2)),
        Quote("Should I push it?", named(2)),
    )


@pytest.mark.parametrize(
    "after",
    [
        (ask("The first"),),
        (bash("a", "ls"), back("a", "x")),
        (Said("user", "console output", "host"), answer("It runs.")),
    ],
)
def test_a_question_that_something_followed_is_not_open(after: tuple[Told, ...]) -> None:
    assert unanswered_questions(scene(ask("Go"), answer("Which one do you want?"), *after)) == ()


def test_what_stands_after_a_question_without_a_word_leaves_it_open() -> None:
    after = (thought("hm"), Attached("assistant", Media("image")), Said("user", "noise", "host"))
    shown = scene(ask("Go"), answer("Which one do you want?"), *after)
    assert unanswered_questions(shown) == (Quote("Which one do you want?", named(2)),)


def test_a_question_to_nobody_is_not_asked() -> None:
    assert (
        unanswered_questions(scene(ask("Go"), answer("Why did it fail? The lock was held."))) == ()
    )


def test_a_question_that_a_tool_put_is_open_until_it_is_answered() -> None:
    put = call("q", "AskUserQuestion", questions=[{"question": "Which store?"}, {"header": "x"}])
    assert unanswered_questions(scene(ask("Go"), put)) == (Quote("Which store?", named(2)),)
    assert unanswered_questions(scene(ask("Go"), put, back("q", "SQLite"))) == ()
    assert unanswered_questions(scene(ask("Go"), put, ask("SQLite"))) == ()
    assert unanswered_questions(scene(ask("Go"), bash("a", "ls"))) == ()


def test_what_the_user_asked_is_open_until_the_agent_says_something() -> None:
    asked = (answer("Fine."), ask("Thanks. Does it scale?"), bash("a", "ls"), back("a", "x"))
    assert unanswered_questions(scene(ask("Go?"), *asked)) == (Quote("Does it scale?", named(3)),)
    assert unanswered_questions(scene(ask("Go?"), *asked, answer("It does."))) == ()


def test_of_a_long_request_only_what_it_ends_with_is_asked() -> None:
    pasted = "Does the code fit? " + "It has to fit well. " * 200 + "\n\nDoes it scale?"
    assert unanswered_questions(scene(ask(pasted))) == (Quote("Does it scale?", named(1)),)


PARTS: st.SearchStrategy[Source] = st.sampled_from(
    [
        ask("Does it scale?"),
        answer("Next, I'll add it. Which one do you want? You need to restart it."),
        answer("Plan:\n- Write\n- Test"),
        answer("I've added the lock."),
        bash("a", "pytest"),
        back("a", "3 passed in 1s"),
        back("a", "error: bad"),
        TODOS,
        thought("Should I?"),
    ]
)


@given(st.lists(PARTS, max_size=10))
def test_every_row_names_an_entry_of_the_scene(parts: list[Source]) -> None:
    shown = scene(*parts)
    names = {item.entry.id for item in shown.items}
    progress, steps, asked = progress_of(shown), next_steps_of(shown), unanswered_questions(shown)
    assert (progress, steps, asked) == (
        progress_of(shown),
        next_steps_of(shown),
        unanswered_questions(shown),
    )
    assert progress == Progress() or progress.entry in names
    assert all(row.entry in names and row.step for row in steps)
    assert all(row.entry in names and row.text for row in asked)
