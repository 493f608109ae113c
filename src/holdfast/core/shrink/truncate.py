"""Tier 2: the text of an old write or edit leaves the call; keys and JSON stay what they were."""

from collections.abc import Callable

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.ledger.marks import REFERENCE, TRUNCATED, TRUNCATED_CTX, is_stand_in
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.files.touch import Touch
from holdfast.core.plan.policy import Truncate
from holdfast.core.shrink.outline.outline import outline
from holdfast.text.jsontext import (
    NotJson,
    as_text,
    cleaned,
    elements,
    encode,
    joined_array,
    joined_object,
    members,
    parse,
)

DEEPEST = 6
"""Levels of nesting that are looked into: edits come in lists of objects."""

PERSISTED = "Content persisted to disk"
LEDGER_ONLY = "Content kept in the ledger"


def truncate(
    body: ToolCalled,
    *,
    touch: Touch,
    ref: str,
    persisted: bool,
    rules: Truncate,
    count: CountTokens,
) -> ToolCalled | None:
    """The call with its large texts replaced by references; nothing when it has none."""

    def shorter(text: str) -> str | None:
        size = len(text) if len(text) <= rules.above else count(text)
        if size <= rules.above or is_stand_in(text):
            return None
        written = _as_the_protocol if rules.form == "ctx-001" else _as_the_skill
        return "\n".join(written(body.tool, touch.path or "unknown", ref, persisted, text, size))

    try:
        written = _shortened(body.arguments.encode("utf-8", "surrogatepass"), shorter, DEEPEST)
    except NotJson:
        return None
    if written is None:
        return None
    return ToolCalled(body.call, body.tool, written.decode("utf-8", "surrogatepass"))


def _as_the_skill(
    tool: str, path: str, ref: str, persisted: bool, text: str, size: int
) -> list[str]:
    return [
        f"{TRUNCATED}{tool}",
        f"{REFERENCE}{ref}",
        f"**Original Size:** {size:,} tokens",
        f"**Path:** {path}",
        f"**Summary:** {outline(text, lines=0).summary}",
        f"**Status:** {f'{PERSISTED} ✓' if persisted else LEDGER_ONLY}",
    ]


def _as_the_protocol(
    tool: str, path: str, ref: str, persisted: bool, text: str, size: int
) -> list[str]:
    del size  # It is told in lines.
    count = len(text.splitlines())
    return [
        TRUNCATED_CTX,
        f"**Original:** {tool} with {count:,} {'line' if count == 1 else 'lines'}",
        f"{REFERENCE}{ref}",
        f"**Path:** {path}",
        f"**Summary:** {outline(text, lines=0).summary}",
        f"**Status:** {PERSISTED if persisted else LEDGER_ONLY}",
    ]


def _shortened(raw: bytes, shorter: Callable[[str], str | None], depth: int) -> bytes | None:
    """A JSON value with its large texts shortened, all else as it was; None if it has none."""
    first = raw.lstrip()[:1]
    if first == b'"':
        # Half of a character is no text: it is counted and told of as what stands for it.
        stub = shorter(as_text(cleaned(parse(raw)[0])))
        return None if stub is None else encode(stub)
    if depth == 0 or first not in (b"{", b"["):
        return None
    if first == b"[":
        items = elements(raw)
        made = [_shortened(item, shorter, depth - 1) for item in items]
        if not any(made):
            return None
        return joined_array([new or old for new, old in zip(made, items, strict=True)])
    parts = members(raw)
    changed = {key: _shortened(value, shorter, depth - 1) for key, value in parts.items()}
    if not any(changed.values()):
        return None
    return joined_object({key: changed[key] or value for key, value in parts.items()})
