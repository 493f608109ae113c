"""What of the past does the agent still need, and is it still there after compressing?

Every long session is cut at half and at three quarters of its tokens, and what stands before the
cut is compressed. What the agent wrote after the cut says what it needed: the names and values that
it used again, that stood before the cut, and that nothing after the cut had shown it by then. The
names of tools and of their parameters are no needs: every request brings them along.

*mention*: the name is somewhere in the compressed window. *in context*: near one of its places
there stand at least three of the words that stood near it before, so a bare list of names earns
nothing. Whether a tool could fetch the rest again on demand is not measured here.

Means are given twice: with each cut weighted alike, and with each name weighted alike, so that
neither short nor long sessions can carry a result alone. A budget is missed when the window is
larger; where the system prompt and the user's first and latest words come to more than the budget
by themselves, that is counted apart (*floor over budget*): who keeps them word for word cannot meet
it. *greedy lines* is the floor to beat, see `benchmarks.greedy`.

Names that stood there once, and numbers that an agent makes up, are needed by chance. So everything
is told once more for the names that stood in at least three messages, and for the cuts at which the
words that stay verbatim take no more than half of the budget: there it is the choice that counts.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, lru_cache
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias, cast

import holdfast
from benchmarks import peers
from benchmarks.data import data_folder, unpacked
from benchmarks.entities import entities
from benchmarks.greedy import greedy_lines
from benchmarks.peers import Message
from benchmarks.table import print_table
from holdfast.engine.engine import Outcome
from holdfast.errors import NothingToShrink
from holdfast.models.tokenizers import counter

SHORTEST = 20_000
"""Tokens below which a session has no need of compressing."""
LONG = 50_000
"""Tokens from which a session has many requests to pay for."""
PROCESSES = 2
CUTS = (0.5, 0.75)
BUDGETS = (0.5, 0.25, 0.1)
"""Shares of the tokens before the cut."""

NEAR, AROUND = 4, 12
"""Words that count as beside a name: before the cut, and in the window."""
ENOUGH = 3
OFTEN = 3
"""Messages from which on a name is one that the work comes back to."""

_ROOT = re.compile(r"(?m)^(?:\*\*Paths are below:\*\*|- Paths are below) (\S+)$")
_HEAD = 4_000
"""Characters of a summary or packet in which its folder is named."""
_RELATIVE = re.compile(r"(?<![\w/.~-])(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.\w{1,6}(?![\w/.])")
"""A path or a name of a file, not below `/`, `./` or `~`."""
END = "\0"
"""Between messages, so that no name has neighbours in another message."""
_ESCAPE = re.compile(r"\\+[nrt\"]")
_WORD = re.compile(r"\w(?:[\w./-]*\w)?")
_STOP = frozenset(
    {"and", "are", "but", "can", "for", "from", "has", "have", "into", "its", "not"}
) | {"that", "the", "then", "there", "this", "was", "were", "will", "with", "you", "your"}

Window: TypeAlias = list[Message]
Way: TypeAlias = Callable[[Window, int], Window]

NO_BUDGET = ("no compression", "headroom")
"""Ways that make one window of a history, whatever it may cost."""


class Case(NamedTuple):
    """A session up to its cut, and what is needed of it."""

    before: Window
    tokens: int
    needed: dict[str, tuple[frozenset[str], int]]
    """Each needed name, with the words that stood beside it, and how many of them are enough."""

    @property
    def often(self) -> "Case":
        """The same for the names alone that stood in several messages."""
        texts = [_text(message) for message in self.before]
        kept = {
            name: beside
            for name, beside in self.needed.items()
            if sum(_stands(text, name) for text in texts) >= OFTEN
        }
        return self._replace(needed=kept)


class Score(NamedTuple):
    """How many names were needed, and how many of them are mentioned, and stand in context."""

    needed: int
    mention: int
    context: int


class Run(NamedTuple):
    """What one way made of one case."""

    score: Score
    often: Score
    """The same of the names that stood in several messages."""
    roomy: bool
    """Whether the words that stay verbatim leave at least half of the budget."""
    size: float
    broken: int
    missed: bool
    """Whether the window is over a budget that could have been met."""
    floor: bool
    """Whether it is over one that the user's words alone exceed."""
    seconds: float


Measured: TypeAlias = list[tuple[tuple[str, float], Run]]

SCORES = ("mention", "in context", "mention, by name", "in context, by name")


