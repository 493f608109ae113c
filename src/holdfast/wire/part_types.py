"""List the types of content parts that only one format has, to detect the format of a message."""

from collections.abc import Mapping

from holdfast.text.jsontext import Json, as_list, as_object, as_text

ANTHROPIC_ONLY = frozenset(
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
CHAT_ONLY = frozenset({"image_url", "input_audio", "file"})
RESPONSES_ONLY = frozenset({"input_text", "output_text", "input_image", "input_file"})


def part_types_of(message: Mapping[str, Json]) -> set[str]:
    """Return the types of the parts in a message's content."""
    return {as_text(as_object(part).get("type")) for part in as_list(message.get("content"))}
