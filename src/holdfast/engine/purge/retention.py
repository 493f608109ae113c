"""Retention: sessions that were left long ago are removed, by age or to keep the ledger small.

A clock can be wrong by years, and what it then says is old may be of today. So age is not read off
any clock: the ledger notes, once a day at most, how far it has come, and credits itself with the
time since the last look, but never with more than a small part of what a session is kept for.
Which sessions were added to since a look is told by their order alone.
"""

from collections.abc import Sequence
from contextlib import suppress
from time import gmtime, strftime, time

from holdfast.core.plan.policy import Policy, Retention
from holdfast.engine.ledger import Ledger
from holdfast.engine.purge.descendants import links
from holdfast.engine.purge.purge import Purge, carry_out, whole
from holdfast.engine.purge.rewrite import EXPIRED
from holdfast.errors import NotWritten, StoreBusy
from holdfast.stores.store import Listed, Look, Store

DAY = 24 * 60 * 60
SHARE = 10
"""One look credits at most this part of the days that sessions are kept, and at least one day."""
MEGABYTE = 1_000_000


def is_due(store: Store, rules: Retention, now: int) -> bool:
    """Whether a day has gone by since the last look; a clock that was set back is looked at too."""
    if not rules.days and not rules.megabytes:
        return False
    looks = store.looks()
    return not looks or not 0 <= now - looks[-1].clock < DAY


def retain_daily(store: Store, policy: Policy, root: str) -> None:
    """Do it if it was not done today. A ledger that is busy is looked at another day."""
    now = int(time())
    if is_due(store, policy.retention, now):
        with suppress(StoreBusy, NotWritten):
            retain(store, policy, root, now, at=strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(now)))


def retain(
    store: Store, policy: Policy, root: str, now: int, *, at: str, dry: bool = False
) -> list[Purge]:
    """Look at the ledger and remove what was left long enough ago; returns what that was."""
    looks = [*store.looks(), _look(store, policy.retention, now)]
    if not dry:
        store.looked(looks[-1])
    ages = _with_heirs(store, _ages(store.sessions(), looks))
    chosen = [name for name, age in ages.items() if _is_old(age, policy.retention)]
    removed = [_removed(store, name, policy, root, at, dry=dry) for name in chosen]
    left = store.size() - (sum(one.size for one in removed) if dry else 0)
    for name, age in ages.items():
        if name in chosen or age < DAY or not _is_large(left, policy.retention):
            continue
        removed.append(_removed(store, name, policy, root, at, dry=dry))
        left = left - removed[-1].size if dry else store.size()
    return removed


def _look(store: Store, rules: Retention, now: int) -> Look:
    """Where the ledger stands now: how long it has lived, and which session was added to last."""
    looks = store.looks()
    touched = max((listed.touched for listed in store.sessions()), default=0)
    if not looks:
        return Look(touched, 0, now)
    most = max(DAY, rules.days * DAY // SHARE)
    credited = min(max(now - looks[-1].clock, 0), most)
    return Look(touched, looks[-1].lived + credited, now)


def _ages(sessions: Sequence[Listed], looks: Sequence[Look]) -> dict[str, int]:
    """By session, the one left longest first: for how many seconds it has surely been left.

    The newest is never among them, nor is one that was added to since the last look.
    """
    ages: dict[str, int] = {}
    for listed in sorted(sessions, key=lambda one: one.touched)[:-1]:
        since = next((look.lived for look in looks if look.touched >= listed.touched), None)
        if since is not None:
            ages[listed.name] = looks[-1].lived - since
    return ages


def _with_heirs(store: Store, ages: dict[str, int]) -> dict[str, int]:
    """The same, where a session is no older than one that goes on from it and refers to it."""
    linked, found = links(store), dict(ages)
    for heir in linked:
        seen, name = {heir}, linked[heir].session
        while name not in seen:
            if heir not in ages:
                found.pop(name, None)
            elif name in found:
                found[name] = min(found[name], ages[heir])
            seen.add(name)
            name = linked[name].session if name in linked else name
    return found


def _is_old(age: int, rules: Retention) -> bool:
    return bool(rules.days) and age >= rules.days * DAY


def _is_large(size: int, rules: Retention) -> bool:
    return bool(rules.megabytes) and size > rules.megabytes * MEGABYTE


def _removed(store: Store, name: str, policy: Policy, root: str, at: str, *, dry: bool) -> Purge:
    ledger = Ledger(name, store, policy=policy, root=root)
    # Nothing is kept secret here: what another session took over from it stays there.
    purge = whole(ledger, quotes=False)
    if not dry:
        carry_out(ledger, purge, at=at, reason=EXPIRED)
    return purge
