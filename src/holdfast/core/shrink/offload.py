"""Tier 1: a large tool result leaves the window; its address, a preview and an outline stay.

Nothing is lost: the ledger holds the whole result under its reference, and a readable copy is
written to the path before any window names it.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Media, ToolReturned
from holdfast.core.ledger.marks import MASKED, OFFLOADED, OFFLOADED_CTX, REFERENCE
from holdfast.core.ledger.size import media_of
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.plan.policy import Offload
from holdfast.core.shrink.outline.outline import Outline, head_of, outline, tail_of

FULL_SIZE = 15_000
"""Tokens from which a result gets the whole preview and outline; a smaller one its share."""
LEAST_SHARE = 0.2
END = 800
"""Characters shown from the end."""
MASK_LINES = 2
"""Lines of a small result that stay, when the agent used what stands in them."""
MASK_WIDTH = 140
BY_REFERENCE = "Full content by its reference"


class Source(Struct, frozen=True):
    """Where the whole of something is, once it has left."""

    ref: str
    path: str = ""
    """A file that holds it; empty when there is none."""


def offload(
    body: ToolReturned,
    *,
    tool: str,
    source: Source,
    rules: Offload,
    count: CountTokens,
    telling: frozenset[str] = frozenset(),
    before: int = 0,
    estimated: bool = False,
) -> ToolReturned:
    """What stands in for a large result, with the tokens that it really saves.

    `before` is what stood there, where that is more than is shown here. `estimated` says that the
    count only is about right.
    """
    before = before or count_body(body, count)
    share = min(max(before / FULL_SIZE, LEAST_SHARE), 1.0)
    shown = outline(
        body.output, lines=round(rules.outline * share), width=rules.width, telling=telling
    )
    head = head_of(
        body.output, lines=rules.lines, width=rules.width, total=round(rules.preview * share)
    )
    tail = tail_of(body.output, width=rules.width, total=round(END * share), after=len(head))

    written = _as_the_protocol if rules.form == "ctx-001" else _as_the_skill
    first, last = written(tool, source)

    def text(saved: int) -> str:
        told = f"{saved:,} (estimated)" if estimated else f"{saved:,}"
        return "\n".join([*first, *_seen(told, head, tail, shown, body.media), "", f"*{last}*"])

    return _standing_in(body, _with_exact_saving(text, before, count))


def mask(
    body: ToolReturned, *, tool: str, source: Source, telling: frozenset[str] = frozenset()
) -> ToolReturned:
    """One line for an old result, and those of its lines that the agent went on to use."""
    seen = outline(body.output, lines=MASK_LINES, width=MASK_WIDTH, telling=telling)
    media = "".join(f"; {_described(one)}" for one in media_of(body))
    notice = f"{MASKED}{source.ref}] {tool} result out of sight: {seen.summary}{media}"
    kept = [line for line in seen.lines if telling] if telling else []
    return _standing_in(body, "\n".join([notice, *kept]))


def _standing_in(body: ToolReturned, text: str) -> ToolReturned:
    return ToolReturned(body.call, text, body.failed)


def _as_the_skill(tool: str, source: Source) -> tuple[list[str], str]:
    """What a reference begins with, and how to get at the whole."""
    where = [f"**Path:** {source.path}"] if source.path else []
    how = "Use file read to access full content" if source.path else BY_REFERENCE
    return [f"{OFFLOADED}{tool} Result", *where, f"{REFERENCE}{source.ref}"], how


def _as_the_protocol(tool: str, source: Source) -> tuple[list[str], str]:
    del tool  # The name of the file has it.
    where = [f"**File:** {source.path}"] if source.path else []
    how = "Full content available via file read" if source.path else BY_REFERENCE
    return [OFFLOADED_CTX, *where, f"{REFERENCE}{source.ref}"], how


def _seen(
    saved: str,
    head: Sequence[str],
    tail: Sequence[str],
    shown: Outline,
    media: Sequence[Media],
) -> list[str]:
    return [
        f"**Tokens Saved:** {saved}",
        *(f"**Attached:** {_described(one)}" for one in media),
        "**Preview:**",
        *(f"> {line}" for line in head),
        f"**Outline:** {shown.summary}",
        *(f"- {line}" for line in shown.lines),
        *(["**End:**", *(f"> {line}" for line in tail)] if tail else []),
    ]


def _described(media: Media) -> str:
    size = f" {media.width}×{media.height}" if media.width else ""
    return f"{media.kind} {media.type}{size}, {media.size:,} bytes".replace("  ", " ")


def _with_exact_saving(text: Callable[[int], str], before: int, count: CountTokens) -> str:
    """The text that names what it saves itself: the number is part of what is counted."""
    saved = before
    for pad in ("", " ", "\n", "\n.", "\n. ."):
        for _ in range(4):
            made = text(saved) + pad
            real = before - count(made)
            if real == saved:
                return made
            saved = real
    return text(saved)
