"""What a status says of a session, gathered; apart, so that asking for it loads nothing else."""

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from holdfast.core.measure.models import doubt
from holdfast.core.measure.sizes import Sized
from holdfast.core.measure.usage import scaled
from holdfast.core.observe.results.refetched import Caused, effects_of
from holdfast.core.view.conversation import Row, rows_of, tokens_by_entry
from holdfast.core.view.rules import metrics_of
from holdfast.core.view.status import Report, savings_of, sent_in, shares_of
from holdfast.engine.fault_log import faults_in
from holdfast.engine.status import sized_window, turned_windows
from holdfast.errors import BadSetting
from holdfast.session.session import Session


def now_in(zone: str) -> str:
    """This moment, as reports have it."""
    try:
        place = ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        raise BadSetting("timezone", f"{zone!r} is no time zone", origin="policy") from None
    return datetime.now(UTC).astimezone(place).strftime("%Y-%m-%d %H:%M:%S %Z")


def scaled_counts(session: Session) -> dict[int, int]:
    """Tokens of every entry by number, as the session's model counts."""
    head, model = session.ledger.head(), session.ledger.model()
    known = head.lane(session.agent).calibration
    counts = session.store.counts(session.name, head.vocabulary)
    return {seq: scaled(raw, model, known) for seq, raw in counts.items()}


def listed(session: Session, now: Sized) -> list[Row]:
    """Every entry that leads to the end of a session, with its size."""
    sizes = {item.entry.id: size for item, size in zip(now.items, now.tokens, strict=True)}
    tokens = tokens_by_entry(now, scaled_counts(session))
    return list(
        rows_of(session.ledger.redactor.entries(session.ledger.path()), now.items, tokens, sizes)
    )


def report_of(session: Session, at: str) -> Report:
    """Everything a status says about a session at a moment."""
    now, lane = sized_window(session.ledger), session.ledger.head().lane(session.agent)
    mine = [entry for entry in session.store.read(session.name) if entry.lane == session.agent]
    return Report(
        session=session.name,
        at=at,
        usage=now.usage,
        turns=lane.turns,
        steps=lane.steps,
        savings=savings_of(mine, turned_windows(session.ledger)),
        shares=shares_of(now.items, now.tokens),
        overhead=now.usage.overhead,
        warnings=tuple(_warnings(session)),
        caused=sum(effects_of(mine, scaled_counts(session)).values(), Caused()),
        sent=sent_in(mine),
        metrics=metrics_of(mine),
        faults=len(faults_in(mine)),
    )


def _warnings(session: Session) -> Iterator[str]:
    """What has to be said about the limit: where it does not come from the table of models."""
    limit, named = session.ledger.limited(), session.policy.model or session.ledger.head().model
    if doubtful := doubt(named, session.policy.window or session.ledger.head().limit):
        yield doubtful
    if limit.origin == "learned" and limit.accepted >= limit.tokens:
        yield (
            f"the provider accepted a request of {limit.accepted:,} tokens, so the window takes at "
            "least that"
        )
    elif limit.origin == "learned":
        yield f"the limit of {limit.tokens:,} tokens was learned when the provider refused more"
