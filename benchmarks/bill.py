"""What a session's input would have been billed, with each tool at work, against none at all.

Every long session is gone through once for each contender. Before each message of the agent, the
contender makes the request that it would send; one meter, the same for all, bills it. A prefix that
stands as it was sent before is read from the cache, the rest is written to it. A name that the
agent uses in its next message, that stood in something earlier and stands nowhere in the request
just sent, is charged as a fetch: one more request, and what it stood in. A session's ratio is what
it came to, over what it came to without compression. What was fetched stays in the window until the
prefix is next broken: whoever breaks it with every request is rid of it at once.

Nobody fetches a file for having written `200` or `os.path`. So the bill is made a second time, in
the last columns, without the names that stand in sessions of three projects or more: an agent knows
those without looking. The same requests are billed once more with cached reads at 0.05; once with
nothing ever fetched, which no better choice of what stays in sight could go below; and once without
the prefix as well: what is left then is the history alone, each time it was sent. Sessions of more
than 100,000 tokens are gone through again with a window of 200,000.

Holdfast is a real session over a store in memory: messages are appended as they come, and what the
provider would report of each request is reported, in exact o200k counts. The files that the agent
wrote are not on disk here, so no shell can see them there; what one would have noted is noted right
after a write or an edit has its result: that the content of the call is persisted. ContextEditing
begins at the effective window of 48,000 tokens: it knows only messages, so the prefix is taken off
its trigger; and once more at its default, 100,000. It is spared the deep copy of the history, and
counts each message only once: its time a turn is that much too short here (`benchmarks.engine` has
the whole of it).
"""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, lru_cache
from hashlib import sha256
from statistics import fmean, median
from time import perf_counter
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from benchmarks import peers
from benchmarks.entities import entities
from benchmarks.peers import Message
from benchmarks.recall import (
    LONG,
    PROCESSES,
    normal_sessions,
    session_files,
    session_named,
    text_of,
    tokens_of,
)
from benchmarks.table import print_table
from holdfast.core.compress import plan_batch
from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.measure.bill import BilledPart, BillingMeter, Cost
from holdfast.core.measure.models import Cache
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.due import Due
from holdfast.core.plan.policy import PROFILES, Policy, with_settings
from holdfast.core.view.log import events_of
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

WINDOW, LARGE = 64_000, 200_000
LONGER = 100_000
"""Tokens of the sessions that the large window is tried on."""
PREFIX = 20_000
"""Tokens of system prompt and tools that stand before every request."""
CACHE, CHEAP = Cache(read=0.1, write=1.25), Cache(read=0.05, write=1.25)
EFFECTIVE = 48_000
"""The window less what is kept free for the answer."""

NONE, OURS = "no compression", "Holdfast"
DEFAULT, LEAN = Policy().profile, "lean"
EDITING = "ContextEditing from "

COLUMNS = (
    *("mean", "median", "worst", "over the window", "with what was fetched"),
    *("prefix breaks", "fetches", "mean, own names", "worst, own names"),
    *(
        "cached reads at 0.05",
        "nothing fetched",
        "without prefix and fetches",
        "summaries",
        "a turn",
    ),
)
COMMON = 3
"""Projects in which a name that says nothing of any one of them stands."""

Window: TypeAlias = Sequence[Message]


class Request(NamedTuple):
    """One request as a contender would send it."""

    place: int
    """Of the message that answers it."""
    window: Window
    seconds: float


class Task(NamedTuple):
    """One contender on one session."""

    contender: str
    session: str
    window: int = WINDOW


class Decisions(msgspec.Struct):
    """What Holdfast decided."""

    born: int = 0
    """Large results that left before they were sent."""
    weighed: int = 0
    forced: int = 0
    refused: int = 0
    """Forced batches that net gain, left to itself, would not have made."""
    postponed: int = 0
    stuck: int = 0
    """Those put off although the window was critical: nothing, or too little, may leave."""
    summaries: int = 0
    """Batches that put a summary in the place of what was old."""