def run() -> None:
    """Print the tables."""
    sessions = [name for name, _ in session_files()]
    if not sessions:
        print("recall: no real sessions here (set HOLDFAST_DATA)")
        return
    for peer, reason in peers.available().items():
        if reason:
            print(f"recall: {peer} is left out: {reason}")
    runs: dict[tuple[str, float], list[Run]] = {}
    cuts = names = 0
    with ProcessPoolExecutor(PROCESSES) as pool:
        for number, (session, cases) in enumerate(
            zip(sessions, pool.map(_session, sessions), strict=True), 1
        ):
            print(f"recall: {number}/{len(sessions)} {session}", file=sys.stderr, flush=True)
            for measured in cases:
                cuts, names = cuts + 1, names + measured[0][1].score.needed
                for key, one in measured:
                    runs.setdefault(key, []).append(one)
    print(f"\n{len(sessions)} sessions, {cuts} cuts, {names:,} names and values needed later")
    for share in BUDGETS:
        print_table(
            f"Recall at {share:.0%} of the tokens before the cut",
            ("", *SCORES, "size", "pairs broken", "budget missed", "floor over budget", "a run"),
            [(way, *_row(runs[way, share])) for way in _ways()],
        )
        print_table(
            f"The same, names that stood in {OFTEN} messages or more ({_told(runs, share)})",
            ("", *SCORES, *(f"{score}, with room" for score in SCORES)),
            [(way, *_often(runs[way, share])) for way in _ways()],
        )


def _session(name: str) -> list[Measured]:
    """All that is measured on one session, cut by cut."""
    return [list(_measured(case, _ways())) for case in _cases(session_named(name))]


def session_named(name: str) -> Window:
    """A session's messages without remarks."""
    return [peers.plain(message) for message in as_recorded(dict(session_files(0))[name])]


def session_files(least: int = SHORTEST) -> Iterator[tuple[str, Path]]:
    """The names of sessions that are long enough, and their files in the normal form."""
    folder = data_folder()
    if folder is None:
        return
    index = json.loads((folder / "dev" / "index.json").read_bytes())
    for about in index["trajectories"]:
        if about["tokens"] >= least:
            yield about["id"], folder / "dev" / about["file"]


def as_recorded(path: Path) -> Window:
    """The messages of a session file, remarks included."""
    return json.loads(unpacked(path))["messages"]


def normal_sessions(least: int = SHORTEST) -> Iterator[tuple[str, Window]]:
    """The long sessions in the normal form: a name, and messages without remarks."""
    for name, path in session_files(least):
        yield name, [peers.plain(message) for message in as_recorded(path)]


@cache
def _ways() -> dict[str, Way]:
    """Every way to compress that is here, called once: importing a peer is no part of a run."""
    ways = dict(_present())
    for way in ways.values():
        way([{"role": "user", "content": "a question"}], SHORTEST)
    return ways


def _present() -> Iterator[tuple[str, Way]]:
    missing = peers.available()
    yield "no compression", lambda messages, _: messages
    yield "Holdfast", shrunk
    yield "greedy lines", greedy
    if not missing["trim"]:
        yield "trim_messages", lambda messages, budget: peers.trim(messages, budget, tokens_of)
        yield (
            "trim_messages, from any turn",
            lambda messages, budget: peers.trim(
                messages, budget, tokens_of, start_on=("human", "ai")
            ),
        )
    if not missing["context_editing"]:
        yield "ContextEditing", peers.context_editing
    if not missing["headroom"]:
        yield "headroom", lambda messages, _: peers.headroom(messages)


def shrunk(messages: Window, budget: int) -> Window:
    """Our window; the smallest legal one where the budget cannot be met."""
    try:
        return list(holdfast.compress(messages, budget=budget).messages)
    except NothingToShrink as error:
        return list(cast(Outcome, error.outcome).messages)


def greedy(messages: Window, budget: int) -> Window:
    """The lines that hold most for their tokens, as one message."""
    text = greedy_lines(map(_text, messages), budget, tokens_in)
    return [{"role": "user", "content": text}]


def _row(runs: Sequence[Run]) -> tuple[str, ...]:
    return (
        *rates([run.score for run in runs]),
        f"{fmean(run.size for run in runs):.1%}",
        f"{sum(run.broken for run in runs)}",
        f"{sum(run.missed for run in runs)} of {len(runs)}",
        f"{sum(run.floor for run in runs)}",
        f"{fmean(run.seconds for run in runs) * 1e3:.0f} ms",
    )


