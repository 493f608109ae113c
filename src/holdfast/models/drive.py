"""Drives a computation that asks: the only place where blocking and awaiting callers differ.

Whatever happens to a model becomes a value that the computation is sent; it never sees an error.
"""

from collections.abc import Awaitable, Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias, TypeVar

from holdfast.core.asking import Answer, Ask, Asking, Failed
from holdfast.models.limits import Guard

T = TypeVar("T")

AskFn: TypeAlias = Callable[[Ask, float], Answer | Failed]
"""Answers a question within so many seconds. What goes wrong it returns."""
AsyncAskFn: TypeAlias = Callable[[Ask, float], Awaitable[Answer | Failed]]


def answer(asking: Asking[T], model: AskFn, guard: Guard | None = None) -> T:
    """What the computation comes to, with a model that is waited for."""
    guard = guard or Guard()
    try:
        ask = next(asking)
        while True:
            reply = guard.hold(ask) or guard.settle(ask, model(ask, guard.limits.deadline))
            ask = asking.send(reply)
    except StopIteration as done:
        return done.value


async def aanswer(asking: Asking[T], model: AsyncAskFn, guard: Guard | None = None) -> T:
    """`answer`, for a model that is awaited."""
    guard = guard or Guard()
    try:
        ask = next(asking)
        while True:
            reply = guard.hold(ask) or guard.settle(ask, await _awaited(model, ask, guard))
            ask = asking.send(reply)
    except StopIteration as done:
        return done.value


async def _awaited(model: AsyncAskFn, ask: Ask, guard: Guard) -> Answer | Failed:
    import asyncio  # it takes longer to load than a hook may run

    seconds = guard.limits.deadline
    try:
        return await asyncio.wait_for(model(ask, seconds), seconds)
    except TimeoutError:
        return Failed(too_late(seconds))


def too_late(seconds: float) -> str:
    """What is said of an answer that did not come in time."""
    return f"no answer came within {seconds:g} seconds"


# Runs what may hang or break, and gives back what came of it within its time.
#
# Python cannot end a thread, so one that is late is left behind; it keeps nobody from exiting.


SHOWN = 200
"""Characters of a foreign message that are shown."""


def within(seconds: float, work: Callable[[], Answer | Failed]) -> Answer | Failed:
    """What `work` returns, or why it did not."""
    done: SimpleQueue[Answer | Failed] = SimpleQueue()

    def run() -> None:
        try:
            done.put(work())
        except Exception as error:  # noqa: BLE001
            # A stranger's code: whatever it raises, the computation gets a reason instead.
            done.put(Failed(f"the model raised {type(error).__name__}: {one_line(str(error))}"))

    Thread(target=run, daemon=True, name="holdfast-ask").start()
    try:
        return done.get(timeout=max(seconds, 0))
    except Empty:
        return Failed(too_late(seconds))


def one_line(text: str) -> str:
    """The beginning of a foreign message as a line that is safe to print."""
    line = " ".join(text[: SHOWN * 4].split())
    return "".join(char for char in line if char.isprintable())[:SHOWN]
