"""Does a packet hold what its worker will need?

Every long session is cut at half of its tokens. The task is the user's next request, or the goal of
the session where there is none, and the packet is drawn from what came before. What the agent wrote
in its next 25 steps says what a worker would have needed: the names and values that it used from
memory (`benchmarks.recall`). *mention*: the name is in the packet; *in context*: with words beside
it that stood beside it before.

Against: the last and the first tokens of the record, and the lines that a search for the task finds
(BM25). A list of names scores higher than any of them, and nobody can work from it: the score says
what a packet mentions, and not whether it can be used.

Constraints kept counts those that the record sets and that stand in the packet word for word. The
time is that of a packet from a session that is in the ledger: of the first one after opening it,
and of one more, as for a second worker; on the clock, and what of it was spent computing.
"""

import gc
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from statistics import fmean, median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

import holdfast
from benchmarks.recall import (
    END,
    OFTEN,
    SCORES,
    Case,
    Window,
    case_of,
    legal_cuts,
    normal_sessions,
    rates,
    score_of,
    text_of,
    tokens_in,
    tokens_of,
    with_whole_paths,
)
from benchmarks.table import print_table
from holdfast.core.observe.requests.intent import has_substance
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.core.view.packet.select import BOUND, similarity_by
from holdfast.models.thesaurus import similar_words
from holdfast.packets.packet import Packet
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

STEPS = 25
BUDGETS = {"minimal": 100, "standard": 400, "deep": 800}
LONG = 120_000
"""Tokens of a session from which the time of a packet is measured."""
TIMES = 5
MOVED, OPENED = "opened, moved on", "opened, as it was"
MOVED_OPEN, AGAIN = "open, moved on", "open, one more"
WHEN = (MOVED, OPENED, MOVED_OPEN, AGAIN)
"""When a packet is made: in a session just opened or open for a while, moved on or as it was."""
ANSWERS, LONGEST_REQUEST = 3, 2_000
SHORTEST, LONGEST = 40, 300
"""Characters of a sentence that is compared."""
_WORD = re.compile(r"\w+")


class Cut(NamedTuple):
    """A session at half of its tokens: the task, and what its next steps needed."""

    name: str
    case: Case
    often: Case
    """The same for the names alone that stood in several messages."""
    task: str


def run() -> None:
    """Print the tables."""
    cuts = [cut for name, messages in normal_sessions() if (cut := _cut(name, messages))]
    if not cuts:
        print("packets: no real sessions here (set HOLDFAST_DATA)")
        return
    made = {depth: [_packet(cut, depth) for cut in cuts] for depth in BUDGETS}
    for depth, budget in BUDGETS.items():
        rows = [("packet", *_rates(cuts, list(map(_text_of, made[depth]))))]
        for what, way in WAYS.items():
            rows.append((what, *_rates(cuts, [way(cut, budget) for cut in cuts])))
        title = (
            f"What the next {STEPS} steps used from memory, in {budget} tokens ({len(cuts)} cuts)"
        )
        often = (f"{score}, in {OFTEN} messages" for score in SCORES)
        print_table(title, ("", *SCORES, *often), rows)
    print_table(
        "Packets",
        ("", "tokens, mean", "over the cap", "of them marked", "constraints kept"),
        [(depth, *_facts(cuts, packets, BUDGETS[depth])) for depth, packets in made.items()],
    )
    _calibration()
    _times()


def _cut(name: str, messages: Window) -> Cut | None:
    total = sum(map(tokens_of, messages))
    at, _ = min(legal_cuts(messages), key=lambda place: abs(place[1] - total / 2))
    after = list(_next_steps(messages[at:]))
    case = case_of(messages[:at], after)
    task = next(_requests(after), "") or next(_requests(messages[:at]), "") or "Go on."
    return Cut(name, case, case.often, task) if case.needed else None


def _next_steps(messages: Window) -> Iterator[dict[str, object]]:
    spoken = 0
    for message in messages:
        spoken += message["role"] == "assistant"
        if spoken > STEPS:
            return
        yield message


def _requests(messages: Window) -> Iterator[str]:
    """What the user asked for, in the user's own words."""
    for message in messages:
        content = message.get("content")
        if message["role"] == "user" and isinstance(content, str):
            words = "\n".join(own_words(content)).strip()
            if words and has_substance(words):
                yield words


def _session(messages: Window) -> Session:
    session = Session("packets", MemoryStore())
    session.extend(messages)
    return session


def _packet(cut: Cut, depth: str) -> Packet:
    return _session(cut.case.before).packet(cut.task, depth)


def _text_of(packet: Packet) -> str:
    """What a worker reads, with its relative paths written out as well."""
    text = packet.to_prompt()
    return f"{text}{END}{with_whole_paths(text)}"


def _rates(cuts: list[Cut], texts: list[str]) -> tuple[str, ...]:
    pairs = list(zip(cuts, texts, strict=True))
    return (
        *rates(score_of(cut.case, text) for cut, text in pairs),
        *rates(score_of(cut.often, text) for cut, text in pairs),
    )


def _last(cut: Cut, budget: int) -> str:
    return _end(text_of(cut.case.before), budget, backwards=True)


def _first(cut: Cut, budget: int) -> str:
    return _end(text_of(cut.case.before), budget, backwards=False)


def _end(text: str, budget: int, *, backwards: bool) -> str:
    """As much of one end of a text as a budget takes."""
    low, high = 0, min(len(text), budget * 12)
    while low < high:
        middle = (low + high + 1) // 2
        part = text[-middle:] if backwards else text[:middle]
        low, high = (middle, high) if tokens_in(part) <= budget else (low, middle - 1)
    return text[-low:] if backwards and low else text[:low]


