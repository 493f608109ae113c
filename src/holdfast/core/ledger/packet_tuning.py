"""Recommendations as they are kept: what packets are tuned by, version after version.

They are a file of the project and no entry: no session owns them. Which was in force when is told
by the moments in it.
"""

from msgspec import Struct

SCHEMA = "holdfast.tuning/1"


class Change(Struct, frozen=True):
    """One thing to change for a kind of task."""

    task_type: str
    what: str
    """`depth`, `budget` or `order`."""
    value: str
    why: str


class Recommendation(Struct, frozen=True, omit_defaults=True):
    """What to change, on what grounds; the version grows with every one that is applied."""

    version: int = 0
    tasks: int = 0
    """Records that it was made from."""
    depths: dict[str, str] = {}
    """By kind of task: how deep a packet goes when nobody says."""
    budgets: dict[str, int] = {}
    """By kind of task: tokens of a packet."""
    orders: dict[str, tuple[str, ...]] = {}
    """By kind of task: parts of a packet, the most needed first; what comes last is cut first."""
    changes: tuple[Change, ...] = ()
    at: str = ""
    digest: str = ""
    """The beginning of the hash of all but the version, the moment and this."""


class Tunings(Struct, frozen=True, omit_defaults=True):
    """Every recommendation that was applied, and which is in force."""

    schema: str = SCHEMA
    active: int = 0
    """The version in force; 0 for none."""
    versions: tuple[Recommendation, ...] = ()
    """Oldest first; one that was taken back stays."""

    def now(self) -> Recommendation | None:
        """The recommendation in force."""
        return next((one for one in self.versions if one.version == self.active), None)


UNTUNED = Tunings()
