"""A packet made smaller: a row less, from layer 4 down to layer 2; names cut to what is enough."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from holdfast.core.ledger.packet import Packet

Row = TypeVar("Row")

REF = 12
"""Characters of an entry's name by which it is found."""


def less_of(packet: Packet, kept: frozenset[str], order: Sequence[str] = ()) -> Packet | None:
    """A packet with one row less; nothing when only layer 1 and what a person wrote is left.

    Within a layer, what comes last in `order` goes first.
    """
    for name in _needed_last(("open_questions", "pivots", "failed_attempts"), order):
        rows: Sequence[object] = getattr(packet, name)
        if rows and name not in kept:
            return replace(packet, **{name: tuple(rows[:-1])})
    code = packet.codebase
    for name in _needed_last(("anti_patterns", "patterns", "examples", "relevant_files"), order):
        rows = getattr(code, name)
        if rows and "codebase" not in kept:
            return replace(packet, codebase=replace(code, **{name: tuple(rows[:-1])}))
    for name in ("state", "decisions"):
        rows = getattr(packet, name)
        if rows and name not in kept:
            return replace(packet, **{name: tuple(rows[:-1])})
    return replace(packet, prior_session="") if packet.prior_session else None


def _needed_last(parts: Sequence[str], order: Sequence[str]) -> list[str]:
    """Parts in which they are cut: as they stand, unless the record knows better."""
    return sorted(parts, key=lambda part: -order.index(part) if part in order else -len(order))


def short_refs(packet: Packet) -> Packet:
    """A packet that names entries by the beginning of their ids: enough to find them."""

    def short(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(
            replace(row, refs=tuple(ref[:REF] for ref in getattr(row, "refs", ())))  # type: ignore[type-var]
            for row in rows
        )

    code = packet.codebase
    return replace(
        packet,
        decisions=short(packet.decisions),
        codebase=replace(code, relevant_files=short(code.relevant_files)),
        failed_attempts=short(packet.failed_attempts),
        pivots=short(packet.pivots),
    )
