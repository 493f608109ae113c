"""The sequence that a summary goes through, as it is kept with the compression that it made."""

from msgspec import Struct

INTACT, RECOVERY = "preserved items intact", "recovery possible"
"""Two checks that metrics are read off."""
HALF = 50
"""Percent of its size that a window should have at most after a summary."""


class Check(Struct, frozen=True):
    """One thing that was looked at, and whether it was as it should be."""

    what: str
    holds: bool = True
    detail: str = ""


class Phase(Struct, frozen=True):
    """One of the four: pre-check, preservation, compaction, verification."""

    name: str
    checks: tuple[Check, ...] = ()
