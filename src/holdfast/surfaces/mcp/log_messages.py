"""Send the log messages of a running request to its client."""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from holdfast.surfaces.mcp.protocol import encode_notification

LOGGER = "holdfast"
PYTHON_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}


class ThreadLogHandler(logging.Handler):
    """Sends the log records of the current thread to a client."""

    def __init__(self, level: int, send: Callable[[bytes], None]) -> None:
        super().__init__(level)
        self._send, self._thread = send, threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record as a notification."""
        if record.thread != self._thread:
            return
        params = {
            "level": record.levelname.lower(),
            "logger": record.name,
            "data": record.getMessage(),
        }
        self._send(encode_notification("notifications/message", {**params}))


@contextmanager
def forward_logs(level: str, send: Callable[[bytes], None]) -> Generator[None]:
    """Send records of this level and above to the client while the block runs."""
    logger = logging.getLogger(LOGGER)
    threshold = PYTHON_LEVELS[level]
    if logger.getEffectiveLevel() > threshold:
        logger.setLevel(threshold)
    handler = ThreadLogHandler(threshold, send)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
