"""Runs what may hang or break, and gives back what came of it within its time.

Python cannot end a thread, so one that is late is left behind; it keeps nobody from exiting.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

from holdfast.core.asking import Answer, Failed
from holdfast.models.drive import too_late

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
