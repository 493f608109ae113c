"""What every wire can do. The type checker compares the module of each format with these protocols.

Each is a module, so properties here are named as its constants and classes are.
"""
# ruff: noqa: N802

from collections.abc import Callable, Mapping
from typing import Protocol

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Source
from holdfast.text.jsontext import Json


class MessageWire(Protocol):
    """A format of messages that a provider takes."""

    @property
    def NAME(self) -> str:
        """What the wire is called in a session and on the command line."""
        ...

    def fits(self, message: Mapping[str, Json], /) -> bool | None:
        """True when only this format has such a message, False when it has not, None when it may.

        Never raises, whatever the message holds.
        """
        ...

    def read(self, message: Mapping[str, Json], /) -> list[Source]:
        """The bodies of a message, at least one."""
        ...

    def rewrite(self, raw: bytes, shown: Mapping[int, Source | None], /) -> bytes | None:
        """A message with some of its bodies replaced or removed; None when none is left.

        Bodies that `shown` does not name keep their bytes.
        """
        ...

    def speak(self, body: Source, /) -> bytes:
        """A new message that holds `body`."""
        ...


class LineReader(Protocol):
    """Reads the lines of one transcript in their order and remembers what later lines need."""

    def read(self, line: Mapping[str, Json], pos: int, /) -> tuple[Draft, ...]:
        """The drafts of the line at a position; none when it is bookkeeping."""
        ...


class TranscriptWire(Protocol):
    """A format that an agent writes to disk, one object a line."""

    @property
    def NAME(self) -> str:
        """What the wire is called in a session and on the command line."""
        ...

    @property
    def SPEAKS(self) -> str:
        """The message wire in which its session is sent."""
        ...

    @property
    def HOLDS_MESSAGES(self) -> bool:
        """Whether lines hold messages of that wire; where not, they are written from the bodies."""
        ...

    @property
    def SPLITS_MESSAGES(self) -> bool:
        """Whether one message may be spread over several lines."""
        ...

    @property
    def Reader(self) -> Callable[[], LineReader]:
        """Makes a reader for one transcript."""
        ...

    def fits(self, line: Mapping[str, Json], /) -> bool:
        """Whether a line is of this format. Never raises, whatever the line holds."""
        ...

    def session_of(self, line: Mapping[str, Json], /) -> str:
        """The session that a line names; empty when it names none."""
        ...

    def spoken(self, raw: bytes, /) -> list[bytes]:
        """The messages that a line holds, cut out of it; none where `HOLDS_MESSAGES` is false."""
        ...
