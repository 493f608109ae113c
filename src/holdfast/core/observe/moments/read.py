"""Read the moments of a scene in order; a reader that fails loses the moments of its entry."""

from collections.abc import Container, Iterator

from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule_or
from holdfast.core.ledger.entry import (
    EntryId,
    Said,
    Thought,
    ToolCalled,
    ToolReturned,
    is_request,
    role_of,
    text_of,
)
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.observe.closing import closing_texts
from holdfast.core.observe.files.patches import FileAct, looks_like_path
from holdfast.core.observe.files.touch import (
    Touch,
    acts_of_window_editor,
    arguments_of,
    bare_tool_name,
    touch_of,
)
from holdfast.core.observe.moments.changed import (
    changed_moments,
    proposed_moments,
    window_edit_moments,
)
from holdfast.core.observe.moments.console import console_moments
from holdfast.core.observe.moments.contents import name_moments
from holdfast.core.observe.moments.cured import Cures
from holdfast.core.observe.moments.looked import read_moments, searched_moments
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.core.observe.moments.ran import ran_moments, shown_command, without_comments
from holdfast.core.observe.moments.said import (
    inherited_moments,
    reported_moments,
    said_moments,
    thought_moments,
)
from holdfast.core.observe.requests.replies import (
    QUESTION_TOOLS,
    answers_to_questions,
    words_of_refusal,
)
from holdfast.core.observe.results.failures import call_failed, is_read_only
from holdfast.core.observe.results.todos import is_list_tool
from holdfast.core.observe.scene import Pair, Scene
from holdfast.core.observe.sentences import is_host_summary, own_words
from holdfast.text.clip import clip

AGENT_TOOLS = frozenset(("task", "agent", "spawn_agent", "subagent", "delegate", "new_task"))
"""Tools that give work to another agent and return its report."""
PRINTERS = frozenset(("cat", "nl", "sed", "head", "tail", "less", "bat"))
"""Programs that print a file."""
SKIPPED = frozenset(
    (
        "output_mode",
        "max_output_tokens",
        "yield_time_ms",
        "sandbox_permissions",
        "justification",
        "description",
        "timeout",
        "timeout_ms",
        "head_limit",
        "workdir",
    )
)
"""Arguments that do not say what was asked."""
MAX_ARGUMENT_CHARS = 160
FENCE = "```"
STARTED_AGENT = "Async agent launched"
"""The beginning of a result that reports only that an agent was started."""
ANSWER_WEIGHT, OPEN_CALL_WEIGHT = 2.0, 1.2


def moments_in(scene: Scene, only: Container[EntryId] | None = None) -> Iterator[Moment]:
    """Yield the moments of a scene, or of some of its entries, in order."""
    closing = frozenset(closing_texts(scene))
    turn, cures = "", Cures()
    for at, item in enumerate(scene.items):
        # A text that a program inserts for a command belongs to the turn of the command.
        if is_request(item.body) and own_words(text_of(item.body)):
            turn = item.entry.id
        if item.covers or (only is not None and item.entry.id not in only):
            continue
        moments = moments_at(scene, at, closes=at in closing)
        if at in scene.by_result and isinstance(item.body, ToolReturned):
            moments = cures.follow(scene.by_result[at], item.body, moments)
        for moment in moments:
            yield replace(moment, turn=turn)


@row_rule
def moments_at(scene: Scene, at: int, *, closes: bool = False) -> Iterator[Moment]:
    """Yield the moments of one entry; those of a call and its result belong to the result."""
    entry = scene.items[at].entry.id
    match scene.items[at].body:
        case Said(role="assistant", by="") as body:
            yield from said_moments(body.text, entry, closes=closes)
            yield from proposed_moments(body.text, entry)
            if FENCE in body.text:
                yield from name_moments("a message", body.text, entry)
        case Said(by="" | "summary") as body if is_host_summary(body) and _begins(scene, at):
            yield from inherited_moments(body.text, entry)
        case Said(role="user", by="") as body:
            before = scene.items[at - 1].body if at else None
            asked = before.text if isinstance(before, Said) else ""
            yield from console_moments(body.text, asked, entry)
        case Thought() as body:
            yield from thought_moments(body.text, entry)
        case ToolCalled() as body:
            pair = scene.by_call.get(at)
            is_open = pair is None or pair.result is None
            # The agent went on without the result of an earlier call, or the user stopped it.
            is_last = scene.steps[at] == scene.step_count and scene.turns[at] == scene.turns[-1]
            if is_open and is_last:
                touch = touch_of(body)
                what = shown_command(touch.command or called(body))
                yield Moment("ran", f"$ {what} → no result yet", entry, OPEN_CALL_WEIGHT)
        case ToolReturned() as body if at in scene.by_result and not is_stand_in(body.output):
            yield from _moments_of_result(scene.by_result[at], body, entry)
        case _:
            return


