"""The models we know: how large their window is, how they count, what their cache costs.

This is data. A model that is not here gets the cautious row and a warning, and its real limit is
learned from the provider's own "prompt is too long". Prices are multiples of the price of a fresh
input token, because that is all a decision needs.
"""

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.head import Head


class Cache(Struct, frozen=True):
    """What keeping a prompt prefix costs, as multiples of a fresh input token."""

    read: float = 0.1
    write: float = 1.25
    seconds: int = 300
    """How long it is kept after it was last read."""
    smallest: int = 1024
    """Shorter prefixes are not cached."""


class Model(Struct, frozen=True):
    """What has to be known of a model to keep its window in order."""

    id: str
    """How its names begin: dated and regional names of the same model share it."""
    window: int
    reserve: int = 32_000
    """Tokens kept free for the answer."""
    vocabulary: str = "o200k_base"
    exact: bool = False
    """Whether that vocabulary is the model's own; else counts are estimates to be calibrated."""
    factor: float = 1.0
    """Tokens of the model for one of the vocabulary, until its provider has reported any."""
    cache: Cache = Cache()
    bound: bool = False
    """Thinking is bound to everything before it: sent bytes may only change at a boundary."""
    price: float = 3.0
    """Dollars for a million fresh input tokens."""
    known: bool = True


UNKNOWN = Model("", 128_000, reserve=16_000, known=False)

_FIVE = Cache(smallest=512)
_CHEAP = Cache(read=0.05, smallest=512)
_CHEAPEST = Cache(read=0.025, smallest=512)
_OPENAI = Cache(read=0.1, write=1.0, seconds=600)
_OPENAI_PAID = Cache(read=0.1, write=1.25, seconds=1800)
_OPENAI_OLD = Cache(read=0.5, write=1.0, seconds=600)
_GEMINI = Cache(read=0.25, write=1.0, seconds=3600, smallest=2048)
_LARGE_PREFIX = Cache(smallest=4096)

MODELS: tuple[Model, ...] = (
    Model("claude-fable-5-2", 1_000_000, factor=1.5, cache=_CHEAPEST, bound=True, price=8.0),
    Model("claude-fable-5-1", 1_000_000, factor=1.5, cache=_CHEAPEST, bound=True, price=10.0),
    Model("claude-mythos-5", 1_000_000, factor=1.5, cache=_FIVE, bound=True, price=10.0),
    Model("claude-fable", 1_000_000, factor=1.5, cache=_FIVE, bound=True, price=10.0),
    Model("claude-opus-5-5", 1_000_000, factor=1.5, cache=_CHEAP, bound=True, price=4.0),
    Model("claude-sonnet-5-5", 1_000_000, factor=1.5, cache=_CHEAP, bound=True, price=2.0),
    Model("claude-haiku-5-5", 1_000_000, factor=1.5, cache=_FIVE, bound=True, price=0.1),
    Model("claude-opus-5", 1_000_000, factor=1.5, cache=_FIVE, price=5.0),
    Model("claude-sonnet-5", 1_000_000, factor=1.5, cache=Cache(), price=3.0),
    Model("claude-opus-4-8", 1_000_000, factor=1.5, cache=Cache(), price=5.0),
    Model("claude-opus-4-7", 1_000_000, factor=1.5, cache=Cache(smallest=2048), price=5.0),
    Model("claude-opus-4-6", 200_000, factor=1.2, cache=_LARGE_PREFIX, price=5.0),
    Model("claude-sonnet-4-6", 200_000, factor=1.2, cache=Cache(), price=3.0),
    Model("claude-opus-4-5", 200_000, factor=1.2, cache=_LARGE_PREFIX, price=5.0),
    Model("claude-opus-4", 200_000, factor=1.2, cache=Cache(), price=15.0),
    Model("claude-sonnet-4", 200_000, factor=1.2, cache=Cache(), price=3.0),
    Model("claude-haiku-4-5", 200_000, factor=1.2, cache=_LARGE_PREFIX, price=1.0),
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


def counted_as(model: Model, head: Head) -> Model:
    """The model, counted as its session is.

    A session in which something was compressed keeps the vocabulary it was counted in: the sizes of
    what stands in are in that one, and sums of two vocabularies are sums of nothing.
    """
    turned = any(lane.generation for lane in head.lanes.values())
    if not turned or not head.vocabulary or head.vocabulary == model.vocabulary:
        return model
    return replace(model, vocabulary=head.vocabulary, exact=False)


def find(name: str) -> Model:
    """The model a name means: the longest id that the name, less its vendor, begins with."""
    plain = name.lower().rsplit("/", 1)[-1].rsplit("anthropic.", 1)[-1]
    fitting = [model for model in MODELS if plain.startswith(model.id)]
    return max(fitting, key=lambda model: len(model.id), default=UNKNOWN)


def doubt(name: str, window: int = 0) -> str:
    """What to tell the user of a model that is not in the table; empty when it is.

    `window` is the size of its window where that is known from elsewhere.
    """
    if find(name).known:
        return ""
    assumed = f"a window of {UNKNOWN.window:,} tokens is assumed"
    if not name:
        return "" if window else f"the session names no model; {assumed} (--model)"
    rest = "its tokens are estimated" if window else f"{assumed} (--window)"
    return f"model {name!r} is not known; {rest}"
