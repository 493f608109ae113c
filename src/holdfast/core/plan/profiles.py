"""The profiles and roles that ship with the product: the numbers of the documents, as data."""

from holdfast.core.plan.policy import Settings

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
