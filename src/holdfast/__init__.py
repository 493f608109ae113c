"""Holdfast keeps an agent's context small without losing anything."""

TYPE_CHECKING = False  # known to type checkers by name; importing it would cost every hook

if TYPE_CHECKING:
    from holdfast.checkpoints import Checkpoint
    from holdfast.compressing import compress
    from holdfast.core.measure.usage import Level, Usage
    from holdfast.core.plan.plan import Plan
    from holdfast.core.plan.policy import Policy
    from holdfast.engine import Outcome
    from holdfast.errors import HoldfastError, NothingToShrink
    from holdfast.history import Synced
    from holdfast.ingesting import Ingested, ingest
    from holdfast.opening import open
    from holdfast.packets import Packet
    from holdfast.resuming import resume
    from holdfast.session import Session

__version__ = "0.1.0"

_HOMES = {
    "Checkpoint": "holdfast.checkpoints",
    "HoldfastError": "holdfast.errors",
    "Ingested": "holdfast.ingesting",
    "Level": "holdfast.core.measure.usage",
    "NothingToShrink": "holdfast.errors",
    "Outcome": "holdfast.engine",
    "Packet": "holdfast.packets",
    "Plan": "holdfast.core.plan.plan",
    "Policy": "holdfast.core.plan.policy",
    "Session": "holdfast.session",
    "Synced": "holdfast.history",
    "Usage": "holdfast.core.measure.usage",
    "compress": "holdfast.compressing",
    "ingest": "holdfast.ingesting",
    "open": "holdfast.opening",
    "resume": "holdfast.resuming",
}

__all__ = [
    "Checkpoint",
    "HoldfastError",
    "Ingested",
    "Level",
    "NothingToShrink",
    "Outcome",
    "Packet",
    "Plan",
    "Policy",
    "Session",
    "Synced",
    "Usage",
    "compress",
    "ingest",
    "open",
    "resume",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: importing holdfast costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """What can be had from here, loaded or not: consoles complete it."""
    return sorted((*__all__, "__version__"))
