"""Render the status line: how full the window is, and how many results were offloaded."""

import os

from holdfast.core.measure.models import find_model
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.policy import LAYOUTS
from holdfast.project.layout import COPY_FOLDERS
from holdfast.surfaces.hooks.event import HookEvent, HookReply

MAX_COUNTED_COPIES = 10_000
"""Stop counting here."""


def answer(event: HookEvent) -> HookReply:
    """Return one line. The ledger is not opened, because programs ask very often."""
    window = event.window or find_model(event.model).window
    reserve = min(find_model(event.model).reserve, window // 2)
    limit = max(window - reserve, 1)
    if not event.window:
        # The provider accepted the reported tokens, so the window is at least that large.
        limit = max(limit, event.tokens)
    usage = Usage(event.tokens, limit, "reported")
    level = usage.level.value if event.tokens else "GREEN"
    copies = _count_copies(event.root)
    more = f" · {copies:,} offloaded" if copies else ""
    return HookReply(user_message=f"holdfast {usage.percent(0)} {level}{more}")


def _count_copies(root: str) -> int:
    """Count offloaded results by their readable copies."""
    for base in LAYOUTS.values():
        try:
            with os.scandir(os.path.join(root, base, COPY_FOLDERS["offload"])) as files:
                return sum(1 for _, _ in zip(files, range(MAX_COUNTED_COPIES), strict=False))
        except OSError:
            continue
    return 0
