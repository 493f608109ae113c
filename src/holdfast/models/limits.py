"""Limit calls of a model: a deadline, a pause after failures, a daily budget of tokens.

After three failures in a row a model is not called for a while. The counts are stored in a small
file, because a hook process ends after one call. Tokens are booked before a call and corrected
after the answer, so a crash in between can only overcount. A damaged file counts as empty. If the
file cannot be written and there is a budget, the model is not called.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from secrets import token_hex
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from holdfast.core.asking import Answer, Ask, Failed
from holdfast.core.measure.tokens import tokens_from_bytes
from holdfast.project.regular_files import read_regular

FILE_MODE = 0o600
CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
MAX_FILE_BYTES = 4_096
"""Largest file that is read; ours are smaller."""
DAY_SECONDS = 86_400

Tokens = Annotated[int, Meta(ge=0)]


class Limits(Struct, frozen=True):
    """The limits for calls of a model."""

    deadline: float = 30.0
    """Most seconds for one answer."""
    failures: int = 3
    """Failures in a row after which calls are paused."""
    pause: float = 300.0
    """Length of the pause in seconds."""
    tokens: int = 0
    """Most tokens a day, input and output; 0 for no limit."""


DEFAULT_LIMITS = Limits()


class Spending(Struct, frozen=True, omit_defaults=True):
    """The failures and tokens counted so far. It is stored as JSON."""

    failures: Tokens = 0
    until: float = 0.0
    """End of the pause, as a Unix time."""
    day: int = 0
    """The day of the token count, in days since the epoch, UTC."""
    tokens: Tokens = 0


def max_cost(ask: Ask) -> int:
    """Estimate the most tokens that a call can cost."""
    return _estimate_tokens(ask.system) + _estimate_tokens(ask.prompt) + ask.limit


def _estimate_tokens(text: str) -> int:
    return tokens_from_bytes(len(text.encode("utf-8", "replace")))


def refusal_reason(spent: Spending, limits: Limits, cost: int, now: float) -> str:
    """Return why a model must not be called now; empty if it may be."""
    # If the clock was set back, the pause must not become longer than `limits.pause`.
    if now < spent.until <= now + limits.pause:
        return f"the model failed {spent.failures} times in a row and is left alone for a while"
    if limits.tokens and _on_day(spent, now).tokens + cost > limits.tokens:
        return f"the day's budget of {limits.tokens:,} tokens for models is spent"
    return ""


def add_tokens(spent: Spending, tokens: int, now: float) -> Spending:
    """Add tokens to the count of today; a negative number subtracts."""
    today = _on_day(spent, now)
    return replace(today, tokens=max(today.tokens + tokens, 0))


def after_success(spent: Spending) -> Spending:
    """Reset the failures in a row after an answer."""
    return replace(spent, failures=0, until=0.0)


def after_failure(spent: Spending, limits: Limits, now: float) -> Spending:
    """Count a failure, and begin a pause if there were too many in a row."""
    failures = spent.failures + 1
    until = now + limits.pause if failures >= limits.failures else 0.0
    return replace(spent, failures=failures, until=until)


def _on_day(spent: Spending, now: float) -> Spending:
    day = int(now // DAY_SECONDS)
    return spent if spent.day == day else replace(spent, day=day, tokens=0)


class Guard:
    """Enforces the limits of a model; with a file, across processes."""

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        path: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits, self._path, self._clock = limits, path, clock
        self._spent = Spending()
        self._cleared_failures = 0
        """Failures in a row before the last answer; they count again if that answer was useless."""

    def hold(self, ask: Ask) -> Failed | None:
        """Book the tokens of a call; return a failure if the model must not be called."""
        spent, now = self._read(), self._clock()
        reason = refusal_reason(spent, self.limits, max_cost(ask), now)
        if reason:
            return Failed(reason)
        saved = self._save(add_tokens(spent, max_cost(ask), now))
        if self.limits.tokens and not saved:
            return Failed("what models cost cannot be written down, so none is asked")
        return None

    def settle(self, ask: Ask, reply: Answer | Failed) -> Answer | Failed:
        """Correct the booked tokens, count a failure or a success, and return the reply."""
        now = self._clock()
        spent = add_tokens(self._read(), _tokens_paid(ask, reply) - max_cost(ask), now)
        failed = isinstance(reply, Failed)
        self._cleared_failures = max(self._cleared_failures, spent.failures)
        self._save(after_failure(spent, self.limits, now) if failed else after_success(spent))
        return reply

    def strike(self) -> None:
        """Count a useless answer as a failure: it costs tokens and gives nothing."""
        spent = self._read()
        spent = replace(spent, failures=max(spent.failures, self._cleared_failures))
        self._cleared_failures = 0
        self._save(after_failure(spent, self.limits, self._clock()))

    def accept(self) -> None:
        """Confirm that the last answer was useful."""
        self._cleared_failures = 0

    def _read(self) -> Spending:
        if self._path is None:
            return self._spent
        return read_spending(self._path)

    def _save(self, spent: Spending) -> bool:
        self._spent = spent
        return self._path is None or write_spending(self._path, spent)


def _tokens_paid(ask: Ask, reply: Answer | Failed) -> int:
    """Return the tokens that the model reported, or an estimate."""
    if isinstance(reply, Failed):
        # The provider may have read and billed the input anyway.
        return max_cost(ask) - ask.limit
    reported = reply.input + reply.output
    return reported if reported > 0 else max_cost(ask) - ask.limit + _estimate_tokens(reply.text)


def read_spending(path: str) -> Spending:
    """Read the counts from a file; zero if it is missing or damaged."""
    try:
        return msgspec.json.decode(read_regular(path, MAX_FILE_BYTES, links=False), type=Spending)
    except (OSError, ValueError):
        return Spending()


def write_spending(path: str, spent: Spending) -> bool:
    """Write the counts atomically; return whether it worked."""
    draft = f"{path}.{token_hex(4)}"
    try:
        with os.fdopen(os.open(draft, CREATE_FLAGS, FILE_MODE), "wb") as file:
            file.write(msgspec.json.encode(spent))
        os.rename(draft, path)  # noqa: PTH104 (pathlib is the heavier import)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)  # noqa: PTH108
        return False
    return True
