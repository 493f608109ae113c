"""Messages that are objects of a framework or an SDK, rewritten as a provider's own messages.

LangChain's, Pydantic AI's and the providers' SDK objects are read by the names of their members,
so that nothing has to be installed for it. An object is read whole (role, content, tool calls,
results with their ids) or refused: nothing of it is left out without a word. The same shapes
dumped to dictionaries are read alike.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from holdfast.errors import Unreadable
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, encode, parse
from holdfast.wire.turns import Call, Turn, text_block

LANGCHAIN = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "SystemMessageChunk": "system",
    "tool": "tool",
    "ToolMessageChunk": "tool",
    "function": "function",
    "FunctionMessageChunk": "function",
}
"""The role that each type of a LangChain message means."""
PASS_INSTEAD = "pass a message of OpenAI or Anthropic as a dictionary"
WHOLE_ANSWERS = {
    "new_messages": "pass the messages that its .new_messages() returns",
    "choices": "pass its .choices[0].message",
    "output": "pass the items of its .output",
    "candidates": PASS_INSTEAD,
}
"""A member by which a whole answer of a provider is known, and what to pass instead of it."""


def is_foreign(message: object) -> bool:
    """Whether something has to be read here before a wire can read it."""
    if not isinstance(message, Mapping):
        return True
    given = cast(Mapping[str, object], message)
    if "role" not in given:
        return as_text(given.get("type")) in LANGCHAIN or _is_pydantic_ai(given)
    return "stop_reason" in given or ("parts" in given and "content" not in given)


def turns_of(message: object) -> list[Turn] | dict[str, Json]:
    """What an object says, as turns; as a message where it is a provider's own already.

    Raises:
        Unreadable: it cannot be read whole.
    """
    if _is_pydantic_ai(message):
        return _pydantic_ai(message)
    kind = as_text(_member(message, "type"))
    if kind in LANGCHAIN and not _member(message, "role"):
        return [_langchain(message, LANGCHAIN[kind])]
    if kind == "chat" and _member(message, "role"):  # LangChain's message of any role
        return [Turn(as_text(_member(message, "role")), _content(message))]
    if kind == "message" and _has(message, "stop_reason"):
        # What an Anthropic answer holds beside its content is refused when it is sent back.
        return {"role": _json(_member(message, "role")), "content": _json(_own_content(message))}
    return _own(message)


def _own(message: object) -> dict[str, Json]:
    """A message that is an object of its provider's SDK, or of that shape."""
    if isinstance(message, Mapping) or _has(message, "parts"):
        raise _refused(cast(object, message), "contents of Gemini are not read here")
    for member, instead in WHOLE_ANSWERS.items():
        if _has(message, member) and not _has(message, "role") and not _has(message, "type"):
            raise Unreadable("message", f"a {_name(message)} is a whole answer; {instead}")
    value = as_object(_json(message))
    if as_text(value.get("type")) not in ("", "message"):
        return value  # an item of the Responses API: it needs no role
    if not as_text(value.get("role")):
        raise _refused(message, "it has no role that can be read")
    if not any(value.get(key) for key in ("content", "tool_calls", "function_call", "audio")):
        raise _refused(message, "it has no content that can be read")
    return value


def _own_content(message: object) -> object:
    content = _member(message, "content")
    if not isinstance(content, str | list):
        raise _refused(message, "it has no content that can be read")
    return cast(object, content)


def _langchain(message: object, role: str) -> Turn:
    told = as_object(_json(_member(message, "additional_kwargs") or {}))
    content = _content(message)
    if role == "tool":
        call = as_text(_member(message, "tool_call_id"))
        if not call:
            raise _refused(message, "it has no tool_call_id")
        return Turn(role, content, answers=call, failed=_member(message, "status") == "error")
    if role == "function":
        return Turn(role, content, extra={"name": as_text(_member(message, "name"))})
    kept = ("reasoning_content", "function_call") if role == "assistant" else ()
    extra = {key: told[key] for key in kept if told.get(key)}
    return Turn(role, content, tuple(_langchain_calls(message)), extra=extra)


def _langchain_calls(message: object) -> Iterator[Call]:
    """The calls; also those whose arguments LangChain could not parse, as the model wrote them."""
    for key in ("tool_calls", "invalid_tool_calls"):
        for call in _items(_member(message, key)):
            yield _call(message, _member(call, "id"), _member(call, "name"), _member(call, "args"))


def _call(message: object, name: object, tool: object, arguments: object) -> Call:
    if not as_text(name) or not as_text(tool):
        raise _refused(message, "one of its tool calls has no id or no name")
    if isinstance(arguments, str):
        return Call(as_text(name), as_text(tool), arguments)
    return Call(as_text(name), as_text(tool), encode(_json(arguments or {})).decode())


def _is_pydantic_ai(message: object) -> bool:
    return _member(message, "kind") in ("request", "response") and _has(message, "parts")


def _pydantic_ai(message: object) -> list[Turn]:
    """The parts of a request, each as a turn; those of a response are one turn."""
    parts = _items(_member(message, "parts"))
    if _member(message, "kind") == "response":
        return [_response(message, parts)]
    turns = [_part(message, part) for part in parts]
    if not turns:
        raise _refused(message, "it has no parts")
    return turns


