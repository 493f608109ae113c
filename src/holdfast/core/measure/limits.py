"""Limit: how many tokens a window takes, and how that is known."""

from msgspec import Struct

from holdfast.core.ledger.head import Head
from holdfast.core.measure.models import Model, find


class Limit(Struct, frozen=True):
    """The effective window: what the model takes, less what is kept free for the answer."""

    tokens: int
    origin: str
    """`model`, `assumed`, `learned` or `set`, as `Usage.limit_from` has it."""
    accepted: int = 0
    """The largest request that the provider reported as done."""


def limit_of(head: Head, model: Model, named: str, *, window: int = 0, reserve: int = 0) -> Limit:
    """The limit of a session's window; `window` and `reserve` are what the user set, if anything.

    A request that the provider answered proves that the window takes at least that much. Only what
    the user set stands against it.
    """
    accepted = accepted_by(head, named)
    if window:
        return Limit(_less(window, model, reserve), "set", accepted)
    effective = _less(head.limit or model.window, model, reserve)
    if accepted > effective:
        return Limit(accepted, "learned", accepted)
    known = "model" if model.known else "assumed"
    return Limit(effective, "learned" if head.limit else known, accepted)


def accepted_by(head: Head, named: str) -> int:
    """The largest request that a model answered in a session, under any of the model's names."""
    model = find(named)
    return max(
        (
            size
            for name, size in head.accepted.items()
            if name in ("", named) or (model.known and find(name).id == model.id)
        ),
        default=0,
    )


def _less(window: int, model: Model, reserve: int) -> int:
    return max(window - (reserve or min(model.reserve, window // 2)), 1)
