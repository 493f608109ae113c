"""What it takes to put down where the work stands, and to tell it in 100, 500 or 2,000 tokens.

The large session is made of real ones, one behind the other, and is in the ledger before anything
is timed. *cold* is the first call of a process that has opened the session and nothing else; *warm*
is the median of the calls after it, each after one more message. What the processor worked is told
apart: on a machine that others use too, the rest of the time is theirs.

Then every real session is run through the profile `stress` message by message, as an agent would,
and all three levels are asked for: each has to be given at its own level, within its tokens, with
the beginning of the first request in it, and every reference it names has to open.
"""

import re
from collections.abc import Callable, Iterator
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import holdfast
from benchmarks.engine import large_window
from benchmarks.peers import Message
from benchmarks.recall import normal_sessions
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Checkpointed, Noted
from holdfast.core.plan.policy import PROFILES, Policy, with_settings
from holdfast.core.view.levels import LEVELS
from holdfast.errors import HoldfastError
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

ROUNDS = 9
WIDE = 1_000_000
REFERENCE = re.compile(r"\[([0-9a-f]{8})[\],]")
STRESS = "stress"


def run() -> None:
    """Print the tables."""
    window = large_window()
    if not window:
        print("checkpoint: no real sessions here (set HOLDFAST_DATA)")
        return
    _print_times(window)
    _print_levels()


def _print_times(window: list[Message]) -> None:
    rows: list[tuple[object, ...]] = []
    with TemporaryDirectory() as root:
        with holdfast.open("large", root=root, window=WIDE) as session:
            session.extend(window)
            tokens = session.status().tokens
        for name, act in _acts():
            with holdfast.open("large", root=root, window=WIDE) as session:
                cold = _timed(act, session)
                warm = [_timed(act, _grown(session, at)) for at in range(ROUNDS)]
            walls, busy = zip(*warm, strict=True)
            times = (cold[0], median(walls), min(walls), median(busy))
            rows.append((name, *(f"{took * 1e3:.0f} ms" for took in times)))
    title = f"A session of {tokens:,} tokens, already in the ledger"
    print_table(title, ("", "cold", "warm", "warm, best", "warm, processor"), rows)


def _acts() -> Iterator[tuple[str, Callable[[Session], object]]]:
    yield "checkpoint()", lambda session: session.checkpoint()
    for number in LEVELS:
        yield f"level({number})", lambda session, number=number: session.level(number)


def _grown(session: Session, number: int) -> Session:
    session.append({"role": "user", "content": f"Go on with part {number}, please."})
    return session


def _timed(act: Callable[[Session], object], session: Session) -> tuple[float, float]:
    """Seconds that passed, and seconds in which the processor worked for it."""
    start, worked = perf_counter(), process_time()
    act(session)
    return perf_counter() - start, process_time() - worked


def _print_levels() -> None:
    count = counter("o200k_base")
    given = dict.fromkeys(LEVELS, 0)
    sizes: dict[int, list[int]] = {number: [] for number in LEVELS}
    sessions = failed = taken = compressed = 0
    for name, messages in normal_sessions(0):
        session = _stressed(name, messages)
        sessions += 1
        entries = [entry.body for entry in session.store.read(session.name)]
        taken += sum(isinstance(body, Checkpointed) for body in entries)
        compressed += any(event.kind.startswith("TIER") for event in session.log())
        for number, budget in LEVELS.items():
            text = session.level(number)
            sizes[number].append(count(text))
            given[number] += _is_given(session, text, number, budget, count(text))
        noted = (e.body for e in session.store.read(session.name) if isinstance(e.body, Noted))
        failed += sum(one.what == "recovery_failed" for one in noted)
    print_table(
        f"{sessions} real sessions, profile {STRESS} ({compressed} compressed, {taken} checkpoints"
        f" taken, {failed} failures noted)",
        ("level", "budget", "given", "tokens, median", "tokens, most"),
        [
            (
                number,
                f"{LEVELS[number]:,}",
                f"{given[number]}/{sessions}",
                f"{median(sizes[number]):,.0f}",
                f"{max(sizes[number]):,}",
            )
            for number in LEVELS
        ],
    )


def _policy() -> Policy:
    return with_settings(Policy(), PROFILES[STRESS])


def _stressed(name: str, messages: list[Message]) -> Session:
    session = Session(name, MemoryStore(), policy=_policy(), wire="openai_chat")
    for message in messages:
        session.append(message)
        if message["role"] != "assistant":
            session.messages()
    return session


def _is_given(session: Session, text: str, number: int, budget: int, tokens: int) -> bool:
    first = session.intent().original.text.split()
    begins = not first or first[0] in text
    fenced = f": level {number} of " in text.partition("\n")[0]
    return tokens <= budget and fenced and begins and _opens(session, text)


def _opens(session: Session, text: str) -> bool:
    try:
        return all(session.read(ref) is not None for ref in REFERENCE.findall(text))
    except HoldfastError:
        return False
