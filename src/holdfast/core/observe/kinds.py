"""What a person would call a body: whose words, or which tool's."""

from collections.abc import Mapping

from holdfast.core.ledger.entry import (
    Attached,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
)


def kind_of(body: Source, tools: Mapping[str, str]) -> str:
    """What a person would call this: whose words, or which tool's."""
    match body:
        case Said():
            return {"host": "injected text", "summary": "summary"}.get(body.by, body.role)
        case Thought():
            return "thinking"
        case ToolCalled():
            return f"{body.tool} calls"
        case ToolReturned():
            return f"{tools.get(body.call, 'unknown tool')} results"
        case Attached():
            return body.media.kind
        case Opaque():
            return body.kind or "opaque"
