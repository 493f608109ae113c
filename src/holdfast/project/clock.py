"""The wall clock, as the text that entries and files are stamped with."""

from time import gmtime, strftime


def timestamp(seconds: float | None = None) -> str:
    """Return a time in UTC: seconds since 1970, or now."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))


def time_after(at: str, seconds: int) -> str:
    """Return the time so many seconds after another one; empty if that is unknown."""
    from datetime import datetime, timedelta  # late: most stamps are of now

    try:
        later = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return ""
    return later.strftime("%Y-%m-%dT%H:%M:%SZ")
