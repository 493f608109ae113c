"""A collector that records which rules run, and one that makes a chosen rule raise."""

import json
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from holdfast.core.faults import Faults
from holdfast.core.plan.policy import Policy
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import Json

EXAMPLE = Path(__file__).parents[2] / "examples" / "session" / "ledgerly.jsonl"
WINDOW = 24_000
"""Tokens: small enough that the example needs a summary."""


class Broken(Exception):
    """Raised by a rule on purpose."""


class Recording(Faults):
    """Records the rules that run, and raises whatever they raise."""

    def __init__(self) -> None:
        super().__init__(strict=True)
        self.names: set[str] = set()

    def enter(self, rule: str) -> None:
        self.names.add(rule)


class Breaking(Faults):
    """Makes one rule raise whenever it is run."""

    def __init__(self, rule: str) -> None:
        super().__init__()
        self.rule = rule
        self.broke = False

    def enter(self, rule: str) -> None:
        if rule == self.rule:
            self.broke = True
            raise Broken(rule)


def example_messages(count: int) -> list[dict[str, Json]]:
    """The first messages of the bundled session."""
    lines = (json.loads(line) for line in EXAMPLE.read_text("utf-8").splitlines())
    said = [line["message"] for line in lines if "message" in line]
    return [{"role": one["role"], "content": one["content"]} for one in said[:count]]


def example_session(faults: Faults, *, count: int = 50, root: str = "") -> Session:
    """The bundled session in a window that is too small for it."""
    policy = replace(Policy(), window=WINDOW, model="claude-sonnet-4-5")
    session = Session("example", MemoryStore(), policy=policy, root=root)
    session.ledger.collector = faults
    session.extend(example_messages(count))
    return session


OPERATIONS: dict[str, Callable[[Session], object]] = {
    "messages": lambda session: session.messages(),
    "summary": lambda session: session.summary(),
    "level": lambda session: session.level(2),
    "checkpoint": lambda session: session.checkpoint(),
    "packet": lambda session: session.packet("Continue the rounding work", "deep"),
    "drift": lambda session: session.drift("All done. What should I do next?"),
    "recover": lambda session: session.recover("rounding of EUR"),
    "intent": lambda session: session.intent(),
    "log": lambda session: session.log(),
    "plan": lambda session: session.plan(),
    "compact": lambda session: session.compact(3_000),
}
