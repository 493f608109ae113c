"""Retention: remove sessions that were not used for long, by age or to limit the ledger's size.

Wall clocks jump, so retention uses a logical age: at most once a day the ledger adds the time since
the last check, capped at a small share of the retention period. Whether a session was appended to
since a check is decided by the order of sessions alone.
"""

from collections.abc import Sequence
from contextlib import suppress
from time import time

from holdfast.core.plan.policy import Policy, Retention
from holdfast.engine.ledger import Ledger
from holdfast.engine.purge.descendants import resume_links
from holdfast.engine.purge.purge import Purge, apply_purge, plan_session_purge
from holdfast.engine.purge.rewrite import EXPIRED
from holdfast.errors import NotWritten, StoreBusy
from holdfast.project.clock import timestamp
from holdfast.stores.store import RetentionCheck, SessionInfo, Store

DAY_SECONDS = 24 * 60 * 60
MAX_CREDIT_SHARE = 10
"""One check adds at most this part of the retention period, and at least one day."""
MEGABYTE = 1_000_000


def is_due(store: Store, rules: Retention, now: int) -> bool:
    """Return whether a day has passed since the last check, or the clock was set back."""
    if not rules.days and not rules.megabytes:
        return False
    checks = store.retention_checks()
    return not checks or not 0 <= now - checks[-1].clock < DAY_SECONDS


def retain_daily(store: Store, policy: Policy, root: str) -> None:
    """Run retention if it did not run today. If the ledger is busy, it runs another day."""
    now = int(time())
    if is_due(store, policy.retention, now):
        with suppress(StoreBusy, NotWritten):
            retain(store, policy, root, now, at=timestamp(now))


def retain(
    store: Store, policy: Policy, root: str, now: int, *, at: str, dry: bool = False
) -> list[Purge]:
    """Check the ledger and remove the sessions whose time is over; return what was removed."""
    checks = [*store.retention_checks(), _check_now(store, policy.retention, now)]
    if not dry:
        store.add_retention_check(checks[-1])
    ages = _limited_by_descendants(store, _ages(store.sessions(), checks))
    chosen = [name for name, age in ages.items() if _is_old(age, policy.retention)]
    removed = [_remove(store, name, policy, root, at, dry=dry) for name in chosen]
    bytes_left = store.size() - (sum(purge.size for purge in removed) if dry else 0)
    for name, age in ages.items():
        if name in chosen or age < DAY_SECONDS or not _is_large(bytes_left, policy.retention):
            continue
        removed.append(_remove(store, name, policy, root, at, dry=dry))
        bytes_left = bytes_left - removed[-1].size if dry else store.size()
    return removed


def _check_now(store: Store, rules: Retention, now: int) -> RetentionCheck:
    """Return a check: the logical age of the ledger, and the session that was used last."""
    checks = store.retention_checks()
    touched = max((listed.touched for listed in store.sessions()), default=0)
    if not checks:
        return RetentionCheck(touched, 0, now)
    max_credit = max(DAY_SECONDS, rules.days * DAY_SECONDS // MAX_CREDIT_SHARE)
    credited = min(max(now - checks[-1].clock, 0), max_credit)
    return RetentionCheck(touched, checks[-1].lived + credited, now)


def _ages(sessions: Sequence[SessionInfo], checks: Sequence[RetentionCheck]) -> dict[str, int]:
    """Return the age in seconds of each session, oldest first.

    The newest one is not included, nor is one that was appended to since the last check.
    """
    ages: dict[str, int] = {}
    for listed in sorted(sessions, key=lambda info: info.touched)[:-1]:
        since = next((check.lived for check in checks if check.touched >= listed.touched), None)
        if since is not None:
            ages[listed.name] = checks[-1].lived - since
    return ages


def _limited_by_descendants(store: Store, ages: dict[str, int]) -> dict[str, int]:
    """Return the ages, where a session is no older than one that continues and refers to it."""
    links, found = resume_links(store), dict(ages)
    for descendant in links:
        seen, name = {descendant}, links[descendant].session
        while name not in seen:
            if descendant not in ages:
                found.pop(name, None)
            elif name in found:
                found[name] = min(found[name], ages[descendant])
            seen.add(name)
            name = links[name].session if name in links else name
    return found


def _is_old(age: int, rules: Retention) -> bool:
    return bool(rules.days) and age >= rules.days * DAY_SECONDS


def _is_large(size: int, rules: Retention) -> bool:
    return bool(rules.megabytes) and size > rules.megabytes * MEGABYTE


def _remove(store: Store, name: str, policy: Policy, root: str, at: str, *, dry: bool) -> Purge:
    ledger = Ledger(name, store, policy=policy, root=root)
    # Retention is not about secrets: text that other sessions copied stays there.
    purge = plan_session_purge(ledger, quotes=False)
    if not dry:
        apply_purge(ledger, purge, at=at, reason=EXPIRED)
    return purge
