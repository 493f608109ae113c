"""The engine's speed: a turn in which nothing is compressed, and one compression of a large window.

A turn is measured twice. With the history compressed before, all but the last messages of a session
have left behind one summary: what is in sight is as long in every row, and only the session grows.
With all in sight, under a window so large that nothing is ever due, `messages()` has to hand out as
many dictionaries as there are messages; what copying them takes is a column of its own. Beside that
stands LangChain's ContextEditing on the same messages, whole as an agent runs it, and with a
trigger that nothing reaches: it copies the history deeply, and counts it, for every request.

The large window is made of real sessions, one behind the other. Every way to make it smaller gets
the same messages in the same run.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import holdfast
from benchmarks import peers
from benchmarks.peers import Message
from benchmarks.recall import LONG, normal_sessions, tokens_of
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Compressed, Said, Step
from holdfast.core.plan.policy import Policy
from holdfast.engine.live_window import message_dicts
from holdfast.errors import NothingToShrink
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Store

LENGTHS = (100, 1_000, 10_000, 100_000)
LAST = 50
"""Messages that are in sight behind the summary, where the history was compressed before."""
NEVER = 10**9
"""Tokens that no history here has."""

LARGE = 200_000
BUDGET = 100_000
ROUNDS = 5


class Turn(NamedTuple):
    """Seconds of the parts of a turn."""

    append: float
    messages: float
    copying: float


def run() -> None:
    """Print the tables."""
    missing = peers.available()
    for peer in ("context_editing", "trim", "headroom"):
        if missing[peer]:
            print(f"engine: {peer} is left out: {missing[peer]}")
    theirs = {} if missing["context_editing"] else {n: _langchain_turn(n) for n in LENGTHS}
    _print_bounded()
    _print_all_in_sight(theirs)
    large = large_window()
    if large:
        _print_compressions(large, missing)
    else:
        print("engine: no real sessions here to compress (set HOLDFAST_DATA)")


def _print_bounded() -> None:
    """Turns of sessions that grow while what is in sight does not."""
    rows: list[tuple[object, ...]] = []
    for store in ("SQLite", "memory"):
        turns = {n: _turn(store, n, compressed=True) for n in LENGTHS}
        first = turns[LENGTHS[0]]
        rows += [
            (
                store,
                f"{n:,}",
                _ms(turn.messages),
                f"{turn.messages / first.messages:.2f}×",
                _ms(turn.append + turn.messages),
                f"{(turn.append + turn.messages) / (first.append + first.messages):.2f}×",
            )
            for n, turn in turns.items()
        ]
    print_table(
        f"A turn in which nothing is due, {LAST} messages in sight, the rest compressed before",
        ("store", "messages", "messages()", "against 100", "with the append", "against 100"),
        rows,
    )


def _print_all_in_sight(theirs: dict[int, float]) -> None:
    """Turns of sessions of which everything is in sight, beside LangChain's on the same."""
    rows: list[tuple[object, ...]] = []
    for store in ("SQLite", "memory"):
        turns = {n: _turn(store, n, compressed=False) for n in LENGTHS}
        first = turns[LENGTHS[0]]
        for n, turn in turns.items():
            both = turn.append + turn.messages
            rows.append(
                (
                    store,
                    f"{n:,}",
                    _ms(turn.messages),
                    _ms(turn.copying),
                    _ms(both),
                    f"{both / (first.append + first.messages):.1f}×",
                    f"{theirs[n] / both:.1f}×" if theirs else "",
                )
            )
    rows += [
        ("ContextEditing", f"{n:,}", "", "", _ms(took), f"{took / theirs[LENGTHS[0]]:.1f}×", "")
        for n, took in theirs.items()
    ]
    print_table(
        "A turn in which nothing is due, all messages in sight under a huge window",
        (
            "",
            "messages",
            "messages()",
            "of that, copying",
            "with the append",
            "against 100",
            "ContextEditing takes",
        ),
        rows,
    )


