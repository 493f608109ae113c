"""How well is the next request's size predicted from what was known before it?

For every request in the native Claude Code sessions: the estimate just before its report, against
what the provider reported. Beside it, the plain o200k count of what was in sight.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.data import native_sessions
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Used
from holdfast.core.ledger.head import UNCOUNTED, Head, advance_head
from holdfast.core.measure.models import find_model
from holdfast.core.measure.usage import estimate_size
from holdfast.stores.sqlite import SqliteStore
from holdfast.transcripts.ingest import ingest

LEARNED = 10
"""Requests after which the estimate has to be good."""


def run() -> None:
    """Print the table."""
    files = native_sessions("claude-*")
    if not files:
        print("calibration: no real sessions here (set HOLDFAST_DATA)")
        return
    rows: list[tuple[object, ...]] = []
    pooled: list[tuple[float, float]] = []
    for path in files:
        errors = list(_errors(path))
        late = errors[LEARNED:]
        pooled += late
        if late:
            ours, plain = zip(*late, strict=True)
            rows.append((path.name[:28], len(errors), _percent(ours), _percent(plain)))
    ours, plain = zip(*pooled, strict=True)
    rows.append(("all, pooled", len(pooled), _percent(ours), _percent(plain)))
    print_table(
        f"Median absolute error of the next request's input tokens, after {LEARNED} requests",
        ("session", "requests", "calibrated", "plain o200k"),
        rows,
    )


def _percent(errors: tuple[float, ...]) -> str:
    return f"{median(errors):.2%}"


def _errors(path: Path) -> Iterator[tuple[float, float]]:
    """For each request: the error of the estimate, and of the plain count."""
    with TemporaryDirectory() as folder, SqliteStore(f"{folder}/s/ledger.db") as store:
        session = ingest(path, store).session
        known = store.head(session) or Head()
        counts = store.counts(session, known.vocabulary)
        head, seen = Head(), set[str]()
        for entry in store.read(session):
            used = entry.body
            if isinstance(used, Used) and not entry.lane and used.request not in seen:
                seen.add(used.request)
                lane, model = head.lane(""), find_model(used.model)
                guess = estimate_size(lane.tokens, model, lane.calibration)
                yield abs(guess - used.size) / used.size, abs(lane.tokens - used.size) / used.size
            head = advance_head(head, entry, counts.get(entry.seq, UNCOUNTED))
