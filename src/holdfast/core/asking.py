"""Types by which pure code asks a model: a generator yields an `Ask` and receives an `Answer`.

The caller that drives the generator chooses the provider, waits and retries; see `Asking`.
"""

from collections.abc import Generator
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct

T = TypeVar("T")

Stop: TypeAlias = Literal["end", "length", "tool", "filter", "other"]
"""Why a model stopped: it was done, ran out of tokens, called a tool, or was filtered."""


class Ask(Struct, frozen=True):
    """A question the core wants a model to answer."""

    system: str
    prompt: str
    schema: dict[str, Any]
    """The JSON schema of a usable answer, for models that accept one."""
    limit: int
    """The maximum number of tokens of the answer."""


class Answer(Struct, frozen=True):
    """The unchecked answer of a model."""

    text: str
    model: str = ""
    input: int = 0
    output: int = 0
    """Tokens as the provider reported them; 0 if it did not."""
    stop: Stop = "end"


class Failed(Struct, frozen=True):
    """The request failed: there is no answer."""

    reason: str


Asking: TypeAlias = Generator[Ask, Answer | Failed, T]
"""A generator that yields questions, receives their answers, and returns a `T`."""
