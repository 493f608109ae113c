"""What the OpenAI Responses API answers to a list of input items."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.provider.rules import (
    Broken,
    Fields,
    canonical,
    elements,
    fields,
    is_a,
    is_json,
    name,
    one_body,
)

INPUT = frozenset(("input_text", "input_image", "input_file", "input_audio"))
PARTS = {
    "user": INPUT,
    "system": INPUT,
    "developer": INPUT,
    "assistant": frozenset(("output_text", "refusal")),
}
PAIRED = (
    *("function_call", "custom_tool_call", "local_shell_call", "shell_call"),
    *("apply_patch_call", "computer_call", "tool_search_call"),
)
OUTPUTS = {
    **{f"{kind}_output": kind for kind in PAIRED},
    "tool_search_output": "tool_search_call",
}
BY_PROVIDER = (
    *("web_search_call", "file_search_call", "code_interpreter_call", "mcp_call"),
    *("image_generation_call", "mcp_list_tools", "mcp_approval_request"),
)
OTHERS = ("compaction", "compaction_trigger", "item_reference", "mcp_approval_response")


def broken(messages: Sequence[object], *, pending: bool) -> Iterator[Broken]:
    """Every broken rule; `pending` forgives calls at the end that have no output yet."""
    yield from one_body("input", messages)
    for at, item in enumerate(messages):
        yield from _item(f"input.{at}", fields(item))
    yield from _pairs(messages, pending=pending)
    yield from _reasoning(messages)


def kind_of(item: object) -> str:
    """The type of an item; a message needs not name its own."""
    found = fields(item)
    return name(found.get("type", "message" if "role" in found else ""))


def by_model(item: object) -> bool:
    """Whether the model wrote this item (a reasoning item needs one after it)."""
    kind = kind_of(item)
    return (
        kind in PAIRED
        or kind in BY_PROVIDER
        or (kind == "message" and fields(item).get("role") == "assistant")
    )


def _item(where: str, item: Fields) -> Iterator[Broken]:
    kind, about = kind_of(item), name(item.get("call_id"))
    match kind:
        case "message":
            yield from _message(where, item)
        case "reasoning":
            if not isinstance(item.get("summary"), list):
                yield Broken("summary", where, _of(item), "a reasoning item needs its summary")
        case "function_call" | "custom_tool_call":
            words = item.get("arguments" if kind == "function_call" else "input")
            if not name(item.get("name")):
                yield Broken("call_name", where, about, f"the call {about!r} names no tool")
            if not isinstance(words, str):
                yield Broken("call_input", where, about, f"the input of {about!r} is no string")
            elif kind == "function_call" and not is_json(words):
                yield Broken("call_input", where, about, f"the arguments of {about!r} are no JSON")
        case "function_call_output" | "custom_tool_call_output":
            yield from _output(where, item)
        case _:
            known = kind in (*PAIRED, *OUTPUTS, *BY_PROVIDER, *OTHERS)
            if not known:
                yield Broken("item_type", where, kind, f"{kind!r} is no known type of item")
    if kind in (*PAIRED, *OUTPUTS) and not about and not kind.startswith("tool_search"):
        yield Broken("call_id", where, "", f"a {kind} needs its call_id")


def _message(where: str, item: Fields) -> Iterator[Broken]:
    role, content = name(item.get("role")), item.get("content")
    if role not in PARTS:
        yield Broken("role", where, role, f"{role!r} is no role")
        return
    if not is_a(content, str, list):
        yield Broken("content", where, "", "content is neither a string nor a list of parts")
    for number, value in enumerate(elements(content)):
        part, spot = fields(value), f"{where}.content.{number}"
        kind = name(part.get("type"))
        if kind not in PARTS[role]:
            yield Broken("part_type", spot, kind, f"a {role} message cannot hold {kind!r} parts")
        elif kind.endswith("_text") and not isinstance(part.get("text"), str):
            yield Broken("text", spot, "", "a text part needs a text")


def _output(where: str, item: Fields) -> Iterator[Broken]:
    about, output = name(item.get("call_id")), item.get("output")
    if not is_a(output, str, list):
        yield Broken("result_content", where, about, f"the output of {about!r} is no text or list")
    for number, value in enumerate(elements(output)):
        kind = name(fields(value).get("type"))
        if kind not in INPUT:
            spot = f"{where}.output.{number}"
            yield Broken("part_type", spot, kind, f"{kind!r} cannot be inside an output")


def _pairs(messages: Sequence[object], *, pending: bool) -> Iterator[Broken]:
    """Calls and outputs by kind and call_id, in order, so that ids may be used again later."""
    waiting: dict[tuple[str, str], int] = {}
    seen: set[tuple[str, str]] = set()
    for at, item in enumerate(messages):
        kind, call = kind_of(item), name(fields(item).get("call_id"))
        pair = (OUTPUTS.get(kind, kind), call)
        if not call:
            continue
        if kind in PAIRED:
            if pair in waiting:
                says = f"the call {call!r} is made again before it is answered"
                yield Broken("duplicate_call", f"input.{at}", call, says)
            waiting[pair] = at
            seen.add(pair)
        elif kind in OUTPUTS and waiting.pop(pair, None) is None:
            rule = "duplicate_result" if pair in seen else "orphan_result"
            yield Broken(rule, f"input.{at}", call, f"no tool call found for output {call!r}")
    for (_, call), at in waiting.items():
        says = f"no tool output found for call {call!r}"
        if any(kind_of(item) == "message" for item in messages[at + 1 :]):
            yield Broken("unanswered_call", f"input.{at}", call, says)
        elif not pending:
            yield Broken("open_call", f"input.{at}", call, says)


def _reasoning(messages: Sequence[object]) -> Iterator[Broken]:
    for at, item in enumerate(messages):
        if kind_of(item) != "reasoning":
            continue
        rest = (later for later in messages[at + 1 :] if kind_of(later) != "reasoning")
        if not by_model(next(rest, None)):
            says = "reasoning was provided without its required following item"
            yield Broken("reasoning_alone", f"input.{at}", _of(fields(item)), says)


def _of(item: Fields) -> str:
    return name(item.get("id")) or name(item.get("encrypted_content"))


def changed(before: Sequence[object], after: Sequence[object]) -> Iterator[Broken]:
    """Rules about what came in: reasoning goes out as it was, with the item it was made for."""
    known = {canonical(item) for item in before if kind_of(item) == "reasoning"}
    for at, item in enumerate(after):
        if kind_of(item) == "reasoning" and canonical(item) not in known:
            says = "reasoning items cannot be modified"
            yield Broken("altered_reasoning", f"input.{at}", _of(fields(item)), says)
    reasoned = _reasoned(before)
    for at, item in enumerate(after):
        own = name(fields(item).get("id"))
        if own in reasoned and own not in _reasoned(after):
            says = f"item {own!r} was provided without its required reasoning item"
            yield Broken("reasoning_gone", f"input.{at}", own, says)


def _reasoned(messages: Sequence[object]) -> set[str]:
    """The items that the provider keeps under an id, right after reasoning."""
    follows = pairwise(messages)
    return {
        name(fields(item).get("id"))
        for before, item in follows
        if kind_of(before) == "reasoning" and by_model(item)
    } - {""}
