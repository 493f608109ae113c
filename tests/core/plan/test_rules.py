import pytest

from holdfast.core.ledger.entry import Compressed, Entry, Said, Step, ToolCalled, ToolReturned
from holdfast.core.ledger.summary import Intent, Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.usage import ACTIONS, Level
from holdfast.core.plan.gates import (
    GateFacts,
    Verdict,
    facts_of,
    judge_gate,
    large_inputs,
    triggered_gates,
)
from holdfast.core.plan.policy import PROFILES, Policy, with_settings
from holdfast.core.plan.rules import Gate, Trigger, gates_for, rules_for

RULES = rules_for(Policy())
GATES = {gate.id: gate for gate in RULES.gates}
TRIGGERS = {trigger.name: trigger for trigger in RULES.triggers}


def _under(profile: str) -> dict[str, Trigger]:
    policy = with_settings(Policy(), PROFILES[profile])
    return {trigger.name: trigger for trigger in rules_for(policy).triggers}


@pytest.mark.seed("R217")
def test_the_first_gate_is_about_large_results() -> None:
    assert GATES["HOOK-CTX-001"] == Gate(
        id="HOOK-CTX-001",
        type="SOFT",
        trigger="Large tool result detected (> 15k tokens)",
        checks=("Result can be offloaded safely", "Preview captures essential info"),
        on_pass="Apply Tier 1 offloading",
        on_fail="Keep in context with warning",
    )


@pytest.mark.seed("R218")
def test_the_second_gate_is_about_inputs_that_are_on_disk() -> None:
    assert GATES["HOOK-CTX-002"] == Gate(
        id="HOOK-CTX-002",
        type="GATE",
        trigger="Context exceeds 50%",
        checks=("Old tool inputs exist to truncate", "Content already persisted to disk"),
        on_pass="Apply Tier 2 truncation",
        on_fail="Skip to Tier 3 evaluation",
    )


@pytest.mark.seed("R219")
def test_the_third_gate_is_about_the_summary() -> None:
    assert GATES["HOOK-CTX-003"] == Gate(
        id="HOOK-CTX-003",
        type="GATE",
        trigger="Context exceeds 75%",
        checks=(
            "Tier 1 and 2 exhausted or insufficient",
            "Session intent captured",
            "Artifacts documented",
        ),
        on_pass="Apply Tier 3 summarisation",
        on_fail="Immediate checkpoint + fresh session",
    )


def test_a_profile_changes_the_numbers_of_the_gates() -> None:
    policy = with_settings(Policy(), {"at.batch": 70, "offload.above": 4_500})
    triggers = [gate.trigger for gate in gates_for(policy)]
    assert triggers[:2] == [
        "Large tool result detected (> 4,500 tokens)",
        "Context exceeds 70%",
    ]


def test_a_bound_that_is_never_reached_is_shown_as_none() -> None:
    found = rules_for(with_settings(Policy(), PROFILES["off"]))
    assert found.gates[1].trigger == "Context exceeds ∞%"
    assert [one.name for one in found.triggers if one.on and one.metric != "manual"] == []
    assert [row.when for row in found.tree[1].branches] == ["< ∞%"]


@pytest.mark.seed("R217")
@pytest.mark.parametrize(
    ("facts", "checks", "outcome"),
    [
        (GateFacts(results=2, previews=2), (True, True), "Apply Tier 1 offloading"),
        (GateFacts(results=2, previews=1), (True, False), "Keep in context with warning"),
        (
            GateFacts(results=2, previews=2, losses=("a pair was parted",)),
            (False, True),
            "Keep in context with warning",
        ),
    ],
)
def test_a_result_is_offloaded_when_nothing_is_lost_and_its_preview_tells(
    facts: GateFacts, checks: tuple[bool, ...], outcome: str
) -> None:
    gate = GATES["HOOK-CTX-001"]
    paired = tuple(zip(gate.checks, checks, strict=True))
    assert judge_gate(gate, facts) == Verdict(gate.id, all(checks), paired, outcome)


