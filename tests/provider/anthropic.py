"""What the Anthropic Messages API answers to a list of messages.

Whether thinking is switched on is no part of the messages: a request that carries any thinking is
taken for one that has it switched on.
"""

import re
from collections.abc import Iterator, Sequence

from holdfast.core.ledger.marks import DRIFT_WARNING
from holdfast.core.shrink.summary.text import is_summary
from tests.provider.rules import (
    Broken,
    Fields,
    canonical,
    elements,
    fields,
    is_a,
    name,
    one_body,
    unknown_keys,
)

THINKING = ("thinking", "redacted_thinking")
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
ID = re.compile(r"[a-zA-Z0-9_-]+")
MESSAGE_KEYS = frozenset(("role", "content", "clear_at"))
BLOCK_KEYS = {
    "text": frozenset(("type", "text", "cache_control", "citations")),
    "image": frozenset(("type", "source", "cache_control")),
    "tool_use": frozenset(("type", "id", "name", "input", "cache_control", "caller")),
    "tool_result": frozenset(("type", "tool_use_id", "content", "is_error", "cache_control")),
    "thinking": frozenset(("type", "thinking", "signature")),
    "redacted_thinking": frozenset(("type", "data")),
}
USER_BLOCKS = frozenset(
    ("text", "image", "document", "search_result", "tool_result", "container_upload")
)
ASSISTANT_BLOCKS = frozenset(("text", "tool_use", "compaction", *THINKING, *SERVER_CALLS))
RESULT_BLOCKS = frozenset(("text", "image", "document", "search_result", "tool_reference"))


def broken(messages: Sequence[object], *, pending: bool) -> Iterator[Broken]:
    """Every broken rule; `pending` forgives calls at the end that have no result yet."""
    yield from one_body("messages", messages)
    for at in range(len(messages)):
        yield from _message(messages, at)
    yield from _calls(messages, pending=pending)
    yield from _results(messages)
    yield from _server_results(messages)
    yield from _loop(messages)


def blocks_of(message: object) -> list[Fields]:
    """The content blocks of a message; a string is one of text."""
    content: object = fields(message).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [fields(block) for block in elements(content)]


def role_of(message: object) -> str:
    """Who speaks."""
    return name(fields(message).get("role"))


def calls_of(message: object) -> list[str]:
    """The ids of the calls that an assistant makes in a message."""
    if role_of(message) != "assistant":
        return []
    return [
        name(block.get("id")) for block in blocks_of(message) if block.get("type") == "tool_use"
    ]


def results_of(message: object) -> list[str]:
    """The ids of the calls that a user message answers."""
    if role_of(message) != "user":
        return []
    return [
        name(block.get("tool_use_id"))
        for block in blocks_of(message)
        if block.get("type") == "tool_result"
    ]


def thinking_of(message: object) -> list[str]:
    """The thinking of a message, each block in one spelling."""
    return [canonical(block) for block in blocks_of(message) if block.get("type") in THINKING]


# Messages and blocks, each by itself.


def _message(messages: Sequence[object], at: int) -> Iterator[Broken]:
    where, message = f"messages.{at}", fields(messages[at])
    role, content = role_of(message), message.get("content")
    yield from unknown_keys(where, "message", message, MESSAGE_KEYS)
    if role not in ("user", "assistant", "system"):
        yield Broken("role", where, "", f"the role {role!r} is not user, assistant or system")
    if at == 0 and role == "assistant" and not _is_compaction(message):
        yield Broken("first_role", where, "", "the first message is not the user's")
    if role == "system":
        yield from _system(messages, at)
    last_words = role == "assistant" and at == len(messages) - 1
    if isinstance(content, str):
        if not content.strip() and not last_words:
            yield Broken("blank_text", where, "", "messages must have non-empty content")
    elif not is_a(content, list):
        yield Broken("content", where, "", "content is neither a string nor a list of blocks")
    elif not content and not last_words:
        yield Broken("no_content", where, "", "messages must have non-empty content")
    for number, block in enumerate(elements(content)):
        yield from _block(f"{where}.content.{number}", role, block)
    yield from _order(where, message)


def _is_compaction(message: Fields) -> bool:
    return [block.get("type") for block in blocks_of(message)] == ["compaction"]


def _system(messages: Sequence[object], at: int) -> Iterator[Broken]:
    where = f"messages.{at}"
    if any(block.get("type") != "text" for block in blocks_of(messages[at])):
        yield Broken("system_text", where, "", "a system message holds text only")
    before = messages[at - 1] if at else None
    of_server = any(block.get("type") in SERVER_CALLS for block in blocks_of(before))
    if role_of(before) != "user" and not of_server:
        yield Broken("system_place", where, "", "a system message must follow a user message")
    if at + 1 < len(messages) and role_of(messages[at + 1]) != "assistant":
        says = "a system message must be last or followed by the assistant's"
        yield Broken("system_place", where, "", says)


