"""Run a computation that asks a model: blocking or awaited, within limits and a deadline.

Failures of a model become values that the computation is sent; it never sees an exception.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias, TypeVar, cast

from holdfast.core.asking import Answer, Ask, Asking, Failed
from holdfast.models.limits import Guard
from holdfast.text.clip import one_line, without_controls

T = TypeVar("T")

AskFn: TypeAlias = Callable[[Ask, float], Answer | Failed]
"""Answers a question within so many seconds. What goes wrong it returns."""


def answer(asking: Asking[T], model: AskFn, guard: Guard | None = None) -> T:
    """Run a computation to its result; block while the model answers its questions."""
    guard = guard or Guard()
    try:
        ask = next(asking)
        while True:
            reply = guard.hold(ask) or guard.settle(ask, model(ask, guard.limits.deadline))
            ask = asking.send(reply)
    except StopIteration as done:
        return done.value


def too_late(seconds: float) -> str:
    """Return the reason for an answer that did not come in time."""
    return f"no answer came within {seconds:g} seconds"


# Code that may hang or raise runs in a thread with a deadline.
#
# Python cannot end a thread, so a late one is left running; it does not keep the process alive.


SHOWN = 200
"""Characters of a foreign message that are shown."""


def within(seconds: float, work: Callable[[], Answer | Failed]) -> Answer | Failed:
    """Run `work` in a thread; return its answer, or the reason why there is none in time."""
    done: SimpleQueue[Answer | Failed] = SimpleQueue()

    def run() -> None:
        try:
            done.put(work())
        except Exception as error:  # noqa: BLE001
            # A stranger's code: whatever it raises, the computation gets a reason instead.
            done.put(Failed(f"the model raised {type(error).__name__}: {error_line(str(error))}"))

    Thread(target=run, daemon=True, name="holdfast-ask").start()
    try:
        return done.get(timeout=max(seconds, 0))
    except Empty:
        return Failed(too_late(seconds))


def error_line(text: str) -> str:
    """Return the beginning of an error message of other code as one printable line."""
    return without_controls(one_line(text[: SHOWN * 4]))[:SHOWN]


def calling(function: Callable[[str], str]) -> AskFn:
    """Return a model that calls a function in a thread, so that a deadline holds."""
    called = getattr(function, "__name__", "") or type(function).__name__

    def ask(question: Ask, seconds: float) -> Answer | Failed:
        def work() -> Answer | Failed:
            text = cast("object", function(f"{question.system}\n\n{question.prompt}"))
            if not isinstance(text, str):
                return Failed(f"{called} returned {type(text).__name__}, not text")
            return Answer(text, called)

        return within(seconds, work)

    return ask
