"""Run rules so that an exception in one of them loses only the result of that rule.

A record can hold anything, and no rule is tested on all of it. Every function that reads the
record, outlines a text, asks a probe, looks for a sign of drift or fills a section of a packet is a
rule: `@rule`, `@rule_keeping` or `@rule_or` if it returns a value, `@row_rule` if it yields rows,
`attempt` if it is chosen at run time or is a whole stage. An exception becomes a `Fault`, which is
added to the `Faults` object of the running session or command; the caller gets the rule's fallback.

Subclasses of `HoldfastError` are raised on purpose and pass through.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar, cast

from msgspec import Struct

from holdfast.core.ledger.entry import Entry, ToolCalled, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.errors import HoldfastError

MAX_FAULTS = 200
"""Distinct faults that are kept; later ones are dropped."""
MAX_ERROR_CHARS = 300

P = ParamSpec("P")
T = TypeVar("T")


class Fault(Struct, frozen=True):
    """A rule that raised, and what it was reading."""

    rule: str
    entry: str
    """The entry or call that it was reading; empty when it read more than one."""
    error: str
    """Type and message of the exception, and the line that raised it."""


class Faults:
    """Collects the faults of one session or one command."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        """Whether an exception in a rule is raised again, as in our own tests."""
        self.entry = ""
        """The entry that is being read."""
        self._found: dict[Fault, None] = {}

    @property
    def found(self) -> tuple[Fault, ...]:
        """All faults so far, each once."""
        return tuple(self._found)

    def enter(self, rule: str) -> None:
        """Called before a rule runs. Tests override it to make a chosen rule raise."""

    def add(self, rule: str, error: Exception, entry: str = "") -> None:
        """Record that a rule raised; raise the error again when strict."""
        if self.strict:
            raise error
        if len(self._found) < MAX_FAULTS:
            self._found[Fault(rule, entry or self.entry, describe(error))] = None


_UNCLAIMED = Faults()
_active: ContextVar[Faults] = ContextVar("holdfast_faults", default=_UNCLAIMED)


def active() -> Faults:
    """Return the object that collects faults now; outside of `collecting`, that of the process."""
    return _active.get()


@contextmanager
def collecting(faults: Faults) -> Generator[Faults]:
    """Collect the faults of all rules that run inside."""
    token = _active.set(faults)
    try:
        yield faults
    finally:
        _active.reset(token)


def attempt(name: str, act: Callable[[], T], fallback: Callable[[], T], *, entry: str = "") -> T:
    """Run one rule or stage; when it raises, record the fault and return the fallback."""
    faults = _active.get()
    before = faults.entry
    faults.entry = entry or before
    try:
        faults.enter(name)
        return act()
    except HoldfastError:
        raise
    except Exception as error:  # noqa: BLE001  A rule that fails on this record must not stop others.
        faults.add(name, error)
        return fallback()
    finally:
        faults.entry = before


def rule(missing: object) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function a rule that returns `missing` when it raises; lists and dicts are copied.

    The type checker cannot check the type of `missing`; the tests that break every rule do.
    """
    return lambda function: _guarded(function, lambda *_args, **_kwargs: cast(T, copy(missing)))


def rule_keeping(position: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function a rule that returns one of its arguments unchanged when it raises."""
    return lambda function: _guarded(function, lambda *args, **_kwargs: cast(T, args[position]))


def rule_or(fallback: Callable[P, T]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function a rule: when it raises, `fallback` is called with the same arguments."""
    return lambda function: _guarded(function, fallback)


def _guarded(function: Callable[P, T], fallback: Callable[P, T]) -> Callable[P, T]:
    name = name_of(function)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            _active.get().enter(name)
            return function(*args, **kwargs)
        except HoldfastError:
            raise
        except Exception as error:  # noqa: BLE001  As in `attempt`.
            _active.get().add(name, error, _entry_in(args))
            return fallback(*args, **kwargs)

    return run


def row_rule(function: Callable[P, Iterable[T]]) -> Callable[P, Iterator[T]]:
    """Make a function that yields rows a rule: when it raises, the rows before that are kept."""
    name = name_of(function)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        try:
            _active.get().enter(name)
            yield from function(*args, **kwargs)
        except HoldfastError:
            raise
        except Exception as error:  # noqa: BLE001  As in `attempt`.
            _active.get().add(name, error, _entry_in(args))

    return run


def name_of(function: Callable[..., object]) -> str:
    """Return the name of a rule in a fault: its module below `core`, and its function."""
    module = function.__module__.removeprefix("holdfast.core.")
    return f"{module}.{function.__qualname__.lstrip('_')}"


def describe(error: BaseException) -> str:
    """Describe an exception in one line: type, message, and the line that raised it."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{text[:MAX_ERROR_CHARS]} ({_place(error.__traceback__)})"


def _place(trace: TracebackType | None) -> str:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown place"
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{file}:{trace.tb_lineno}"


def _entry_in(args: Iterable[object]) -> str:
    for value in args:
        match value:
            case Item():
                return value.entry.id
            case Entry():
                return value.id
            case ToolCalled() | ToolReturned():
                return value.call
            case _:
                continue
    return ""
