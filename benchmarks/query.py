"""Decisions planted in real sessions, asked for in other words; and questions without an answer.

Five decisions are said in each of twenty sessions of one project, among all that was really said
there; some take the place of an older one. Then the whole project is asked.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, TypeAlias

from benchmarks.data import trajectories
from benchmarks.planted import (
    ABSENT,
    ABSENT_HELD_OUT,
    ABSENT_SECOND,
    ABSENT_THIRD,
    HELD_OUT,
    PLANTED,
    SECOND,
    THIRD,
    Planted,
)
from benchmarks.table import print_table
from holdfast.core.view.questions.answer import QuestionAnswer
from holdfast.packets.questions import ProjectDecisions, context_query
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.store import Store

Ask: TypeAlias = Callable[[str], QuestionAnswer]

SESSIONS, SHORTEST = 20, 40
SEED = 7
KNOWN = (*PLANTED, *SECOND, *THIRD)
ABSENT_KNOWN = (*ABSENT, *ABSENT_SECOND, *ABSENT_THIRD)
SAID = (*KNOWN, *HELD_OUT)
EACH = -(-len(SAID) // SESSIONS)


def run(*, telling: bool = False) -> None:
    """Print the table; every wrong answer as well when `telling`."""
    store = planted_store()
    if store is None:
        print("query: no real sessions here (set HOLDFAST_DATA)")
        return
    took: list[float] = []
    settled = ProjectDecisions(store)

    def ask(question: str) -> QuestionAnswer:
        start = perf_counter()
        answer = context_query(settled, question)
        took.append(perf_counter() - start)
        return answer

    gone = [one for one in SAID if one.before]
    rows = [
        ("asked in other words", *_right(ask, KNOWN, telling)),
        ("held out: other decisions", *_right(ask, HELD_OUT, False)),
        ("of all: superseded, answered with what holds", *_right(ask, gone, False)),
        ("not there: said to be not known", *_unknown(ask, ABSENT_KNOWN, telling)),
        ("held out: not there", *_unknown(ask, ABSENT_HELD_OUT, False)),
    ]
    took.sort()
    print_table("Questions to a project of 20 sessions", ("questions", "asked", "right"), rows)
    print(f"\np50 {took[len(took) // 2] * 1e3:.0f} ms a question, 20 sessions read each time")


def _right(ask: Ask, planted: Sequence[Planted], telling: bool) -> tuple[int, str]:
    right = 0
    asked = [(one, question) for one in planted for question in one.asked]
    for wanted, question in asked:
        answer = ask(question)
        one = answer.statement
        good = answer.known and one is not None and wanted.answer in one.words
        right += good
        if telling and not good:
            print("WRONG", question, answer.known, answer.score, one and one.words[:90])
    return len(asked), f"{right / len(asked):.3f}"


def _unknown(ask: Ask, asked: Sequence[str], telling: bool) -> tuple[int, str]:
    right = 0
    for question in asked:
        answer = ask(question)
        right += not answer.known
        if telling and answer.known:
            print("KNOWN", question, answer.score, answer.statement and answer.statement.words[:90])
    return len(asked), f"{right / len(asked):.3f}"


def planted_store() -> Store | None:
    """A project of twenty real sessions with the decisions said in them."""
    long = [one for one in trajectories() if len(one["messages"]) >= SHORTEST]
    if not long:
        return None
    store, chance = MemoryStore(), random.Random(SEED)
    for number, one in enumerate(long[:: max(len(long) // SESSIONS, 1)][:SESSIONS]):
        messages = [_plain(message) for message in one["messages"] if not _is_injected(message)]
        for planted in SAID[number * EACH : (number + 1) * EACH]:
            at = _say(messages, planted.by, planted.said, chance, len(messages) // 3)
            if planted.before:
                _say(messages, planted.by, planted.before, chance, 1, at)
        Session(f"session-{number}", store, owns_store=False).extend(messages)
    return store


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if not name.startswith("x_")}


def _is_injected(message: dict[str, Any]) -> bool:
    """Whether the user's role only carries what the agent's program put there."""
    return bool(message.get("x_console") or message.get("x_meta"))


def _say(
    messages: list[dict[str, Any]],
    by: str,
    said: str,
    chance: random.Random,
    first: int,
    last: int | None = None,
) -> int:
    """Put words where no call waits for its result; returns where."""
    places = [at for at in _places(messages) if first <= at < (last or len(messages))]
    at = chance.choice(places or [0])
    messages.insert(at, {"role": by, "content": said})
    return at


def _places(messages: Sequence[dict[str, Any]]) -> Iterable[int]:
    return (at for at, one in enumerate(messages) if one["role"] != "tool" and at > 0)


if __name__ == "__main__":
    run(telling=True)
