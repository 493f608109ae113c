"""How much of what answers a question comes back, for the tokens it takes.

LoCoMo: long conversations with questions, and for each the turns that hold the answer. The share of
those turns inside the excerpts that come back, by how many tokens come back. The floor is the
engine's full-text search with stemming, all words of the question OR-ed. Two halves of the
conversations are told apart: what is chosen by looking at one has to hold on the other.

Agent sessions: files that were written, errors that were seen and decisions that were made in real
sessions, asked for in other words. `HOLDFAST_STRONG=5` adds the model that is an extra, asked every
fifth question because it takes most of a second for each; `HOLDFAST_STRONG=1` asks it all of them.
"""

import gzip
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any, TypeAlias

import apsw
import msgspec
from msgspec import Struct

from benchmarks.data import data_folder, trajectories
from benchmarks.table import print_table
from holdfast.core.plan.policy import Policy
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.language import COMMON_WORDS
from holdfast.text.words import CASE_BOUNDARY, WORD

BUDGETS = (500, 1_000, 2_000)
ANSWERABLE = (1, 2, 3, 4)
"""Categories of questions that have an answer."""
HITS = 100
FACTS = 4
"""Of each kind, from each agent session."""

Finder: TypeAlias = Callable[[str], list[str]]
"""From a question to texts, the best first."""


class Talk(Struct, frozen=True):
    """A conversation, its questions, and the texts that answer each."""

    texts: tuple[str, ...]
    times: tuple[str, ...]
    questions: tuple[tuple[str, frozenset[int]], ...]


def run() -> None:
    """Print the tables."""
    if data_folder() is None:
        print("recovery: no data here (set HOLDFAST_DATA)")
        return
    talks = list(_talks())
    count = counter("o200k_base")
    light, strong = _with(Policy()), _with(Policy(search="strong"))
    ways: list[tuple[str, Sequence[Talk], Callable[[Talk], Finder], int]] = [
        ("FTS5 porter, all words OR-ed", talks, _floor, 1),
        ("holdfast", talks, light, 1),
        ("FTS5, conversations 1, 3, 5", talks[::2], _floor, 1),
        ("holdfast, the same", talks[::2], light, 1),
        ("FTS5, conversations 2, 4", talks[1::2], _floor, 1),
        ("holdfast, the same", talks[1::2], light, 1),
    ]
    every = int(os.environ.get("HOLDFAST_STRONG") or 0)
    if every:
        ways += [("holdfast, strong", talks, strong, every)]
        ways += [("holdfast, the same questions", talks, light, every)] if every > 1 else []
    rows = [(name, *_scored(some, way, count, every)) for name, some, way, every in ways]
    header = ("LoCoMo", "questions", *(f"{budget:,} tokens" for budget in BUDGETS), "p50 ms")
    print_table("Evidence that comes back", header, rows)
    _agents()


def _with(policy: Policy) -> Callable[[Talk], Finder]:
    return lambda talk: _ours(talk, policy)


def _talks() -> Iterator[Talk]:
    folder = data_folder()
    assert folder is not None
    for path in sorted((folder / "dev" / "locomo").glob("*.json.gz")):
        one: dict[str, Any] = msgspec.json.decode(gzip.decompress(path.read_bytes()))
        yield Talk(
            texts=tuple(f"{m['name']}: {m['content']}" for m in one["messages"]),
            times=tuple(_moment(m["date_time"]) for m in one["messages"]),
            questions=tuple(
                (qa["question"], frozenset(qa["evidence_message_idx"]))
                for qa in one["qa"]
                if qa["category"] in ANSWERABLE and qa["evidence_message_idx"]
            ),
        )


def _moment(told: str) -> str:
    return datetime.strptime(told, "%I:%M %p on %d %B, %Y").strftime("%Y-%m-%dT%H:%M:%SZ")


def _ours(talk: Talk, policy: Policy) -> Finder:
    times = iter(talk.times)
    session = Session("talk", MemoryStore(), clock=lambda: next(times), policy=policy)
    for text in talk.texts:
        session.append({"role": "user", "content": text})
    return lambda question: [hit.text for hit in session.recover(question, HITS)]


def _floor(talk: Talk) -> Finder:
    db = apsw.Connection(":memory:")
    db.execute("create virtual table f using fts5(t, tokenize='porter unicode61')")
    db.executemany("insert into f(t) values (?)", [(text,) for text in talk.texts])

    def find(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in WORD.findall(question))
        sql = "select t from f where f match ? order by rank limit ?"
        return [str(row[0]) for row in db.execute(sql, (words, HITS))]

    return find


def _scored(
    talks: Sequence[Talk],
    way: Callable[[Talk], Finder],
    count: Callable[[str], int],
    every: int,
) -> tuple[object, ...]:
    shares: list[list[float]] = [[] for _ in BUDGETS]
    took: list[float] = []
    for talk in talks:
        find = way(talk)
        place = {text: at for at, text in enumerate(talk.texts)}
        for question, evidence in talk.questions[::every]:
            start = perf_counter()
            found = find(question)
            took.append(perf_counter() - start)
            for share, budget in zip(shares, BUDGETS, strict=True):
                share.append(len(evidence & _within(found, place, count, budget)) / len(evidence))
    took.sort()
    means = (f"{sum(share) / len(share):.3f}" for share in shares)
    return len(took), *means, f"{took[len(took) // 2] * 1e3:.0f}"


