"""Tier 2: replace large texts in the arguments of old write and edit calls by references.

Keys, nesting and all other values of the arguments keep their bytes.
"""

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
    elements,
    encode,
    join_array,
    join_object,
    members,
    parse,
    without_surrogates,
)
from holdfast.text.utf8 import from_bytes, to_bytes

MAX_NESTING = 6
"""Levels of nesting that are searched: edits come in lists of objects."""

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
    """Return the call with its large texts replaced by references; None if it has none."""

    def shorten(text: str) -> str | None:
        size = len(text) if len(text) <= rules.above else count(text)
        if size <= rules.above or is_stand_in(text):
            return None
        render = _protocol_form if rules.form == "ctx-001" else _skill_form
        return "\n".join(render(body.tool, touch.path or "unknown", ref, persisted, text, size))

    try:
        arguments = _shorten_texts(to_bytes(body.arguments), shorten, MAX_NESTING)
    except NotJson:
        return None
    if arguments is None:
        return None
    return ToolCalled(body.call, body.tool, from_bytes(arguments))


def _skill_form(tool: str, path: str, ref: str, persisted: bool, text: str, size: int) -> list[str]:
    return [
        f"{TRUNCATED}{tool}",
        f"{REFERENCE}{ref}",
        f"**Original Size:** {size:,} tokens",
        f"**Path:** {path}",
        f"**Summary:** {outline(text, lines=0).summary}",
        f"**Status:** {f'{PERSISTED} ✓' if persisted else LEDGER_ONLY}",
    ]


def _protocol_form(
    tool: str, path: str, ref: str, persisted: bool, text: str, size: int
) -> list[str]:
    del size  # This form gives the size in lines.
    count = len(text.splitlines())
    return [
        TRUNCATED_CTX,
        f"**Original:** {tool} with {count:,} {'line' if count == 1 else 'lines'}",
        f"{REFERENCE}{ref}",
        f"**Path:** {path}",
        f"**Summary:** {outline(text, lines=0).summary}",
        f"**Status:** {PERSISTED if persisted else LEDGER_ONLY}",
    ]


def _shorten_texts(raw: bytes, shorten: Callable[[str], str | None], depth: int) -> bytes | None:
    """Return a JSON value with its large texts shortened; None if it has none."""
    first = raw.lstrip()[:1]
    if first == b'"':
        # A lone surrogate cannot be encoded: it is replaced before the text is counted.
        stub = shorten(as_text(without_surrogates(parse(raw)[0])))
        return None if stub is None else encode(stub)
    if depth == 0 or first not in (b"{", b"["):
        return None
    if first == b"[":
        items = elements(raw)
        shortened = [_shorten_texts(item, shorten, depth - 1) for item in items]
        if not any(shortened):
            return None
        return join_array([new or old for new, old in zip(shortened, items, strict=True)])
    parts = members(raw)
    changed = {key: _shorten_texts(value, shorten, depth - 1) for key, value in parts.items()}
    if not any(changed.values()):
        return None
    return join_object({key: changed[key] or value for key, value in parts.items()})
