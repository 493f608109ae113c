"""How our own stand-ins begin, so that they are known again when a client sends them back."""

OFFLOADED = "## Offloaded: "
TRUNCATED = "## Tool Call: "
MASKED = "[holdfast "
REFERENCE = "**Ref:** "
WARNING = "⚠️ **Goal Drift Warning**"
"""How a warning of ours begins, in the protocol's words."""

NEAR = 600
"""Characters within which a stand-in names its reference."""


def is_stand_in(text: str) -> bool:
    """Whether a text is one that we put in the place of another."""
    if text.startswith(MASKED):
        return True
    return text.startswith((OFFLOADED, TRUNCATED)) and REFERENCE in text[:NEAR]
