"""Recommendations for the depth, budget and order of packets, as they are stored with versions.

They are a file of the project, not entries, because they do not belong to a session. Each version
has the time from which it was in force.
"""

from msgspec import Struct

SCHEMA = "holdfast.tuning/1"


class TuningChange(Struct, frozen=True):
    """One recommended change for a type of task."""

    task_type: str
    what: str
    """`depth`, `budget` or `order`."""
    value: str
    why: str


class Recommendation(Struct, frozen=True, omit_defaults=True):
    """Recommended changes and their reasons; each one that is applied gets the next version."""

    version: int = 0
    tasks: int = 0
    """The number of records that it was made from."""
    depths: dict[str, str] = {}
    """By type of task: the depth of a packet if none is given."""
    budgets: dict[str, int] = {}
    """By type of task: tokens of a packet."""
    orders: dict[str, tuple[str, ...]] = {}
    """By type of task: parts of a packet, the most needed first; the last part is cut first."""
    changes: tuple[TuningChange, ...] = ()
    at: str = ""
    digest: str = ""
    """The beginning of a hash of all fields except the version, the time and this."""


class Tunings(Struct, frozen=True, omit_defaults=True):
    """All recommendations that were applied, and the version in force."""

    schema: str = SCHEMA
    active: int = 0
    """The version in force; 0 for none."""
    versions: tuple[Recommendation, ...] = ()
    """Oldest first; a revoked one stays in the list."""

    def in_force(self) -> Recommendation | None:
        """Return the recommendation in force; None if there is none."""
        return next((version for version in self.versions if version.version == self.active), None)


UNTUNED = Tunings()
