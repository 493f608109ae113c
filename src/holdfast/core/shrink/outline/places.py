"""Places in source code, as tools write them: a file and a line."""

import re

PLACE = re.compile(r"\.\w{1,5}(?::\d+|\(\d+[,)]|\", line \d+)")
"""The end of a place; its start is found by looking back, so that no run is read twice."""
BEFORE = " \t(\"'[<`,="


def place_in(row: str) -> str:
    """The first `file:line` that a line names, or nothing."""
    match = PLACE.search(row)
    if match is None:
        return ""
    start = max(row.rfind(char, 0, match.start()) for char in BEFORE) + 1
    # A path with spaces stands in quotes.
    quote = row.rfind('"', 0, match.start())
    if match[0].count('"') and quote >= 0:
        start = quote + 1
    found = row[start : match.end()]
    return found.replace('", line ', ":").replace("(", ":").rstrip(",)")
