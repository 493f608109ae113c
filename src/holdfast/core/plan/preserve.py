"""What is preserved whatever leaves, what may leave and when, and which source is believed first.

The words are the protocol's own. What a project keeps outside of our ledger is looked at by the
shell; here it is only a value: where it was found, and the line that has to stand in a summary.
"""

from collections.abc import Iterable

from msgspec import Struct

from holdfast.core.ledger.summary import Ref
from holdfast.core.plan.policy import Preservation

KEPT, MISSING, UNUSED, REFUSED = "kept", "missing", "unused", "refused"
LEDGER = "ledger"
"""Where everything is that no outside ledger holds."""


class Always(Struct, frozen=True):
    """Something that survives every compression."""

    name: str
    text: str
    rationale: str
    built_in: bool = True
    on: bool = True
    """Whether the policy in force preserves it."""


class Compactable(Struct, frozen=True):
    """Something that may leave, from when on, and what stands in its place."""

    name: str
    when: str
    replacement: str
    kinds: tuple[str, ...]
    """What a plan calls the steps that take it out of sight."""
    on: bool = True


class Truth(Struct, frozen=True):
    """One source of truth, and what is done with it."""

    rank: int
    source: str
    kept: str


class Held(Struct, frozen=True):
    """How a preserved item was found."""

    item: str
    status: str
    """`kept`, `missing`, `unused` where the project has no such thing, or `refused`."""
    where: str = LEDGER
    detail: str = ""
    told: str = ""
    """The line that has to stand in a summary; empty when the summary itself is the item."""
    label: str = ""
    """What that line begins with; an older line that begins so gives way to it."""

    @property
    def lacks(self) -> bool:
        """Whether something should be there and is not."""
        return self.status in (MISSING, REFUSED)


BUILT_INS = (
    Always(
        "session_continuity",
        "`NOTES.md` Session Continuity",
        "Recovery anchor for new sessions",
    ),
    Always("decision_log", "`NOTES.md` Decision Log", "Audit trail, reasoning persistence"),
    Always("trajectory_entries", "Trajectory entries", "External files, already lossless"),
    Always("active_beads", "Active bead references", "Task continuity"),
    Always("sprint_context", "Sprint context", "Current work state"),
    Always(
        "run_mode_state",
        "Run mode state, `.run/sprint-plan-state.json`",
        "Autonomous execution continuity",
    ),
)
"""The six that are always preserved."""

SIMPLE = ("session_continuity", "decision_log", "active_beads")
"""What a simple checkpoint looks at: what notes and tasks hold."""

MAY_LEAVE = (
    Compactable(
        "tool_results",
        "After processing",
        "Summary/path reference",
        ("offload", "mask", "paste", "request"),
    ),
    Compactable(
        "thinking_blocks", "After trajectory logging", "Trajectory entry reference", ("thinking",)
    ),
    Compactable("verbose_debug", "After problem resolution", "Brief status", ("debug",)),
    Compactable("redundant_file_reads", "After first extraction", "Path + line refs", ("read",)),
    Compactable("intermediate_outputs", "After final synthesis", "Result only", ("intermediate",)),
)
"""The five kinds that may leave."""

KIND_OF = {kind: one.name for one in MAY_LEAVE for kind in one.kinds}
"""By what a plan calls a step: the kind of content that it takes out of sight."""

HIERARCHY = (
    Truth(1, "CODE", "Never in context, always re-readable"),
    Truth(2, "BEADS", "External ledger, refs preserved"),
    Truth(3, "NOTES.md", "Critical sections preserved"),
    Truth(4, "TRAJECTORY", "External files, refs preserved"),
    Truth(5, "CONTEXT", "Compactable (this is what we're managing)"),
)
"""Which source is believed first. Of our own: the ledger over the summary over the context."""

FILES = (
    ".run/sprint-plan-state.json",
    "NOTES.md",
    "grimoires/loa/sprint.md",
    "loa-grimoire/sprint.md",
)
FOLDERS = (".beads/", "a2a/trajectory/")
"""What an agent reads the six from."""


def always_of(rules: Preservation) -> tuple[Always, ...]:
    """What is preserved under a policy; what it gives up is listed as off."""
    own = (
        Always(one.name, one.text, one.rationale, on=one.name not in rules.unsafe_drop)
        for one in BUILT_INS
    )
    return (*own, *(Always(name, name, "added by a setting", False) for name in rules.always))


def compactable_of(rules: Preservation) -> tuple[Compactable, ...]:
    """What may leave under a policy."""
    return tuple(
        Compactable(one.name, one.when, one.replacement, one.kinds, one.name in rules.compactable)
        for one in MAY_LEAVE
    )


def may_leave(kind: str, rules: Preservation) -> bool:
    """Whether a policy lets steps of a kind take something out of sight."""
    return KIND_OF.get(kind, "") in (*rules.compactable, "")


def is_always_file(path: str) -> bool:
    """Whether a path is one that preserved items are read from."""
    plain = f"/{path}"
    return any(plain.endswith(f"/{name}") for name in FILES) or any(
        f"/{name}" in plain for name in FOLDERS
    )


def refs_of(held: Iterable[Held]) -> tuple[Ref, ...]:
    """The lines that have to stand in a summary."""
    return tuple(Ref("", f"{one.label}: {one.told}") for one in held if one.told)


def without_older(refs: Iterable[Ref]) -> tuple[Ref, ...]:
    """References, without the lines of preserved items as they were found before."""
    return tuple(ref for ref in refs if ref.entry or not ref.what.startswith(LABELS))


LABELS = (
    "session continuity: ",
    "decision log: ",
    "trajectory: ",
    "active beads: ",
    "sprint: ",
    "run mode: ",
    "preserved: ",
)
"""How the lines of preserved items begin."""
