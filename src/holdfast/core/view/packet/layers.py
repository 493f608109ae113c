"""The four layers of a packet, the depths that select them, and the depth that a task needs."""

from collections.abc import Iterable, Mapping

from holdfast.core.ledger.packet import Depth
from holdfast.text.patterns import Pattern

PARTS: Mapping[int, tuple[str, ...]] = {
    1: ("goal", "success_criteria", "constraints"),
    2: ("decisions", "state"),
    3: ("codebase",),
    4: ("failed_attempts", "pivots", "open_questions"),
}
"""The fields of a packet that make up each layer."""
SECTIONS = (
    *("success_criteria", "constraints", "decisions", "state", "relevant_files", "patterns"),
    *("anti_patterns", "failed_attempts", "pivots", "open_questions", "prior_session"),
)
"""Sections that a worker may find missing or unused, in the order in which they are rendered."""
LAYERS: Mapping[str, tuple[int, ...]] = {
    "minimal": (1,),
    "standard": (1, 2, 3),
    "deep": (1, 2, 3, 4),
}
CAPS: Mapping[str, int] = {"minimal": 100, "standard": 400, "deep": 800}
"""Maximum tokens of the rendered packet."""
SAME: Mapping[str, Depth] = {"simple": "minimal", "complex": "deep"}
"""Other names that orchestrators use for a depth."""
DEPTHS = ("minimal", "standard", "deep", "auto")

_DEEP = Pattern(
    r"(?i)\b(?:refactor\w{0,6}|migrat\w{0,4}|redesign|re-?architect\w{0,6}|architecture|rewrite"
    r"|concurren\w{0,4}|race|deadlock|security|investigat\w{0,4}|debug|root cause|flaky"
    r"|performance|across|everywhere|end[- ]to[- ]end|regression|backwards?[- ]compat\w{0,8}"
    r"|still (?:fails?|broken)|again)\b"
)
_PLAIN = Pattern(
    r"(?i)\b(?:typos?|spelling|rename|bump|comments?|reformat|format|lint|readme|changelog"
    r"|one[- ]liner|docstrings?|whitespace|wording)\b"
)
LONG, SHORT = 60, 12
"""Words from which a task is long, and up to which it may be simple."""

TYPES: tuple[tuple[str, Pattern[str]], ...] = tuple(
    (name, Pattern(rf"(?i)\b(?:{words})\b"))
    for name, words in (
        ("docs", r"docs?|readme|changelog|docstrings?|documentation|guide"),
        ("test", r"tests?|coverage|fixtures?"),
        ("review", r"review|audit|check over"),
        ("refactor", r"refactor\w{0,6}|rename|extract|clean ?up|simplif\w{0,4}|move|migrat\w{0,4}"),
        ("fix", r"fix\w{0,4}|bugs?|broken|errors?|fails?|failing|crash\w{0,4}|regression|debug"),
        ("research", r"research|investigat\w{0,4}|explore|find out|analy[sz]e|compare|why|explain"),
        ("feature", r"add|implement|create|build|support|introduce|write|make|integrate|new"),
    )
)
"""Task types with their words; the type whose word occurs first wins."""
OTHER = "other"


def layers_for_depth(depth: str) -> tuple[int, ...]:
    """Return the layers of a depth."""
    return LAYERS[SAME.get(depth, depth)]


def task_type_of(task: str) -> str:
    """Return the type of a task: one of a small, stable set."""
    words = task[:2_000]
    found = ((match.start(), name) for name, one in TYPES if (match := one.search(words)))
    return min(found, default=(0, OTHER))[1]


def depth_for(
    task: str, *, failures: int = 0, known: Mapping[str, str] | None = None
) -> tuple[Depth, str]:
    """Return the depth that a task needs, and why: from earlier tasks first, then from its words.

    `failures` counts the open errors of the session; `known` is the recommended depth by type of
    task.
    """
    kind = task_type_of(task)
    recommended = (known or {}).get(kind, "")
    if recommended in LAYERS:
        return _as_depth(recommended), f"tasks of the kind {kind!r} went best with it"
    words = len(task[:20_000].split())
    if _DEEP.search(task[:20_000]) or words > LONG:
        return "deep", "the task is long" if words > LONG else "its words speak of a risky task"
    if failures:
        return "deep", "something failed and is still open"
    if _PLAIN.search(task) and words <= SHORT:
        return "minimal", "its words speak of a plain task"
    return "standard", "nothing speaks for less or more"


def _as_depth(name: str) -> Depth:
    for depth in ("minimal", "standard", "deep"):
        if depth == name:
            return depth
    return "standard"


def sorted_layers(layers: Iterable[int]) -> tuple[int, ...]:
    """Return layers in order; layer 1 is always included."""
    return tuple(sorted({1, *layers}))
