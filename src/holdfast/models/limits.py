"""How long, how often and how much a model may be asked.

Three failures in a row leave a model alone for a while; a day has a budget of tokens. Both are
kept in a small file, because a hook lives for one question only. Tokens are booked before the
question goes out and settled when the answer is there: a crash in between costs budget, never
money. A damaged file counts as none; one that cannot be written means no question when there is
a budget to keep.
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
from holdfast.core.measure.tokens import guess
from holdfast.project.regular_files import read_regular

FILE_MODE = 0o600
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
LARGEST = 4_096
"""Bytes of the file; more than that we never wrote."""
DAY = 86_400

Tokens = Annotated[int, Meta(ge=0)]


class Limits(Struct, frozen=True):
    """What a model may be asked for."""

    deadline: float = 30.0
    """Seconds that one answer may take."""
    failures: int = 3
    """Failures in a row after which it is left alone."""
    pause: float = 300.0
    """Seconds for which it then is."""
    tokens: int = 0
    """Tokens a day, in and out; 0 for as many as it takes."""


DEFAULT = Limits()


class Spent(Struct, frozen=True, omit_defaults=True):
    """What has been asked so far."""

    failures: Tokens = 0
    until: float = 0.0
    """When a model that was left alone may be asked again."""
    day: int = 0
    """Which day the tokens were spent on, counted from the epoch, UTC."""
    tokens: Tokens = 0


def cost_of(ask: Ask) -> int:
    """The most that a question can cost, as far as can be told before."""
    return _tokens(ask.system) + _tokens(ask.prompt) + ask.limit


def _tokens(text: str) -> int:
    return guess(len(text.encode("utf-8", "replace")))


def refusal(spent: Spent, limits: Limits, cost: int, now: float) -> str:
    """Why a model is not asked now; empty when it may be."""
    # A clock that was set back must not make a pause longer than it can be.
    if now < spent.until <= now + limits.pause:
        return f"the model failed {spent.failures} times in a row and is left alone for a while"
    if limits.tokens and _today(spent, now).tokens + cost > limits.tokens:
        return f"the day's budget of {limits.tokens:,} tokens for models is spent"
    return ""


def booked(spent: Spent, tokens: int, now: float) -> Spent:
    """What has been spent once so many tokens more are; fewer when the number is negative."""
    today = _today(spent, now)
    return replace(today, tokens=max(today.tokens + tokens, 0))


def succeeded(spent: Spent) -> Spent:
    """After an answer: nothing has failed in a row."""
    return replace(spent, failures=0, until=0.0)


def struck(spent: Spent, limits: Limits, now: float) -> Spent:
    """After a failure: one more, and a pause when it was one too many."""
    failures = spent.failures + 1
    until = now + limits.pause if failures >= limits.failures else 0.0
    return replace(spent, failures=failures, until=until)


def _today(spent: Spent, now: float) -> Spent:
    day = int(now // DAY)
    return spent if spent.day == day else replace(spent, day=day, tokens=0)


class Guard:
    """Keeps a model within its limits, also across processes when it is given a file."""

    def __init__(
        self,
        limits: Limits = DEFAULT,
        path: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits, self._path, self._clock = limits, path, clock
        self._spent = Spent()
        self._forgiven = 0
        """Failures in a row that answers ended which nobody has found to be of use yet."""

    def hold(self, ask: Ask) -> Failed | None:
        """Book a question; what is returned says why it must not be asked."""
        spent, now = self._read(), self._clock()
        reason = refusal(spent, self.limits, cost_of(ask), now)
        if reason:
            return Failed(reason)
        kept = self._keep(booked(spent, cost_of(ask), now))
        if self.limits.tokens and not kept:
            return Failed("what models cost cannot be written down, so none is asked")
        return None

    def settle(self, ask: Ask, reply: Answer | Failed) -> Answer | Failed:
        """Note what came of a booked question, and hand it on."""
        now = self._clock()
        spent = booked(self._read(), _paid(ask, reply) - cost_of(ask), now)
        failed = isinstance(reply, Failed)
        self._forgiven = max(self._forgiven, spent.failures)
        self._keep(struck(spent, self.limits, now) if failed else succeeded(spent))
        return reply

    def strike(self) -> None:
        """Note an answer that came and was of no use: to whoever pays, it is a failure."""
        spent = self._read()
        spent = replace(spent, failures=max(spent.failures, self._forgiven))
        self._forgiven = 0
        self._keep(struck(spent, self.limits, self._clock()))

    def accept(self) -> None:
        """Note that what was answered was of use."""
        self._forgiven = 0

    def _read(self) -> Spent:
        if self._path is None:
            return self._spent
        return read_spent(self._path)

    def _keep(self, spent: Spent) -> bool:
        self._spent = spent
        return self._path is None or write_spent(self._path, spent)


def _paid(ask: Ask, reply: Answer | Failed) -> int:
    """Tokens as reported, or as guessed when nobody did."""
    if isinstance(reply, Failed):
        # It may have been read and billed all the same.
        return cost_of(ask) - ask.limit
    reported = reply.input + reply.output
    return reported if reported > 0 else cost_of(ask) - ask.limit + _tokens(reply.text)


def read_spent(path: str) -> Spent:
    """What a file says was spent; nothing when there is none or it is not ours."""
    try:
        return msgspec.json.decode(read_regular(path, LARGEST, links=False), type=Spent)
    except (OSError, ValueError):
        return Spent()


def write_spent(path: str, spent: Spent) -> bool:
    """Write it down, whole or not at all; whether that could be done."""
    draft = f"{path}.{token_hex(4)}"
    try:
        with os.fdopen(os.open(draft, NEW, FILE_MODE), "wb") as file:
            file.write(msgspec.json.encode(spent))
        os.rename(draft, path)  # noqa: PTH104 (pathlib is the heavier import)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)  # noqa: PTH108
        return False
    return True
