"""Policy: what the user may decide.

Every number here is data with a default; `config.py` fills it from flags, environment and files.
"""

from msgspec import Struct


class NeverStore(Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept out of the ledger from the start."""

    tools: tuple[str, ...] = ()
    """Tools whose arguments and results are not stored; shell patterns."""
    paths: tuple[str, ...] = ()
    """Files whose content is not stored when a tool reads or writes them; shell patterns."""
    patterns: tuple[str, ...] = ()
    """Regular expressions; what they match is cut out of every text."""


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """What the user may decide about a session."""

    model: str = ""
    """The agent's model; found in the session when not said."""
    window: int = 0
    """The model's window in tokens; the model table's when zero."""
    reserve: int = 0
    """Tokens kept free for the answer; the model table's when zero."""
    timezone: str = ""
    """The zone that times are shown in; UTC when empty. Times are stored as they came."""
    never_store: NeverStore = NeverStore()