def _within(
    found: Sequence[str], place: dict[str, int], count: Callable[[str], int], budget: int
) -> set[int]:
    got: set[int] = set()
    for text in found:
        budget -= count(text)
        if budget < 0:
            break
        if text in place:
            got.add(place[text])
    return got


OTHER_WORDS = {
    "add": "introduce",
    "added": "introduced",
    "build": "compilation",
    "change": "modification",
    "check": "verify",
    "config": "settings",
    "create": "make",
    "created": "made",
    "data": "information",
    "delete": "remove",
    "directory": "folder",
    "error": "problem",
    "expected": "wanted",
    "failed": "broke",
    "file": "document",
    "fix": "repair",
    "found": "discovered",
    "function": "routine",
    "handle": "deal with",
    "implement": "write",
    "invalid": "wrong",
    "issue": "trouble",
    "list": "enumeration",
    "missing": "absent",
    "need": "require",
    "new": "fresh",
    "option": "choice",
    "remove": "drop",
    "result": "outcome",
    "run": "execute",
    "start": "begin",
    "test": "examination",
    "tests": "examinations",
    "update": "refresh",
    "use": "employ",
    "user": "person",
    "value": "figure",
    "write": "put down",
}
"""By hand, and without a look at the table that search uses."""
ERROR = re.compile(r"^.{0,60}\b\w{0,40}(?:Error|error|Exception|FAILED|panic)\b.{10,200}$", re.M)
DECISION = re.compile(
    r"[^.\n]{0,120}\b(?:decided|instead of|rather than|I'll use|let's use|chose|we should use)\b"
    r"[^.\n]{20,200}"
)
PATH = re.compile(r"[\w./-]{0,80}/[\w-]{4,40}\.(?:py|go|ts|tsx|rs|md|js|json|yaml|toml)\b")


def reworded(text: str) -> str:
    """The same asked for by someone who forgot the words: fewer, others, out of order."""
    parts = [part.lower() for word in WORD.findall(text) for part in CASE_BOUNDARY.split(word)]
    telling = list(
        dict.fromkeys(p for p in parts if p not in COMMON_WORDS and len(p) > 2 and p.isalpha())
    )
    kept = [word for at, word in enumerate(telling[:12]) if at % 3 != 2 or len(telling) < 4]
    asked = " ".join(OTHER_WORDS.get(word, word) for word in reversed(kept))
    return f"what was that about the {asked}?"


def _agents() -> None:
    kinds = {"files written": PATH, "errors seen": ERROR, "decisions made": DECISION}
    found: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind in kinds}
    floor: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind in kinds}
    for one in trajectories("claude-*"):
        texts = [str(m["content"]) for m in one["messages"] if m.get("content")]
        session = Session("agent", MemoryStore())
        session.extend([{"role": "user", "content": text} for text in texts])
        plain = _passages(texts)
        for kind, pattern in kinds.items():
            for fact in _facts(texts, pattern):
                asked = reworded(fact)
                ours = [hit.text for hit in session.recover(asked)]
                found[kind].append((_holds(ours[:1], fact), _holds(ours, fact)))
                theirs = plain(asked)
                floor[kind].append((_holds(theirs[:1], fact), _holds(theirs, fact)))
    rows = [
        (kind, len(got), *_means(floor[kind]), *_means(got)) for kind, got in found.items() if got
    ]
    header = ("agent sessions", "asked", "FTS5: first", "in five", "holdfast: first", "in five")
    print_table("Facts asked for in other words", header, rows)


def _passages(texts: Sequence[str]) -> Finder:
    """The floor gets the same passages, and shows each whole."""
    from holdfast.core.index.passages import passages_of

    cut = tuple(text[p.start : p.stop] for text in texts for p in passages_of(text))
    find = _floor(Talk(cut, (), ()))
    return lambda question: find(question)[:5]


def _facts(texts: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """What is said once only, some of it: a fact that stands everywhere is no test."""
    whole = "\n".join(texts)
    seen = dict.fromkeys(found.group().strip() for found in pattern.finditer(whole))
    once = [fact for fact in seen if whole.count(fact) == 1 and len(reworded(fact).split()) > 7]
    step = max(len(once) // FACTS, 1)
    return once[::step][:FACTS]


def _holds(texts: Sequence[str], fact: str) -> bool:
    return any(fact[:60] in text or fact[-60:] in text for text in texts)


def _means(got: Sequence[tuple[bool, bool]]) -> tuple[str, str]:
    first, five = (sum(pair[at] for pair in got) / len(got) for at in (0, 1))
    return f"{first:.2f}", f"{five:.2f}"
