"""Convert message objects of LangChain, Pydantic AI and provider SDKs to provider messages.

Objects are read by the names of their members, so no framework has to be installed. An object is
read completely (role, content, tool calls, results with their ids) or refused. The same objects
dumped to dictionaries are accepted as well.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from holdfast.errors import Unreadable
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, encode, parse
from holdfast.wire.turns import Call, Turn, text_block

LANGCHAIN_ROLES = {
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
"""The role of each type of LangChain message."""
HINT = "pass an OpenAI or Anthropic message as a dictionary"
WHOLE_RESPONSES = {
    "new_messages": "pass the messages that its .new_messages() returns",
    "choices": "pass its .choices[0].message",
    "output": "pass the items of its .output",
    "candidates": HINT,
}
"""A member that only the whole response of a provider has, and what to pass instead of it."""


def is_framework_message(message: object) -> bool:
    """Return whether a message has to be converted here before a wire can read it."""
    if not isinstance(message, Mapping):
        return True
    mapping = cast(Mapping[str, object], message)
    if "role" not in mapping:
        return as_text(mapping.get("type")) in LANGCHAIN_ROLES or _is_pydantic_ai(mapping)
    return "stop_reason" in mapping or ("parts" in mapping and "content" not in mapping)


def turns_of(message: object) -> list[Turn] | dict[str, Json]:
    """Return an object as turns, or as a message if it is a provider message already.

    Raises:
        Unreadable: some part of the object cannot be read.
    """
    if _is_pydantic_ai(message):
        return _pydantic_ai_turns(message)
    kind = as_text(_member(message, "type"))
    if kind in LANGCHAIN_ROLES and not _member(message, "role"):
        return [_langchain_turn(message, LANGCHAIN_ROLES[kind])]
    if kind == "chat" and _member(message, "role"):  # LangChain's message of any role
        return [Turn(as_text(_member(message, "role")), _langchain_content(message))]
    if kind == "message" and _has_member(message, "stop_reason"):
        # The provider refuses the other members of a response when they are sent back.
        return {
            "role": _to_json(_member(message, "role")),
            "content": _to_json(_sdk_content(message)),
        }
    return _sdk_message(message)


def _sdk_message(message: object) -> dict[str, Json]:
    """Return the message of a provider SDK object, or of an object with the same members."""
    if isinstance(message, Mapping) or _has_member(message, "parts"):
        raise _unreadable(cast(object, message), "contents of Gemini are not supported")
    for member, instead in WHOLE_RESPONSES.items():
        if (
            _has_member(message, member)
            and not _has_member(message, "role")
            and not _has_member(message, "type")
        ):
            raise Unreadable("message", f"a {_type_name(message)} is a whole response; {instead}")
    value = as_object(_to_json(message))
    if as_text(value.get("type")) not in ("", "message"):
        return value  # an item of the Responses API: it needs no role
    if not as_text(value.get("role")):
        raise _unreadable(message, "it has no role that can be read")
    if not any(value.get(key) for key in ("content", "tool_calls", "function_call", "audio")):
        raise _unreadable(message, "it has no content that can be read")
    return value


def _sdk_content(message: object) -> object:
    content = _member(message, "content")
    if not isinstance(content, str | list):
        raise _unreadable(message, "it has no content that can be read")
    return cast(object, content)


def _langchain_turn(message: object, role: str) -> Turn:
    extras = as_object(_to_json(_member(message, "additional_kwargs") or {}))
    content = _langchain_content(message)
    if role == "tool":
        call = as_text(_member(message, "tool_call_id"))
        if not call:
            raise _unreadable(message, "it has no tool_call_id")
        return Turn(role, content, answers=call, failed=_member(message, "status") == "error")
    if role == "function":
        return Turn(role, content, extra={"name": as_text(_member(message, "name"))})
    keys = ("reasoning_content", "function_call") if role == "assistant" else ()
    extra = {key: extras[key] for key in keys if extras.get(key)}
    return Turn(role, content, tuple(_langchain_calls(message)), extra=extra)


def _langchain_calls(message: object) -> Iterator[Call]:
    """Yield the tool calls, including those whose arguments LangChain could not parse."""
    for key in ("tool_calls", "invalid_tool_calls"):
        for call in _items(_member(message, key)):
            yield _make_call(
                message, _member(call, "id"), _member(call, "name"), _member(call, "args")
            )


def _make_call(message: object, name: object, tool: object, arguments: object) -> Call:
    if not as_text(name) or not as_text(tool):
        raise _unreadable(message, "one of its tool calls has no id or no name")
    if isinstance(arguments, str):
        return Call(as_text(name), as_text(tool), arguments)
    return Call(as_text(name), as_text(tool), encode(_to_json(arguments or {})).decode())


def _is_pydantic_ai(message: object) -> bool:
    return _member(message, "kind") in ("request", "response") and _has_member(message, "parts")


def _pydantic_ai_turns(message: object) -> list[Turn]:
    """Return one turn for each part of a request, or one turn for a whole response."""
    parts = _items(_member(message, "parts"))
    if _member(message, "kind") == "response":
        return [_response_turn(message, parts)]
    turns = [_request_turn(message, part) for part in parts]
    if not turns:
        raise _unreadable(message, "it has no parts")
    return turns


def _request_turn(message: object, part: object) -> Turn:
    content, call = _member(part, "content"), as_text(_member(part, "tool_call_id"))
    match as_text(_member(part, "part_kind")):
        case "system-prompt":
            return Turn("system", as_text(content))
        case "user-prompt":
            return Turn("user", _prompt_content(message, content))
        case "tool-return":
            failed = _member(part, "outcome") not in (None, "success")
            return Turn("tool", _result_text(message, content), answers=call, failed=failed)
        case "retry-prompt" if _member(part, "tool_name"):
            return Turn("tool", _result_text(message, content), answers=call, failed=True)
        case "retry-prompt" | "retry-feedback":
            return Turn("user", _result_text(message, content))
        case kind:
            raise _unreadable(message, f"a part of the kind {kind!r} is not supported")


def _prompt_content(message: object, content: object) -> str | tuple[dict[str, Json], ...]:
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
            raise _unreadable(
                message, f"content of the kind {kind or _type_name(item)!r} is not supported"
            )
    return tuple(blocks)


def _pydantic_picture(message: object, item: object) -> dict[str, Json]:
    if _member(item, "kind") == "image-url":
        return {"type": "image_url", "image_url": {"url": as_text(_member(item, "url"))}}
    media, data = as_text(_member(item, "media_type")), _member(item, "data")
    if not media.startswith("image/"):
        raise _unreadable(message, f"an attachment of the type {media!r} is not supported")
    text = b64encode(data).decode() if isinstance(data, bytes) else as_text(data)
    return {"type": "image_url", "image_url": {"url": f"data:{media};base64,{text}"}}


def _result_text(message: object, content: object) -> str:
    """Return a tool result as the text that the model reads."""
    if isinstance(content, str):
        return content
    items = (content, *_items(content))
    if any(not isinstance(item, Mapping) and _member(item, "kind") for item in items):
        raise _unreadable(message, "a tool result with files is not supported")
    return encode(_to_json(content)).decode()


def _response_turn(message: object, parts: Sequence[object]) -> Turn:
    blocks: list[dict[str, Json]] = []
    calls: list[Call] = []
    for part in parts:
        content = as_text(_member(part, "content"))
        match as_text(_member(part, "part_kind")):
            case "text":
                blocks.append(text_block(content))
            case "thinking":
                blocks.append(_thinking_block(message, part, content))
            case "tool-call":
                name, tool = _member(part, "tool_call_id"), _member(part, "tool_name")
                calls.append(_make_call(message, name, tool, _member(part, "args")))
            case kind:
                raise _unreadable(message, f"a part of the kind {kind!r} is not supported")
    only = blocks[0] if len(blocks) == 1 else {}
    words = as_text(only.get("text")) if only.get("type") == "text" else tuple(blocks)
    return Turn("assistant", words or "", tuple(calls))


def _thinking_block(message: object, part: object, content: str) -> dict[str, Json]:
    seal, provider = as_text(_member(part, "signature")), _member(part, "provider_name")
    if not seal:
        return {"type": "reasoning", "reasoning": content}
    if provider not in (None, "anthropic"):
        raise _unreadable(
            message, f"its reasoning is sealed by {provider}; a message cannot contain it"
        )
    return {"type": "thinking", "thinking": content, "signature": seal}


def _langchain_content(message: object) -> str | tuple[dict[str, Json], ...]:
    """Return the content of a LangChain message: text, or its blocks."""
    content = _member(message, "content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _unreadable(message, "it has no content that can be read")
    return tuple(_langchain_block(message, item) for item in _items(cast(object, content)))


def _langchain_block(message: object, item: object) -> dict[str, Json]:
    block = text_block(item) if isinstance(item, str) else as_object(_to_json(item))
    if not as_text(block.get("type")):
        raise _unreadable(message, "one of its content blocks has no type")
    return _langchain_picture(block)


def _langchain_picture(block: dict[str, Json]) -> dict[str, Json]:
    """Convert an image block of LangChain to the chat format; return other blocks unchanged."""
    if block.get("type") != "image" or "source" in block:
        return block
    data, media = block.get("base64") or block.get("data"), as_text(block.get("mime_type"))
    url = block.get("url") or (f"data:{media};base64,{data}" if data else "")
    return {"type": "image_url", "image_url": {"url": url}} if url else block


def _member(value: object, name: str) -> object:
    """Return a member of a mapping or of an object, or None."""
    if isinstance(value, Mapping):
        return cast(Mapping[str, object], value).get(name)
    return getattr(value, name, None)


def _has_member(value: object, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else hasattr(value, name)


def _items(value: object) -> list[object]:
    return list(cast(Sequence[object], value)) if isinstance(value, list | tuple) else []


def _to_json(value: object) -> Json:
    """Convert a value to JSON types.

    Raises:
        Unreadable: it contains a value that JSON cannot represent.
    """
    try:
        return parse(encode(value))[0]
    except NotJson as error:
        raise Unreadable("message", f"{error}; {HINT}") from None


def _type_name(message: object) -> str:
    return type(message).__name__


def _unreadable(message: object, reason: str) -> Unreadable:
    return Unreadable("message", f"a {_type_name(message)} cannot be read: {reason}; {HINT}")
