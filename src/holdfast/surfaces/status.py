"""Collect the figures of a status report; separate from `actions` so that few modules load."""

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from holdfast.core.measure.models import model_warning
from holdfast.core.measure.sizes import SizedWindow
from holdfast.core.observe.results.refetched import Refetches, refetches_after
from holdfast.core.view.conversation import EntryRow, entry_rows, tokens_by_entry
from holdfast.core.view.rules import metrics_of
from holdfast.core.view.status import StatusReport, savings_of, shares_of, tokens_sent
from holdfast.engine.fault_log import faults_in
from holdfast.engine.status import scaled_counts, sized_window, window_changes
from holdfast.errors import BadSetting
from holdfast.session.session import Session


def current_time(zone: str) -> str:
    """Return the current time in a time zone, formatted for reports."""
    try:
        timezone = ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        raise BadSetting("timezone", f"{zone!r} is no time zone", origin="policy") from None
    return datetime.now(UTC).astimezone(timezone).strftime("%Y-%m-%d %H:%M:%S %Z")


def session_rows(session: Session, now: SizedWindow) -> list[EntryRow]:
    """Return a row with the size of each entry on the path of a session."""
    sizes = {item.entry.id: size for item, size in zip(now.items, now.tokens, strict=True)}
    tokens = tokens_by_entry(now, scaled_counts(session.ledger))
    return list(
        entry_rows(session.ledger.redactor.entries(session.ledger.path()), now.items, tokens, sizes)
    )


def status_report(session: Session, at: str) -> StatusReport:
    """Return the status report of a session; `at` is the time to print in it."""
    now, lane = sized_window(session.ledger), session.ledger.head().lane(session.agent)
    mine = [entry for entry in session.store.read(session.name) if entry.lane == session.agent]
    return StatusReport(
        session=session.name,
        at=at,
        usage=now.usage,
        turns=lane.turns,
        steps=lane.steps,
        savings=savings_of(mine, window_changes(session.ledger)),
        shares=shares_of(now.items, now.tokens),
        overhead=now.usage.overhead,
        warnings=tuple(_warnings(session)),
        caused=sum(refetches_after(mine, scaled_counts(session.ledger)).values(), Refetches()),
        sent=tokens_sent(mine),
        metrics=metrics_of(mine),
        faults=len(faults_in(mine)),
    )


def _warnings(session: Session) -> Iterator[str]:
    """Yield warnings about a window limit that is not from the table of models."""
    limit, named = (
        session.ledger.limit_with_origin(),
        session.policy.model or session.ledger.head().model,
    )
    if doubtful := model_warning(named, session.policy.window or session.ledger.head().limit):
        yield doubtful
    if limit.origin == "learned" and limit.accepted >= limit.tokens:
        yield (
            f"the provider accepted a request of {limit.accepted:,} tokens, so the window "
            "takes at least that"
        )
    elif limit.origin == "learned":
        yield f"the limit of {limit.tokens:,} tokens was learned when the provider refused more"
