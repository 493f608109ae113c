import json

import pytest

from holdfast.core.ledger.entry import Said, ToolCalled
from holdfast.core.observe.results.todos import DONE, PENDING, WORKING, Todo, TodoList, todos_of
from tests.core.building import Told, answer, ask, back, bash, call, scene


def listed(*messages: Told) -> list[tuple[str, str]]:
    """The list in force after some messages."""
    found = todos_of(scene(ask("Go"), *messages))
    return [(todo.text, todo.status) for todo in found.items] if found else []


PLANNED = [("Read", DONE), ("Write", WORKING), ("Test", PENDING)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": "Read", "status": "completed", "activeForm": "Reading"},
                    {"content": "Write", "status": "in_progress", "activeForm": "Writing"},
                    {"content": "Test", "status": "pending", "activeForm": "Testing"},
                ]
            },
        ),
        (
            "update_plan",
            {
                "explanation": "so",
                "plan": [
                    {"step": "Read", "status": "completed"},
                    {"step": "Write", "status": "in_progress"},
                    {"step": "Test", "status": "pending"},
                ],
            },
        ),
        (
            "write_todos",
            {
                "todos": [
                    {"description": "Read", "status": "completed"},
                    {"description": "Write", "status": "in_progress"},
                    {"description": "Gone", "status": "cancelled"},
                    {"description": "Test", "status": "pending"},
                ]
            },
        ),
        (
            "task_tracker",
            {
                "command": "plan",
                "task_list": [
                    {"id": "1", "title": "Read", "status": "done"},
                    {"id": "2", "title": "Write", "status": "in_progress"},
                    {"id": "3", "title": "Test", "status": "todo"},
                ],
            },
        ),
        ("update_todo_list", {"todos": "- [x] Read\n- [-] Write\n- [ ] Test"}),
        (
            "todo",
            {
                "items": [
                    {"text": "Read", "done": True},
                    {"task": "Write", "state": "doing"},
                    "Test",
                    " ",
                    {},
                ]
            },
        ),
    ],
)
def test_a_list_is_read_in_the_form_of_its_agent(tool: str, arguments: dict[str, object]) -> None:
    assert listed(call("c", tool, **arguments), back("c", "ok")) == PLANNED


def test_a_list_that_comes_as_json_text_is_read() -> None:
    assert listed(call("c", "mcp__x__todowrite", todos=json.dumps(["Read", "Test"]))) == [
        ("Read", PENDING),
        ("Test", PENDING),
    ]


def test_the_newest_list_replaces_the_older_entirely_also_by_an_empty_one() -> None:
    first, second = call("a", "TodoWrite", todos=["Read"]), call("b", "TodoWrite", todos=["Test"])
    assert listed(first, second) == [("Test", PENDING)]
    assert todos_of(scene(ask("Go"), first, call("c", "TodoWrite", todos=[]))) == TodoList((), 2)


def test_a_call_that_failed_or_only_looks_changes_no_list() -> None:
    first = call("a", "TodoWrite", todos=["Read"])
    assert listed(first, call("b", "TodoWrite", todos=[]), back("b", "no", failed=True)) == [
        ("Read", PENDING)
    ]
    assert listed(first, call("b", "task_tracker", command="view")) == [("Read", PENDING)]
    assert listed(first, ToolCalled("b", "TodoWrite", "{broken")) == [("Read", PENDING)]
    assert todos_of(scene(ask("Go"), bash("c", "ls"))) is None


def test_tasks_are_made_and_changed_one_by_one() -> None:
    def made(name: str, subject: str, number: int) -> tuple[Told, Told]:
        task = call(name, "TaskCreate", subject=subject, description="At length", activeForm="x")
        return task, back(name, f"Task #{number} created successfully: {subject}")

    def changed(task: str, **facts: str) -> Told:
        return call("u", "TaskUpdate", taskId=task, **facts)

    start = (call("z", "TodoWrite", todos=["Old"]), *made("a", "Read", 7), *made("b", "Write", 8))
    assert listed(*start) == [("Read", PENDING), ("Write", PENDING)]
    assert listed(*start, changed("7", status="completed"), changed("8", status="in_progress")) == [
        ("Read", DONE),
        ("Write", WORKING),
    ]
    assert listed(*start, changed("8", subject="Rewrite"), changed("9", status="completed")) == [
        ("Read", PENDING),
        ("Rewrite", PENDING),
    ]
    assert listed(*start, changed("7", status="deleted")) == [("Write", PENDING)]
    assert listed(changed("1", status="completed")) == []
    assert listed(call("a", "task_create", subject=" ")) == []
    assert listed(call("a", "TaskCreate", subject="One"), changed("1", status="done")) == [
        ("One", DONE)
    ]


