"""A whole conversation as one Markdown page: everything that was said and done, in order."""

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
from holdfast.core.measure.sizes import Sized
from holdfast.core.observe.scene import kind_of


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


# A session as a list of steps: number, who, how big, and how it begins.


BAR = "█▉▊▋▌▍▎▏"[::-1]


class Row(Struct, frozen=True):
    """One entry as a listing shows it."""

    step: int
    """The agent's step it belongs to; 0 before the first."""
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
    """Tokens that stand for it in the window: its own, or those of what stands in for it."""


def tokens_by_entry(now: Sized, tokens: Mapping[int, int]) -> dict[int, int]:
    """Tokens of entries by number: in sight as the window has them, else as they are given."""
    whole = zip(now.items, now.tokens, strict=True)
    return {**tokens, **{i.entry.seq: size for i, size in whole if i.stand_in is None}}


def rows_of(
    path: Iterable[Entry],
    shown: Iterable[Item],
    tokens: Mapping[int, int],
    sizes: Mapping[EntryId, int] | None = None,
    *,
    width: int = 100,
) -> Iterator[Row]:
    """The source entries of a path, in order, those out of sight marked.

    `tokens` are those of entries by number, `sizes` those in sight, by the entry they begin with.
    """
    in_sight = {item.entry.id for item in shown if item.stand_in is None}
    tools: dict[str, str] = {}
    step = 0
    for entry in path:
        body = _source(entry)
        if isinstance(body, ToolCalled):
            tools[body.call] = body.tool
        if role_of(body) == "assistant" and entry.message == entry.seq:
            step += 1
        yield Row(
            step=step,
            seq=entry.seq,
            ref=entry.id[:12],
            at=entry.at,
            what=_one_of(kind_of(body, tools)),
            tokens=tokens.get(entry.seq, 0),
            opening=opening(_words(body), width),
            failed=getattr(body, "failed", False),
            starts_turn=is_request(body),
            hidden=entry.id not in in_sight,
            shown=(sizes or {}).get(entry.id, 0),
        )


def _one_of(kind: str) -> str:
    """A kind that names many, for one of them."""
    many = kind.endswith((" calls", " results"))
    return kind[:-1] if many else kind


def _words(body: Source) -> str:
    return body.arguments if isinstance(body, ToolCalled) else text_of(body)


def _source(entry: Entry) -> Source:
    assert not isinstance(entry.body, Derived)
    return entry.body


def opening(text: str, width: int) -> str:
    """How a text begins, on one line and without control characters."""
    start = " ".join(text[: width * 4].split())
    printable = "".join(char if char.isprintable() else "\ufffd" for char in start)
    return printable if len(printable) <= width else printable[: width - 1] + "…"


def bar(part: int, whole: int, width: int) -> str:
    """A bar as long as its part of the whole, in eighths of a character."""
    eighths = round(part / whole * width * 8) if whole > 0 else 0
    full, rest = divmod(min(eighths, width * 8), 8)
    return "█" * full + (BAR[rest - 1] if rest else "")