@pytest.mark.seed("R218")
@pytest.mark.parametrize(
    ("facts", "checks", "outcome"),
    [
        (GateFacts(inputs=2, persisted=1), (True, True), "Apply Tier 2 truncation"),
        (GateFacts(inputs=2), (True, False), "Skip to Tier 3 evaluation"),
        (GateFacts(), (False, False), "Skip to Tier 3 evaluation"),
    ],
)
def test_inputs_are_truncated_when_there_are_some_and_their_content_is_on_disk(
    facts: GateFacts, checks: tuple[bool, ...], outcome: str
) -> None:
    gate = GATES["HOOK-CTX-002"]
    paired = tuple(zip(gate.checks, checks, strict=True))
    assert judge_gate(gate, facts) == Verdict(gate.id, all(checks), paired, outcome)


UNDONE = "Immediate checkpoint + fresh session"


@pytest.mark.seed("R062", "R219")
@pytest.mark.parametrize(
    ("facts", "checks", "outcome"),
    [
        (
            GateFacts(summary=True, intent=True, trail=3.5),
            (True, True, True),
            "Apply Tier 3 summarisation",
        ),
        (GateFacts(summary=True, intent=True, trail=3.4), (True, True, False), UNDONE),
        (GateFacts(summary=True, trail=5.0), (True, False, True), UNDONE),
        (GateFacts(), (False, False, False), UNDONE),
        (
            GateFacts(batch_is_enough=True),
            (False, False, False),
            "Skip Tier 3: Tiers 1 and 2 are enough",
        ),
    ],
)
def test_a_summary_is_made_when_the_gentler_tiers_do_not_do_and_nothing_of_it_is_missing(
    facts: GateFacts, checks: tuple[bool, ...], outcome: str
) -> None:
    gate = GATES["HOOK-CTX-003"]
    paired = tuple(zip(gate.checks, checks, strict=True))
    assert judge_gate(gate, facts) == Verdict(gate.id, all(checks), paired, outcome)


def test_every_gate_whose_trigger_may_come_is_judged() -> None:
    full = GateFacts(percent=100.0, results=1)
    judged = [judge_gate(gate, full).gate for gate in triggered_gates(Policy(), full)]
    assert judged == [f"HOOK-CTX-00{number}" for number in (1, 2, 3, 5)]


def test_a_hard_gate_asks_nothing() -> None:
    verdict = judge_gate(GATES["HOOK-CTX-005"], GateFacts(losses=("everything",)))
    outcome = "Create checkpoint, recommend fresh session"
    assert verdict == Verdict("HOOK-CTX-005", True, (), outcome)


@pytest.mark.parametrize(
    ("percent", "results", "gates"),
    [
        (10, 0, []),
        (10, 1, ["HOOK-CTX-001"]),
        (50, 0, ["HOOK-CTX-002"]),
        (75, 1, ["HOOK-CTX-001", "HOOK-CTX-002", "HOOK-CTX-003"]),
        (85, 0, ["HOOK-CTX-002", "HOOK-CTX-003", "HOOK-CTX-005"]),
    ],
)
def test_a_gate_is_concerned_when_its_trigger_has_come(
    percent: int, results: int, gates: list[str]
) -> None:
    found = triggered_gates(Policy(), GateFacts(percent=percent, results=results))
    assert [gate.id for gate in found] == gates


def test_facts_count_results_that_leave_and_what_stands_in_for_them() -> None:
    outlined = ToolReturned("c1", "## Offloaded: read Result\n**Outline:** python, 3 functions")
    masked = ToolReturned("c2", "[holdfast 123456] read result out of sight: 3 lines")
    empty = ToolReturned("c3", "[holdfast 123456] ")
    call = ToolCalled("c4", "write", "{}")
    steps = tuple(
        Step((f"e{at}",), "why", body) for at, body in enumerate((outlined, masked, empty, call))
    )
    found = facts_of(60.0, Compressed(steps, 0, 9), ("a loss",), ("a", "b"), {"b": "hash"})
    assert found == GateFacts(
        percent=60.0,
        results=3,
        previews=2,
        losses=("a loss",),
        inputs=2,
        persisted=1,
        batch_is_enough=True,
    )
    assert facts_of(10.0, None, ()) == GateFacts(percent=10.0)


