"""Read the agent's current todo list, from tool calls, checklists or lists of next steps.

The newest list replaces the older ones, also if it is empty. A list that was only written as text
is valid until the agent ends a turn without it, or works on another request.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import Said, ToolCalled, is_request
from holdfast.core.observe.files.touch import arguments_of, bare_tool_name
from holdfast.core.observe.results.failures import whole_result_of
from holdfast.core.observe.scene import Pair, Scene
from holdfast.text.clip import clip_words, one_line
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, parse
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

PENDING, WORKING, DONE = "pending", "in progress", "done"

LIST_TOOLS = frozenset(
    (
        "todowrite",
        "todo_write",
        "write_todos",
        "update_plan",
        "task_tracker",
        "update_todo_list",
        "manage_todo_list",
        "todo",
        "update_todos",
    )
)
"""Tools that write a whole todo list."""
_LIST_KEYS = ("todos", "plan", "task_list", "todoList", "todo_list", "tasks", "items", "steps")
_TEXT_KEYS = ("content", "step", "title", "description", "text", "task", "subject", "name", "notes")
_STATUS = {
    "in_progress": WORKING,
    "in-progress": WORKING,
    "in progress": WORKING,
    "inprogress": WORKING,
    "doing": WORKING,
    "active": WORKING,
    "completed": DONE,
    "complete": DONE,
    "done": DONE,
    "finished": DONE,
}
_DROPPED = frozenset(("cancelled", "canceled", "deleted", "skipped"))
MAX_TODO_CHARS = 200
_LOOKED_AT = 30_000
_MOST = 100
"""Items that are kept of a list: the first of one told whole, the newest of one that grows."""
_CALLS_PER_STEP = 3
"""Calls for each step after which a list told in words is taken to be worked off."""
_FAR = 80
"""Lines under a heading within which its list ends."""

_CREATED = Pattern(r"#(\d{1,9})\b")
_BOX = Pattern(r"^\s{0,24}(?:[-*+]|\d{1,3}[.)])\s{1,4}\[([ xX~/-])\]\s{1,4}(\S.{0,600})$")
_ITEM = Pattern(r"^\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s{1,4}(\S.{0,600})$")
_HEADING = Pattern(
    r"(?i)^[#*_\s]{0,8}((?:(?:the |my |remaining |suggested |recommended )?next steps?|next up"
    r"|remaining(?: (?:work|tasks?|steps?|items?))?|to-?do(?: list)?|todos?|still to do|left to do"
    r"|(?:implementation |my |the )?plan|what['’]?s left)(?:\s\([^()\n]{1,60}\))?)"
    r"[*_]{0,3}:?[*_]{0,3}\s{0,4}$"
)
_TITLE = Pattern(r"^(?:#{1,6} (\S.{0,200})|\*\*(\S[^*]{0,200})\*\*:?)\s{0,4}$")


class Todo(Struct, frozen=True):
    """One item of a todo list."""

    text: str
    status: str = PENDING


class TodoList(Struct, frozen=True):
    """The current todo list, and the index of the item that states it."""

    items: tuple[Todo, ...] = ()
    at: int = -1
    """Index of the item that changed it last."""
    heading: str = ""
    ids: tuple[str, ...] = ()
    """Ids of the tasks, in the order of the items."""
    spoken: bool = False
    """Whether it was written as text and not by a tool."""


@rule(None)
def todos_of(scene: Scene) -> TodoList | None:
    """Return the current todo list at the end of a scene; None if there is none."""
    kept: TodoList | None = None
    spoken: TodoList | None = None
    calls = 0
    for at, item in enumerate(scene.items):
        match item.body:
            case ToolCalled() as body:
                told = _from_call(scene, scene.by_call[at], body, kept)
                calls += 1
                if told is not None:
                    kept, spoken = told, None
                elif spoken is not None and _outlived(scene, spoken, at, calls):
                    spoken = None
            case Said(role="assistant", by="") as body:
                told = _from_words(at, body.text)
                if told is not None:
                    spoken, calls = told, 0
                elif spoken is not None and _closes(scene, at):
                    spoken = None
            case _:
                pass
    return spoken or kept


def _closes(scene: Scene, at: int) -> bool:
    """Whether the agent ended a turn with this text."""
    return at + 1 >= len(scene.items) or is_request(scene.items[at + 1].body)


def _outlived(scene: Scene, spoken: TodoList, at: int, calls: int) -> bool:
    """Whether work has gone on past a list that nobody ticks off."""
    another = scene.turns[at] > scene.turns[spoken.at]
    return another or calls > _CALLS_PER_STEP * len(spoken.items)


@rule(None)
def _from_call(
    scene: Scene, pair: Pair, body: ToolCalled, kept: TodoList | None
) -> TodoList | None:
    """The list after a call; nothing when the call is no business of it."""
    name = bare_tool_name(body.tool)
    task = name.replace("_", "")
    if name not in LIST_TOOLS and task not in ("taskcreate", "taskupdate"):
        return None
    result = whole_result_of(scene, pair)
    if result is not None and result.failed:
        return None
    arguments = arguments_of(body)
    if task == "taskcreate":
        return _created(pair, arguments, result.output if result else "", kept)
    if task == "taskupdate":
        return _updated(pair, arguments, kept)
    return _whole(pair, arguments)


def _whole(pair: Pair, arguments: Mapping[str, Json]) -> TodoList | None:
    for key in _LIST_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            value = _listed(value)
        if isinstance(value, list):
            items = tuple(todo for one in value[:_MOST] if (todo := _todo(one)) is not None)
            return TodoList(items, pair.call)
    return None


def _listed(text: str) -> Json:
    """A list that came as text: as JSON, or as a checklist."""
    try:
        value, _ = parse(to_bytes(text))
    except NotJson:
        return [_as_json(todo) for todo in _boxes(text.split("\n"))]
    return value


def _as_json(todo: Todo) -> Json:
    return {"content": todo.text, "status": todo.status}


def _todo(value: Json) -> Todo | None:
    if isinstance(value, str):
        return Todo(_cut(value)) if value.strip() else None
    told = as_object(value)
    text = next((text for key in _TEXT_KEYS if (text := as_text(told.get(key)).strip())), "")
    status = as_text(told.get("status")) or as_text(told.get("state"))
    if not text or status.lower() in _DROPPED:
        return None
    done = told.get("done") is True or told.get("completed") is True
    return Todo(_cut(text), DONE if done else _STATUS.get(status.lower(), PENDING))


def _created(
    pair: Pair, arguments: Mapping[str, Json], output: str, kept: TodoList | None
) -> TodoList | None:
    todo = _todo({key: value for key, value in arguments.items() if key != "description"})
    if todo is None:
        return None
    old = kept if kept is not None and kept.ids else TodoList()
    found = _CREATED.search(output[:300])
    name = found[1] if found else str(len(old.ids) + 1)
    items, ids = (*old.items, todo)[-_MOST:], (*old.ids, name)[-_MOST:]
    return replace(old, items=items, ids=ids, at=pair.call)


def _updated(pair: Pair, arguments: Mapping[str, Json], kept: TodoList | None) -> TodoList | None:
    name = as_text(arguments.get("taskId")) or as_text(arguments.get("task_id"))
    if kept is None or name not in kept.ids:
        return None
    number = kept.ids.index(name)
    old = kept.items[number]
    status = as_text(arguments.get("status")).lower()
    if status in _DROPPED:
        return replace(
            kept,
            items=kept.items[:number] + kept.items[number + 1 :],
            ids=kept.ids[:number] + kept.ids[number + 1 :],
            at=pair.call,
        )
    new = Todo(
        _cut(as_text(arguments.get("subject")) or old.text),
        _STATUS.get(status, PENDING) if status else old.status,
    )
    items = (*kept.items[:number], new, *kept.items[number + 1 :])
    return replace(kept, items=items, at=pair.call)


@rule(None)
def _from_words(at: int, text: str) -> TodoList | None:
    lines = _lines_outside_code(text)
    boxes = list(_boxes(lines))
    if len(boxes) > 1:
        return TodoList(tuple(boxes[:_MOST]), at, _title(lines), spoken=True)
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        steps = list(_under(lines[number + 1 : number + _FAR])) if heading else []
        if heading and steps:
            return TodoList(tuple(steps[:_MOST]), at, heading[1].strip(), spoken=True)
    return None


def _lines_outside_code(text: str) -> list[str]:
    """The lines of a text that are no code."""
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    return lines


def _boxes(lines: Sequence[str]) -> Iterator[Todo]:
    for line in lines:
        if box := _BOX.match(line):
            status = DONE if box[1] in "xX" else PENDING if box[1] == " " else WORKING
            yield Todo(_cut(box[2]), status)


def _title(lines: Sequence[str]) -> str:
    """The heading above the first box."""
    title = ""
    for line in takewhile(lambda line: not _BOX.match(line), lines):
        if found := _TITLE.match(line):
            title = (found[1] or found[2]).strip(" *:")
    return title


def _under(lines: Sequence[str]) -> Iterator[Todo]:
    """The items of the list that stands right here; those inside an item are part of it."""
    for line in lines:
        if not line.strip() or line.startswith(("   ", "\t")):
            continue
        item = _ITEM.match(line)
        if item is None:
            return
        yield Todo(_cut(item[1].strip()))


def _cut(text: str) -> str:
    return clip_words(one_line(text[: 4 * MAX_TODO_CHARS]), MAX_TODO_CHARS, within=MAX_TODO_CHARS)
