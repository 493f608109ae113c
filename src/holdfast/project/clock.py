"""The wall clock, as the text that entries and files are stamped with."""

from time import gmtime, strftime


def timestamp(seconds: float | None = None) -> str:
    """Return a time in UTC: seconds since 1970, or now."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))
