"""Policy: what the user may decide.

Every number here is data with a default; `config.py` fills it from flags, environment and files,
over a profile. A setting has a dotted name, and a profile, a role or a model's own section is
nothing but some of those names with other values.
"""

from collections.abc import Mapping
from typing import TypeAlias, cast

import msgspec
from msgspec import Struct

Plain: TypeAlias = str | int | tuple[str, ...]
"""What a setting can be."""
Settings: TypeAlias = Mapping[str, Plain]
"""Values by dotted name."""

BUILT_IN = (
    "session_continuity",
    "decision_log",
    "trajectory_entries",
    "active_beads",
    "sprint_context",
    "run_mode_state",
)
"""What is preserved whatever leaves, by name."""
STRICT = "strict"
COMPACTABLE = (
    "tool_results",
    "thinking_blocks",
    "verbose_debug",
    "redundant_file_reads",
    "intermediate_outputs",
)
"""The kinds of content that may be summarized or removed after use."""


STAND_INS = ("lar-033", "ctx-001")
"""The documents in whose form it is written what stands in for something that left."""


class NeverStore(Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept out of the ledger from the start."""

    tools: tuple[str, ...] = ()
    """Tools whose arguments and results are not stored; shell patterns."""
    paths: tuple[str, ...] = ()
    """Files whose content is not stored when a tool reads or writes them; shell patterns."""
    patterns: tuple[str, ...] = ()
    """Regular expressions, of linear time; what they match is cut out of every text."""


class Redact(Struct, frozen=True, forbid_unknown_fields=True):
    """What nobody but its owner is to see."""

    secrets: str = "on"
    """Whether keys, tokens and passwords are redacted in all that is shown: `on` or `off`."""
    patterns: tuple[str, ...] = ()
    """Regular expressions, of linear time; what they match is redacted as well."""


class Retention(Struct, frozen=True, forbid_unknown_fields=True):
    """How long sessions are kept that nobody goes on with."""

    days: int = 0
    """Days after which a session that was left is removed; 0 for never."""
    megabytes: int = 0
    """Size of the ledger above which the sessions left longest are removed; 0 for any size."""


class At(Struct, frozen=True, forbid_unknown_fields=True):
    """From where on something is due."""

    batch: int = 50
    """Percent of the effective window from which tiers 1 and 2 are weighed as one batch."""
    summary: int = 75
    """Percent from which tier 3 follows when a batch is not enough; a batch still has to pay."""
    critical: int = 85
    """Percent from which a batch is made whatever it costs."""
    tokens: int = 0
    """Tokens in sight from which a batch is made whatever it costs; 0 for none."""
    turns: int = 0
    """More turns than this make a batch worth weighing; 0 for any number."""
    events: tuple[str, ...] = ()
    """Notes that make a batch worth weighing: `task_done`, `phase_change`, `session_end`."""


class Offload(Struct, frozen=True, forbid_unknown_fields=True):
    """Tier 1: large tool results."""

    above: int = 15_000
    """Tokens from which a result is offloaded before it is ever sent."""
    share: int = 12
    """Percent of the effective window from which one is too, unless a file was read; 0 for none."""
    sweep: int = 2_000
    """Tokens from which an old result keeps an outline when a batch offloads it; below, a line."""
    tools: tuple[str, ...] = ()
    """Other bounds for some tools, as `NAME=TOKENS`; shell patterns."""
    never: tuple[str, ...] = (
        *("Skill", "ToolSearch", "context_*", "mcp__holdfast__*", "mcp__plugin_holdfast_*"),
        *("mcp_holdfast_*", "holdfast_context_*"),
    )
    """Tools whose results stay as they are; shell patterns."""
    lines: int = 10
    """Lines shown from the top."""
    width: int = 200
    """Characters shown of a line."""
    preview: int = 2_000
    """Characters shown of the top in all."""
    outline: int = 24
    """Lines of outline."""
    form: str = "lar-033"
    """How it is written what stands in for a result: as in `lar-033` or in `ctx-001`."""


class Truncate(Struct, frozen=True, forbid_unknown_fields=True):
    """Tier 2: large tool inputs."""

    above: int = 400
    """Tokens from which a text in the arguments of an old call is large."""
    form: str = "lar-033"
    """How it is written what stands in for such a text: as in `lar-033` or in `ctx-001`."""


class Tail(Struct, frozen=True, forbid_unknown_fields=True):
    """What is recent, and stays as it is."""

    percent: int = 10
    """Of the effective window."""
    steps: int = 3
    """Steps of the agent that are recent however large they are."""


class Anchor(Struct, frozen=True, forbid_unknown_fields=True):
    """Tier 3: the summary."""

    target: int = 30
    """Percent of the room for messages that is full after one."""
    tail: int = 25
    """Percent of that which what is recent may take."""


class Batch(Struct, frozen=True, forbid_unknown_fields=True):
    """When a batch is worth it."""

    reclaim: int = 20
    """Percent of the window's tokens that a batch has to take out of it."""
    requests: int = 0
    """Further requests to expect; as many as there were so far when 0."""
    margin: int = 25
    """Percent of what a batch costs at once that it has to win above that."""


class Preservation(Struct, frozen=True, forbid_unknown_fields=True):
    """What has to survive every compression, and what is done where it is not there."""

    enforcement: str = "warn"
    """Where a section is missing before a summary: `warn` says so, `strict` blocks once."""
    create_missing: str = "ask"
    """Whether a missing section is made: `ask` (`holdfast preserve`), `auto`, or `never`."""
    notes: str = "on"
    """Whether a `NOTES.md` that is there is checked and kept up to date; `off` leaves it alone."""
    trajectory_log: str = "on"
    """Whether thinking is logged to the trajectory, where there is one, before it leaves."""
    checkpoint: str = "full"
    """What is looked at before a summary: `full`, or `simple` for the three that notes hold."""
    always: tuple[str, ...] = ()
    """More that is always preserved, besides the six: `PATH` or `PATH#TITLE` in the project."""
    unsafe_drop: tuple[str, ...] = ()
    """Which of the six are not preserved after all; refused in strict mode."""
    compactable: tuple[str, ...] = COMPACTABLE
    """The kinds that tiers 1 and 2 may take out of sight."""


class DriftWatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The watch for drift after a summary."""

    watch: int = 1
    """1 to judge what the agent does after a summary and tell it when it drifts; 0 for neither."""
    steps: int = 3
    """Steps of the agent after a summary that are watched."""


class Packets(Struct, frozen=True, forbid_unknown_fields=True):
    """What workers are handed."""

    depth: str = "standard"
    """How deep a packet goes when nobody says: `minimal`, `standard`, `deep` or `auto`."""
    minimal: int = 100
    """Tokens of a packet of depth minimal, as a worker reads it."""
    standard: int = 400
    """Tokens of one of depth standard."""
    deep: int = 800
    """Tokens of one of depth deep."""
    generate: str = "on"
    """Whether a worker gets a packet when it is spawned with a task: `on` or `off`."""
    track: str = "on"
    """Whether reading and feedback are recorded: `on` or `off`."""
    cleanup: str = "on"
    """Whether the file of a packet goes when its task is done: `on` or `off`; the record stays."""
    stale: int = 240
    """Minutes after which a packet is to be asked for again; 0 for never."""
    key_file: str = ""
    """A file whose content signs packets, so that nobody else can write one; none when empty."""


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """What the user may decide about a session."""

    profile: str = "ctx-001"
    """Which set of values everything starts from."""
    role: str = ""
    """The agent's part, which may have values of its own."""
    model: str = ""
    """The agent's model; found in the session when not said."""
    window: int = 0
    """The model's window in tokens; the model table's when zero."""
    reserve: int = 0
    """Tokens kept free for the answer; the model table's when zero."""
    timezone: str = ""
    """The zone that times are shown in; UTC when empty. Times are stored as they came."""
    layout: str = "holdfast"
    """Where readable copies of what left the window are written."""
    summarizer: str = ""
    """The model that `compact` asks: `command:PROGRAM` or `PROVIDER:MODEL`; none when empty."""
    summarizer_deadline: int = 30
    """Seconds that one answer of it may take."""
    summarizer_tokens: int = 0
    """Tokens that it may cost a day, in and out; 0 for as many as it takes."""
    search: str = "light"
    """How `recover` compares meanings: `light` by a table of like words, `strong` by a model."""
    at: At = At()
    offload: Offload = Offload()
    truncate: Truncate = Truncate()
    tail: Tail = Tail()
    batch: Batch = Batch()
    summary: Anchor = Anchor()
    preservation: Preservation = Preservation()
    drift: DriftWatch = DriftWatch()
    packets: Packets = Packets()
    never_store: NeverStore = NeverStore()
    redact: Redact = Redact()
    retention: Retention = Retention()
    models: dict[str, dict[str, str | int | tuple[str, ...]]] = {}
    """Values for one model, by how its name begins."""


def with_settings(policy: Policy, settings: Settings) -> Policy:
    """A policy with some values by dotted name."""
    plain = cast(dict[str, object], msgspec.to_builtins(policy))
    for name, value in settings.items():
        section, _, key = name.rpartition(".")
        place = cast(dict[str, object], plain[section]) if section else plain
        place[key] = value
    return msgspec.convert(plain, Policy)


def for_model(policy: Policy, model: str) -> Policy:
    """A policy with the values that hold for one model."""
    plain = model.lower().rsplit("/", 1)[-1]
    fitting = [name for name in policy.models if plain.startswith(name.lower())]
    if not fitting:
        return policy
    return with_settings(policy, policy.models[max(fitting, key=len)])


# The profiles and roles that ship with the product: the numbers of the documents, as data.


NEVER = 1_000_000_000
"""A bound that nothing reaches."""

PROFILES: dict[str, Settings] = {
    "ctx-001": {},
    "anchored": {
        "at.batch": 70,
        "at.summary": 70,
        "at.turns": 20,
        "at.events": ("task_done", "phase_change", "session_end"),
    },
    "claude-code": {"at.tokens": 190_000, "offload.above": 4_000},
    "codex": {"at.summary": 90, "at.critical": 95, "offload.above": 4_000},
    "lean": {"at.batch": 20, "offload.above": 4_000, "offload.sweep": 500, "tail.steps": 2},
    "stress": {
        "at.batch": 10,
        "at.summary": 25,
        "at.critical": 85,
        "batch.reclaim": 1,
        "batch.margin": 0,
        "offload.above": 2_000,
        "offload.sweep": 300,
        "tail.percent": 2,
        "tail.steps": 1,
    },
    "off": {
        "at.batch": NEVER,
        "at.summary": NEVER,
        "at.critical": NEVER,
        "offload.above": NEVER,
        "offload.share": 0,
    },
}
"""What each profile changes of the defaults, which are those of `ctx-001`."""

ABOUT: dict[str, str] = {
    "ctx-001": "the default: tiers 1 and 2 from 50 %, tier 3 from 75 %, critical from 85 %",
    "anchored": "begin at 70 %, force at 85 %, weigh after 20 turns and at task boundaries",
    "claude-code": "by absolute tokens (190,000 of 200,000); results above 4,000 leave at once",
    "codex": "late, as its own compaction is; results above 4,000 leave at once",
    "lean": "the bill first: weighed early and often, done whenever it pays",
    "stress": "for tests: everything happens early, and often",
    "off": "nothing leaves by itself, only when it is asked for",
}

ROLES: dict[str, Settings] = {
    "architect": {"tail.percent": 15, "tail.steps": 5},
    "document-analyst": {"offload.above": 8_000, "offload.sweep": 800, "offload.outline": 40},
}
"""Values that go with a part: who coordinates others sees more of what just happened; who reads
long documents keeps longer outlines of them, sooner."""

LAYOUTS = {
    "holdfast": ".holdfast/cache",
    "ctx-001": "Memory/Shared/cache",
    "anchored": ".claude/scratch/cache",
    "loa": ".loa/cache",
    "agentwire": ".agentwire/cache",
}
"""The folder for readable copies, below the project's root, by the layout's name."""
