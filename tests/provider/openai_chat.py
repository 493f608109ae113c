"""What the OpenAI Chat Completions API answers to a list of messages."""

from collections.abc import Iterator, Sequence

from tests.provider.rules import (
    Broken,
    Fields,
    elements,
    fields,
    is_a,
    is_json,
    name,
    one_body,
    unknown_keys,
)

PARTS = {
    "system": frozenset(("text",)),
    "developer": frozenset(("text",)),
    "user": frozenset(("text", "image_url", "input_audio", "file")),
    "assistant": frozenset(("text", "refusal")),
    "tool": frozenset(("text",)),
    "function": frozenset(("text",)),
}
SHARED = ("role", "content", "name", "cache_control")
KEYS = {
    "assistant": frozenset(
        (
            *SHARED,
            *("tool_calls", "function_call", "refusal", "audio", "annotations"),
            # What compatible servers send and take back.
            *("reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"),
        )
    ),
    "tool": frozenset((*SHARED, "tool_call_id")),
}


def broken(messages: Sequence[object], *, pending: bool) -> Iterator[Broken]:
    """Every broken rule; `pending` forgives calls at the end that have no result yet."""
    yield from one_body("messages", messages)
    for at, message in enumerate(messages):
        yield from _message(f"messages.{at}", fields(message))
    yield from _pairs(messages, pending=pending)


def role_of(message: object) -> str:
    """Who speaks."""
    return name(fields(message).get("role"))


def calls_of(message: object) -> list[str]:
    """The ids of the calls that an assistant makes in a message."""
    if role_of(message) != "assistant":
        return []
    return [name(fields(call).get("id")) for call in elements(fields(message).get("tool_calls"))]


def changed(before: Sequence[object], after: Sequence[object]) -> Iterator[Broken]:
    """Rules about what came in: this wire has none."""
    del before, after
    return iter(())


def _message(where: str, message: Fields) -> Iterator[Broken]:
    role = role_of(message)
    if role not in PARTS:
        yield Broken("role", where, role, f"{role!r} is no role")
        return
    yield from unknown_keys(where, role, message, KEYS.get(role, frozenset(SHARED)))
    yield from _content(where, role, message)
    if role == "assistant" and "tool_calls" in message:
        yield from _calls(where, message)
    if role == "tool" and not name(message.get("tool_call_id")):
        yield Broken("call_id", where, "", "a tool message needs its tool_call_id")
    if role == "function" and not name(message.get("name")):
        yield Broken("call_id", where, "", "a function message needs its name")


def _content(where: str, role: str, message: Fields) -> Iterator[Broken]:
    content: object = message.get("content")
    about = name(message.get("tool_call_id"))
    if content is None:
        stands = ("tool_calls", "function_call", "refusal", "audio")
        if role != "assistant" or not any(message.get(key) for key in stands):
            yield Broken("content", where, about, f"the content of a {role} message is null")
        return
    if isinstance(content, str):
        return
    if not is_a(content, list) or not content:
        yield Broken("content", where, about, "content is neither a string nor a list of parts")
    for number, value in enumerate(elements(content)):
        part, spot = fields(value), f"{where}.content.{number}"
        kind = name(part.get("type"))
        if kind not in PARTS[role]:
            yield Broken("part_type", spot, kind, f"a {role} message cannot hold {kind!r} parts")
        elif kind == "text" and not isinstance(part.get("text"), str):
            yield Broken("text", spot, about, "a text part needs a text")
        elif kind == "image_url" and not name(fields(part.get("image_url")).get("url")):
            yield Broken("image", spot, about, "an image part needs an address")


def _calls(where: str, message: Fields) -> Iterator[Broken]:
    calls = message.get("tool_calls")
    if not is_a(calls, list) or not calls:
        yield Broken("no_calls", where, "", "tool_calls is no list of calls")
    for number, value in enumerate(elements(calls)):
        yield from _call(f"{where}.tool_calls.{number}", fields(value))


def _call(where: str, call: Fields) -> Iterator[Broken]:
    about, kind = name(call.get("id")), name(call.get("type"))
    if not about:
        yield Broken("call_id", where, "", "a call needs an id")
    if kind not in ("function", "custom"):
        yield Broken("call_type", where, about, f"{kind!r} is no type of call")
        return
    made = fields(call.get(kind))
    words = made.get("arguments" if kind == "function" else "input")
    if not name(made.get("name")):
        yield Broken("call_name", where, about, f"the call {about!r} names no tool")
    if not isinstance(words, str):
        yield Broken("call_input", where, about, f"the arguments of {about!r} are no string")
    elif kind == "function" and not is_json(words):
        yield Broken("call_input", where, about, f"the arguments of {about!r} are no JSON")


def _pairs(messages: Sequence[object], *, pending: bool) -> Iterator[Broken]:
    asked_at = -1
    asked: list[str] = []
    answered: set[str] = set()
    for at, message in enumerate(messages):
        if role_of(message) == "tool":
            call = name(fields(message).get("tool_call_id"))
            if call not in asked:
                says = f"a tool message must answer a call of the message before it: {call!r}"
                yield Broken("orphan_result", f"messages.{at}", call, says)
            elif call in answered:
                says = f"the call {call!r} was answered before"
                yield Broken("duplicate_result", f"messages.{at}", call, says)
            answered.add(call)
            continue
        yield from _unanswered("unanswered_call", asked_at, asked, answered)
        asked_at, asked = at, calls_of(message)
        answered = set()
        for call in sorted({call for call in asked if asked.count(call) > 1}):
            says = f"two calls of one message have the id {call!r}"
            yield Broken("duplicate_call", f"messages.{at}", call, says)
    if not pending:
        yield from _unanswered("open_call", asked_at, asked, answered)


def _unanswered(rule: str, at: int, asked: list[str], answered: set[str]) -> Iterator[Broken]:
    for call in dict.fromkeys(asked):
        if call not in answered:
            says = f"tool_calls must be followed by tool messages; none answers {call!r}"
            yield Broken(rule, f"messages.{at}", call, says)