def _part(message: object, part: object) -> Turn:
    content, call = _member(part, "content"), as_text(_member(part, "tool_call_id"))
    match as_text(_member(part, "part_kind")):
        case "system-prompt":
            return Turn("system", as_text(content))
        case "user-prompt":
            return Turn("user", _prompt(message, content))
        case "tool-return":
            failed = _member(part, "outcome") not in (None, "success")
            return Turn("tool", _result(message, content), answers=call, failed=failed)
        case "retry-prompt" if _member(part, "tool_name"):
            return Turn("tool", _result(message, content), answers=call, failed=True)
        case "retry-prompt" | "retry-feedback":
            return Turn("user", _result(message, content))
        case kind:
            raise _refused(message, f"a part of the kind {kind!r} has no place in a message")


def _prompt(message: object, content: object) -> str | tuple[dict[str, Json], ...]:
    if isinstance(content, str):
        return content
    blocks: list[dict[str, Json]] = []
    for item in _items(content):
        kind = as_text(_member(item, "kind"))
        if isinstance(item, str):
            blocks.append(text_block(item))
        elif kind == "text-content":
            blocks.append(text_block(as_text(_member(item, "content"))))
        elif kind in ("image-url", "binary"):
            blocks.append(_pydantic_picture(message, item))
        elif kind != "cache-point":
            raise _refused(message, f"content of the kind {kind or _name(item)!r} is not read here")
    return tuple(blocks)


def _pydantic_picture(message: object, item: object) -> dict[str, Json]:
    if _member(item, "kind") == "image-url":
        return {"type": "image_url", "image_url": {"url": as_text(_member(item, "url"))}}
    media, data = as_text(_member(item, "media_type")), _member(item, "data")
    if not media.startswith("image/"):
        raise _refused(message, f"an attachment of the type {media!r} is not read here")
    text = b64encode(data).decode() if isinstance(data, bytes) else as_text(data)
    return {"type": "image_url", "image_url": {"url": f"data:{media};base64,{text}"}}


def _result(message: object, content: object) -> str:
    """What a tool returned, as the text that its model reads."""
    if isinstance(content, str):
        return content
    items = (content, *_items(content))
    if any(not isinstance(item, Mapping) and _member(item, "kind") for item in items):
        raise _refused(message, "a tool result with files is not read here")
    return encode(_json(content)).decode()


def _response(message: object, parts: Sequence[object]) -> Turn:
    blocks: list[dict[str, Json]] = []
    calls: list[Call] = []
    for part in parts:
        content = as_text(_member(part, "content"))
        match as_text(_member(part, "part_kind")):
            case "text":
                blocks.append(text_block(content))
            case "thinking":
                blocks.append(_thought(message, part, content))
            case "tool-call":
                name, tool = _member(part, "tool_call_id"), _member(part, "tool_name")
                calls.append(_call(message, name, tool, _member(part, "args")))
            case kind:
                raise _refused(message, f"a part of the kind {kind!r} has no place in a message")
    only = blocks[0] if len(blocks) == 1 else {}
    words = as_text(only.get("text")) if only.get("type") == "text" else tuple(blocks)
    return Turn("assistant", words or "", tuple(calls))


def _thought(message: object, part: object, content: str) -> dict[str, Json]:
    seal, provider = as_text(_member(part, "signature")), _member(part, "provider_name")
    if not seal:
        return {"type": "reasoning", "reasoning": content}
    if provider not in (None, "anthropic"):
        raise _refused(message, f"its reasoning is sealed by {provider}; a message cannot hold it")
    return {"type": "thinking", "thinking": content, "signature": seal}


def _content(message: object) -> str | tuple[dict[str, Json], ...]:
    """The content of a message: text, or its blocks as they are."""
    content = _member(message, "content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _refused(message, "it has no content that can be read")
    return tuple(_block(message, item) for item in _items(cast(object, content)))


def _block(message: object, item: object) -> dict[str, Json]:
    block = text_block(item) if isinstance(item, str) else as_object(_json(item))
    if not as_text(block.get("type")):
        raise _refused(message, "one of its content blocks has no type")
    return _langchain_picture(block)


def _langchain_picture(block: dict[str, Json]) -> dict[str, Json]:
    """LangChain's own spelling of a picture, as the chat format has it; other blocks as is."""
    if block.get("type") != "image" or "source" in block:
        return block
    data, media = block.get("base64") or block.get("data"), as_text(block.get("mime_type"))
    url = block.get("url") or (f"data:{media};base64,{data}" if data else "")
    return {"type": "image_url", "image_url": {"url": url}} if url else block


def _member(value: object, name: str) -> object:
    """A member of a mapping or of an object; nothing when it has none of that name."""
    if isinstance(value, Mapping):
        return cast(Mapping[str, object], value).get(name)
    return getattr(value, name, None)


def _has(value: object, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else hasattr(value, name)


def _items(value: object) -> list[object]:
    return list(cast(Sequence[object], value)) if isinstance(value, list | tuple) else []


def _json(value: object) -> Json:
    """A value as JSON has it.

    Raises:
        Unreadable: it holds something that JSON has no form for.
    """
    try:
        return parse(encode(value))[0]
    except NotJson as error:
        raise Unreadable("message", f"{error}; {PASS_INSTEAD}") from None


def _name(message: object) -> str:
    return type(message).__name__


def _refused(message: object, reason: str) -> Unreadable:
    return Unreadable("message", f"a {_name(message)} cannot be read: {reason}; {PASS_INSTEAD}")
