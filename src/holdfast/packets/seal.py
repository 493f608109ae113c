"""A packet counted, sealed and signed as a session has it."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.measure.tokens import CountTokens
from holdfast.errors import BadSetting
from holdfast.models.tokenizers import counter
from holdfast.packets.packet import Packet, as_packet, seal
from holdfast.project.regular_files import read_regular

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


LARGEST = 64 * 1024
"""Bytes of the file of a key."""


def count_of(ledger: "Ledger") -> CountTokens:
    """How tokens of a session are counted."""
    head = ledger.store.head(ledger.name)
    return counter((head.vocabulary if head else "") or ledger.model().vocabulary)


def signed(ledger: "Ledger", packet: Stored) -> Packet:
    """A packet with its checksum, and its signature where a key is set."""
    return seal(packet, key_of(ledger))


def key_of(ledger: "Ledger") -> str:
    """What packets are signed with; empty when no key is set.

    Raises:
        BadSetting: the file of the key cannot be read, or is empty.
    """
    path = ledger.policy.packets.key_file
    if not path:
        return ""
    try:
        data = read_regular(Path(path).expanduser(), LARGEST, links=True)
        key = data.decode().strip()
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be read"
        raise BadSetting("packets.key_file", f"{path}: {reason}", origin="the settings") from None
    if not key:
        raise BadSetting("packets.key_file", f"{path} is empty", origin="the settings")
    return key


def sized(ledger: "Ledger", packet: Stored) -> Packet:
    """A packet with its size and its checksum, as it is handed over."""
    text = as_packet(packet).to_prompt()
    return signed(ledger, replace(packet, token_count=count_of(ledger)(text)))