class Run(NamedTuple):
    """What a session came to."""

    cost: Cost
    own: Cost
    """The same with fetches only for names that few projects share."""
    cheap: Cost
    """The same with cached reads at half the price."""
    free: Cost
    """The same with nothing ever fetched: what no better choice of what stays could go below."""
    bare: Cost
    """The same without the prefix, and nothing ever fetched."""
    over: int
    """Requests that were larger than the window as they were sent."""
    seconds: list[float]
    decisions: Decisions


Contender: TypeAlias = Callable[[Window], Iterator[Request]]
Runs: TypeAlias = dict[str, list[Run]]


def run() -> None:
    """Print the tables."""
    sessions = [name for name, _ in session_files(LONG)]
    if not sessions:
        print("bill: no real sessions here (set HOLDFAST_DATA)")
        return
    longer = [name for name, _ in session_files(LONGER)]
    contenders, profiles = list(_contenders()), [_ours(name) for name in PROFILES if name != "off"]
    ours = [name for name in profiles if name not in contenders]
    large = [NONE, OURS, _ours(LEAN), *(name for name in contenders if name == _editing(LONGER))]
    known_to_many()  # once, for every process that is made below
    with ProcessPoolExecutor(PROCESSES) as pool:
        runs = _billed_by(pool, [*contenders, *ours], sessions, WINDOW)
        wide = _billed_by(pool, large, longer, LARGE)
    print_table(
        f"Billed input against no compression: window {WINDOW:,}, prefix {PREFIX:,}, cache "
        f"read at {CACHE.read} and written at {CACHE.write}",
        ("session", "tokens", "requests", *contenders[1:]),
        [_session_row(name, at, contenders, runs) for at, name in enumerate(sessions)],
    )
    _print("The same, each session weighted alike", contenders, runs)
    _print_decisions(runs[OURS])
    _print("Holdfast in each of its profiles, the same sessions", profiles, runs)
    _print(f"A window of {LARGE:,}, sessions of {LONGER:,} tokens and more", large, wide)


def _print(title: str, names: Sequence[str], runs: Runs) -> None:
    print_table(
        f"{title}: {len(runs[NONE])} sessions",
        ("", *COLUMNS),
        [(name, *_row(runs[name], runs[NONE])) for name in names],
    )


def _session_row(name: str, at: int, contenders: Sequence[str], runs: Runs) -> tuple[object, ...]:
    none = runs[NONE][at].cost
    tokens = sum(part_of(message).tokens for message in session_named(name))
    ratios = (f"{runs[other][at].cost.billed / none.billed:.2f}" for other in contenders[1:])
    return (name, f"{tokens:,}", len(none.sizes), *ratios)


def _billed_by(
    pool: ProcessPoolExecutor, contenders: Sequence[str], sessions: Sequence[str], window: int
) -> Runs:
    """Every contender on every session; contenders know nothing of each other."""
    tasks = [Task(name, session, window) for name in contenders for session in sessions]
    made: dict[Task, Run] = {}
    for number, (task, run) in enumerate(zip(tasks, pool.map(_measured, tasks), strict=True), 1):
        made[task] = run
        _tell(f"{number}/{len(tasks)} {task.contender}, {task.session}")
    return {
        name: [made[Task(name, session, window)] for session in sessions] for name in contenders
    }


def _measured(task: Task) -> Run:
    # It warns of every window that it cannot make small enough; here they are counted.
    logging.getLogger("holdfast").setLevel(logging.ERROR)
    decisions, messages = Decisions(), _messages(task.session)
    requests = _contender(task, decisions)(messages)
    return _billed(messages, requests, task.window, decisions)


@lru_cache(maxsize=4)
def _messages(session: str) -> Window:
    return session_named(session)


def _contenders() -> Iterator[str]:
    """All that are here; of the others one line says why not."""
    missing = peers.available()
    yield from (NONE, OURS, _ours(LEAN))
    if not missing["context_editing"]:
        yield from (_editing(EFFECTIVE - PREFIX), _editing(LONGER))
    if not missing["headroom"]:
        yield "headroom"
    for peer in ("context_editing", "headroom"):
        if missing[peer]:
            print(f"bill: {peer} is left out: {missing[peer]}")