def _turn(store: str, length: int, *, compressed: bool) -> Turn:
    """The medians over some turns of a session of a length."""
    with TemporaryDirectory() as folder, _store(store, folder) as place:
        session = Session("s", place, policy=Policy(window=NEVER), wire="openai_chat")
        for start in range(0, length, 1_000):
            session.extend(map(_message, range(start, min(start + 1_000, length))))
        if compressed:
            _compress_all_but_the_last(session)
        session.messages()
        appends: list[float] = []
        shows: list[float] = []
        copies: list[float] = []
        for number in range(60 if compressed or length < 10_000 else 15):
            start = perf_counter()
            session.append(_message(number))
            appended = perf_counter()
            session.messages()
            shown = perf_counter()
            appends.append(appended - start)
            shows.append(shown - appended)
        raws = session.ledger.live_window.messages()
        for _ in range(5):
            start = perf_counter()
            message_dicts(raws)
            copies.append(perf_counter() - start)
    return Turn(median(appends), median(shows), median(copies))


def _store(name: str, folder: str) -> Store:
    return SqliteStore(f"{folder}/s/ledger.db") if name == "SQLite" else MemoryStore()


def _message(number: int) -> Message:
    role = "assistant" if number % 2 else "user"
    return {"role": role, "content": f"message {number}: " + "words and more words " * 10}


def _compress_all_but_the_last(session: Session) -> None:
    """Let a summary stand for the history, as a compression of the third tier does."""
    hidden = [item.entry for item in session.ledger.window().items][:-LAST]
    summary = Said("user", "What happened so far: words and more words.", by="summary")
    before, after = session.ledger.tokens_of(hidden), 12
    head = session.ledger.head()
    lane = head.lane("")
    names = tuple(entry.id for entry in hidden)
    step = Step(names, "a summary", summary, tier=3, before=before, after=after)
    raw = lane.tokens - before + after
    session.ledger.commit(
        Compressed((step,), lane.generation, head.seq, trigger="benchmark", raw=raw)
    )


def _langchain_turn(length: int) -> float:
    """What the middleware does for one request, when its trigger is out of reach."""
    from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
    from langchain.agents.middleware.types import ModelRequest
    from langchain_core.messages import convert_to_messages

    history: Any = convert_to_messages([_message(number) for number in range(length)])
    middleware: Any = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=NEVER)])
    model: Any = None
    times: list[float] = []
    for number in range(30 if length < 10_000 else 3):
        start = perf_counter()
        history.append(*convert_to_messages([_message(number)]))
        request = ModelRequest(model=model, messages=history)
        middleware.wrap_model_call(request, lambda edited: edited)
        times.append(perf_counter() - start)
    return median(times)


def large_window() -> list[Message]:
    """Real sessions one behind the other, each as far as it fits, until the window is full."""
    window: list[Message] = []
    tokens = 0
    for number, (_, messages) in enumerate(normal_sessions(LONG)):
        if tokens > 0.99 * LARGE or not any(message["role"] == "tool" for message in messages):
            continue
        taken: list[Message] = []
        size = 0
        for message in messages:
            if message["role"] == "system" and window:
                continue
            size += tokens_of(message)
            if tokens + size > LARGE:
                taken = _answered(taken)
                break
            taken.append(_renamed(message, number))
        window += taken
        tokens = sum(map(tokens_of, window))
    return window


def _renamed(message: Message, number: int) -> Message:
    """A message whose calls have ids that no other session's calls have."""
    renamed = dict(message)
    if message.get("tool_call_id"):
        renamed["tool_call_id"] = f"{message['tool_call_id']}-{number}"
    if message.get("tool_calls"):
        calls = message["tool_calls"]
        renamed["tool_calls"] = [call | {"id": f"{call['id']}-{number}"} for call in calls]
    return renamed


def _answered(messages: list[Message]) -> list[Message]:
    """Messages without the last step, which may wait for a result."""
    spoken = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    return messages[: spoken[-1]] if spoken else []


