"""How a pure function asks a model: it yields an `Ask` and is sent what came of it, as a value.

Nothing here waits, retries or knows a provider; whoever drives the generator does.
"""

from collections.abc import Generator
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

T = TypeVar("T")

Stop: TypeAlias = Literal["end", "length", "tool", "filter", "other"]
"""Why a model stopped: it was done, out of tokens, wanted a tool, or was kept from going on."""


class Ask(Struct, frozen=True):
    """A question the core wants a model to answer."""

    system: str
    prompt: str
    schema: dict[str, Any]
    """The JSON schema of a usable answer, for models that can be held to one."""
    limit: int
    """Tokens that the answer may have."""


class Answer(Struct, frozen=True):
    """What a model said. Nobody has checked it yet."""

    text: str
    model: str = ""
    input: int = 0
    output: int = 0
    """Tokens as reported; 0 when nobody did."""
    stop: Stop = "end"


class Failed(Struct, frozen=True):
    """No answer came."""

    reason: str


Asking: TypeAlias = Generator[Ask, Answer | Failed, T]
"""A computation that needs answers on its way to a `T`."""
