"""What the watch says: the seven signs, one finding, and the verdict over them.

Severities and actions are the protocol's own; a finding carries the words that show it and the
entry that it goes against, so that a reader can check it and the ledger can be asked for more.
"""

from math import prod
from typing import Literal, TypeAlias

from msgspec import Struct

Severity: TypeAlias = Literal["CRITICAL", "HIGH", "MEDIUM"]
Status: TypeAlias = Literal["ALIGNED", "DRIFT_DETECTED"]

LINE = 0.5
"""From this strength on a finding is a sign of drift."""
BESIDE = 0.2
"""How much a second finding adds to the strongest one: they often have the same cause."""


class Sign(Struct, frozen=True):
    """One thing that is watched for."""

    name: str
    severity: Severity
    what: str
    action: str


SIGNS = (
    Sign(
        "clarification",
        "HIGH",
        "Asking clarification immediately after summary",
        "Check if summarisation lost critical info",
    ),
    Sign(
        "completion",
        "CRITICAL",
        "Declaring complete without deliverable",
        "Verify against original intent",
    ),
    Sign("subtask", "HIGH", "Working on unrelated subtask", "Re-read original request"),
    Sign("decision", "MEDIUM", "Contradicting earlier decision", "Search for decision context"),
    Sign("constraint", "HIGH", "Missing stated constraint", "Recover constraints from archive"),
    Sign(
        "vocabulary",
        "MEDIUM",
        "Using names that nothing in sight explains",
        "Search the ledger for the names",
    ),
    Sign(
        "repetition",
        "MEDIUM",
        "Repeating what was done before",
        "Recover what it came to the first time",
    ),
)
SIGN = {sign.name: sign for sign in SIGNS}
RANK = {"CRITICAL": 0, "HIGH": 1, "MEDIUM": 2}


class Finding(Struct, frozen=True, omit_defaults=True):
    """How strongly a message shows one sign, and by what."""

    strength: float = 0.0
    """From 0 to 1."""
    why: str = ""
    """One sentence for a reader."""
    evidence: str = ""
    """The agent's own words or call."""
    quote: str = ""
    """The user's words, the decision or the request that it goes against."""
    ref: str = ""
    """The entry in which that stands."""
    missing: tuple[str, ...] = ()
    """What to look for in the ledger."""


NOTHING = Finding()


class Signal(Struct, frozen=True, omit_defaults=True):
    """A sign of drift that a message shows."""

    name: str
    severity: Severity
    what: str
    action: str
    finding: Finding

    @property
    def strength(self) -> float:
        """How strongly it shows, from 0 to 1."""
        return self.finding.strength

    def to_dict(self) -> dict[str, object]:
        """The same as plain values."""
        found = self.finding
        return {
            "signal": self.name,
            "severity": self.severity,
            "what": self.what,
            "action": self.action,
            "strength": round(found.strength, 3),
            "why": found.why,
            "evidence": found.evidence,
            "quote": found.quote,
            "ref": found.ref[:12],
            "missing": list(found.missing),
        }


class Drift(Struct, frozen=True, omit_defaults=True):
    """What one message of the agent looks like against its session."""

    score: float = 0.0
    signals: tuple[Signal, ...] = ()
    """The gravest first; none when all is well."""
    since: int = 0
    """Which step of the agent after the summary it is; 0 when there was no summary."""

    @property
    def status(self) -> Status:
        """Whether any sign shows strongly enough."""
        return "DRIFT_DETECTED" if self.signals else "ALIGNED"

    def to_dict(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "status": self.status,
            "score": round(self.score, 3),
            "since": self.since,
            "signals": [signal.to_dict() for signal in self.signals],
        }


def verdict(findings: dict[str, Finding], since: int = 0) -> Drift:
    """All findings on one message, put together."""
    strengths = sorted((found.strength for found in findings.values()), reverse=True)
    top = strengths[0] if strengths else 0.0
    rest = prod(1 - BESIDE * strength for strength in strengths[1:])
    shown = [
        Signal(sign.name, sign.severity, sign.what, sign.action, findings[sign.name])
        for sign in SIGNS
        if sign.name in findings and findings[sign.name].strength >= LINE
    ]
    shown.sort(key=lambda signal: (RANK[signal.severity], -signal.strength))
    return Drift(min(1 - (1 - top) * rest, 1.0), tuple(shown), since)
