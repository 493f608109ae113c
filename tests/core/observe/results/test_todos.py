import json

import pytest

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.observe.results.todos import DONE, PENDING, WORKING, TodoList, todos_of
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


def test_a_list_in_words_is_told_by_the_story_and_is_none_of_a_tool() -> None:
    assert listed(answer("Plan:\n1. Write\n2. Test"), answer("- [x] Read\n- [ ] Test")) == []


def test_a_list_without_end_keeps_its_newest_tasks() -> None:
    tasks = [call(f"c{n}", "TaskCreate", subject=f"Task {n}") for n in range(150)]
    found = listed(*tasks)
    assert len(found) == 100 and found[-1] == ("Task 149", PENDING)


def test_an_item_is_one_line_of_bounded_length() -> None:
    ((text, _),) = listed(call("c", "TodoWrite", todos=["a\n  b " + "word " * 100]))
    assert text.startswith("a b word") and text.endswith("word") and len(text) <= 200
