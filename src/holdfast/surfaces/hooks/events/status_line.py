"""The status line: how full the window is, and what Holdfast keeps of the session."""

import os

from holdfast.core.measure.models import find
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.policy import LAYOUTS
from holdfast.project.layout import FOLDERS
from holdfast.surfaces.hooks.event import Happened, Reply

SHOWN = 10_000
"""Copies that are counted; more than that are many."""


def answer(happened: Happened) -> Reply:
    """One line, made without opening the ledger: it is asked for all the time."""
    window = happened.window or find(happened.model).window
    reserve = min(find(happened.model).reserve, window // 2)
    limit = max(window - reserve, 1)
    if not happened.window:
        # What the program reports was accepted: the window takes at least that.
        limit = max(limit, happened.tokens)
    usage = Usage(happened.tokens, limit, "reported")
    level = usage.level.value if happened.tokens else "GREEN"
    kept = _copies(happened.root)
    more = f" · {kept:,} offloaded" if kept else ""
    return Reply(told=f"holdfast {usage.percent(0)} {level}{more}")


def _copies(root: str) -> int:
    """Results that left, as their readable copies tell."""
    for base in LAYOUTS.values():
        try:
            with os.scandir(os.path.join(root, base, FOLDERS["offload"])) as found:
                return sum(1 for _, _ in zip(found, range(SHOWN), strict=False))
        except OSError:
            continue
    return 0