def _bm25(cut: Cut, budget: int) -> str:
    """The lines of the record that share most with the task."""
    lines = [line.strip() for line in text_of(cut.case.before).split("\n") if line.strip()]
    words = [Counter(word.lower() for word in _WORD.findall(line[:400])) for line in lines]
    spread = Counter(word for one in words for word in one)
    mean = fmean(one.total() for one in words) if words else 1.0
    asked = {word.lower() for word in _WORD.findall(cut.task)}

    def rank(one: Counter[str]) -> float:
        total = one.total()
        return sum(
            math.log(1 + (len(lines) - spread[word] + 0.5) / (spread[word] + 0.5))
            * (one[word] * 2.2)
            / (one[word] + 1.2 * (0.25 + 0.75 * total / mean))
            for word in asked & one.keys()
        )

    ranked = sorted(range(len(lines)), key=lambda at: -rank(words[at]))
    return _filled((lines[at][:400] for at in ranked), budget)


def _filled(lines: Iterator[str] | list[str], budget: int) -> str:
    kept: list[str] = []
    for line in lines:
        cost = tokens_in(line) + 1
        if cost > budget:
            break
        kept.append(line)
        budget -= cost
    return "\n".join(kept)


WAYS: dict[str, Callable[[Cut, int], str]] = {
    "last tokens": _last,
    "first tokens": _first,
    "BM25 lines": _bm25,
}


def _facts(cuts: list[Cut], packets: list[Packet], cap: int) -> tuple[str, ...]:
    over = [packet for packet in packets if tokens_in(packet.to_prompt()) > cap]
    kept = held = 0
    for cut, packet in zip(cuts, packets, strict=True):
        rows = _session(cut.case.before).engine.rows()
        bound = [one.text for one in rows.constraints if not one.lifted]
        words = " ".join(packet.to_prompt().split())
        held += len(bound)
        kept += sum(" ".join(text.split()) in words for text in bound)
    return (
        f"{fmean(packet.token_count for packet in packets):.0f}",
        f"{len(over)} of {len(packets)}",
        f"{sum(packet.over_budget for packet in over)}",
        f"{kept} of {held}",
    )


def _calibration() -> None:
    """How alike a request and what the agent says to it are, and one of another project."""
    similar = similarity_by(similar_words)
    pairs = [(name, *pair) for name, messages in normal_sessions(0) for pair in _said(messages)]
    own = [similar(text, task) for _, task, text in pairs]
    step = max(len(pairs) // 2, 1)
    others = [
        similar(pairs[(at + step) % len(pairs)][2], task) for at, (_, task, _) in enumerate(pairs)
    ]
    rows = [
        ("said to it", f"{len(own)}", f"{median(own):.2f}", f"{_share(own):.0%}"),
        ("said elsewhere", f"{len(others)}", f"{median(others):.2f}", f"{_share(others):.0%}"),
    ]
    head = ("", "pairs", "median", f"at least {BOUND}")
    print_table("Likeness of a request and a sentence of the agent's", head, rows)


def _said(messages: Window) -> Iterator[tuple[str, str]]:
    """Each request with the last sentences of the agent's first answers to it."""
    request, answers = "", 0
    for message in messages:
        words = next(_requests([message]), "")
        if words:
            request, answers = words if len(words) < LONGEST_REQUEST else "", 0
        elif message["role"] == "assistant" and request and answers < ANSWERS:
            told = [one.text for one in sentences(str(message.get("content") or ""))]
            fitting = [text for text in told if SHORTEST < len(text) < LONGEST]
            if fitting:
                answers += 1
                yield request, fitting[-1]


def _share(values: list[float]) -> float:
    return fmean(value >= BOUND for value in values)


def _times() -> None:
    """Packets from long sessions that are in a ledger on disk."""
    rows: list[tuple[str, ...]] = []
    for name, messages in normal_sessions(LONG):
        tokens = sum(map(tokens_of, messages))
        with TemporaryDirectory() as folder:
            with holdfast.open("packets", root=folder) as session:
                session.extend(messages)
                session.packet("Go on with the work", "standard")
            took = _timed(folder)
        rows.append((name, f"{tokens:,}", *map(_told, took)))
    head = (
        "session",
        "tokens",
        *(f"{what}{part}" for what in WHEN for part in ("", ", computing")),
    )
    print_table("Time of a packet of depth standard", head, rows)
    middle = [
        f"{median(float(row[at].split()[0]) for row in rows):.0f} ms" for at in range(2, len(head))
    ]
    print_table("Median", head[2:], [tuple(middle)])


def _told(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def _timed(folder: str) -> list[float]:
    """Seconds on the clock and of the processor, for each of `WHEN`."""
    # What the benchmark itself holds, all the sessions, is nothing that a process of a user's has.
    gc.collect()
    gc.freeze()
    took: dict[str, list[tuple[float, float]]] = {what: [] for what in WHEN}

    def packet(session: Session, what: str) -> None:
        start, worked = perf_counter(), process_time()
        session.packet("Add a test for the last change", "standard")
        took[what].append((perf_counter() - start, process_time() - worked))

    for at in range(TIMES):
        with holdfast.open("packets", root=folder) as session:
            session.append({"role": "user", "content": f"Go on with part {at}."})
            packet(session, MOVED)
            packet(session, AGAIN)
            session.append({"role": "assistant", "content": f"Part {at} is done."})
            packet(session, MOVED_OPEN)
        with holdfast.open("packets", root=folder) as session:
            packet(session, OPENED)
    middles = ((median(x for x, _ in one), median(y for _, y in one)) for one in took.values())
    return [seconds for pair in middles for seconds in pair]