def _block(where: str, role: str, value: object) -> Iterator[Broken]:
    block = fields(value)
    kind = name(block.get("type"))
    server_result = kind.endswith("_tool_result")
    if kind not in USER_BLOCKS | ASSISTANT_BLOCKS and not server_result:
        yield Broken("block_type", where, kind, f"{kind!r} is no known type of block")
        return
    fits = {"user": kind in USER_BLOCKS, "assistant": kind in ASSISTANT_BLOCKS or server_result}
    if not fits.get(role, True):
        yield Broken("block_role", where, kind, f"a {role} message cannot hold {kind} blocks")
    yield from unknown_keys(where, kind, block, BLOCK_KEYS.get(kind, frozenset(block)))
    match kind:
        case "text":
            yield from _text(where, block, "")
        case "image":
            yield from _image(where, block)
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            yield from _call(where, block)
        case "tool_result":
            yield from _result(where, block)
        case "thinking":
            if not name(block.get("signature")) or not isinstance(block.get("thinking"), str):
                yield Broken("signature", where, "", "a thinking block needs text and signature")
        case "redacted_thinking":
            if not name(block.get("data")):
                yield Broken("signature", where, "", "a redacted_thinking block needs its data")
        case _:
            pass


def _text(where: str, block: Fields, about: str) -> Iterator[Broken]:
    if not isinstance(block.get("text"), str):
        yield Broken("text", where, about, "a text block needs a text")
    elif not block["text"].strip():
        yield Broken("blank_text", where, about, "text content blocks must be non-empty")


def _image(where: str, block: Fields) -> Iterator[Broken]:
    source = fields(block.get("source"))
    needs = {"base64": ("media_type", "data"), "url": ("url",), "file": ("file_id",)}
    wanted = needs.get(name(source.get("type")))
    if wanted is None or not all(name(source.get(key)) for key in wanted):
        yield Broken("image", where, "", "an image block needs a source")


def _call(where: str, block: Fields) -> Iterator[Broken]:
    call = name(block.get("id"))
    if not ID.fullmatch(call):
        yield Broken("call_id", where, call, f"{call!r} is no id of a call")
    if not name(block.get("name")):
        yield Broken("call_name", where, call, f"the call {call!r} names no tool")
    if not isinstance(block.get("input"), dict):
        yield Broken("call_input", where, call, f"the input of {call!r} is no JSON object")


def _result(where: str, block: Fields) -> Iterator[Broken]:
    call, content = name(block.get("tool_use_id")), block.get("content", "")
    if not ID.fullmatch(call):
        yield Broken("call_id", where, call, f"{call!r} is no id of a call")
    if not is_a(content, str, list):
        yield Broken("result_content", where, call, f"the result of {call!r} is no text or list")
    if not isinstance(block.get("is_error", False), bool):
        yield Broken("is_error", where, call, f"is_error of {call!r} is no boolean")
    for number, value in enumerate(elements(content)):
        inner, spot = fields(value), f"{where}.content.{number}"
        kind = name(inner.get("type"))
        if kind not in RESULT_BLOCKS:
            yield Broken("block_type", spot, kind, f"{kind!r} cannot be inside a result")
        elif kind == "text":
            yield from unknown_keys(spot, kind, inner, BLOCK_KEYS[kind])
            yield from _text(spot, inner, call)
        elif kind == "image":
            yield from _image(spot, inner)


def _order(where: str, message: Fields) -> Iterator[Broken]:
    """Thinking before all else, results before all else."""
    first = {"assistant": THINKING, "user": ("tool_result",)}.get(role_of(message), ())
    other = False
    for number, block in enumerate(blocks_of(message)):
        kind = name(block.get("type"))
        if kind not in first:
            other = True
        elif other:
            about = name(block.get("signature") or block.get("data") or block.get("tool_use_id"))
            rule = "results_first" if kind == "tool_result" else "thinking_first"
            says = f"{kind} must come before the other blocks of its message"
            yield Broken(rule, f"{where}.content.{number}", about, says)


# Calls and their results.


def _calls(messages: Sequence[object], *, pending: bool) -> Iterator[Broken]:
    seen: set[str] = set()
    for at, message in enumerate(messages):
        answers = results_of(messages[at + 1]) if at + 1 < len(messages) else []
        for call in calls_of(message):
            if call in seen:
                says = f"`tool_use` ids must be unique: {call!r}"
                yield Broken("duplicate_call", f"messages.{at}", call, says)
            seen.add(call)
            if call in answers:
                continue
            says = f"`tool_use` id without a `tool_result` immediately after: {call!r}"
            if not _nothing_but_results(messages[at + 1 :]):
                yield Broken("unanswered_call", f"messages.{at}", call, says)
            elif not pending:
                yield Broken("open_call", f"messages.{at}", call, says)


