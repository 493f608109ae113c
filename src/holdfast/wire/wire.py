"""Define the protocols that every wire module implements; the type checker compares them.

A wire is a module, so the properties here have the names of its constants and classes.
"""
# ruff: noqa: N802

from collections.abc import Callable, Mapping
from typing import Protocol

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Source
from holdfast.text.jsontext import Json


class MessageWire(Protocol):
    """A format of messages that a provider accepts."""

    @property
    def NAME(self) -> str:
        """What the wire is called in a session and on the command line."""
        ...

    def fits(self, message: Mapping[str, Json], /) -> bool | None:
        """Return True if only this format has such a message, False if it has not, None if it may.

        Never raises, whatever the message holds.
        """
        ...

    def read(self, message: Mapping[str, Json], /) -> list[Source]:
        """Return the bodies of a message, at least one."""
        ...

    def rewrite(self, raw: bytes, changes: Mapping[int, Source | None], /) -> bytes | None:
        """Return a message with some bodies replaced or removed; None if none is left.

        Bodies that are not in `changes` keep their bytes.
        """
        ...

    def new_message(self, body: Source, /) -> bytes:
        """Return a new message that holds `body`."""
        ...


class LineReader(Protocol):
    """Reads the lines of one transcript in order and remembers what later lines need."""

    def read(self, line: Mapping[str, Json], pos: int, /) -> tuple[Draft, ...]:
        """Return the drafts of the line at a position; none for a bookkeeping line."""
        ...


class TranscriptWire(Protocol):
    """A format that an agent writes to disk, one object a line."""

    @property
    def NAME(self) -> str:
        """What the wire is called in a session and on the command line."""
        ...

    @property
    def SENT_AS(self) -> str:
        """The name of the message wire in which its sessions are sent."""
        ...

    @property
    def HOLDS_MESSAGES(self) -> bool:
        """Whether lines hold messages of that wire; if not, messages are written from bodies."""
        ...

    @property
    def SPLITS_MESSAGES(self) -> bool:
        """Whether one message may be split over several lines."""
        ...

    @property
    def Reader(self) -> Callable[[], LineReader]:
        """The class of the reader of one transcript."""
        ...

    def fits(self, line: Mapping[str, Json], /) -> bool:
        """Return whether a line has this format. Never raises, whatever the line holds."""
        ...

    def session_of(self, line: Mapping[str, Json], /) -> str:
        """Return the session that a line names, or an empty string."""
        ...

    def messages_in(self, raw: bytes, /) -> list[bytes]:
        """Return the messages that a line holds; none if `HOLDS_MESSAGES` is false."""
        ...