def _begins(scene: Scene, at: int) -> bool:
    """Return whether only system messages come before an item: the record has nothing older."""
    return all(role_of(item.body) in ("system", "developer") for item in scene.items[:at])


def _tool_of(call: ToolCalled) -> str:
    return call.tool


def _moments_of_result(pair: Pair, body: ToolReturned, entry: EntryId) -> Iterator[Moment]:
    call, touch, tool = pair.body, touch_of(pair.body), bare_tool_name(pair.body.tool)
    failed = call_failed(touch, body)
    what = touch.command or called(call)
    if refusal := words_of_refusal(call, body):
        text = f"the user refused {what}: {refusal}"
        yield Moment("answered", plain_line(text), entry, ANSWER_WEIGHT)
    elif tool in QUESTION_TOOLS:
        for choice in answers_to_questions(pair.call, arguments_of(call), body.output):
            text = f"the user answered: {choice.choice}"
            yield Moment("answered", plain_line(text), entry, ANSWER_WEIGHT)
    elif tool in AGENT_TOOLS and not failed:
        yield from _report_of(what, body.output, entry)
    elif touch.verb in ("write", "edit") and touch.path:
        yield from changed_moments(call, touch, entry, failed=failed, output=body.output)
    elif failed:
        yield from ran_moments(
            what, body.output, entry, failed=True, is_command=bool(touch.command)
        )
    elif is_list_tool(call.tool):
        # The newest list is part of the state; the tool only repeats that it was written.
        return
    elif edits := _window_edits(touch, body.output):
        for act in edits:
            yield from window_edit_moments(act, touch.command, entry)
    elif read := _read_of(touch, body.output):
        yield from read_moments(read, body.output, entry)
    elif touch.verb == "search" or _only_looks(touch):
        yield from searched_moments(what, body.output, entry)
    else:
        yield from ran_moments(what, body.output, entry, failed=False)


def _report_of(what: str, output: str, entry: EntryId) -> Iterator[Moment]:
    if output.startswith(STARTED_AGENT):
        line = f"$ {shown_command(what)} → started in the background"
        yield Moment("ran", line, entry, OPEN_CALL_WEIGHT)
    else:
        yield from reported_moments(output, entry)
        if FENCE in output:
            yield from name_moments("a report", output, entry)


@rule_or(_tool_of)
def called(call: ToolCalled) -> str:
    """Return the tool of a call with its arguments that say what was asked."""
    values = arguments_of(call).items()
    said = (
        str(value)
        for key, value in values
        if isinstance(value, (str, int, float))
        and not isinstance(value, bool)
        and key not in SKIPPED
    )
    return " ".join((call.tool, *(clip(plain_line(text), MAX_ARGUMENT_CHARS) for text in said)))


def _read_of(touch: Touch, output: str) -> Touch | None:
    """Return the file that a call printed, also in an editor of windows or through a pipe."""
    if touch.verb == "read" and touch.path:
        return touch
    if touch.verb != "run":
        return None
    for act in acts_of_window_editor(touch.command, output):
        if act.verb == "read":
            return Touch("read", act.path, act.first, act.last, command=touch.command)
    words = without_comments(touch.command).partition("|")[0].split()
    if words[:1] and words[0] in PRINTERS and _only_looks(touch):
        paths = [word for word in words[1:] if looks_like_path(word)]
        return Touch("read", paths[0], command=touch.command) if len(paths) == 1 else None
    return None


def _window_edits(touch: Touch, output: str) -> list[FileAct]:
    acts = acts_of_window_editor(touch.command, output) if touch.verb == "run" else ()
    return [act for act in acts if act.verb == "edit"]


def _only_looks(touch: Touch) -> bool:
    command = without_comments(touch.command)
    return bool(command) and "git " not in command and is_read_only(command)
