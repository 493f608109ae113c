"""Define all settings of a session (`Policy`), and the profiles and roles that change them.

Every setting has a default and a dotted name (`offload.above`). `project/settings.py` fills the
policy from flags, environment and files, on top of a profile. A profile, a role, or a section for
one model is a mapping from dotted names to other values.
"""

from collections.abc import Mapping
from typing import Annotated, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

SettingValue: TypeAlias = str | int | tuple[str, ...]
"""The type of a setting's value."""
Settings: TypeAlias = Mapping[str, SettingValue]
"""Values by dotted name."""

BUILT_IN_NAMES = (
    "session_continuity",
    "decision_log",
    "trajectory_entries",
    "active_beads",
    "sprint_context",
    "run_mode_state",
)
"""Names of the built-in items that survive every compression."""
STRICT = "strict"
COMPACTABLE = (
    "tool_results",
    "thinking_blocks",
    "verbose_debug",
    "redundant_file_reads",
    "intermediate_outputs",
)
"""Names of the kinds of content that may be summarized or removed after use."""


STAND_INS = ("lar-033", "ctx-001")
"""Names of the documents that define a form of stand-ins."""

CHOICES = "choices"
"""Key in the metadata of a field's type; its value lists the only words allowed for the field."""
Switch: TypeAlias = Annotated[str, Meta(extra={CHOICES: ("on", "off")})]
Form: TypeAlias = Annotated[str, Meta(extra={CHOICES: STAND_INS})]
Enforcement: TypeAlias = Annotated[str, Meta(extra={CHOICES: ("warn", STRICT)})]
Creation: TypeAlias = Annotated[str, Meta(extra={CHOICES: ("ask", "auto", "never")})]
Check: TypeAlias = Annotated[str, Meta(extra={CHOICES: ("full", "simple")})]
Preserved: TypeAlias = Annotated[tuple[str, ...], Meta(extra={CHOICES: BUILT_IN_NAMES})]
Compactable: TypeAlias = Annotated[tuple[str, ...], Meta(extra={CHOICES: COMPACTABLE})]
Search: TypeAlias = Annotated[str, Meta(extra={CHOICES: ("light", "strong")})]
Depth: TypeAlias = Annotated[str, Meta(extra={CHOICES: ("minimal", "standard", "deep", "auto")})]


class NeverStore(Struct, frozen=True, forbid_unknown_fields=True):
    """What is never written to the ledger."""

    tools: tuple[str, ...] = ()
    """Tools whose arguments and results are not stored; shell patterns."""
    paths: tuple[str, ...] = ()
    """Files whose content is not stored when a tool reads or writes them; shell patterns."""
    patterns: tuple[str, ...] = ()
    """Regular expressions that run in linear time; their matches are cut out of every text."""


class Redact(Struct, frozen=True, forbid_unknown_fields=True):
    """What is redacted in everything that is shown."""

    secrets: str = "on"
    """Whether keys, tokens and passwords are redacted in all output: `on` or `off`."""
    patterns: tuple[str, ...] = ()
    """Regular expressions that run in linear time; their matches are redacted as well."""


class Retention(Struct, frozen=True, forbid_unknown_fields=True):
    """How long inactive sessions are kept."""

    days: int = 0
    """Days after which an inactive session is removed; 0 for never."""
    megabytes: int = 0
    """Size of the ledger above which the longest inactive sessions are removed; 0 for no limit."""


class DueAt(Struct, frozen=True, forbid_unknown_fields=True):
    """The thresholds from which a compression is due."""

    batch: int = 50
    """Percent of the effective window from which tiers 1 and 2 are weighed as one batch."""
    summary: int = 75
    """Percent from which tier 3 follows if a batch is not enough; a batch must still pay."""
    critical: int = 85
    """Percent from which a batch is applied at any cost."""
    tokens: int = 0
    """Tokens in the window from which a batch is applied at any cost; 0 for no such limit."""
    turns: int = 0
    """Turns above which a batch is weighed; 0 for no such limit."""
    events: tuple[str, ...] = ()
    """Notes after which a batch is weighed: `task_done`, `phase_change`, `session_end`."""


