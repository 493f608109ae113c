"""Define the seven signs of drift, and combine findings into a verdict.

Severities and actions are the protocol's own. A finding has the words that show it and the entry
that it contradicts, so that a reader can check it and recover more from the ledger.
"""

from math import prod
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.ledger.notes import Finding

Severity: TypeAlias = Literal["CRITICAL", "HIGH", "MEDIUM"]
Status: TypeAlias = Literal["ALIGNED", "DRIFT_DETECTED"]

SIGN_THRESHOLD = 0.5
"""Strength from which a finding is a sign of drift."""
FURTHER_FINDING_SHARE = 0.2
"""Share of each further finding that is added to the strongest: they often have one cause."""


class Sign(Struct, frozen=True):
    """A kind of drift that the watch detects."""

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
SIGN_BY_NAME = {sign.name: sign for sign in SIGNS}
SEVERITY_RANK = {"CRITICAL": 0, "HIGH": 1, "MEDIUM": 2}


NO_FINDING = Finding()


class Signal(Struct, frozen=True, omit_defaults=True):
    """A sign of drift that a message shows."""

    name: str
    severity: Severity
    what: str
    action: str
    finding: Finding

    @property
    def strength(self) -> float:
        """The strength of the finding, from 0 to 1."""
        return self.finding.strength

    def to_dict(self) -> dict[str, object]:
        """The same as plain values."""
        finding = self.finding
        return {
            "signal": self.name,
            "severity": self.severity,
            "what": self.what,
            "action": self.action,
            "strength": round(finding.strength, 3),
            "why": finding.why,
            "evidence": finding.evidence,
            "quote": finding.quote,
            "ref": finding.ref[:12],
            "missing": list(finding.missing),
        }


class Drift(Struct, frozen=True, omit_defaults=True):
    """The verdict on one message of the agent."""

    score: float = 0.0
    signals: tuple[Signal, ...] = ()
    """The most severe first; empty if there is no drift."""
    since: int = 0
    """The number of the step after the summary; 0 without a summary."""

    @property
    def status(self) -> Status:
        """`DRIFT_DETECTED` if there is any signal, else `ALIGNED`."""
        return "DRIFT_DETECTED" if self.signals else "ALIGNED"

    def to_dict(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "status": self.status,
            "score": round(self.score, 3),
            "since": self.since,
            "signals": [signal.to_dict() for signal in self.signals],
        }


def combine_findings(findings: dict[str, Finding], since: int = 0) -> Drift:
    """Combine all findings on one message into a verdict."""
    strengths = sorted((finding.strength for finding in findings.values()), reverse=True)
    top = strengths[0] if strengths else 0.0
    rest = prod(1 - FURTHER_FINDING_SHARE * strength for strength in strengths[1:])
    signals = [
        Signal(sign.name, sign.severity, sign.what, sign.action, findings[sign.name])
        for sign in SIGNS
        if sign.name in findings and findings[sign.name].strength >= SIGN_THRESHOLD
    ]
    signals.sort(key=lambda signal: (SEVERITY_RANK[signal.severity], -signal.strength))
    return Drift(min(1 - (1 - top) * rest, 1.0), tuple(signals), since)