def _print_compressions(window: list[Message], missing: dict[str, str]) -> None:
    ways = dict(_ways(window, missing))
    made: dict[str, list[Message]] = {}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS + 1):  # side by side, so that noise hits all of them
        for name, prepare in ways.items():
            way = prepare()
            start = perf_counter()
            made[name] = way()
            if number:  # the first round imports
                times[name].append(perf_counter() - start)
    base = median(next(iter(times.values())))
    before = sum(map(tokens_of, window))
    print_table(
        f"One compression of a window of {before:,} tokens, {len(window):,} messages",
        ("", "median", "best", "against the first", "tokens after"),
        [
            (
                name,
                _ms(median(took)),
                _ms(min(took)),
                f"{median(took) / base:.3f}×",
                f"{sum(map(tokens_of, made[name])):,}",
            )
            for name, took in times.items()
        ],
    )


def _ways(
    window: list[Message], missing: dict[str, str]
) -> Iterator[tuple[str, Callable[[], Callable[[], list[Message]]]]]:
    """Each way by name: what makes it ready, untimed, and that then makes a smaller window."""

    def counted() -> Callable[[], list[Message]]:
        session = _filled(window)
        session.ledger.head()
        return lambda: _compacted(session)

    def uncounted() -> Callable[[], list[Message]]:
        session = _filled(window)
        _forget_texts()
        return lambda: _compacted(session)

    def unread() -> Callable[[], list[Message]]:
        _forget_texts()
        return lambda: _compressed(window)

    def trimmed() -> Callable[[], list[Message]]:
        _forget_texts()
        return lambda: peers.trim(window, BUDGET, _count, start_on=("human", "ai"))

    yield f"session.compact to {BUDGET:,}, counts in place", counted
    yield "the same, counting first", uncounted
    yield f"holdfast.compress to {BUDGET:,}, reading and counting first", unread
    if not missing["context_editing"]:
        yield "ContextEditing, the middleware, messages converted", lambda: _middleware(window)
        yield "ContextEditing, its edit alone, counts in place", lambda: _edit(window)
    if not missing["trim"]:
        yield (
            f"trim_messages to {BUDGET:,}, counts in place",
            lambda: lambda: peers.trim(window, BUDGET, tokens_of, start_on=("human", "ai")),
        )
        yield "the same, counting exactly as it goes", trimmed
    if not missing["headroom"]:
        yield "headroom", lambda: lambda: peers.headroom(window)


def _forget_texts() -> None:
    """Let the tokenizer be loaded, and remember nothing of earlier texts."""
    counter.cache_clear()
    counter("o200k_base")("warm up")


def _filled(window: Sequence[Message]) -> Session:
    session = Session("s", MemoryStore(), policy=Policy(window=NEVER), wire="openai_chat")
    session.extend(window)
    return session


def _compacted(session: Session) -> list[Message]:
    try:
        return session.compact(budget=BUDGET).messages
    except NothingToShrink as error:
        return error.outcome.messages


def _compressed(window: list[Message]) -> list[Message]:
    try:
        return holdfast.compress(window, budget=BUDGET).messages
    except NothingToShrink as error:
        return error.outcome.messages


def _middleware(window: list[Message]) -> Callable[[], list[Message]]:
    """The whole middleware: a deep copy, its own estimate of the tokens, the edit."""
    from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
    from langchain.agents.middleware.types import ModelRequest
    from langchain_core.messages import convert_to_messages

    model: Any = None
    history: Any = convert_to_messages(window)
    middleware: Any = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=BUDGET)])
    request = ModelRequest(model=model, messages=history)
    made = peers.context_editing(window, BUDGET)  # the same in our form, for its size

    def way() -> list[Message]:
        middleware.wrap_model_call(request, lambda edited: edited)
        return made

    return way


def _edit(window: list[Message]) -> Callable[[], list[Message]]:
    peers.context_editing(window, BUDGET)
    return lambda: peers.context_editing(window, BUDGET)


def _count(message: Message) -> int:
    """Tokens of a message, counted anew each time."""
    count = counter("o200k_base")
    texts = [str(message.get("content") or ""), message.get("reasoning_content") or ""]
    for call in message.get("tool_calls") or ():
        texts += (call["function"]["name"], call["function"]["arguments"])
    return sum(map(count, texts))


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.1f} s"
