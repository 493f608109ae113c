"""What a status says of a session, gathered; apart, so that asking for it loads nothing else."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from holdfast.core.measure.usage import factor_of
from holdfast.core.observe.effects import Caused, effects_of
from holdfast.core.view.phases import metrics_of
from holdfast.core.view.report import Report, savings_of, sent_in, shares_of, standing_in
from holdfast.errors import BadSetting
from holdfast.fault_notes import faults_in
from holdfast.session import Session


def now_in(zone: str) -> str:
    """This moment, as reports have it."""
    try:
        place = ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        raise BadSetting("timezone", f"{zone!r} is no time zone", origin="policy") from None
    return datetime.now(UTC).astimezone(place).strftime("%Y-%m-%d %H:%M:%S %Z")


def report_of(session: Session, at: str) -> Report:
    """Everything a status says about a session at a moment."""
    usage, head, model = session.status(), session.head(), session.model()
    lane = head.lane(session.agent)
    factor = factor_of(model, lane.calibration) if usage.method != "exact" else 1.0
    counts = session.store.counts(session.name, head.vocabulary)
    scaled = {seq: round(count * factor) for seq, count in counts.items()}
    entries = list(session.store.read(session.name))
    mine = [entry for entry in entries if entry.lane == session.agent]
    standing = {hides: round(size * factor) for hides, size in standing_in(entries).items()}
    shares = shares_of(session.window().items, scaled, standing)
    warnings = [] if model.known else [_unknown(head.model)]
    return Report(
        session=session.name,
        at=at,
        usage=usage,
        turns=lane.turns,
        steps=lane.steps,
        savings=savings_of(entries),
        shares=shares,
        overhead=max(usage.tokens - sum(share.tokens for share in shares), 0),
        warnings=tuple(warnings),
        caused=sum(effects_of(mine, counts).values(), Caused()),
        sent=sent_in(mine),
        metrics=metrics_of(mine),
        faults=len(faults_in(mine)),
    )


def _unknown(model: str) -> str:
    if not model:
        return "the session names no model; a window of 128,000 tokens is assumed (--model)"
    return f"model {model!r} is not known; a window of 128,000 tokens is assumed (--window)"
