"""Render a conversation: all of it as one Markdown page, or its entries as listing rows."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from holdfast.core.faults import rule_or
from holdfast.core.ledger.entry import (
    Attached,
    Derived,
    Entry,
    EntryId,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    is_request,
    role_of,
    text_of,
)
from holdfast.core.ledger.window import Item
from holdfast.core.measure.sizes import SizedWindow
from holdfast.core.observe.scene import name_kind
from holdfast.text.clip import clip_line

MAX_OPENING_CHARS = 100


def render_conversation(session: str, entries: Iterable[Entry]) -> str:
    """Render the page; each entry has its reference, speaker and time as a heading."""
    return f"{f'# Conversation {session}'.rstrip()}\n{entry_pages(entries)}"


def entry_pages(entries: Iterable[Entry]) -> str:
    """Render entries as they follow others on the page."""
    sources = (entry for entry in entries if not isinstance(entry.body, Derived))
    return "".join(f"\n{entry_page(entry)}\n" for entry in sources)


def session_title(session: str) -> str:
    """Return the name of a session on one line."""
    return " ".join(session.split()) or "the session"


def _bare_page(entry: Entry) -> str:
    """Render an entry under its reference, text only: the fallback of `entry_page`."""
    assert not isinstance(entry.body, Derived)
    return f"## [{entry.id[:12]}]\n\n{text_of(entry.body)}"


@rule_or(_bare_page)
def entry_page(entry: Entry) -> str:
    """Render one source entry under its reference."""
    assert not isinstance(entry.body, Derived)
    when = f" · {entry.at}" if entry.at else ""
    return f"## [{entry.id[:12]}] {_speaker(entry.body)}{when}\n\n{readable_text(entry.body)}"


def _speaker(body: Source) -> str:
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


def readable_text(body: Source) -> str:
    """Return the content of a body as text that a person can read."""
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


# Listing rows: number, speaker, size and beginning of each entry.


EIGHTH_BLOCKS = "█▉▊▋▌▍▎▏"[::-1]


class EntryRow(Struct, frozen=True):
    """One entry as a listing shows it."""

    step: int
    """The step of the agent that it belongs to; 0 before the first."""
    seq: int
    ref: str
    at: str
    what: str
    tokens: int
    opening: str
    failed: bool = False
    starts_turn: bool = False
    hidden: bool = False
    shown: int = 0
    """Tokens that represent it in the window: its own, or those of its stand-in."""


def tokens_by_entry(now: SizedWindow, tokens: Mapping[int, int]) -> dict[int, int]:
    """Return tokens by entry number: as the window counts visible entries, else as given."""
    whole = zip(now.items, now.tokens, strict=True)
    return {**tokens, **{i.entry.seq: size for i, size in whole if i.stand_in is None}}


def entry_rows(
    path: Iterable[Entry],
    shown: Iterable[Item],
    tokens: Mapping[int, int],
    sizes: Mapping[EntryId, int] | None = None,
) -> Iterator[EntryRow]:
    """Yield a row for each source entry of a path, in order; hidden entries are marked.

    `tokens` maps entry numbers to tokens; `sizes` maps the first entry of an item to its tokens in
    the window.
    """
    visible = {item.entry.id for item in shown if item.stand_in is None}
    tools: dict[str, str] = {}
    step = 0
    for entry in path:
        body = _source_body(entry)
        if isinstance(body, ToolCalled):
            tools[body.call] = body.tool
        if role_of(body) == "assistant" and entry.message == entry.seq:
            step += 1
        yield EntryRow(
            step=step,
            seq=entry.seq,
            ref=entry.id[:12],
            at=entry.at,
            what=_singular(name_kind(body, tools)),
            tokens=tokens.get(entry.seq, 0),
            opening=clip_line(_listing_text(body), MAX_OPENING_CHARS),
            failed=getattr(body, "failed", False),
            starts_turn=is_request(body),
            hidden=entry.id not in visible,
            shown=(sizes or {}).get(entry.id, 0),
        )


def _singular(kind: str) -> str:
    """Return the singular of a kind such as "Bash calls"."""
    many = kind.endswith((" calls", " results"))
    return kind[:-1] if many else kind


def _listing_text(body: Source) -> str:
    return body.arguments if isinstance(body, ToolCalled) else text_of(body)


def _source_body(entry: Entry) -> Source:
    assert not isinstance(entry.body, Derived)
    return entry.body


def bar(part: int, whole: int, width: int) -> str:
    """Draw a bar as long as the part is of the whole, in eighths of a character."""
    eighths = round(part / whole * width * 8) if whole > 0 else 0
    full, rest = divmod(min(eighths, width * 8), 8)
    return "█" * full + (EIGHTH_BLOCKS[rest - 1] if rest else "")
