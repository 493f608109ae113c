"""A whole conversation as one Markdown page: everything that was said and done, in order."""

from collections.abc import Iterable

from holdfast.core.faults import rule_or
from holdfast.core.ledger.entry import (
    Attached,
    Derived,
    Entry,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    text_of,
)


def render_conversation(session: str, entries: Iterable[Entry]) -> str:
    """The page; each entry under its reference, who spoke, and when."""
    told = (entry for entry in entries if not isinstance(entry.body, Derived))
    return "\n\n".join([f"# Conversation {session}".rstrip(), *map(page_of, told)]) + "\n"


def title_of(session: str) -> str:
    """The name of a session, in a line."""
    return " ".join(session.split()) or "the session"


def _bare_page(entry: Entry) -> str:
    """An entry under its reference, in its own words."""
    assert not isinstance(entry.body, Derived)
    return f"## [{entry.id[:12]}]\n\n{text_of(entry.body)}"


@rule_or(_bare_page)
def page_of(entry: Entry) -> str:
    """One source entry under its reference."""
    assert not isinstance(entry.body, Derived)
    when = f" · {entry.at}" if entry.at else ""
    return f"## [{entry.id[:12]}] {_who(entry.body)}{when}\n\n{words_of(entry.body)}"


def _who(body: Source) -> str:
    match body:
        case Said():
            return f"{body.role} ({body.by})" if body.by else body.role
        case Thought():
            return "assistant, thinking"
        case ToolCalled():
            return f"call {body.call} of {body.tool}"
        case ToolReturned():
            return f"result of {body.call}{', failed' if body.failed else ''}"
        case Attached() | Opaque():
            return body.role


def words_of(body: Source) -> str:
    """What a body says, in words a person can read."""
    match body:
        case Said() | Thought():
            return body.text
        case ToolCalled():
            return body.arguments
        case ToolReturned():
            return body.output
        case Attached():
            return f"[{body.media.kind} {body.media.type}, {body.media.size:,} bytes]"
        case Opaque():
            return body.json
