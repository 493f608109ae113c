"""What is logged while a request is worked on, told to the client that wants to know."""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from holdfast.surfaces.mcp.protocol import notification

LOGGER = "holdfast"
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}


class Overheard(logging.Handler):
    """Passes on what this thread logs, and nothing of the others."""

    def __init__(self, level: int, send: Callable[[bytes], None]) -> None:
        super().__init__(level)
        self._send, self._thread = send, threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Tell one line of it."""
        if record.thread != self._thread:
            return
        told = {
            "level": record.levelname.lower(),
            "logger": record.name,
            "data": record.getMessage(),
        }
        self._send(notification("notifications/message", {**told}))


@contextmanager
def overheard(level: str, send: Callable[[bytes], None]) -> Generator[None]:
    """Tell the client what is logged in here from this level on."""
    logger = logging.getLogger(LOGGER)
    wanted = LEVELS[level]
    if logger.getEffectiveLevel() > wanted:
        logger.setLevel(wanted)
    handler = Overheard(wanted, send)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