def _editing(trigger: int) -> str:
    return f"{EDITING}{trigger:,}"


def _ours(profile: str) -> str:
    return OURS if profile == DEFAULT else f"{OURS}, {profile}"


def _contender(task: Task, decisions: Decisions) -> Contender:
    name = task.contender
    if name == NONE:
        return _stateless(lambda messages: messages)
    if name == "headroom":
        peers.headroom([{"role": "user", "content": "importing it is no part of a turn"}])
        return _stateless(peers.headroom)
    if name.startswith(EDITING):
        trigger = int(name.removeprefix(EDITING).replace(",", ""))
        return _stateless(lambda messages: peers.context_editing(messages, trigger))
    policy = _profile(name.removeprefix(OURS).removeprefix(", ") or DEFAULT, task.window)
    return lambda messages: _holdfast(messages, policy, decisions)


def _profile(name: str, window: int) -> Policy:
    return with_settings(replace(Policy(), profile=name, window=window), PROFILES[name])


def _stateless(way: Callable[[Window], Window]) -> Contender:
    """A contender that makes each request from the whole history."""

    def requests(messages: Window) -> Iterator[Request]:
        for place in _places(messages):
            start = perf_counter()
            window = way(messages[:place])
            yield Request(place, window, perf_counter() - start)

    return requests


def _places(messages: Window) -> Iterator[int]:
    """Where the agent speaks: what stands before it was a request."""
    for place, message in enumerate(messages):
        if place and message["role"] == "assistant":
            yield place


def _holdfast(messages: Window, policy: Policy, decisions: Decisions) -> Iterator[Request]:
    session = Session("bill", MemoryStore(), policy=policy, wire="openai_chat")
    done = 0
    for place in _places(messages):
        start = perf_counter()
        for message in messages[done:place]:
            session.append(message)
            _note_written(session)
        full = session.status().fraction * 100
        seconds = perf_counter() - start
        known = session.ledger.head().seq
        asked = policy.profile == DEFAULT and full >= policy.at.critical
        refused = asked and _would_refuse(session)
        start = perf_counter()
        window = session.messages()
        seconds += perf_counter() - start
        _count(session, known, refused, decisions)
        size = PREFIX + sum(part_of(message).tokens for message in window)
        start = perf_counter()
        session.report(usage={"prompt_tokens": size})
        yield Request(place, window, seconds + perf_counter() - start)
        done = place


def _note_written(session: Session) -> None:
    """Note what a shell would have seen on disk, once a write has its result."""
    items = session.ledger.window().items
    body = items[-1].body
    if not isinstance(body, ToolReturned) or body.failed:
        return
    for at in range(len(items) - 2, -1, -1):
        call = items[at].body
        if isinstance(call, ToolCalled) and call.call == body.call:
            if touch_of(call).verb in ("write", "edit"):
                session.note("persisted", entry=items[at].entry.id, sha256="assumed")
            return


def _would_refuse(session: Session) -> bool:
    """Whether net gain alone would put off what a full window forces."""
    state = session.engine.state()
    means = session.engine.shrink_context(state.policy)
    return plan_batch(state, means, Due("weigh", "asked by a benchmark")).body is None


def _count(session: Session, known: int, refused: bool, decisions: Decisions) -> None:
    for event in events_of(session.store.read(session.name, since=known)):
        decisions.summaries += event.kind == "TIER_3"
        if event.kind == "POSTPONED":
            decisions.postponed += 1
            decisions.stuck += "critical" in event.trigger
        elif event.trigger == "large result":
            decisions.born += 1
        elif "critical" in event.trigger:
            decisions.forced += 1
            decisions.refused += refused
        else:
            decisions.weighed += 1


def _print_decisions(runs: Sequence[Run]) -> None:
    made = {
        name: sum(getattr(run.decisions, name) for run in runs)
        for name in Decisions.__struct_fields__
    }
    print(
        f"\nHoldfast: {made['weighed']} batches because they paid, {made['forced']} because the "
        f"window was critical ({made['refused']} of them net gain had refused), of all these "
        f"{made['summaries']} with a summary; {made['postponed']} put off ({made['stuck']} of them "
        f"in a critical window that too little may leave); large results left before they were "
        f"sent {made['born']} times."
    )


