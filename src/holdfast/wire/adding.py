"""Words of ours at the end of a list of messages, where a wire allows them.

Formats in which a result is part of a user message take the words into that message, behind the
results: two user messages in a row would end the agent's loop. Elsewhere they are a message.
"""

from collections.abc import Sequence

from holdfast.core.ledger.entry import Said
from holdfast.core.ledger.jsontext import encode, joined_array, joined_object, members
from holdfast.wire import anthropic
from holdfast.wire.detect import MESSAGE_WIRES


def added(messages: Sequence[bytes], text: str, *, wire: str) -> list[bytes]:
    """The messages with a text at their end, in the user's role."""
    if wire not in MESSAGE_WIRES:
        return list(messages)
    last = messages[-1] if messages else b""
    if wire == anthropic.NAME and last and members(last).get("role") == b'"user"':
        block = encode({"type": "text", "text": text})
        content = joined_array([*anthropic.blocks_of(last), block])
        return [*messages[:-1], joined_object({**members(last), "content": content})]
    return [*messages, MESSAGE_WIRES[wire].speak(Said("user", text))]
