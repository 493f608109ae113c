"""Table of known models: window, vocabulary, token factor, cache prices; and lookup by name.

An unknown model gets cautious values and a warning; its real limit is learned from the provider's
"prompt is too long". Cache prices are multiples of the price of a fresh input token, because
decisions only need the ratio.
"""

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.head import Head


class Cache(Struct, frozen=True):
    """The prices of a cached prompt prefix, as multiples of a fresh input token."""

    read: float = 0.1
    write: float = 1.25
    seconds: int = 300
    """How long a prefix is kept after the last read."""


class Model(Struct, frozen=True):
    """The properties of a model that affect its window."""

    id: str
    """The beginning of its names: dated and regional names of the same model share it."""
    window: int
    reserve: int = 32_000
    """Tokens reserved for the answer."""
    vocabulary: str = "o200k_base"
    exact: bool = False
    """Whether that vocabulary is the model's own; if not, counts are calibrated estimates."""
    factor: float = 1.0
    """Tokens of the model for one token of the vocabulary, before the first report."""
    cache: Cache = Cache()
    bound: bool = False
    """Whether thinking depends on all bytes before it: sent bytes may only change at a boundary."""
    price: float = 3.0
    """Dollars for a million fresh input tokens."""
    known: bool = True


UNKNOWN_MODEL = Model("", 128_000, reserve=16_000, known=False)

_CHEAP = Cache(read=0.05)
_CHEAPEST = Cache(read=0.025)
_OPENAI = Cache(read=0.1, write=1.0, seconds=600)
_OPENAI_PAID = Cache(read=0.1, write=1.25, seconds=1800)
_OPENAI_OLD = Cache(read=0.5, write=1.0, seconds=600)
_GEMINI = Cache(read=0.25, write=1.0, seconds=3600)

MODELS: tuple[Model, ...] = (
    Model("claude-fable-5-2", 1_000_000, factor=1.5, cache=_CHEAPEST, bound=True, price=8.0),
    Model("claude-fable-5-1", 1_000_000, factor=1.5, cache=_CHEAPEST, bound=True, price=10.0),
    Model("claude-mythos-5", 1_000_000, factor=1.5, cache=Cache(), bound=True, price=10.0),
    Model("claude-fable", 1_000_000, factor=1.5, cache=Cache(), bound=True, price=10.0),
    Model("claude-opus-5-5", 1_000_000, factor=1.5, cache=_CHEAP, bound=True, price=4.0),
    Model("claude-sonnet-5-5", 1_000_000, factor=1.5, cache=_CHEAP, bound=True, price=2.0),
    Model("claude-haiku-5-5", 1_000_000, factor=1.5, cache=Cache(), bound=True, price=0.1),
    Model("claude-opus-5", 1_000_000, factor=1.5, cache=Cache(), price=5.0),
    Model("claude-sonnet-5", 1_000_000, factor=1.5, cache=Cache(), price=3.0),
    Model("claude-opus-4-8", 1_000_000, factor=1.5, cache=Cache(), price=5.0),
    Model("claude-opus-4-7", 1_000_000, factor=1.5, cache=Cache(), price=5.0),
    Model("claude-opus-4-6", 200_000, factor=1.2, cache=Cache(), price=5.0),
    Model("claude-sonnet-4-6", 200_000, factor=1.2, cache=Cache(), price=3.0),
    Model("claude-opus-4-5", 200_000, factor=1.2, cache=Cache(), price=5.0),
    Model("claude-opus-4", 200_000, factor=1.2, cache=Cache(), price=15.0),
    Model("claude-sonnet-4", 200_000, factor=1.2, cache=Cache(), price=3.0),
    Model("claude-haiku-4-5", 200_000, factor=1.2, cache=Cache(), price=1.0),
    Model("claude-3", 200_000, reserve=8_192, factor=1.2, cache=Cache(), price=3.0),
    Model("claude", 200_000, factor=1.3, cache=Cache(), price=3.0),
    Model("gpt-5.6", 400_000, reserve=128_000, exact=True, cache=_OPENAI_PAID, price=1.25),
    Model("gpt-5", 400_000, reserve=128_000, exact=True, cache=_OPENAI, price=1.25),
    Model("gpt-4.1", 1_047_576, exact=True, cache=_OPENAI_OLD, price=2.0),
    Model("gpt-4o", 128_000, reserve=16_384, exact=True, cache=_OPENAI_OLD, price=2.5),
    Model("o4", 200_000, reserve=100_000, exact=True, cache=_OPENAI_OLD, price=1.1),
    Model("o3", 200_000, reserve=100_000, exact=True, cache=_OPENAI_OLD, price=2.0),
    Model("o1", 200_000, reserve=100_000, exact=True, cache=_OPENAI_OLD, price=15.0),
    Model("gpt-oss", 131_072, exact=True, price=0.1),
    Model("gpt-4-turbo", 128_000, reserve=4_096, vocabulary="cl100k_base", exact=True, price=10.0),
    Model("gpt-4", 8_192, reserve=2_048, vocabulary="cl100k_base", exact=True, price=30.0),
    Model("gpt-3.5", 16_385, reserve=4_096, vocabulary="cl100k_base", exact=True, price=0.5),
    Model("gemini", 1_048_576, reserve=65_536, factor=1.1, cache=_GEMINI, price=1.25),
    Model("deepseek", 128_000, reserve=8_192, factor=1.05, price=0.3),
    Model("qwen", 131_072, reserve=8_192, factor=1.05, price=0.4),
    Model("llama", 128_000, reserve=8_192, factor=1.05, price=0.3),
)


def keep_vocabulary(model: Model, head: Head) -> Model:
    """Return the model with the vocabulary in which its session was counted.

    A session with a compression keeps its vocabulary, because the stored sizes of its stand-ins
    are in that vocabulary, and counts in two vocabularies cannot be added.
    """
    compressed = any(lane.generation for lane in head.lanes.values())
    if not compressed or not head.vocabulary or head.vocabulary == model.vocabulary:
        return model
    return replace(model, vocabulary=head.vocabulary, exact=False)


def find_model(name: str) -> Model:
    """Find the model with the longest id that the name, without its vendor, begins with."""
    plain = name.lower().rsplit("/", 1)[-1].rsplit("anthropic.", 1)[-1]
    fitting = [model for model in MODELS if plain.startswith(model.id)]
    return max(fitting, key=lambda model: len(model.id), default=UNKNOWN_MODEL)


def model_warning(name: str, window: int = 0) -> str:
    """Return a warning about a model that is not in the table; empty for a known one.

    `window` is the size of its window if that is known from elsewhere.
    """
    if find_model(name).known:
        return ""
    assumed = f"a window of {UNKNOWN_MODEL.window:,} tokens is assumed"
    if not name:
        return "" if window else f"the session names no model; {assumed} (--model)"
    rest = "its tokens are estimated" if window else f"{assumed} (--window)"
    return f"model {name!r} is not known; {rest}"
