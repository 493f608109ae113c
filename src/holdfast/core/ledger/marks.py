"""How our own stand-ins begin, so that they are known again when a client sends them back."""

from holdfast.core.ledger.entry import Body, Said

OFFLOADED = "## Offloaded: "
OFFLOADED_CTX = "## Offloaded Content Reference"
TRUNCATED = "## Tool Call: "
TRUNCATED_CTX = "## Truncated Tool Call"
MASKED = "[holdfast "
REFERENCE = "**Ref:** "
PASTE_MARK = "[paste "
"""How the line begins that stands where a paste was cut out of a user's message."""
PASTE_LINE = "│ "
"""How the lines begin that show what was cut."""
WARNING = "⚠️ **Goal Drift Warning**"
"""How a warning of ours begins, in the protocol's words."""

HEADS = (OFFLOADED, TRUNCATED, OFFLOADED_CTX, TRUNCATED_CTX)
"""In the words of the skill, and in those of the protocol."""
NEAR = 600
"""Characters within which a stand-in names its reference."""


def is_stand_in(text: str) -> bool:
    """Whether a text is one that we put in the place of another."""
    if text.startswith(MASKED):
        return True
    return text.startswith(HEADS) and REFERENCE in text[:NEAR]


SUMMARY = "## Session Summary ["
"""How a summary of ours begins."""


def is_sent_summary(body: Body) -> bool:
    """Whether a user's message begins as a summary of ours does."""
    return isinstance(body, Said) and body.role == "user" and body.text.startswith(SUMMARY)
