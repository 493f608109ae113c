"""To come."""

from holdfast.surfaces.hooks.happening import NOTHING, Happened, Reply


def answer(happened: Happened) -> Reply:
    """Nothing yet."""
    del happened
    return NOTHING
