"""Do summaries of real sessions reach the targets, and what does making one cost?

Every session is compressed to a quarter and to a tenth of its tokens. Where that takes a summary,
six dimensions of it are scored from 0 to 5 by questions drawn from what leaves (see
`holdfast.core.verify`), before it is committed; where one misses its target, what the failing
questions were about gets more room, and they are asked again. So there are two results: of the
first candidate, and of the one that was committed.

These are our own questions, put to ourselves, and those about facts are drawn by the picker that
chose the facts of the summary: where there is room for them they are answered by construction. So
the scores show that nothing was lost on the way into the text, not that the right things were
chosen; that is what `benchmarks.recall` and `benchmarks.compactions` measure.

The time of a summary is the processor's, on the beginnings of the longest sessions, with everything
counted before: the best of three, so that what else the machine does is left out.
"""

import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from statistics import fmean
from time import process_time
from typing import NamedTuple

from benchmarks.recall import PROCESSES, Window, session_files, session_named, tokens_of
from benchmarks.table import print_table
from holdfast.core import summarize as tier3
from holdfast.core.ledger.entry import Compressed
from holdfast.core.verify import widen
from holdfast.core.verify.quality import DIMENSIONS, Quality
from holdfast.errors import NothingToShrink
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

BUDGETS = (0.25, 0.1)
SIZES = (5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 400_000)
TARGET = 10
"""A summary that is timed leaves this part of the window, in percent."""
TIMED = 4
"""Sessions that summaries are timed on: the longest."""
ROUNDS = 3
NEARLY = 0.8
"""A beginning that is shorter than this part of a size says nothing about that size."""


class Scored(NamedTuple):
    """One session at one budget; no scores where no summary was made."""

    session: str
    share: float
    first: Quality | None
    """Of the first candidate."""
    committed: Quality | None
    floor: bool
    """Whether the budget could not be met, so that nothing was committed."""


def run() -> None:
    """Print the tables."""
    sessions = [name for name, _ in session_files()]
    if not sessions:
        print("quality: no real sessions here (set HOLDFAST_DATA)")
        return
    scored: list[Scored] = []
    with ProcessPoolExecutor(PROCESSES) as pool:
        for number, made in enumerate(pool.map(_session, sessions), 1):
            print(f"quality: {number}/{len(sessions)}", file=sys.stderr, flush=True)
            scored += made
    by_share = {share: [one for one in scored if one.share == share] for share in BUDGETS}
    print_table(
        f"Summaries of {len(sessions)} sessions against their targets",
        (
            *("compressed to", "summaries", "met at once", "met as committed", "not met"),
            *("without a summary", "budget out of reach"),
        ),
        [(f"{share:.0%}", *_met(made)) for share, made in by_share.items()],
    )
    print_table(
        "Mean of each dimension, as committed",
        ("compressed to", *(f"{each.name} (≥ {each.target})" for each in DIMENSIONS)),
        [(f"{share:.0%}", *_means(made)) for share, made in by_share.items()],
    )
    print(
        "\nQuestions about facts are drawn by the picker that chose the summary's facts: high "
        "scores show that they reached the text, not that they were the right ones (see recall)."
    )
    _print_missed(scored)
    _print_times()


def _met(made: Sequence[Scored]) -> Iterator[object]:
    pairs = [(one.first, one.committed) for one in made if one.first and one.committed]
    whole = max(len(pairs), 1)
    yield len(pairs)
    yield f"{sum(first.meets_targets for first, _ in pairs) / whole:.0%}"
    yield f"{sum(last.meets_targets for _, last in pairs) / whole:.0%}"
    yield sum(not last.meets_targets for _, last in pairs)
    yield sum(one.committed is None and not one.floor for one in made)
    yield sum(one.floor for one in made)


def _means(made: Sequence[Scored]) -> Iterator[str]:
    scores = [one.committed.to_dict() for one in made if one.committed]
    for each in DIMENSIONS:
        values = [score[each.key] for score in scores]
        yield f"{fmean(values):.2f} (worst {min(values):.2f})" if values else "—"


def _print_missed(scored: Sequence[Scored]) -> None:
    rows = [
        (one.session, f"{one.share:.0%}", ", ".join(_missed(one.committed)))
        for one in scored
        if one.committed and not one.committed.meets_targets
    ]
    print_table("Committed below a target", ("session", "compressed to", "missed"), rows)


def _missed(score: Quality) -> Iterator[str]:
    values = score.to_dict()
    return (f"{key} {values[key]:.2f}" for key in score.misses)


def _session(name: str) -> list[Scored]:
    messages = session_named(name)
    return [_scored(name, messages, share) for share in BUDGETS]


def _scored(name: str, messages: Window, share: float) -> Scored:
    last, floor = _committed(messages, share)
    first = None
    if last is not None:
        with _rounds(1):
            first, _ = _committed(messages, share)
    return Scored(name, share, first, last, floor)


def _committed(messages: Window, share: float) -> tuple[Quality | None, bool]:
    """The scores that a compression was committed with; and whether none could be."""
    session = _opened(messages)
    try:
        session.compact(int(session.status().tokens * share))
    except NothingToShrink:
        return None, True
    bodies = [entry.body for entry in session.store.read(session.name)]
    made = [body for body in bodies if isinstance(body, Compressed)]
    scores = made[-1].quality if made else {}
    return (Quality(**scores) if scores else None), False


@contextmanager
def _rounds(number: int) -> Generator[None, None, None]:
    """How often a candidate is made and asked."""
    before, widen.MAX_ROUNDS = widen.MAX_ROUNDS, number
    try:
        yield
    finally:
        widen.MAX_ROUNDS = before


def _opened(messages: Window) -> Session:
    session = Session("quality", MemoryStore(), wire="openai_chat")
    session.extend(messages)
    return session


def _print_times() -> None:
    lengths = {name: list(map(tokens_of, session_named(name))) for name, _ in session_files()}
    # One message that is most of a session would be in no beginning of it, or be all of it.
    even = [name for name, tokens in lengths.items() if max(tokens) * 3 < sum(tokens)]
    names = sorted(even, key=lambda name: -sum(lengths[name]))[:TIMED]
    rows = [
        (f"{size:,}", *(_cell(name, size) if sum(lengths[name]) >= size else "" for name in names))
        for size in SIZES
    ]
    print_table(
        f"Making a summary down to {TARGET} %, by the window's tokens (and a thousand tokens)",
        ("tokens", *names),
        rows,
    )


def _cell(name: str, size: int) -> str:
    messages, tokens = session_named(name), 0
    for end, message in enumerate(messages):
        tokens += tokens_of(message)
        if tokens > size:
            messages = messages[:end]
            break
    session = _opened(messages)
    state = session.engine.state()
    means, whole = session.engine.shrink_context(state.policy), state.lane.tokens
    if whole < size * NEARLY:
        return ""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = process_time()
        tier3.summarize(state, means, whole * TARGET // 100, "timed")
        times.append(process_time() - start)
    best = min(times)
    return f"{best * 1e3:.0f} ms ({best * 1e6 / whole:.1f} ms)"
