"""Holdfast as a method of the public benchmark `compactbench`, without a model.

    compactbench run --method benchmarks/compactor.py:Stateless …

That benchmark's conversations are shorter than any summary of them. So behind each there comes a
stretch of an agent's work in small steps, of which nothing can leave but by a summary: what is
scored went through tier 3 every time, and through the text of the summary before it.

An artifact has sections; a summary has rows. What the user forbids, and what the user took back, is
forbidden; what the user asked for and did not take back is decided; the rest of the user's words
are facts. Who is spoken of is read off those words, each name with the clause it stands in.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, cast

from compactbench.compactors import Compactor
from compactbench.contracts import CompactionArtifact, StructuredState, Transcript
from compactbench.providers import Provider

import holdfast
from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.summary.fit import valid_decisions
from holdfast.engine.engine import Outcome
from holdfast.errors import NothingToShrink
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

Message = dict[str, Any]

BUDGET = 1_200
STEPS = 30
LONGEST_ROW, MOST_ROWS = 500, 200
LONGEST_TEXT = 8_000
"""What an artifact takes."""

_CLAUSE = re.compile(r"[^,;.!?\n]+[.!?]?")
_NAME = re.compile(r"(?<![\w-])[A-Z][a-z]{1,30}(?![\w-])")
_DAYS = frozenset(
    {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
) | {"January", "February", "March", "April", "May", "June", "July", "August", "September"}


class Stateless(Compactor):
    """`holdfast.compress`, fed its own output and what is new."""

    name: ClassVar[str] = "holdfast-compress"
    version: ClassVar[str] = holdfast.__version__

    def __init__(self, provider: Provider | None = None, model: str = "") -> None:
        self.provider, self.model = provider, model  # pyright: ignore[reportAttributeAccessIssue]
        self._window: list[Message] = []
        self._turns = 0

    async def compact(
        self,
        transcript: Transcript,
        config: dict[str, Any] | None = None,
        previous_artifact: CompactionArtifact | None = None,
    ) -> CompactionArtifact:
        """Compress what is in the window and what is new; the rows become an artifact."""
        new = [*said_since(transcript, self._turns), *work(self._turns)]
        self._turns = len(transcript.turns)
        try:
            made = holdfast.compress([*self._window, *new], budget=BUDGET)
        except NothingToShrink as error:
            made = cast(Outcome, error.outcome)
        self._window = list(made.messages)
        return artifact_of(made.summary.rows, str(made.summary))


class Kept(Stateless):
    """A session with its ledger, compacted every time."""

    name: ClassVar[str] = "holdfast-session"

    def __init__(self, provider: Provider | None = None, model: str = "") -> None:
        super().__init__(provider, model)
        self._session = Session("compactbench", MemoryStore(), wire="openai_chat")

    async def compact(
        self,
        transcript: Transcript,
        config: dict[str, Any] | None = None,
        previous_artifact: CompactionArtifact | None = None,
    ) -> CompactionArtifact:
        """Append what is new, compact, and take the rows of what left."""
        self._session.extend([*said_since(transcript, self._turns), *work(self._turns)])
        self._turns = len(transcript.turns)
        made = self._session.compact(BUDGET)
        return artifact_of(made.summary.rows, str(made.summary))


def said_since(transcript: Transcript, turns: int) -> list[Message]:
    """The turns behind those that are known."""
    return [{"role": turn.role.value, "content": turn.content} for turn in transcript.turns[turns:]]


def work(number: int) -> Iterator[Message]:
    """A stretch of an agent's work, in steps too small to be worth offloading."""
    for step in range(STEPS):
        call = f"call_{number}_{step}"
        arguments = f'{{"page": {number * STEPS + step}}}'
        function = {"name": "read_log", "arguments": arguments}
        calls = [{"id": call, "type": "function", "function": function}]
        lines = (
            f"worker {step}: batch {number}{step}{line} took {line * 37} ms" for line in (1, 2, 3)
        )
        yield {"role": "assistant", "content": None, "tool_calls": calls}
        yield {"role": "tool", "tool_call_id": call, "content": "\n".join(lines)}


def artifact_of(rows: Summary, text: str) -> CompactionArtifact:
    """The rows of a summary in the sections of an artifact."""
    lifted = [row.text for row in rows.constraints if row.lifted]
    holding = [row for row in rows.constraints if not row.lifted]
    forbidden = [row.text for row in holding if row.negative]
    decided = [row.choice for row in valid_decisions(rows)]
    quotes = [rows.intent.original, *rows.intent.changes, *rows.words, rows.intent.current]
    words = list(dict.fromkeys(quote.text for quote in quotes if quote.text))
    state = StructuredState(
        immutable_facts=_fitting(_without(words, lifted)),
        locked_decisions=_fitting([row.text for row in holding if not row.negative] + decided),
        deferred_items=_fitting(row.step for row in rows.next),
        forbidden_behaviors=_fitting(forbidden + lifted),
        entity_map=dict(_entities(_without(words, forbidden))),
        unresolved_items=_fitting(quote.text for quote in rows.questions),
    )
    return CompactionArtifact(structured_state=state, summaryText=text[:LONGEST_TEXT])


def _fitting(rows: Iterable[str]) -> list[str]:
    return [row[:LONGEST_ROW] for row in dict.fromkeys(rows) if row.strip()][:MOST_ROWS]


def _without(words: Iterable[str], sentences: Iterable[str]) -> list[str]:
    """What is left of the user's words beside some sentences of them."""
    left = list(words)
    for sentence in sentences:
        left = [text.replace(sentence, "").strip() for text in left]
    return [text for text in left if text]


def _entities(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names in the user's words, each with the clauses that it stands in."""
    found: dict[str, list[str]] = {}
    for text in words:
        for clause in (match[0].strip() for match in _CLAUSE.finditer(text)):
            for name in _NAME.finditer(clause):
                if _is_name(name[0], opens=name.start() == 0, rest=clause[name.end() :]):
                    found.setdefault(name[0], []).append(clause)
    for name, clauses in found.items():
        yield name, "; ".join(dict.fromkeys(clauses))[:LONGEST_ROW]


def _is_name(word: str, *, opens: bool, rest: str) -> bool:
    """Whether a capital is there for a name, not for a beginning or a day."""
    if word.removesuffix("s") in _DAYS or word in _DAYS:
        return False
    return not opens or rest.startswith(("'s ", " will ", " owns ", " has "))