def test_a_checklist_in_the_agents_words_is_a_list() -> None:
    text = "## Porting\n\n- [x] Read\n- [~] Write\n- [ ] Test\n\n```\n- [ ] not this\n```"
    items = tuple(Todo(name, status) for name, status in PLANNED)
    assert todos_of(scene(ask("Go"), answer(text))) == TodoList(items, 1, spoken=True)


@pytest.mark.parametrize(
    "heading", ["Next steps:", "**Remaining:**", "## TODO", "Still to do", "Plan:"]
)
def test_the_list_under_a_heading_of_next_steps_is_one(heading: str) -> None:
    text = f"It works.\n\n{heading}\n\n1. Write\n   with care\n2. Test\n\nBye."
    assert listed(answer(text)) == [("Write", PENDING), ("Test", PENDING)]


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] a single box",
        "Next steps:\nnone",
        "Remaining:\n- None.",
        "Plan:",
        "```\nTODO:\n- a\n- b\n```",
        "- one\n- two",
    ],
)
def test_what_is_no_list_of_steps_is_none(text: str) -> None:
    assert listed(answer(text)) == []


def test_a_list_in_words_ends_with_the_turn_that_closes_without_it() -> None:
    plan = answer("Plan:\n1. Write\n2. Test")
    held = [("Write", PENDING), ("Test", PENDING)]
    assert (
        listed(plan, bash("a", "ls"), back("a", "x"), answer("Now the rest."), bash("b", "ls"))
        == held
    )
    assert listed(plan, bash("a", "ls"), back("a", "x"), answer("All is done.")) == []
    assert listed(plan, answer("All is done."), ask("And?")) == []


def test_a_list_in_words_ends_when_work_goes_on_past_it() -> None:
    plan = answer("Plan:\n1. Write\n2. Test")
    assert listed(plan, ask("Yes")) != []
    assert listed(plan, ask("Something else"), bash("a", "ls")) == []
    assert listed(plan, *(bash(f"c{n}", "ls") for n in range(8))) != []
    assert listed(plan, *(bash(f"c{n}", "ls") for n in range(9))) == []


def test_the_users_word_to_go_on_changes_no_list() -> None:
    plan = answer("Plan:\n1. Write the parser\n2. Test it on the corpus")
    held = [("Write the parser", PENDING), ("Test it on the corpus", PENDING)]
    for words in ("continue", "ok, go on with the rest", "yes", "use ply for the parser"):
        assert listed(plan, ask(words), bash("a", "ls"), back("a", "x")) == held
    assert listed(plan, ask("Which license do we have?")) == []


def test_a_step_that_the_agent_reports_as_done_is_done() -> None:
    plan = answer("Plan:\n1. Write the parser\n2. Test it on the corpus")
    reported = answer("I've written the parser, and it works.")
    shown = listed(plan, bash("a", "make"), back("a", "ok"), reported, ask("continue"))
    assert shown == [("Write the parser", PENDING), ("Test it on the corpus", PENDING)]
    plan = answer("Plan:\n1. Added parser\n2. Test it on the corpus")
    reported = answer("Added the parser in parse.py.")
    shown = listed(plan, bash("a", "make"), back("a", "ok"), reported, ask("continue"))
    assert shown == [("Added parser", DONE), ("Test it on the corpus", PENDING)]


def test_a_list_in_words_gives_way_to_the_one_that_a_tool_keeps() -> None:
    kept = call("a", "TodoWrite", todos=["Kept"])
    plan = answer("Plan:\n1. Write\n2. Test")
    assert listed(kept, plan) == [("Write", PENDING), ("Test", PENDING)]
    assert listed(plan, kept) == [("Kept", PENDING)]
    assert listed(kept, plan, answer("All is done.")) == [("Kept", PENDING)]


def test_what_programs_say_is_no_list() -> None:
    assert listed(Said("assistant", "Plan:\n- a\n- b", "summary"), Said("user", "Plan:\n- a")) == []


def test_a_list_without_end_keeps_its_newest_tasks() -> None:
    tasks = [call(f"c{n}", "TaskCreate", subject=f"Task {n}") for n in range(150)]
    found = listed(*tasks)
    assert len(found) == 100 and found[-1] == ("Task 149", PENDING)


def test_far_from_either_end_of_a_very_long_text_nothing_is_looked_for() -> None:
    plan, filler = "\nPlan:\n- Write\n- Test\n\n", "word " * 10_000
    assert listed(answer(filler + plan)) != []
    assert listed(answer(filler + plan + filler)) == []


def test_an_item_is_one_line_of_bounded_length() -> None:
    ((text, _),) = listed(call("c", "TodoWrite", todos=["a\n  b " + "word " * 100]))
    assert text.startswith("a b word") and text.endswith("word") and len(text) <= 200
