"""Count, seal and sign a packet with a session's tokenizer and key."""

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


MAX_KEY_BYTES = 64 * 1024
"""Maximum bytes of the key file."""


def token_counter(ledger: "Ledger") -> CountTokens:
    """Return the token counter of a session."""
    head = ledger.store.head(ledger.name)
    return counter((head.vocabulary if head else "") or ledger.model().vocabulary)


def sign(ledger: "Ledger", packet: Stored) -> Packet:
    """Return a packet with its checksum, and with its signature if a key is set."""
    return seal(packet, signing_key(ledger))


def signing_key(ledger: "Ledger") -> str:
    """Return the key that packets are signed with; empty if none is set.

    Raises:
        BadSetting: the key file cannot be read, or is empty.
    """
    path = ledger.policy.packets.key_file
    if not path:
        return ""
    try:
        data = read_regular(Path(path).expanduser(), MAX_KEY_BYTES, links=True)
        key = data.decode().strip()
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be read"
        raise BadSetting("packets.key_file", f"{path}: {reason}", origin="the settings") from None
    if not key:
        raise BadSetting("packets.key_file", f"{path} is empty", origin="the settings")
    return key


def count_and_sign(ledger: "Ledger", packet: Stored) -> Packet:
    """Return a packet with its size, checksum and signature, ready to deliver."""
    text = as_packet(packet).to_prompt()
    return sign(ledger, replace(packet, token_count=token_counter(ledger)(text)))
