"""What the gauntlet found: values that name the session, the cut, the mutation and the seed."""

import re
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from time import process_time
from typing import Any, ParamSpec, TypeVar

from msgspec import Struct, field

KINDS = {
    "exception": "exceptions",
    "fault": "faults",
    "budget": "budgets missed",
    "sum": "sums that do not add up",
    "reference": "references that do not open",
    "window": "windows refused",
    "other": "other laws broken",
}
"""What can be found, and what the table calls it."""
P = ParamSpec("P")
R = TypeVar("R")


class Variant(Struct, frozen=True):
    """One session as it is put through the gauntlet."""

    session: str
    cut: int = 0
    """Tenths of the session that are left; 0 for all of it."""
    mutation: str = ""
    seed: int = 0

    @property
    def words(self) -> str:
        """The options that repeat it."""
        cut = f" --cut {self.cut}" if self.cut else ""
        mutation = f" --mutation {self.mutation}" if self.mutation else ""
        return f"--only {self.session}{cut}{mutation} --seed {self.seed}"

    @property
    def is_damaged(self) -> bool:
        """Whether the document may be one that nobody can read."""
        return bool(self.mutation)


class Finding(Struct, frozen=True):
    """One thing that must not be."""

    kind: str
    variant: Variant
    operation: str
    sentence: str
    trace: str = ""

    @property
    def command(self) -> str:
        """The command that repeats it."""
        return f"python -m tests.gauntlet {self.variant.words} --operation {self.operation!r}"


class Findings(Struct):
    """Everything that was done, and what was found."""

    sessions: set[str] = set()
    variants: int = 0
    refused: int = 0
    """Variants that hold no session any more, and were refused in a sentence."""
    operations: Counter[str] = field(default_factory=Counter[str])
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Processor time of each operation: what a run spends its minutes on."""
    found: list[Finding] = []

    def add(self, other: "Findings") -> None:
        """Take in what another process did."""
        self.sessions |= other.sessions
        self.variants += other.variants
        self.refused += other.refused
        self.operations.update(other.operations)
        for name, took in other.seconds.items():
            self.seconds[name] += took
        self.found += other.found

    def count(self, kind: str) -> int:
        """How many there are of a kind."""
        return sum(one.kind == kind for one in self.found)

    def table(self) -> str:
        """The table that a run ends with."""
        rows = [
            ("sessions", len(self.sessions)),
            ("variants", self.variants),
            ("refused as unreadable", self.refused),
            ("operations", sum(self.operations.values())),
            *((name, self.count(kind)) for kind, name in KINDS.items()),
        ]
        return "\n".join(f"{name:28} {count:>9,}" for name, count in rows)

    def listed(self, most: int = 40) -> str:
        """Each finding with the command that repeats it; those that are alike only once."""
        alike: dict[tuple[str, str], list[Finding]] = {}
        for one in self.found:
            alike.setdefault((one.kind, _shape(one)), []).append(one)
        lines: list[str] = []
        for some in sorted(alike.values(), key=len, reverse=True)[:most]:
            first = min(some, key=lambda one: (one.variant.is_damaged, len(one.operation)))
            where = Counter(one.operation for one in some).most_common(5)
            lines += [f"{first.kind} ×{len(some)}  {first.operation}: {first.sentence[:400]}"]
            lines += ["  in: " + ", ".join(f"{name} ×{many}" for name, many in where)]
            lines += [f"  repeat: {first.command}"]
            lines += [f"    {line}" for line in first.trace.splitlines()[-3:]]
        left = len(alike) - most
        return "\n".join([*lines, *([f"and {left} more kinds"] if left > 0 else [])])


def _shape(one: Finding) -> str:
    """What makes two findings alike: where it was raised, or the sentence without its numbers."""
    if one.trace:
        return "".join(one.trace.splitlines()[-2:-1])
    plain = re.sub(r"[0-9a-f]{8,}|[\d,]+|'[^']*'", "#", one.sentence)
    return f"{one.operation} {plain[:80]}"


class Run:
    """One variant on its way: does operations, and keeps what goes wrong."""

    def __init__(self, variant: Variant, findings: Findings, only: str = "") -> None:
        self.variant, self.findings, self.only = variant, findings, only

    def wants(self, operation: str) -> bool:
        """Whether an operation is to be done: all are, unless one was asked for."""
        return not self.only or operation.startswith(self.only) or self.only.startswith(operation)

    def do(
        self,
        operation: str,
        made: Callable[P, R],
        *args: P.args,
        **options: P.kwargs,
    ) -> R | None:
        """Do an operation that may refuse nothing."""
        return self.may(operation, (), made, *args, **options)

    def may(
        self,
        operation: str,
        allowed: Iterable[type[BaseException]],
        made: Callable[P, R],
        *args: P.args,
        **options: P.kwargs,
    ) -> R | None:
        """Do an operation that may end in one of the errors it documents."""
        self.findings.operations[operation] += 1
        start = process_time()
        try:
            return made(*args, **options)
        except tuple(allowed):
            return None
        except Exception as error:  # noqa: BLE001  Every one of them is a finding.
            kind = "fault" if "Fault" in type(error).__name__ else "exception"
            self.wrong(kind, operation, f"{type(error).__name__}: {error}", _trace(error))
            return None
        finally:
            self.findings.seconds[operation] += process_time() - start

    def wrong(self, kind: str, operation: str, sentence: str, trace: str = "") -> None:
        """Note something that must not be."""
        self.findings.found.append(Finding(kind, self.variant, operation, sentence[:2_000], trace))

    def check(self, kind: str, operation: str, wrongs: Iterable[str]) -> None:
        """Note every sentence of a check."""
        for sentence in wrongs:
            self.wrong(kind, operation, sentence)


def _trace(error: BaseException) -> str:
    """Where it was raised: the last frames of our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours: list[Any] = [one for one in frames if "holdfast" in one.filename] or list(frames)
    lines = [f"{one.filename}:{one.lineno} in {one.name}: {one.line}" for one in ours[-4:]]
    return "\n".join([*lines, f"{type(error).__name__}: {error}"[:500]])