def _often(runs: Sequence[Run]) -> tuple[str, ...]:
    return (
        *rates([run.often for run in runs]),
        *rates([run.often for run in runs if run.roomy]),
    )


def _told(runs: dict[tuple[str, float], list[Run]], share: float) -> str:
    found = [run for run in runs["no compression", share] if run.often.needed]
    roomy = [run for run in found if run.roomy]
    return (
        f"{sum(run.often.needed for run in found):,} in {len(found)} cuts; "
        f"{sum(run.often.needed for run in roomy):,} in {len(roomy)} with room"
    )


def rates(scores: Iterable[Score]) -> tuple[str, ...]:
    """Shares mentioned and in context: with each case weighted alike, then with each name."""
    scores = [score for score in scores if score.needed]
    if not scores:
        return ("–",) * len(SCORES)
    needed = sum(score.needed for score in scores)
    return (
        f"{fmean(score.mention / score.needed for score in scores):.1%}",
        f"{fmean(score.context / score.needed for score in scores):.1%}",
        f"{sum(score.mention for score in scores) / needed:.1%}",
        f"{sum(score.context for score in scores) / needed:.1%}",
    )


def _measured(case: Case, ways: dict[str, Way]) -> Iterator[tuple[tuple[str, float], Run]]:
    known: dict[str, tuple[Score, Score]] = {}  # many windows come out alike
    often = case.often
    made: dict[str, tuple[Window, float]] = {}
    for share in BUDGETS:
        budget = int(case.tokens * share)
        words = words_alone(case.before)
        beyond, roomy = words > budget, words * 2 <= budget
        for name, way in ways.items():
            if name not in made or name not in NO_BUDGET:
                made[name] = _timed(way, case.before, budget)
            window, seconds = made[name]
            text = text_of(window)
            if text not in known:
                known[text] = score_of(case, text), score_of(often, text)
            size = sum(map(tokens_of, window))
            broken = (_unpaired(window) - _unpaired(case.before)).total()
            over = size > budget
            missed, floor = over and not beyond, over and beyond
            yield (
                (name, share),
                Run(*known[text], roomy, size / case.tokens, broken, missed, floor, seconds),
            )


def words_alone(messages: Window) -> int:
    """Tokens of the system prompt and of the user's first and latest words."""
    ruling = [message for message in messages if message["role"] in ("system", "developer")]
    said = [message for message in messages if message["role"] == "user"]
    return sum(map(tokens_of, (*ruling, *said[:1], *said[1:][-1:])))


def _timed(way: Way, messages: Window, budget: int) -> tuple[Window, float]:
    start = perf_counter()
    window = way(messages, budget)
    return window, perf_counter() - start


def score_of(case: Case, text: str) -> Score:
    """How many of the needed names a window mentions, and has in context."""
    mention = context = 0
    for name, (beside, enough) in case.needed.items():
        found = False
        for place in _places(text, name):
            found = True
            if len(_beside(text, name, place, AROUND) & beside) >= enough:
                context += 1
                break
        mention += found
    return Score(len(case.needed), mention, context)


def _cases(messages: Window) -> Iterator[Case]:
    """The session at each cut, where anything is needed later."""
    total = sum(map(tokens_of, messages))
    legal = list(legal_cuts(messages))
    for share in CUTS:
        cut, _ = min(legal, key=lambda place: abs(place[1] - share * total))
        case = case_of(messages[:cut], messages[cut:])
        if case.needed:
            yield case


def case_of(before: Window, after: Window) -> Case:
    """What stands before a cut, and what of it is needed after it."""
    text = text_of(before)
    needed = {name: _context(text, name) for name in _needed(text, after)}
    return Case(before, sum(map(tokens_of, before)), needed)


def _context(before: str, name: str) -> tuple[frozenset[str], int]:
    """The words beside a name, and how many are enough: no more than any of its places has."""
    places = list(_places(before, name))
    beside = frozenset[str]().union(*(_beside(before, name, place, NEAR) for place in places))
    enough = 0
    for place in places:
        enough = max(enough, len(_beside(before, name, place, AROUND) & beside))
        if enough >= ENOUGH:
            return beside, ENOUGH
    return beside, enough