def test_facts_tell_of_a_summary_its_request_and_its_files() -> None:
    step = Step(("a", "b"), "why", Said("user", "summary"), tier=3, kind="summary")
    rows = Summary(intent=Intent(Quote("Do it.", "a")))
    made = Compressed((step,), 0, 9, summary=rows, quality={"artifact_trail": 4.5})
    assert facts_of(80.0, made, ()) == GateFacts(percent=80.0, summary=True, intent=True, trail=4.5)
    empty = Compressed((step,), 0, 9, summary=Summary())
    assert facts_of(80.0, empty, ()) == GateFacts(percent=80.0, summary=True)


def test_large_inputs_are_writes_and_edits_that_are_seen_whole() -> None:
    write = ToolCalled("c1", "write_file", '{"path": "a.py", "content": "x"}')
    bodies = (write, write, ToolCalled("c3", "read_file", '{"path": "a.py"}'), Said("user", "hi"))
    items = [Item(Entry(f"e{at}", None, body, at), (), None) for at, body in enumerate(bodies, 1)]
    replaced = Item(Entry("e5", None, write, 5), ("e5",), write)
    tokens = {1: 500, 2: 400, 3: 500, 4: 500, 5: 500}
    assert large_inputs([*items, replaced], tokens, Policy()) == ("e1",)


def test_rules_are_nine_with_the_sign_and_words_of_the_protocol() -> None:
    assert [(one.sign + one.name, one.text) for one in RULES.rules] == [
        ("+offload-large-results", "Always offload > 15k token results"),
        ("+truncate-persisted-inputs", "Truncate tool inputs already on disk"),
        ("+preserve-session-intent", "Never lose original objective"),
        ("+archive-before-summarise", "Always save full conversation"),
        ("+verify-post-compression", "Check for goal drift after Tier 3"),
        ("+recover-on-drift", "Actively recover if drift detected"),
        ("-lose-critical-facts", "Never compress away essential info"),
        ("-assume-context-available", "Always check if info needs recovery"),
        ("-ignore-compression-thresholds", "Follow CTX-001 thresholds"),
    ]
    assert all(one.kept for one in RULES.rules)


def test_triggers_take_their_numbers_from_the_policy() -> None:
    anchored, absolute = _under("anchored"), _under("claude-code")
    assert (TRIGGERS["turn count"].on, anchored["turn count"].when) == (
        False,
        "more than 20 turns",
    )
    assert anchored["structured summary"].value == 70
    assert anchored["critical"].value == 85
    assert absolute["token threshold"] == Trigger(
        "token threshold",
        "tokens",
        "from 190,000 tokens",
        "Compress, whatever the percentage",
        190_000,
    )
    events = ("task boundary", "phase transition", "session end")
    assert [(TRIGGERS[name].on, anchored[name].on) for name in events] == [(False, True)] * 3


def test_the_tree_asks_three_questions_in_the_words_of_the_protocol() -> None:
    told = [(one.moment, [(row.when, row.then) for row in one.branches]) for one in RULES.tree]
    assert told == [
        ("TOOL RESULT RECEIVED", [("YES", "Apply Tier 1 immediately"), ("NO", "Continue")]),
        (
            "CONTEXT THRESHOLD CHECK (periodic)",
            [
                ("< 50%", "Continue normally"),
                ("50-75%", "Apply Tier 2"),
                ("75-85%", "Apply Tier 3"),
                ("> 85%", "Checkpoint + recommend fresh session"),
            ],
        ),
        (
            "POST-COMPRESSION",
            [
                ("If Tier 3 applied", "Run drift detection"),
                ("If drift detected", "Recover and realign"),
                ("Then", "Continue with task"),
            ],
        ),
    ]


def test_a_span_that_a_profile_leaves_empty_is_no_branch() -> None:
    tree = rules_for(with_settings(Policy(), PROFILES["anchored"])).tree
    assert [row.when for row in tree[1].branches] == ["< 70%", "70-85%", "> 85%"]


def test_the_scale_of_levels_is_the_one_that_windows_are_coloured_by() -> None:
    assert [(one.level, one.start, one.action) for one in RULES.thresholds] == [
        (level.value, start, ACTIONS[level])
        for level, start in zip(Level, (0, 25, 50, 75, 85), strict=True)
    ]
