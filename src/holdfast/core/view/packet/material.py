"""What a packet is made of: what is asked for, what there is, and what of the world it takes."""

from collections.abc import Mapping

from msgspec import Struct

from holdfast.core.ledger.packet import Choice, Packet
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.view.packet.gathering import Gathered
from holdfast.core.view.packet.relevance import Similar


class Tools(Struct, frozen=True):
    """What making a packet needs of the world."""

    count: CountTokens
    similar: Similar


class Wish(Struct, frozen=True):
    """What is asked for."""

    task: str
    depth: str = "standard"
    layers: tuple[int, ...] = ()
    """Which layers; those of the depth when none are named."""
    budget: int = 0
    """Tokens; the cap of the depth when 0."""
    caps: Mapping[str, int] = {}
    """Tokens by depth, where they are not the usual ones."""
    known: Mapping[str, str] = {}
    """By kind of task: the depth that the record of earlier tasks recommends."""
    order: tuple[str, ...] = ()
    """Parts of a packet, the most needed first, where the record of earlier tasks says so."""
    before: Packet = Packet()
    """The revision before: what a person wrote in it stays, and its history goes on."""
    why: str = ""
    at: str = ""
    """What the changelog says of the new revision, and when it was made."""


class Material(Struct, frozen=True):
    """All that a packet can be made of."""

    record: Gathered = Gathered()
    codebase: Mapping[str, str] = {}
    """Files that were scanned or handed in, by path: their text."""
    decisions: tuple[Choice, ...] = ()
    """What was decided elsewhere in the project."""
    prior: str = ""
    """What an earlier session of the same task came to."""
