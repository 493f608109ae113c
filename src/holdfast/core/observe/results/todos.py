"""Read the agent's current todo list, from tool calls, checklists or lists of next steps.

The newest list replaces the older ones, also if it is empty. A list that was only written as text
is valid until the agent reports it as done, or the user asks for something else.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule, rule_keeping
from holdfast.core.ledger.entry import Said, ToolCalled, is_request
from holdfast.core.observe.closing import closing_texts, says_all_done, says_done
from holdfast.core.observe.files.touch import arguments_of, bare_tool_name
from holdfast.core.observe.requests.intent import has_substance
from holdfast.core.observe.results.choices import terms_of
from holdfast.core.observe.results.failures import whole_result_of
from holdfast.core.observe.scene import Pair, Scene
from holdfast.core.observe.sentences import own_words, sentences
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
ITEM_TOOLS = frozenset(("taskcreate", "taskupdate"))
"""Tools that write one item of a list, without their underscores."""
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
"""Items that are kept: the first of a whole list, the newest of one that grows."""
_CALLS_PER_STEP = 4
"""Calls for each step after which a list that was written as text counts as worked off."""
_SHORT_REQUEST = 200
"""Characters of a request in which words such as `continue` refer to the list."""
_FAR = 80
"""Lines under a heading within which its list ends."""

# `Task #7 created`; not `#x`.
_CREATED = Pattern(r"#(\d{1,9})\b")
# `- [x] Read` and `2. [ ] Test`; not `[x] Read`.
_BOX = Pattern(r"^\s{0,24}(?:[-*+]|\d{1,3}[.)])\s{1,4}\[([ xX~/-])\]\s{1,4}(\S.{0,600})$")
# `- Read` and `2) Test`; not `    - part of an item`.
_ITEM = Pattern(r"^\s{0,2}(?:[-*+•]|\d{1,3}[.)])\s{1,4}(\S.{0,600})$")
# `Next steps:`, `## Remaining work`, `**Plan**`; not `The plan is simple`.
_HEADING = Pattern(
    r"(?i)^[#*_\s]{0,8}(?:(?:the |my |remaining |suggested |recommended )?next steps?|next up"
    r"|remaining(?: (?:work|tasks?|steps?|items?))?|to-?do(?: list)?|todos?|still to do|left to do"
    r"|(?:implementation |my |the )?plan|what['’]?s left)(?:\s\([^()\n]{1,60}\))?"
    r"[*_]{0,3}:?[*_]{0,3}\s{0,4}$"
)
# `None`, `n/a`, `Nothing left.`; not `None of the tests run`.
_NO_ITEM = Pattern(r"(?i)\W{0,4}(?:none|n/?a|nothing(?: left| remaining| to do)?)\W{0,4}")
# "continue with step 2", "do the rest"; not "fix the header".
_GOES_ON = Pattern(r"(?i)\b(?:continue|go on|proceed|steps?|plan|rest|remaining|next)\b")


class Todo(Struct, frozen=True):
    """One item of a todo list."""

    text: str
    status: str = PENDING


class TodoList(Struct, frozen=True):
    """The current todo list, and the index of the item that states it."""

    items: tuple[Todo, ...] = ()
    at: int = -1
    """Index of the item that changed it last."""
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
    closing = frozenset(closing_texts(scene))
    for at, item in enumerate(scene.items):
        match item.body:
            case ToolCalled() as body:
                changed = _from_call(scene, scene.by_call[at], body, kept)
                calls += 1
                if changed is not None:
                    kept, spoken = changed, None
                elif spoken is not None and calls > _CALLS_PER_STEP * len(spoken.items):
                    spoken = None
            case Said(role="assistant", by="", text=text):
                listed = _from_words(at, text)
                if listed is not None:
                    spoken, calls = listed, 0
                elif spoken is not None and at in closing:
                    spoken = _after_report(spoken, text)
            case Said(text=text) as body if spoken is not None and is_request(body):
                spoken = spoken if _goes_on(text, spoken) else None
            case _:
                pass
    return spoken or kept


@rule_keeping(0)
def _after_report(spoken: TodoList, text: str) -> TodoList | None:
    """Return a list without the steps that the agent reports as done; None if none is left."""
    reported = [sentence.text for sentence in sentences(text)]
    if any(map(says_all_done, reported)):
        return None
    done = [terms_of(sentence) for sentence in reported if says_done(sentence, acted=True)]
    items = tuple(
        replace(todo, status=DONE) if any(_is_same(todo.text, terms) for terms in done) else todo
        for todo in spoken.items
    )
    left = any(todo.status != DONE for todo in items)
    return replace(spoken, items=items) if left else None


def _is_same(step: str, reported: frozenset[str]) -> bool:
    terms = terms_of(step)
    return bool(terms) and 3 * len(terms & reported) >= 2 * len(terms)


@rule(False)
def _goes_on(text: str, spoken: TodoList) -> bool:
    """Return whether a request leaves the list in force: `continue`, or words about a step."""
    said = " ".join(own_words(text))
    if not has_substance(said) or _GOES_ON.search(said[:_SHORT_REQUEST]):
        return True
    terms = terms_of(said)
    return any(terms & terms_of(todo.text) for todo in spoken.items)


def is_list_tool(tool: str) -> bool:
    """Return whether a tool writes a todo list, or one item of it."""
    return bare_tool_name(tool) in LIST_TOOLS or writes_item(tool)


def writes_item(tool: str) -> bool:
    """Return whether a tool writes one item of a list."""
    return bare_tool_name(tool).replace("_", "") in ITEM_TOOLS


@rule(None)
def _from_call(
    scene: Scene, pair: Pair, body: ToolCalled, kept: TodoList | None
) -> TodoList | None:
    """Return the list after a call; None for a call that does not write a list."""
    if not is_list_tool(body.tool):
        return None
    task = bare_tool_name(body.tool).replace("_", "")
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
            items = tuple(todo for item in value[:_MOST] if (todo := _todo(item)) is not None)
            return TodoList(items, pair.call)
    return None


def _listed(text: str) -> Json:
    """Return a list that was written as text: as JSON, or as a checklist."""
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
    fields = as_object(value)
    text = next((text for key in _TEXT_KEYS if (text := as_text(fields.get(key)).strip())), "")
    status = as_text(fields.get("status")) or as_text(fields.get("state"))
    if not text or status.lower() in _DROPPED:
        return None
    done = fields.get("done") is True or fields.get("completed") is True
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
    steps = list(_boxes(lines))
    if len(steps) < 2:
        starts = (number for number, line in enumerate(lines) if _HEADING.match(line))
        lists = (list(_under(lines[start + 1 : start + _FAR])) for start in starts)
        steps = next(filter(None, lists), steps[:0])
    return TodoList(tuple(steps[:_MOST]), at, spoken=True) if steps else None


def _lines_outside_code(text: str) -> list[str]:
    """Return the lines of a text outside of code blocks."""
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


def _under(lines: Sequence[str]) -> Iterator[Todo]:
    """Yield the items of the list at the first line; nested lines are part of an item."""
    for line in lines:
        if not line.strip() or line.startswith(("   ", "\t")):
            continue
        item = _ITEM.match(line)
        if item is None or _NO_ITEM.fullmatch(item[1]):
            return
        yield Todo(_cut(item[1].strip()))


def _cut(text: str) -> str:
    return clip_words(one_line(text[: 4 * MAX_TODO_CHARS]), MAX_TODO_CHARS, within=MAX_TODO_CHARS)
