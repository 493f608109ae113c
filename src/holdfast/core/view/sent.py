"""Render a window as it is sent: each part under the number and role of its message."""

from collections.abc import Iterable, Sequence

from holdfast.core.ledger.entry import Source, Thought, ToolCalled, ToolReturned, role_of
from holdfast.core.view.conversation import readable_text


def render_sent(messages: Iterable[Sequence[Source]]) -> str:
    """Render messages in order; stand-ins appear as the model reads them."""
    return "\n\n".join(
        f"## {number} · {_heading(body)}\n\n{readable_text(body)}".rstrip()
        for number, bodies in enumerate(messages, 1)
        for body in bodies
    )


def _heading(body: Source) -> str:
    match body:
        case Thought():
            return "assistant, thinking"
        case ToolCalled():
            return f"assistant, call {body.call} of {body.tool}"
        case ToolReturned():
            return f"tool, result of {body.call}{', failed' if body.failed else ''}"
        case _:
            return role_of(body) or "no role"
