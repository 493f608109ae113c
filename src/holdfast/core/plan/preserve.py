"""Tables of the preservation rules: items that always stay, kinds that may leave, sources of truth.

The texts are the protocol's own. The shell reads the files that a project keeps outside of the
ledger; here each is only a value: where it was found, and the line that a summary must contain.
"""

from collections.abc import Iterable

from msgspec import Struct

from holdfast.core.ledger.summary import Ref
from holdfast.core.plan.policy import Preservation

KEPT, MISSING, UNUSED, REFUSED = "kept", "missing", "unused", "refused"
LEDGER = "ledger"
"""Value of `where` for items that are in the ledger and not in a file of the project."""


class PreservedItem(Struct, frozen=True):
    """An item that survives every compression."""

    name: str
    text: str
    rationale: str
    built_in: bool = True
    on: bool = True
    """Whether the current policy preserves it."""


class CompactableKind(Struct, frozen=True):
    """A kind of content that may leave, from when on, and its replacement."""

    name: str
    when: str
    replacement: str
    kinds: tuple[str, ...]
    """The kinds of plan steps that remove it from the window."""
    on: bool = True


class TruthSource(Struct, frozen=True):
    """One source of truth, and how it is kept."""

    rank: int
    source: str
    kept: str


class PreservedState(Struct, frozen=True):
    """The state in which a preserved item was found."""

    item: str
    status: str
    """`kept`, `missing`, `unused` where the project has no such thing, or `refused`."""
    where: str = LEDGER
    detail: str = ""
    told: str = ""
    """The line that a summary must contain; empty if the summary itself is the item."""
    label: str = ""
    """The start of that line; it replaces an older line with the same start."""

    @property
    def lacks(self) -> bool:
        """Whether the item should exist but is missing or unreadable."""
        return self.status in (MISSING, REFUSED)


BUILT_IN_ITEMS = (
    PreservedItem(
        "session_continuity",
        "`NOTES.md` Session Continuity",
        "Recovery anchor for new sessions",
    ),
    PreservedItem("decision_log", "`NOTES.md` Decision Log", "Audit trail, reasoning persistence"),
    PreservedItem("trajectory_entries", "Trajectory entries", "External files, already lossless"),
    PreservedItem("active_beads", "Active bead references", "Task continuity"),
    PreservedItem("sprint_context", "Sprint context", "Current work state"),
    PreservedItem(
        "run_mode_state",
        "Run mode state, `.run/sprint-plan-state.json`",
        "Autonomous execution continuity",
    ),
)
"""The six items that are always preserved."""

SIMPLE_CHECKPOINT_ITEMS = ("session_continuity", "decision_log", "active_beads")
"""The items that a simple checkpoint checks: those in notes and tasks."""

COMPACTABLE_KINDS = (
    CompactableKind(
        "tool_results",
        "After processing",
        "Summary/path reference",
        ("offload", "mask", "paste", "request"),
    ),
    CompactableKind(
        "thinking_blocks", "After trajectory logging", "Trajectory entry reference", ("thinking",)
    ),
    CompactableKind("verbose_debug", "After problem resolution", "Brief status", ("debug",)),
    CompactableKind(
        "redundant_file_reads", "After first extraction", "Path + line refs", ("read",)
    ),
    CompactableKind(
        "intermediate_outputs", "After final synthesis", "Result only", ("intermediate",)
    ),
)
"""The five kinds of content that may leave."""

KIND_BY_STEP = {step: kind.name for kind in COMPACTABLE_KINDS for step in kind.kinds}
"""For each kind of plan step, the kind of content that it removes from the window."""

HIERARCHY = (
    TruthSource(1, "CODE", "Never in context, always re-readable"),
    TruthSource(2, "BEADS", "External ledger, refs preserved"),
    TruthSource(3, "NOTES.md", "Critical sections preserved"),
    TruthSource(4, "TRAJECTORY", "External files, refs preserved"),
    TruthSource(5, "CONTEXT", "Compactable (this is what we're managing)"),
)
"""The sources of truth, the most trusted first. Of Holdfast's own sources, the ledger is trusted
more than a summary, and a summary more than the rest of the context."""

PRESERVED_FILES = (
    ".run/sprint-plan-state.json",
    "NOTES.md",
    "grimoires/loa/sprint.md",
    "loa-grimoire/sprint.md",
)
PRESERVED_FOLDERS = (".beads/", "a2a/trajectory/")
"""The files and folders from which an agent reads the six built-in items."""


def preserved_items(rules: Preservation) -> tuple[PreservedItem, ...]:
    """Return the items that a policy preserves; a dropped built-in is listed with `on` false."""
    built_in = (
        PreservedItem(item.name, item.text, item.rationale, on=item.name not in rules.unsafe_drop)
        for item in BUILT_IN_ITEMS
    )
    return (
        *built_in,
        *(PreservedItem(name, name, "added by a setting", False) for name in rules.always),
    )


def compactable_kinds(rules: Preservation) -> tuple[CompactableKind, ...]:
    """Return the kinds of content, each with whether a policy lets it leave."""
    return tuple(
        CompactableKind(
            kind.name, kind.when, kind.replacement, kind.kinds, kind.name in rules.compactable
        )
        for kind in COMPACTABLE_KINDS
    )


def may_leave(kind: str, rules: Preservation) -> bool:
    """Whether a policy allows plan steps of this kind."""
    return KIND_BY_STEP.get(kind, "") in (*rules.compactable, "")


def is_preserved_file(path: str) -> bool:
    """Whether preserved items are read from this path."""
    plain = f"/{path}"
    return any(plain.endswith(f"/{name}") for name in PRESERVED_FILES) or any(
        f"/{name}" in plain for name in PRESERVED_FOLDERS
    )


def preserved_refs(states: Iterable[PreservedState]) -> tuple[Ref, ...]:
    """Return the lines that a summary must contain, as references."""
    return tuple(Ref("", f"{state.label}: {state.told}") for state in states if state.told)


def without_preserved_refs(refs: Iterable[Ref]) -> tuple[Ref, ...]:
    """Return the references without the lines of preserved items."""
    return tuple(ref for ref in refs if ref.entry or not ref.what.startswith(REF_LABELS))


REF_LABELS = (
    "session continuity: ",
    "decision log: ",
    "trajectory: ",
    "active beads: ",
    "sprint: ",
    "run mode: ",
    "preserved: ",
)
"""Starts of the lines of preserved items."""
