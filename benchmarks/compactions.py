"""Against the summaries that agents' own models wrote when their windows were full.

Some real sessions were compacted while they ran: a model read the history and wrote a summary, and
the agent went on from that. Here Holdfast gets the same history and as many tokens as that summary
has, for its whole window. What the agent used afterwards is what was needed, scored as in
`benchmarks.recall`; the summary itself showed nothing, or it would be scored against itself.

Where a session was compacted twice, the history before the second summary is the whole of it,
without the first: a ledger has that, while the model had only its own first summary to go by. Where
the user's own words alone are more than the summary, the case is left out and named: nobody who
keeps them word for word can meet that budget.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from benchmarks.data import data_folder
from benchmarks.peers import Message, plain
from benchmarks.recall import (
    OFTEN,
    PROCESSES,
    SCORES,
    Case,
    Score,
    Window,
    as_recorded,
    case_of,
    greedy,
    rates,
    score_of,
    session_files,
    shrunk,
    text_of,
    tokens_of,
)
from benchmarks.table import print_table

OWN, OURS, GREEDY = "the agent's own summary", "Holdfast", "greedy lines"
WAYS = (OWN, OURS, GREEDY)


class Place(NamedTuple):
    """Where a session was compacted."""

    session: str
    at: int


class Compared(NamedTuple):
    """One compaction, each way."""

    place: Place
    before: int
    budget: int
    words: int
    """Tokens of what the user had said."""
    scores: dict[str, Score]
    """None where the case is left out."""
    often: dict[str, Score]
    """The same of the names that stood in several messages."""
    sizes: dict[str, int]


def run() -> None:
    """Print the tables."""
    places = list(_compactions())
    if not places:
        print("compactions: no real sessions here (set HOLDFAST_DATA)")
        return
    with ProcessPoolExecutor(PROCESSES) as pool:
        results = list(pool.map(compared, places))
    measured = [result for result in results if result.scores]
    for result in results:
        if not result.scores:
            print(
                f"\n{result.place.session} at message {result.place.at} is left out: the user's "
                f"words are {result.words:,} tokens, the summary {result.budget:,}."
            )
    print_table(
        "Each compaction: names in context (and mentioned), of those the agent used afterwards",
        ("session", "message", "tokens before", "summary", "needed", *WAYS, "Holdfast's tokens"),
        [_row(result) for result in measured],
    )
    print_table(
        f"{len(measured)} real compactions, as many tokens as the agent's own summary had",
        ("", *SCORES, "over budget"),
        [
            (
                way,
                *rates([result.scores[way] for result in measured]),
                sum(result.sizes[way] > result.budget for result in measured),
            )
            for way in WAYS
        ],
    )
    print_table(
        f"The same, names that stood in {OFTEN} messages or more",
        ("", *SCORES),
        [(way, *rates(result.often[way] for result in measured)) for way in WAYS],
    )


def _row(result: Compared) -> tuple[object, ...]:
    return (
        result.place.session,
        result.place.at,
        f"{result.before:,}",
        f"{result.budget:,}",
        result.scores[OWN].needed,
        *(
            f"{score.context / score.needed:.0%} ({score.mention / score.needed:.0%})"
            for score in map(result.scores.__getitem__, WAYS)
        ),
        f"{result.sizes[OURS]:,}",
    )


def _compactions() -> Iterator[Place]:
    folder = data_folder()
    if folder is None:
        return
    index = json.loads((folder / "dev" / "index.json").read_bytes())
    for about in index["trajectories"]:
        for at in about.get("compact_summary_at") or ():
            yield Place(about["id"], at)


def compared(place: Place) -> Compared:
    """Score one compaction, each way."""
    messages = as_recorded(dict(session_files(0))[place.session])
    told = plain(messages[place.at])
    before = [message for message in messages[: place.at] if not _is_summary(message)]
    words = sum(map(tokens_of, filter(_is_said, before)))
    budget = tokens_of(told)
    case = case_of(
        [plain(message) for message in before],
        [plain(message) for message in messages[place.at :] if not _is_summary(message)],
    )
    left_out = Compared(place, case.tokens, budget, words, {}, {}, {})
    return left_out if words > budget else _scored(left_out, case, told)


def _scored(result: Compared, case: Case, told: Message) -> Compared:
    windows: dict[str, Window] = {
        OWN: [told],
        OURS: shrunk(case.before, result.budget),
        GREEDY: greedy(case.before, result.budget),
    }
    texts = {way: text_of(window) for way, window in windows.items()}
    often = case.often
    return result._replace(
        scores={way: score_of(case, text) for way, text in texts.items()},
        often={way: score_of(often, text) for way, text in texts.items()},
        sizes={way: sum(map(tokens_of, window)) for way, window in windows.items()},
    )


def _is_summary(message: Message) -> bool:
    return bool(message.get("x_compact_summary"))


def _is_said(message: Message) -> bool:
    """Whether a person said it: not what the agent's program put there in their name."""
    return message["role"] == "user" and not message.get("x_meta")
