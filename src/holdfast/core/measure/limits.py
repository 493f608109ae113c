"""Find the token limit of a session's window, and the source of that limit."""

from msgspec import Struct

from holdfast.core.ledger.head import Head
from holdfast.core.measure.models import Model, find_model


class Limit(Struct, frozen=True):
    """The effective window: the model's window less the tokens reserved for the answer."""

    tokens: int
    origin: str
    """`model`, `assumed`, `learned` or `set`: see `Usage.limit_from`."""
    accepted: int = 0
    """The largest request that the provider reported."""


def limit_of(head: Head, model: Model, named: str, *, window: int = 0, reserve: int = 0) -> Limit:
    """Return the limit of a session's window; `window` and `reserve` are settings of the user.

    A request that the provider answered proves that the limit is at least its size. Only a setting
    of the user overrules that.
    """
    accepted = largest_accepted(head, named)
    if window:
        return Limit(_without_reserve(window, model, reserve), "set", accepted)
    effective = _without_reserve(head.limit or model.window, model, reserve)
    if accepted > effective:
        return Limit(accepted, "learned", accepted)
    known = "model" if model.known else "assumed"
    return Limit(effective, "learned" if head.limit else known, accepted)


def largest_accepted(head: Head, named: str) -> int:
    """Return the largest request that a model answered in a session, under any of its names."""
    model = find_model(named)
    return max(
        (
            size
            for name, size in head.accepted.items()
            if name in ("", named) or (model.known and find_model(name).id == model.id)
        ),
        default=0,
    )


def _without_reserve(window: int, model: Model, reserve: int) -> int:
    return max(window - (reserve or min(model.reserve, window // 2)), 1)
