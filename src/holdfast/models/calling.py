"""A plain function as a model: text in, text out."""

from collections.abc import Callable
from typing import cast

from holdfast.core.asking import Answer, Ask, Failed
from holdfast.models.drive import AskFn, within


def calling(function: Callable[[str], str], *, name: str = "") -> AskFn:
    """Asks a function, in a thread of its own so that a deadline holds."""
    called = name or getattr(function, "__name__", "") or type(function).__name__

    def ask(question: Ask, seconds: float) -> Answer | Failed:
        def work() -> Answer | Failed:
            text = cast("object", function(f"{question.system}\n\n{question.prompt}"))
            if not isinstance(text, str):
                return Failed(f"{called} returned {type(text).__name__}, not text")
            return Answer(text, called)

        return within(seconds, work)

    return ask
