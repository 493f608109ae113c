"""What makes two messages the same: what they say, and nothing of how they are written."""

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.chain import meaning, source_id
from holdfast.core.ledger.entry import (
    Attached,
    Media,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.text.jsontext import as_object, without_surrogates
from holdfast.wire.detect import MESSAGE_WIRES
from tests.properties.sessions import Message, any_history, arguments, histories, words

clean = words.map(lambda text: text.replace("\ud800", "?"))
media = st.builds(Media, st.sampled_from(("image", "document")), digest=st.text("ab", max_size=3))
bodies: st.SearchStrategy[Source] = st.one_of(
    st.builds(Said, st.sampled_from(("user", "assistant", "system")), clean),
    st.builds(Thought, clean, st.text("ab", max_size=3)),
    st.builds(ToolCalled, clean, clean, arguments.map(json.dumps)),
    st.builds(ToolReturned, clean, clean, st.booleans(), st.tuples() | st.tuples(media)),
    st.builds(Attached, st.sampled_from(("user", "assistant")), media),
    st.builds(Opaque, clean, clean, arguments.map(json.dumps)),
)


def meanings(wire: str, messages: list[Message]) -> list[bytes]:
    """What each part of each message means."""
    read = MESSAGE_WIRES[wire].read
    return [
        meaning(body)
        for message in messages
        for body in read(as_object(without_surrogates(message)))
    ]


def flipped(value: Any) -> Any:
    """The same value as another client writes it: keys turned around, all the way down."""
    if isinstance(value, dict):
        return {key: flipped(value[key]) for key in reversed(value)}  # pyright: ignore
    if isinstance(value, list):
        return [flipped(item) for item in value]  # pyright: ignore
    return value


def marked(message: Message) -> Message:
    """The message with a cache breakpoint on its last block."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not content:
        return message
    last = {**content[-1], "cache_control": {"type": "ephemeral"}}
    return {**message, "content": [*content[:-1], last]}


def padded(message: Message) -> Message:
    """The message with white space around its text."""
    if isinstance(message.get("content"), str):
        return {**message, "content": f"\n {message['content']}\t"}
    return message


@given(any_history)
def test_the_order_of_keys_means_nothing(drawn: tuple[str, list[Message]]) -> None:
    wire, messages = drawn
    assert meanings(wire, flipped(messages)) == meanings(wire, messages)


@given(histories("anthropic"))
def test_a_cache_breakpoint_and_a_string_for_a_single_block_mean_nothing(
    messages: list[Message],
) -> None:
    assert meanings("anthropic", [marked(m) for m in messages]) == meanings("anthropic", messages)


@given(any_history)
def test_outer_white_space_means_nothing(drawn: tuple[str, list[Message]]) -> None:
    wire, messages = drawn
    kept = [m for m in messages if m.get("content") != ""]
    assert meanings(wire, [padded(m) for m in kept]) == meanings(wire, kept)


@given(clean, clean)
def test_a_cache_breakpoint_inside_a_tool_result_means_nothing(name: str, text: str) -> None:
    def result(*blocks: Message) -> list[Message]:
        block = {"type": "tool_result", "tool_use_id": name, "content": list(blocks)}
        return [{"role": "user", "content": [block]}]

    reference = {"type": "tool_reference", "tool_name": text}
    moved = {"tool_name": text, "cache_control": {"type": "ephemeral"}, "type": "tool_reference"}
    assert meanings("anthropic", result(reference)) == meanings("anthropic", result(moved))


def said(body: Source) -> object:
    """All that a body says, less its outer white space: what its meaning has to tell apart."""
    match body:
        case Said():
            return ("said", body.role, body.text.strip())
        case Thought():
            return ("thought", body.text.strip(), body.seal)
        case ToolCalled():
            return ("called", body.call, body.tool, as_value(body.arguments))
        case ToolReturned():
            pictures = tuple(item.digest or item.kind for item in body.media)
            return ("returned", body.call, body.output.strip(), body.failed, pictures)
        case Attached():
            return ("attached", body.role, body.media.kind, body.media.digest)
        case Opaque():
            return ("opaque", body.role, body.kind, as_value(body.json))


def as_value(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


@given(bodies, bodies)
def test_bodies_that_say_different_things_mean_different_things(one: Source, two: Source) -> None:
    assert (meaning(one) == meaning(two)) == (said(one) == said(two))


@given(bodies, st.data())
def test_changing_any_one_thing_that_is_said_changes_the_meaning(
    body: Source, data: st.DataObject
) -> None:
    # Whether a thought was sent to the provider is no part of what it says.
    apart = ("by", "media", "unsent")
    names = [name for name in body.__struct_fields__ if name not in apart]
    name = data.draw(st.sampled_from(names or ["role"]))
    old = getattr(body, name)
    if isinstance(old, bool):
        new: object = not old
    elif name in ("arguments", "json"):
        new = json.dumps({**json.loads(old), "added": 1})
    else:
        new = f"{old}x"
    changed = replace(body, **{name: new})
    assume(changed != body)
    assert meaning(changed) != meaning(body)


@given(bodies, bodies, st.text("0123456789abcdef", min_size=32, max_size=32))
def test_a_name_depends_on_what_came_before(one: Source, two: Source, parent: str) -> None:
    after = source_id(parent, meaning(one))
    assert after != source_id(None, meaning(one))
    assert (source_id(after, meaning(two)) == source_id(parent, meaning(two))) is False
    assert source_id(None, meaning(one), lane="a") != source_id(None, meaning(one))