def legal_cuts(messages: Window) -> Iterator[tuple[int, int]]:
    """Places before an assistant's message that part no call from its result; tokens before."""
    waiting: dict[str, int] = {}
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            waiting[message.get("tool_call_id", "")] = place  # the last result of each call
    tokens = 0
    open_until = 0
    for place, message in enumerate(messages):
        if place and message["role"] == "assistant" and place > open_until:
            yield place, tokens
        tokens += tokens_of(message)
        answers = (waiting.get(call["id"], 0) for call in message.get("tool_calls") or ())
        open_until = max(open_until, *answers, 0)


def _needed(before: str, after: Window) -> set[str]:
    """Names that the agent uses again before anything shows them to it again."""
    needed: set[str] = set()
    judged: set[str] = set()
    shown: list[str] = []
    for message in after:
        if message["role"] != "assistant":
            shown.append(_text(message))
            continue
        fresh = entities(_written(message)) - judged
        judged |= fresh
        since = END.join(shown)
        needed |= {name for name in fresh if _stands(before, name) and not _stands(since, name)}
    return needed


def _places(text: str, name: str) -> Iterator[int]:
    """Where a name stands in a text, not as a part of a longer word."""
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        if not _wordlike(text[place - 1 : place]) and not _wordlike(text[end : end + 1]):
            yield place
        place = text.find(name, end)


def _stands(text: str, name: str) -> bool:
    return next(_places(text, name), -1) >= 0


def _wordlike(character: str) -> bool:
    return character.isalnum() or character == "_"


def _beside(text: str, name: str, place: int, reach: int) -> frozenset[str]:
    """The telling words within reach of a name at its place, in the same message."""
    end, span = place + len(name), reach * 100
    left = text[max(0, place - span) : place].rpartition(END)[2]
    right = text[end : end + span].partition(END)[0]
    words = _WORD.findall(left)[-reach:] + _WORD.findall(right)[:reach]
    return frozenset(
        word for word in map(str.lower, words) if len(word) > 2 and word not in _STOP
    ) - {name.lower()}


def _unpaired(messages: Iterable[Message]) -> Counter[str]:
    """Calls without a result and results without a call, by id."""
    calls, results = Counter[str](), Counter[str]()
    for message in messages:
        calls.update(call["id"] for call in message.get("tool_calls") or ())
        if message["role"] == "tool":
            name = message.get("tool_call_id", "")
            if calls[name] > 0:
                calls[name] -= 1
            else:
                results[name] += 1
    return calls + results


def text_of(messages: Iterable[Message]) -> str:
    """Everything the model reads in a window: contents, names and arguments of calls.

    A summary says once which folder its paths are below, so they are written out as well.
    """
    texts = list(map(_text, messages))
    return END.join((*texts, *(whole for text in texts if (whole := with_whole_paths(text)))))


def with_whole_paths(text: str) -> str:
    """A summary or packet with the folder before its relative paths; empty for any other text."""
    root = _ROOT.search(text[:_HEAD])
    return _RELATIVE.sub(lambda found: f"{root[1]}/{found[0]}", text) if root else ""


def tokens_of(message: Message) -> int:
    """Tokens of content, tool names, arguments and reasoning."""
    texts = [_content(message), message.get("reasoning_content") or ""]
    for call in message.get("tool_calls") or ():
        texts += (call["function"]["name"], call["function"]["arguments"])
    return sum(tokens_in(text) for text in texts if text)


def _text(message: Message) -> str:
    parts = [_content(message)]
    for call in message.get("tool_calls") or ():
        parts += (call["function"]["name"], _arguments(call["function"]["arguments"]))
    return _unescaped("\n".join(parts))


def _written(message: Message) -> str:
    """What the agent wrote itself: the content and the values it gave its tools."""
    calls = message.get("tool_calls") or ()
    values = (_arguments(call["function"]["arguments"]) for call in calls)
    return _unescaped("\n".join((_content(message), *values)))


def _content(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content)


@lru_cache(maxsize=100_000)
def _arguments(text: str) -> str:
    """The values in the arguments of a call, with line ends as line ends, not as letters."""
    try:
        return "\n".join(_leaves(json.loads(text)))
    except ValueError:
        return text


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case _:
            yield str(value)


@lru_cache(maxsize=100_000)
def _unescaped(text: str) -> str:
    """A text in which escaped line ends and quotes part words."""
    return _ESCAPE.sub(" ", text)


@lru_cache(maxsize=100_000)
def tokens_in(text: str) -> int:
    """Tokens of a text, in the o200k vocabulary."""
    return counter("o200k_base")(text)
