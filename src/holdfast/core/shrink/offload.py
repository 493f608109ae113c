"""Tier 1: replace a large tool result by its location, a preview and an outline, or by one line.

Nothing is lost: the ledger holds the whole result under its reference, and a readable copy is
written to the path before a window names it.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Media, ToolReturned
from holdfast.core.ledger.marks import MASKED, OFFLOADED, OFFLOADED_CTX, REFERENCE
from holdfast.core.ledger.size import media_of
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.plan.policy import Offload
from holdfast.core.shrink.outline.outline import Outline, first_lines, last_lines, outline

FULL_SIZE_TOKENS = 15_000
"""Results of this size get the full preview and outline; smaller ones get less in proportion."""
MIN_SHARE = 0.2
MAX_TAIL_CHARS = 800
"""Characters of the end of a result that are shown."""
MASK_LINES = 2
"""Lines of a masked result that are kept, if the agent used words of them later."""
MASK_WIDTH = 140
BY_REFERENCE = "Full content by its reference"


class OriginalLocation(Struct, frozen=True):
    """Where the whole of a hidden result is found."""

    ref: str
    path: str = ""
    """The file with a copy; empty if there is none."""


def offload(
    body: ToolReturned,
    *,
    tool: str,
    location: OriginalLocation,
    rules: Offload,
    count: CountTokens,
    key_words: frozenset[str] = frozenset(),
    before: int = 0,
    estimated: bool = False,
) -> ToolReturned:
    """Return the stand-in for a large result; it states the exact number of tokens saved.

    `before` is the size of the original, if `body` is only a part of it. `estimated` marks the
    saving as an estimate, because `count` is not exact.
    """
    before = before or count_body(body, count)
    share = min(max(before / FULL_SIZE_TOKENS, MIN_SHARE), 1.0)
    outlined = outline(
        body.output, lines=round(rules.outline * share), width=rules.width, key_words=key_words
    )
    head = first_lines(
        body.output, lines=rules.lines, width=rules.width, total=round(rules.preview * share)
    )
    tail = last_lines(
        body.output, width=rules.width, total=round(MAX_TAIL_CHARS * share), after=len(head)
    )

    render_frame = _protocol_form if rules.form == "ctx-001" else _skill_form
    first, last = render_frame(tool, location)

    def render(saved: int) -> str:
        saving = f"{saved:,} (estimated)" if estimated else f"{saved:,}"
        return "\n".join(
            [*first, *_body_lines(saving, head, tail, outlined, body.media), "", f"*{last}*"]
        )

    return _with_output(body, _with_exact_saving(render, before, count))


def mask(
    body: ToolReturned,
    *,
    tool: str,
    location: OriginalLocation,
    key_words: frozenset[str] = frozenset(),
) -> ToolReturned:
    """Return a stand-in of one line for an old result, and its lines that hold a key word."""
    outlined = outline(body.output, lines=MASK_LINES, width=MASK_WIDTH, key_words=key_words)
    media = "".join(f"; {_describe_media(media_part)}" for media_part in media_of(body))
    notice = f"{MASKED}{location.ref}] {tool} result out of sight: {outlined.summary}{media}"
    key_lines = [line for line in outlined.lines if key_words] if key_words else []
    return _with_output(body, "\n".join([notice, *key_lines]))


def _with_output(body: ToolReturned, text: str) -> ToolReturned:
    return ToolReturned(body.call, text, body.failed)


def _skill_form(tool: str, location: OriginalLocation) -> tuple[list[str], str]:
    """Return the first lines of a stand-in, and the note how to read the whole result."""
    where = [f"**Path:** {location.path}"] if location.path else []
    how = "Use file read to access full content" if location.path else BY_REFERENCE
    return [f"{OFFLOADED}{tool} Result", *where, f"{REFERENCE}{location.ref}"], how


def _protocol_form(tool: str, location: OriginalLocation) -> tuple[list[str], str]:
    del tool  # The file name contains it.
    where = [f"**File:** {location.path}"] if location.path else []
    how = "Full content available via file read" if location.path else BY_REFERENCE
    return [OFFLOADED_CTX, *where, f"{REFERENCE}{location.ref}"], how


def _body_lines(
    saved: str,
    head: Sequence[str],
    tail: Sequence[str],
    outlined: Outline,
    media: Sequence[Media],
) -> list[str]:
    return [
        f"**Tokens Saved:** {saved}",
        *(f"**Attached:** {_describe_media(part)}" for part in media),
        "**Preview:**",
        *(f"> {line}" for line in head),
        f"**Outline:** {outlined.summary}",
        *(f"- {line}" for line in outlined.lines),
        *(["**End:**", *(f"> {line}" for line in tail)] if tail else []),
    ]


def _describe_media(media: Media) -> str:
    size = f" {media.width}×{media.height}" if media.width else ""
    return f"{media.kind} {media.type}{size}, {media.size:,} bytes".replace("  ", " ")


def _with_exact_saving(render: Callable[[int], str], before: int, count: CountTokens) -> str:
    """Render a text that states its own saving, which depends on the length of that number.

    If no number fits, padding changes the count until one does.
    """
    saved = before
    for pad in ("", " ", "\n", "\n.", "\n. ."):
        for _ in range(4):
            rendered = render(saved) + pad
            actual = before - count(rendered)
            if actual == saved:
                return rendered
            saved = actual
    return render(saved)
