"""Faults of a session: collected while it works, logged, and written to its ledger once each.

`core/faults.py` turns an exception of a rule into a `Fault`. Here is the part that has effects:
whether rules are strict (`HOLDFAST_STRICT=1`), which object collects, and the note that lets
`status`, `log` and `doctor` count faults in another process.
"""

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from holdfast.core.faults import Fault, Faults, active, collecting
from holdfast.core.ledger.entry import Entry
from holdfast.core.ledger.notes import RuleFailed, encode, notes_in
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

STRICT = "HOLDFAST_STRICT"

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="HasLedger")


class HasLedger(Protocol):
    """A ledger, or an object that works on one."""

    @property
    def ledger(self) -> "Ledger":
        """The ledger that it works on."""
        ...


def new_faults() -> Faults:
    """Return a collector that is strict if the environment says so."""
    return Faults(strict=os.environ.get(STRICT, "") not in ("", "0"))


@contextmanager
def noting_faults(ledger: "Ledger") -> Generator[None]:
    """Collect the faults of a session's rules, and write the new ones to its ledger at the end."""
    if active() is ledger.collector:
        yield
        return
    known = len(ledger.collector.found)
    try:
        with collecting(ledger.collector):
            yield
    finally:
        new = ledger.collector.found[known:]
        if new:
            _write_faults(ledger, new)


def notes_faults(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Make a function of an object with a ledger collect and write the faults of its rules."""

    @wraps(method)
    def run(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        with noting_faults(self.ledger):
            return method(self, *args, **kwargs)

    return run


def _write_faults(ledger: "Ledger", faults: Iterable[Fault]) -> None:
    """Log faults and write those that the ledger does not have; a store that refuses is no error.

    An error message can quote the text that a rule failed on, so it is redacted like any excerpt.
    """
    import logging  # late: most processes meet no fault

    logger = logging.getLogger(__name__)
    try:
        known = set(faults_in(ledger.notes()))
        for fault in faults:
            shown = Fault(fault.rule, fault.entry, ledger.redactor.text(fault.error))
            logger.warning("%s failed and was left out: %s", shown.rule, shown.error)
            if shown not in known:
                known.add(shown)
                stored = RuleFailed(shown.rule, shown.entry, ledger.storable(shown.error))
                ledger.derive(encode(stored))
    except HoldfastError as error:
        logger.warning("the faults of %r were not written: %s", ledger.name, error)


def faults_in(entries: Iterable[Entry]) -> list[Fault]:
    """Return the faults that a ledger records, oldest first."""
    return [Fault(note.rule, note.entry, note.error) for _, note in notes_in(entries, RuleFailed)]
