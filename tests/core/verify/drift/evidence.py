"""A small session that was summarised, and what its agent may do next."""

from holdfast.core.ledger.entry import Said, Source
from holdfast.core.ledger.notes import Finding
from holdfast.core.ledger.window import Item
from holdfast.core.verify.drift.evidence import Evidence, evidence_of
from holdfast.core.verify.drift.judge import RULES
from holdfast.core.verify.drift.message import AgentMessage, agent_message
from tests.core.building import Told, answer, ask, back, bash, call, entries

REQUEST = (
    "Add retries to the export in src/export.py. Never touch src/billing.py. "
    "Always run the linter before you commit. Use the Decimal type for amounts, not float. "
    "The partner's endpoint is called ingest-eu."
)
ENDS = "lpha ridge arbour olumn elta mber rove arvest sland unction eepsake antern eadow orthern"
PROSE = " ".join(first + end for first in "abcdefghijklmnopqrst" for end in ENDS.split())
"""Words enough that what is new to the record says something."""
READ = call("r1", "Read", file_path="src/export.py")
SOURCE = f"class RetryBudget:\n    def spend_token(self): ...\n    export_window = 17\n{PROSE}"


def evidence(*more: Told, hidden: int = 4, window: str = "") -> Evidence:
    """The session, its first entries hidden behind a summary, and what came after that."""
    said: tuple[Told, ...] = (
        ask(REQUEST),
        (answer("I will keep the totals as decimals instead of floats."), READ),
        back("r1", SOURCE),
    )
    record = [Item(entry) for entry in entries(*said, *more)]
    summary_at = record[hidden - 1].entry.seq
    summary = Said("user", window or f"## Session Summary [s]\n{REQUEST}")
    shown = [Item(record[0].entry, tuple(i.entry.id for i in record[:hidden]), summary)]
    return evidence_of(record, [*shown, *record[hidden:]], summary_at=summary_at)


def says(text: str, *calls: Source) -> AgentMessage:
    return agent_message((answer(text), *calls))


def finding_of(sign: str, message: AgentMessage, against: Evidence) -> Finding:
    return RULES[sign](message, against)


__all__ = ["bash", "call", "evidence", "finding_of", "says"]
