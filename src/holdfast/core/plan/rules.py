"""Build the table of rules that `holdfast rules` prints: gates, rules, triggers, decision tree.

Code and documents share this table. The texts are the protocol's own; the numbers come from the
policy, so a profile changes both the behaviour and the printed rules.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.summary import Check, Phase
from holdfast.core.measure.usage import ACTIONS, BOUNDS, Level
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.preserve import (
    HIERARCHY,
    CompactableKind,
    PreservedItem,
    TruthSource,
    compactable_kinds,
    preserved_items,
)

UNBOUNDED = 1_000_000
"""A bound from here on counts as no bound."""


class Gate(Struct, frozen=True):
    """A gate of the protocol: a trigger, checks, and an outcome for pass and fail."""

    id: str
    type: str
    """`SOFT` only advises, `GATE` takes `on_pass` or `on_fail`, `HARD` has no checks."""
    trigger: str
    checks: tuple[str, ...] = ()
    on_pass: str = ""
    on_fail: str = ""
    action: str = ""
    """The action of a gate without checks."""


class Rule(Struct, frozen=True):
    """Something that is always (`+`) or never (`-`) done, and how that is enforced."""

    sign: str
    name: str
    text: str
    kept: str


class Trigger(Struct, frozen=True):
    """A condition that starts a compression, or a check whether one is due."""

    name: str
    metric: str
    """`fraction` of the window, `tokens`, `turns`, `event` or `manual`."""
    when: str
    action: str
    value: int = 0
    """The number that the metric is compared with; 0 if there is none."""
    on: bool = True
    """Whether the current policy uses it."""


class Branch(Struct, frozen=True):
    """One answer of the decision tree."""

    when: str
    then: str


class TreeQuestion(Struct, frozen=True):
    """One question of the decision tree, with a branch for each answer."""

    moment: str
    question: str
    branches: tuple[Branch, ...]


class Threshold(Struct, frozen=True):
    """One usage level of the window."""

    level: str
    start: int
    """Percent of the effective window from which this level applies."""
    action: str


class Rules(Struct, frozen=True):
    """All rules under one policy."""

    thresholds: tuple[Threshold, ...]
    gates: tuple[Gate, ...]
    rules: tuple[Rule, ...]
    triggers: tuple[Trigger, ...]
    tree: tuple[TreeQuestion, ...]
    always_preserve: tuple[PreservedItem, ...] = ()
    compactable: tuple[CompactableKind, ...] = ()
    truth: tuple[TruthSource, ...] = ()
    sequence: tuple[Phase, ...] = ()


def rules_for(policy: Policy) -> Rules:
    """Return all rules with the numbers of a policy."""
    return Rules(
        thresholds=thresholds(),
        gates=gates_for(policy),
        rules=_rules(policy),
        triggers=_triggers(policy),
        tree=_tree(policy),
        always_preserve=preserved_items(policy.preservation),
        compactable=compactable_kinds(policy.preservation),
        truth=HIERARCHY,
        sequence=SEQUENCE,
    )


SEQUENCE = (
    Phase(
        "Pre-Check",
        (
            Check("Verify NOTES.md Session Continuity exists"),
            Check("Verify Decision Log updated"),
            Check("Verify trajectory logged (if thinking occurred)"),
            Check("Verify active beads referenced"),
        ),
    ),
    Phase(
        "Preservation",
        (
            Check("Lock preserved items"),
            Check("Mark for compaction"),
            Check("Validate no critical loss"),
        ),
    ),
    Phase(
        "Compaction",
        (
            Check("Summarize tool results"),
            Check("Replace thinking blocks with refs"),
            Check("Remove redundant reads"),
            Check("Compress intermediate outputs"),
        ),
    ),
    Phase(
        "Verification",
        (
            Check("Confirm preserved items intact"),
            Check("Validate recovery possible"),
            Check("Log compaction event"),
        ),
    ),
)
"""The phases and checks of every summary."""


def thresholds() -> tuple[Threshold, ...]:
    """Return the usage levels, which are the same under every policy."""
    starts = [0, *(round(bound * 100) for bound, _ in BOUNDS)]
    levels = [*(level for _, level in BOUNDS), Level.CRITICAL]
    pairs = zip(starts, levels, strict=True)
    return tuple(Threshold(level.value, start, ACTIONS[level]) for start, level in pairs)


def gates_for(policy: Policy) -> tuple[Gate, ...]:
    """Return the five gates with the numbers of a policy."""
    at = policy.at
    return (
        Gate(
            id="HOOK-CTX-001",
            type="SOFT",
            trigger=f"Large tool result detected (> {_short_number(policy.offload.above)} tokens)",
            checks=("Result can be offloaded safely", "Preview captures essential info"),
            on_pass="Apply Tier 1 offloading",
            on_fail="Keep in context with warning",
        ),
        Gate(
            id="HOOK-CTX-002",
            type="GATE",
            trigger=f"Context exceeds {_percent(at.batch)}",
            checks=("Old tool inputs exist to truncate", "Content already persisted to disk"),
            on_pass="Apply Tier 2 truncation",
            on_fail="Skip to Tier 3 evaluation",
        ),
        Gate(
            id="HOOK-CTX-003",
            type="GATE",
            trigger=f"Context exceeds {_percent(at.summary)}",
            checks=(
                "Tier 1 and 2 exhausted or insufficient",
                "Session intent captured",
                "Artifacts documented",
            ),
            on_pass="Apply Tier 3 summarisation",
            on_fail="Immediate checkpoint + fresh session",
        ),
        Gate(
            id="HOOK-CTX-004",
            type="SOFT",
            trigger="Post Tier 3 summarisation",
            checks=("Intent alignment verified", "No drift indicators present"),
            on_pass="Continue with task",
            on_fail="Recover context and realign",
        ),
        Gate(
            id="HOOK-CTX-005",
            type="HARD",
            trigger=f"Context exceeds {_percent(at.critical)}",
            action="Create checkpoint, recommend fresh session",
        ),
    )


def _short_number(tokens: int) -> str:
    """Format tokens as the protocol does: 15000 as `15k`."""
    if tokens >= UNBOUNDED:
        return "∞"
    return f"{tokens // 1000}k" if tokens and tokens % 1000 == 0 else f"{tokens:,}"


def _percent(percent: int) -> str:
    return f"{percent}%" if percent < UNBOUNDED else "∞%"


RULE_TABLE = (
    Rule(
        "+",
        "offload-large-results",
        "Always offload > {large} token results",
        "a larger result leaves before it is ever sent; reference, preview, outline stay",
    ),
    Rule(
        "+",
        "truncate-persisted-inputs",
        "Truncate tool inputs already on disk",
        "only calls whose content was seen on disk, by hash, are cut; keys and JSON stay",
    ),
    Rule(
        "+",
        "preserve-session-intent",
        "Never lose original objective",
        "a compression or a summary that lacks a request or a constraint is refused, unwritten",
    ),
    Rule(
        "+",
        "archive-before-summarise",
        "Always save full conversation",
        "it is in the ledger, word for word, and in a page of its own before a summary is",
    ),
    Rule(
        "+",
        "verify-post-compression",
        "Check for goal drift after Tier 3",
        "every summary is probed before it is written; the steps after it are watched",
    ),
    Rule(
        "+",
        "recover-on-drift",
        "Actively recover if drift detected",
        "what the agent lost comes back with its next request, as data, and is logged",
    ),
    Rule(
        "-",
        "lose-critical-facts",
        "Never compress away essential info",
        "what is likely needed stays in outlines and facts; all of it opens by its reference",
    ),
    Rule(
        "-",
        "assume-context-available",
        "Always check if info needs recovery",
        "every stand-in names what it hides and how to read it",
    ),
    Rule(
        "-",
        "ignore-compression-thresholds",
        "Follow CTX-001 thresholds",
        "every window is measured against them before it is sent; what is put off is logged",
    ),
)
"""The nine rules in the protocol's words; `{large}` is replaced by the policy's number."""


def _rules(policy: Policy) -> tuple[Rule, ...]:
    large = _short_number(policy.offload.above)
    return tuple(replace(rule, text=rule.text.format(large=large)) for rule in RULE_TABLE)


def _triggers(policy: Policy) -> tuple[Trigger, ...]:
    at, large = policy.at, policy.offload.above
    return (
        Trigger(
            "large result",
            "tokens",
            f"a result > {_short_number(large)} tokens",
            "Apply Tier 1 immediately",
            large,
            on=large < UNBOUNDED,
        ),
        _fraction_trigger("tiers 1 and 2", at.batch, "Apply Tier 1 & 2 when it pays"),
        _fraction_trigger("structured summary", at.summary, "Begin the structured summary"),
        _fraction_trigger("critical", at.critical, "Force compression + observation masking"),
        Trigger(
            "token threshold",
            "tokens",
            f"from {at.tokens:,} tokens" if at.tokens else "as context nears the limit",
            "Compress, whatever the percentage",
            at.tokens,
            on=bool(at.tokens),
        ),
        Trigger(
            "turn count",
            "turns",
            f"more than {at.turns} turns" if at.turns else "a number of turns",
            "Evaluate for compression",
            at.turns,
            on=bool(at.turns),
        ),
        _event_trigger(
            "task boundary", "task_done", "Compress the completed task's context", policy
        ),
        _event_trigger("phase transition", "phase_change", "Compress between phases", policy),
        _event_trigger("session end", "session_end", "Compress before the session ends", policy),
        *MANUAL_TRIGGERS,
    )


def _fraction_trigger(name: str, percent: int, action: str) -> Trigger:
    when = f"from {_percent(percent)} of the window"
    return Trigger(name, "fraction", when, action, percent, on=percent < UNBOUNDED)


def _event_trigger(name: str, event: str, action: str, policy: Policy) -> Trigger:
    return Trigger(name, "event", event, action, on=event in policy.at.events)


MANUAL_TRIGGERS = (
    Trigger("/compact", "manual", "`holdfast compress`", "Compress now, what the planner finds"),
    Trigger("/clear", "manual", "the agent's own", "Full reset, then recovery"),
    Trigger(
        "pre-check", "manual", "`holdfast compress --dry-run`", "Show what would be compressed"
    ),
    Trigger("compress", "manual", 'the word "compress"', "Evaluate now, apply what pays"),
    Trigger("context status", "manual", 'the words "context status"', "Report how full it is"),
)


def _tree(policy: Policy) -> tuple[TreeQuestion, ...]:
    return (
        TreeQuestion(
            "TOOL RESULT RECEIVED",
            f"Is it > {_long_number(policy.offload.above)} tokens?",
            (Branch("YES", "Apply Tier 1 immediately"), Branch("NO", "Continue")),
        ),
        TreeQuestion(
            "CONTEXT THRESHOLD CHECK (periodic)",
            "Check current usage percentage",
            tuple(_usage_branches(policy)),
        ),
        TreeQuestion(
            "POST-COMPRESSION",
            "Was Tier 3 applied?",
            (
                Branch("If Tier 3 applied", "Run drift detection"),
                Branch("If drift detected", "Recover and realign"),
                Branch("Then", "Continue with task"),
            ),
        ),
    )


def _long_number(tokens: int) -> str:
    return f"{tokens:,}" if tokens < UNBOUNDED else "∞"


def _usage_branches(policy: Policy) -> Iterable[Branch]:
    """Yield the branches by usage percentage, without ranges that are empty under the policy."""
    batch, summary, critical = policy.at.batch, policy.at.summary, policy.at.critical
    yield Branch(f"< {_percent(batch)}", "Continue normally")
    if batch < summary:
        yield Branch(f"{batch}-{summary}%", "Apply Tier 2")
    if summary < critical:
        yield Branch(f"{max(batch, summary)}-{critical}%", "Apply Tier 3")
    if critical < UNBOUNDED:
        yield Branch(f"> {critical}%", "Checkpoint + recommend fresh session")
