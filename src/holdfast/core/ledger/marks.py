"""Detect our own stand-ins, summaries and warnings by the text that they begin with.

A client sends them back, and they must not be compressed again.
"""

from holdfast.core.ledger.entry import Body, Said

OFFLOADED = "## Offloaded: "
OFFLOADED_CTX = "## Offloaded Content Reference"
TRUNCATED = "## Tool Call: "
TRUNCATED_CTX = "## Truncated Tool Call"
MASKED = "[holdfast "
REFERENCE = "**Ref:** "
PASTE_MARK = "[paste "
"""The beginning of the line that replaces a paste in a user's message."""
PASTE_LINE = "│ "
"""The beginning of the lines that show parts of the paste."""
DRIFT_WARNING = "⚠️ **Goal Drift Warning**"
"""The beginning of a drift warning, as the protocol words it."""

STAND_IN_HEADS = (OFFLOADED, TRUNCATED, OFFLOADED_CTX, TRUNCATED_CTX)
"""The first two follow the skill, the last two the protocol."""
REFERENCE_WITHIN_CHARS = 600
"""The first characters of a stand-in, which contain its reference."""


def is_stand_in(text: str) -> bool:
    """Whether a text is a stand-in of Holdfast."""
    if text.startswith(MASKED):
        return True
    return text.startswith(STAND_IN_HEADS) and REFERENCE in text[:REFERENCE_WITHIN_CHARS]


SUMMARY_MARK = "## Session Summary ["
"""The beginning of a summary of Holdfast."""


def is_sent_summary(body: Body) -> bool:
    """Whether a body is a user message that begins like a summary of Holdfast."""
    return isinstance(body, Said) and body.role == "user" and body.text.startswith(SUMMARY_MARK)