class Offload(Struct, frozen=True, forbid_unknown_fields=True):
    """Tier 1: large tool results."""

    above: int = 15_000
    """Tokens above which a result is offloaded before it is first sent."""
    share: int = 12
    """The same bound in percent of the effective window, except for file reads; 0 for none."""
    sweep: int = 2_000
    """Tokens from which an old result keeps an outline if a batch offloads it; below, one line."""
    tools: tuple[str, ...] = ()
    """Other bounds for single tools, as `NAME=TOKENS`; shell patterns."""
    never: tuple[str, ...] = (
        *("Skill", "ToolSearch", "context_*", "mcp__holdfast__*", "mcp__plugin_holdfast_*"),
        *("mcp_holdfast_*", "holdfast_context_*"),
    )
    """Tools whose results are never offloaded; shell patterns."""
    lines: int = 10
    """Lines shown from the top."""
    width: int = 200
    """Characters shown of a line."""
    preview: int = 2_000
    """Characters shown of the top in all."""
    outline: int = 24
    """Lines of outline."""
    form: Form = "lar-033"
    """The form of stand-ins for results: that of `lar-033` or of `ctx-001`."""


class Truncate(Struct, frozen=True, forbid_unknown_fields=True):
    """Tier 2: large tool inputs."""

    above: int = 400
    """Tokens above which the arguments of an old call are large."""
    form: Form = "lar-033"
    """The form of stand-ins for such arguments: that of `lar-033` or of `ctx-001`."""


class Tail(Struct, frozen=True, forbid_unknown_fields=True):
    """The recent part, which stays unchanged."""

    percent: int = 10
    """Size of the recent part in percent of the effective window."""
    steps: int = 3
    """Steps of the agent that always count as recent, at any size."""


class Anchor(Struct, frozen=True, forbid_unknown_fields=True):
    """Tier 3: the summary."""

    target: int = 30
    """Percent of the room for messages that is used after a summary."""
    tail: int = 25
    """Percent of that target that the recent part may use."""


class BatchRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The conditions under which a batch is applied."""

    reclaim: int = 20
    """Percent of the window's tokens that a batch must remove."""
    requests: int = 0
    """Further requests to expect; if 0, as many as there were so far."""
    margin: int = 25
    """Percent of a batch's immediate cost that its net gain must reach."""


class Preservation(Struct, frozen=True, forbid_unknown_fields=True):
    """What must survive every compression, and what to do if it is missing."""

    enforcement: Enforcement = "warn"
    """If a section is missing before a summary: `warn` reports it, `strict` blocks once."""
    create_missing: Creation = "ask"
    """Whether a missing section is created: `ask` (`holdfast preserve`), `auto`, or `never`."""
    notes: Switch = "on"
    """Whether an existing `NOTES.md` is checked and kept up to date: `on` or `off`."""
    trajectory_log: Switch = "on"
    """Whether thinking is logged to the trajectory, if there is one, before it leaves."""
    checkpoint: Check = "full"
    """What is checked before a summary: `full`, or `simple` for the three items in notes."""
    always: tuple[str, ...] = ()
    """Further items that are always preserved: `PATH` or `PATH#TITLE` in the project."""
    unsafe_drop: Preserved = ()
    """Built-in items that are not preserved; refused in strict mode."""
    compactable: Compactable = COMPACTABLE
    """The kinds of content that tiers 1 and 2 may remove from the window."""


class DriftRules(Struct, frozen=True, forbid_unknown_fields=True):
    """The drift watch after a summary."""

    watch: int = 1
    """1 to judge the agent's steps after a summary and inform it about drift; 0 for neither."""
    steps: int = 3
    """How many steps of the agent after a summary are watched."""