def _nothing_but_results(messages: Sequence[object]) -> bool:
    return all(
        role_of(message) == "user"
        and all(block.get("type") == "tool_result" for block in blocks_of(message))
        for message in messages
    )


def _results(messages: Sequence[object]) -> Iterator[Broken]:
    for at, message in enumerate(messages):
        calls = calls_of(messages[at - 1]) if at else []
        seen: set[str] = set()
        for call in results_of(message):
            if call not in calls:
                says = f"`tool_result` without its `tool_use` in the previous message: {call!r}"
                yield Broken("orphan_result", f"messages.{at}", call, says)
            elif call in seen:
                says = f"each `tool_use` must have a single result: {call!r}"
                yield Broken("duplicate_result", f"messages.{at}", call, says)
            seen.add(call)


def _server_results(messages: Sequence[object]) -> Iterator[Broken]:
    """The results of tools that run at the provider stand in the assistant's own words."""
    seen: set[str] = set()
    for at, message in enumerate(messages):
        if role_of(message) != "assistant":
            continue
        for number, block in enumerate(blocks_of(message)):
            kind, call = name(block.get("type")), name(block.get("tool_use_id"))
            if kind in SERVER_CALLS:
                seen.add(name(block.get("id")))
            elif kind.endswith("_tool_result") and call not in seen:
                says = f"`{kind}` without its call before it: {call!r}"
                yield Broken("orphan_result", f"messages.{at}.content.{number}", call, says)


# Thinking.


def words_of(message: object) -> str:
    """The text of a message that is nothing else."""
    content = fields(message).get("content")
    blocks = elements(content)
    if len(blocks) == 1:
        content = fields(blocks[0]).get("text")
    return content if isinstance(content, str) else ""


def open_loop(messages: Sequence[object]) -> list[int]:
    """Where the assistant speaks in a tool loop that it has not ended yet.

    Messages of the user in a row are one turn: words of ours right behind results do not end it.
    """
    spoken: list[int] = []
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        match role_of(message):
            case "assistant" if not calls_of(message):
                break
            case "assistant":
                spoken.insert(0, at)
            case "user" if not results_of(message) and not words_of(message).startswith(
                DRIFT_WARNING
            ):
                break
            case _:
                pass
    return spoken


def _loop(messages: Sequence[object]) -> Iterator[Broken]:
    loop = open_loop(messages)
    thinks = any(thinking_of(message) for message in messages if role_of(message) == "assistant")
    if thinks and loop and not any(thinking_of(messages[at]) for at in loop):
        says = "an open tool loop must keep the thinking it started with"
        yield Broken("loop_thinking", f"messages.{loop[0]}", "", says)


def changed(before: Sequence[object], after: Sequence[object]) -> Iterator[Broken]:
    """Rules about what came in: signed thinking goes out as it was and where it was, or not."""
    came = [(thinking_of(message), calls_of(message)) for message in before]
    known = {block for blocks, _ in came for block in blocks}
    for at, message in enumerate(after):
        calls = calls_of(message)
        for block in thinking_of(message):
            if block not in known:
                says = "thinking blocks cannot be modified"
                yield Broken("altered_thinking", f"messages.{at}", block, says)
            elif not any(block in blocks and calls == of for blocks, of in came):
                says = "a thinking block is parted from the calls it was made with"
                yield Broken("parted_thinking", f"messages.{at}", block, says)
    yield from _loop_changed(before, after)


def _loop_changed(before: Sequence[object], after: Sequence[object]) -> Iterator[Broken]:
    loop, kept = open_loop(before), open_loop(after)
    if not loop or not kept:
        return
    for at in kept:
        calls = calls_of(after[at])
        came = [thinking_of(before[old]) for old in loop if set(calls) & set(calls_of(before[old]))]
        if came and thinking_of(after[at]) not in came:
            says = f"the step that called {calls[0]!r} lost its thinking in an open tool loop"
            yield Broken("loop_thinking", f"messages.{at}", calls[0], says)
    # After a summary a loop begins anew: the model answered that request, thinking or not.
    anew = kept[0] > 0 and is_summary(words_of(after[kept[0] - 1]))
    if not anew and thinking_of(before[loop[0]]) and not thinking_of(after[kept[0]]):
        says = "an open tool loop that started with thinking starts without any"
        yield Broken("loop_thinking", f"messages.{kept[0]}", "", says)