@cache
def known_to_many() -> frozenset[str]:
    """Names that stand in sessions of several projects."""
    projects: dict[str, set[str]] = {}
    for session, messages in normal_sessions(LONG):
        # A session is named after its agent and project, then a number of its own.
        project = session.rpartition("-")[0]
        for message in messages:
            for name in part_of(message).names:
                projects.setdefault(name, set()).add(project)
    return frozenset(name for name, known in projects.items() if len(known) >= COMMON)


def _billed(
    messages: Window, requests: Iterable[Request], window: int, decisions: Decisions
) -> Run:
    """Bill the requests of one contender."""
    meter, own = (BillingMeter(CACHE, prefix=PREFIX, window=window) for _ in range(2))
    cheap = BillingMeter(CHEAP, prefix=PREFIX, window=window)
    free = BillingMeter(CACHE, prefix=PREFIX, window=window)
    bare = BillingMeter(CACHE, prefix=0, window=window)
    seconds: list[float] = []
    done = over = 0
    for request in requests:
        for message in messages[done : request.place]:
            for each in (meter, own, cheap):
                each.add_arrival(part_of(message))
        done = request.place
        parts = [part_of(message) for message in request.window]
        size = meter.bill_request(parts)
        over += size - meter.fetched_tokens > window
        own.bill_request(parts)
        cheap.bill_request(parts)
        for each in (free, bare):
            each.bill_request([replace(part, names=frozenset()) for part in parts])
        names = entities(_written(messages[request.place]))
        meter.charge_fetches(names)
        cheap.charge_fetches(names)
        own.charge_fetches(names - known_to_many())
        seconds.append(request.seconds)
    meters = (meter, own, cheap, free, bare)
    return Run(*(each.cost() for each in meters), over, seconds, decisions=decisions)


_parts: dict[bytes, BilledPart] = {}


def part_of(message: Message) -> BilledPart:
    """A message as far as a bill is concerned; each is looked at once."""
    data = msgspec.json.encode(message, order="sorted")
    digest = sha256(data).digest()
    if digest not in _parts:
        thinking = {"role": "assistant", "content": message.get("reasoning_content")}
        names = frozenset(entities(text_of([message, thinking])))
        _parts[digest] = BilledPart(digest.hex(), tokens_of(message), names)
    return _parts[digest]


def _written(message: Message) -> str:
    """What the agent wrote itself: the content, and the values that it gave its tools."""
    calls = [
        call | {"function": call["function"] | {"name": ""}}
        for call in message.get("tool_calls") or ()
    ]
    return text_of([message | {"tool_calls": calls}])


def _row(runs: Sequence[Run], without: Sequence[Run]) -> tuple[str, ...]:
    pairs = list(zip(runs, without, strict=True))
    ratios = [run.cost.billed / none.cost.billed for run, none in pairs]
    own = [run.own.billed / none.own.billed for run, none in pairs]
    costs = [run.cost for run in runs]
    seconds = [second for run in runs for second in run.seconds]
    return (
        f"{fmean(ratios):.3f}",
        f"{median(ratios):.3f}",
        f"{max(ratios):.3f}",
        _of(sum(run.over for run in runs), len(seconds)),
        _of(sum(cost.over for cost in costs), len(seconds)),
        f"{sum(cost.breaks for cost in costs):,}",
        f"{sum(cost.fetches for cost in costs):,}",
        f"{fmean(own):.3f}",
        f"{max(own):.3f}",
        f"{fmean(run.cheap.billed / none.cheap.billed for run, none in pairs):.3f}",
        f"{fmean(run.free.billed / none.free.billed for run, none in pairs):.3f}",
        f"{fmean(run.bare.billed / none.bare.billed for run, none in pairs):.3f}",
        f"{sum(run.decisions.summaries for run in runs)}",
        f"{median(seconds) * 1e3:.1f} ms",
    )


def _of(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})"


def _tell(what: str) -> None:
    print(f"bill: {what}", file=sys.stderr, flush=True)
