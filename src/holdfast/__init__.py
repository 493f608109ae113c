"""Holdfast keeps an agent's context small without losing anything."""

TYPE_CHECKING = False  # known to type checkers by name; importing it would cost every hook

if TYPE_CHECKING:
    from holdfast.core.measure.usage import Level, Usage
    from holdfast.core.plan.plan import Plan
    from holdfast.core.plan.policy import Policy
    from holdfast.engine.checkpoints import Checkpoint
    from holdfast.engine.engine import Outcome
    from holdfast.engine.sync import Synced
    from holdfast.errors import HoldfastError, NothingToShrink
    from holdfast.packets.packet import Packet
    from holdfast.session.compress import compress
    from holdfast.session.open import open
    from holdfast.session.resume import resume
    from holdfast.session.session import Session
    from holdfast.transcripts.ingest import Ingested, ingest

__version__ = "0.1.0"

_HOMES = {
    "Checkpoint": "holdfast.engine.checkpoints",
    "HoldfastError": "holdfast.errors",
    "Ingested": "holdfast.transcripts.ingest",
    "Level": "holdfast.core.measure.usage",
    "NothingToShrink": "holdfast.errors",
    "Outcome": "holdfast.engine.engine",
    "Packet": "holdfast.packets.packet",
    "Plan": "holdfast.core.plan.plan",
    "Policy": "holdfast.core.plan.policy",
    "Session": "holdfast.session.session",
    "Synced": "holdfast.engine.sync",
    "Usage": "holdfast.core.measure.usage",
    "compress": "holdfast.session.compress",
    "ingest": "holdfast.transcripts.ingest",
    "open": "holdfast.session.open",
    "resume": "holdfast.session.resume",
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
