"""What the scenarios of all clients tell: a request, a constraint, and a log that is too long."""

import re

GOAL = "Find out why the nightly export stopped. Never touch the billing schema."
ASKED, FORBIDDEN = "Find out why the nightly export stopped", "Never touch the billing schema"
NEEDLE = "ERROR disk /dev/sdb1 is full (code 4711)"
NOISY = f"seq 1 1500 | sed 's/^/request served /'; echo '{NEEDLE}'; seq 1 500"
MIDDLE = "request served 1200\n"
"""A line in the middle, that no preview shows."""
LINES = "1190-1510"
"""The lines that hold both of these."""
REF = re.compile(r"\*\*Ref:\*\* ([0-9a-f]{12})")
RECORD = "Holdfast keeps the record of this project"
"""What an agent is told when it begins."""


def reference(outputs: list[str]) -> str:
    """The reference of the last result that left."""
    return next(found[1] for found in map(REF.search, reversed(outputs)) if found)