class Packets(Struct, frozen=True, forbid_unknown_fields=True):
    """The context packets for workers."""

    depth: Depth = "standard"
    """Default depth of a packet: `minimal`, `standard`, `deep` or `auto`."""
    minimal: int = 100
    """Tokens of a packet of depth `minimal`, as a worker reads it."""
    standard: int = 400
    """Tokens of a packet of depth `standard`."""
    deep: int = 800
    """Tokens of a packet of depth `deep`."""
    generate: Switch = "on"
    """Whether a worker gets a packet when it is spawned with a task: `on` or `off`."""
    track: Switch = "on"
    """Whether reading and feedback are recorded: `on` or `off`."""
    cleanup: Switch = "on"
    """Whether a packet's file is deleted when its task is done: `on` or `off`; the record stays."""
    stale: int = 240
    """Minutes after which a packet should be requested again; 0 for never."""
    key_file: str = ""
    """A file whose content signs packets against forgery; no signature if empty."""


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of a session."""

    profile: str = "ctx-001"
    """The profile whose values are used as defaults."""
    role: str = ""
    """The agent's role, which may have values of its own."""
    model: str = ""
    """The agent's model; detected from the session if empty."""
    window: int = 0
    """The model's window in tokens; the value of the model table if 0."""
    reserve: int = 0
    """Tokens reserved for the answer; the value of the model table if 0."""
    timezone: str = ""
    """The time zone in which times are shown; UTC if empty. Stored times are not converted."""
    layout: str = "holdfast"
    """The layout that decides where readable copies of removed content are written."""
    summarizer: str = ""
    """The model that `compact` uses: `command:PROGRAM` or `PROVIDER:MODEL`; none if empty."""
    summarizer_deadline: int = 30
    """Seconds that one answer of the summarizer may take."""
    summarizer_tokens: int = 0
    """Tokens that the summarizer may use per day, in and out; 0 for no limit."""
    search: Search = "light"
    """How `recover` compares meanings: `light` by a table of similar words, `strong` by a model."""
    at: DueAt = DueAt()
    offload: Offload = Offload()
    truncate: Truncate = Truncate()
    tail: Tail = Tail()
    summary: Anchor = Anchor()
    batch: BatchRules = BatchRules()
    preservation: Preservation = Preservation()
    drift: DriftRules = DriftRules()
    packets: Packets = Packets()
    never_store: NeverStore = NeverStore()
    redact: Redact = Redact()
    retention: Retention = Retention()
    models: dict[str, dict[str, str | int | tuple[str, ...]]] = {}
    """Other values for single models, by the start of the model's name."""


def with_settings(policy: Policy, settings: Settings) -> Policy:
    """Return the policy with some values replaced, given by dotted name."""
    plain = cast(dict[str, object], msgspec.to_builtins(policy))
    for name, value in settings.items():
        section, _, key = name.rpartition(".")
        place = cast(dict[str, object], plain[section]) if section else plain
        place[key] = value
    return msgspec.convert(plain, Policy)


def for_model(policy: Policy, model: str) -> Policy:
    """Return the policy with the values that `policy.models` has for this model.

    The longest prefix of the model's name that has a section decides.
    """
    plain = model.lower().rsplit("/", 1)[-1]
    fitting = [name for name in policy.models if plain.startswith(name.lower())]
    if not fitting:
        return policy
    return with_settings(policy, policy.models[max(fitting, key=len)])


# The profiles and roles that ship with the product, with the numbers of the protocol documents.


NEVER_REACHED = 1_000_000_000
"""A bound that no window and no result reaches."""

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
        "at.batch": NEVER_REACHED,
        "at.summary": NEVER_REACHED,
        "at.critical": NEVER_REACHED,
        "offload.above": NEVER_REACHED,
        "offload.share": 0,
    },
}
"""For each profile, the values that differ from the defaults, which are those of `ctx-001`."""

PROFILE_TEXTS: dict[str, str] = {
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
"""For each role, the values that differ. An agent that coordinates others keeps a longer tail; an
agent that reads long documents offloads them sooner, with longer outlines."""

LAYOUTS = {
    "holdfast": ".holdfast/cache",
    "ctx-001": "Memory/Shared/cache",
    "anchored": ".claude/scratch/cache",
    "loa": ".loa/cache",
    "agentwire": ".agentwire/cache",
}
"""For each layout, the folder for readable copies, relative to the project's root."""
