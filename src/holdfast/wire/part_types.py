"""Which content parts belong to which format: what tells messages of the formats apart."""

from collections.abc import Mapping

from holdfast.text.jsontext import Json, as_list, as_object, as_text

ANTHROPIC = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "document",
        "image",
    }
)
CHAT = frozenset({"image_url", "input_audio", "file"})
RESPONSES = frozenset({"input_text", "output_text", "input_image", "input_file"})


def kinds_of(message: Mapping[str, Json]) -> set[str]:
    """The kinds of parts in a message's content."""
    return {as_text(as_object(part).get("type")) for part in as_list(message.get("content"))}
