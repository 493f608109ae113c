"""Render the rules in force as text and the gates as XML; measure summaries against targets."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Entry
from holdfast.core.ledger.notes import RecoveryFailed, is_note
from holdfast.core.ledger.summary import CHECK_RECOVERY, TARGET_PERCENT, Check, Phase
from holdfast.core.plan.preserve import (
    KIND_BY_STEP,
    UNUSED,
    CompactableKind,
    PreservedItem,
    PreservedState,
)
from holdfast.core.plan.rules import Gate, Rule, Rules, TreeQuestion, Trigger
from holdfast.core.verify.phases import checks_named, preserved_checks
from holdfast.text.clip import clip


class SettingInForce(Struct, frozen=True):
    """A setting in force and its origin."""

    name: str
    value: str
    origin: str


def render_rules(rules: Rules, values: Sequence[SettingInForce]) -> str:
    """Render the rules as text: settings with their origins first, then each section."""
    sections = (
        ("Values in force", _value_lines(values)),
        ("Levels", _level_lines(rules)),
        ("Gates", [line for gate in rules.gates for line in _gate_lines(gate)]),
        ("Rules", [line for rule in rules.rules for line in _rule_lines(rule)]),
        ("Triggers", _trigger_lines(rules.triggers)),
        ("Decision tree", _tree_lines(rules.tree)),
        (
            "Always preserved",
            [line for item in rules.always_preserve for line in _always_lines(item)],
        ),
        ("Compactable", _compactable_lines(rules.compactable)),
        ("Truth hierarchy", [f"{row.rank}. {row.source:10}  {row.kept}" for row in rules.truth]),
        ("Sequence", _sequence_lines(rules.sequence)),
    )
    parts = ["## Context Rules"]
    for title, lines in sections:
        if lines:
            parts += ["", f"### {title}", *lines]
    return "\n".join(parts)


MAX_VALUE_CHARS = 60
"""Characters shown of a value; `config show` prints all of it."""


def _value_lines(values: Sequence[SettingInForce]) -> list[str]:
    name = max((len(setting.name) for setting in values), default=0)
    value = min(max((len(setting.value) for setting in values), default=0), 24)
    return [
        f"{setting.name:{name}}  {clip(setting.value, MAX_VALUE_CHARS):{value}}  {setting.origin}"
        for setting in values
    ]


def _level_lines(rules: Rules) -> list[str]:
    ends = [f"< {threshold.start}%" for threshold in rules.thresholds[1:]]
    spans = [*ends, f"{rules.thresholds[-1].start}% up"]
    pairs = zip(rules.thresholds, spans, strict=True)
    return [f"{threshold.level:8}  {span:>7}  {threshold.action}" for threshold, span in pairs]


def _gate_lines(gate: Gate) -> list[str]:
    lines = [f"{gate.id} {gate.type:4}  {gate.trigger}"]
    lines += [f"  check    {check}" for check in gate.checks]
    lines += [f"  {word:7}  {text}" for word, text in _branches(gate) if text]
    return lines


def _branches(gate: Gate) -> tuple[tuple[str, str], ...]:
    return ("on pass", gate.on_pass), ("on fail", gate.on_fail), ("action", gate.action)


def _rule_lines(rule: Rule) -> list[str]:
    name = rule.sign + rule.name
    return [f"{name:31} {rule.text}", f"  {rule.kept}"]


def _trigger_lines(triggers: Iterable[Trigger]) -> list[str]:
    return [
        f"{_on_or_off(trigger.on)} {trigger.name:18}  {trigger.metric:8}  {trigger.when:29}  "
        f"{trigger.action}"
        for trigger in triggers
    ]


def _tree_lines(tree: Iterable[TreeQuestion]) -> list[str]:
    lines: list[str] = []
    for number, node in enumerate(tree, 1):
        lines += [f"{number}. {node.moment}", f"   {node.question}"]
        lines += [f"   {row.when:18} → {row.then}" for row in node.branches]
    return lines


def _always_lines(item: PreservedItem) -> list[str]:
    own = "" if item.built_in else " (yours)"
    return [f"{_on_or_off(item.on)} {item.name:18}  {item.text}{own}", f"  {item.rationale}"]


def _compactable_lines(rows: Iterable[CompactableKind]) -> list[str]:
    return [
        f"{_on_or_off(row.on)} {row.name:20}  {row.when:24}  → {row.replacement}" for row in rows
    ]


def _on_or_off(on: bool) -> str:
    return "on " if on else "off"


def _sequence_lines(phases: Iterable[Phase]) -> list[str]:
    lines: list[str] = []
    for number, phase in enumerate(phases, 1):
        lines += [f"{number}. {phase.name}", *(f"   {check.what}" for check in phase.checks)]
    return lines


def render_xml(gates: Iterable[Gate]) -> str:
    """Render the gates as `<stop-hook>` elements."""
    return "\n\n".join("\n".join(_stop_hook_element(gate)) for gate in gates)


def _stop_hook_element(gate: Gate) -> list[str]:
    lines = [f'<stop-hook id="{_escape_xml(gate.id)}" type="{_escape_xml(gate.type)}">']
    lines.append(_leaf("trigger", gate.trigger))
    if gate.checks:
        checks = ("  " + _leaf("check", check) for check in gate.checks)
        lines += ["  <validation>", *checks, "  </validation>"]
    named = (("on-pass", gate.on_pass), ("on-fail", gate.on_fail), ("action", gate.action))
    lines += [_leaf(name, text) for name, text in named if text]
    return [*lines, "</stop-hook>"]


def _leaf(name: str, text: str) -> str:
    return f"  <{name}>{_escape_xml(text)}</{name}>"


def _escape_xml(text: str) -> str:
    """Escape a text for XML; a lone `>` stays, because the protocol writes it unescaped."""
    for plain, code in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;"), ("]]>", "]]&gt;")):
        text = text.replace(plain, code)
    return text


# Metrics of summaries, and the phases and preserved items as text.


COUNTED_KINDS = (*KIND_BY_STEP.values(), "tool_inputs", "words")
"""Checks that only count what leaves the window and cannot fail."""


class Metrics(Struct, frozen=True):
    """How the summaries of a session did against the protocol's targets."""

    summaries: int = 0
    before: int = 0
    """Tokens of the windows before the summaries, summed."""
    after: int = 0
    ratio: float | None = None
    """Average size after a summary as a share of the size before; the target is below one half."""
    halved: int = 0
    """Summaries that met the target for `ratio`."""
    recovery: float | None = None
    """Share of summaries whose hidden entries can all be read back; the target is 1."""
    preservation: float | None = None
    """Share of checks of preserved items that passed; the target is 1."""
    failures: int = 0
    """Failed recoveries."""


def metrics_of(entries: Iterable[Entry]) -> Metrics:
    """Compute the metrics of a session; a metric that was never measured is None."""
    all_entries = list(entries)
    compressions = [entry.body for entry in all_entries if isinstance(entry.body, Compressed)]
    summaries = [body for body in compressions if body.summary is not None and body.before]
    failed = sum(is_note(entry.body, RecoveryFailed) for entry in all_entries)
    before, after = sum(body.before for body in summaries), sum(body.after for body in summaries)
    recovered = [
        check.holds for body in summaries for check in checks_named(body.phases, CHECK_RECOVERY)
    ]
    preserved = [check.holds for body in summaries for check in preserved_checks(body.phases)]
    return Metrics(
        summaries=len(summaries),
        before=before,
        after=after,
        ratio=round(after / before, 4) if before else None,
        halved=sum(is_halved(body.before, body.after) for body in summaries),
        recovery=_share_true([*recovered, *([False] * failed)]),
        preservation=_share_true(preserved),
        failures=failed,
    )


def _share_true(results: Sequence[bool]) -> float | None:
    return round(sum(results) / len(results), 4) if results else None


def is_halved(before: int, after: int) -> bool:
    """Return whether a window shrank to less than half of its size."""
    return after * 100 < TARGET_PERCENT * before


def render_phases(phases: Iterable[Phase]) -> list[str]:
    """Render the phases as lines; a failed check is marked `NO`."""
    lines: list[str] = []
    for number, phase in enumerate(phases, 1):
        lines.append(f"{number}. {phase.name}")
        lines += [
            f"   {_mark(check)}  {check.what:22}  {check.detail}".rstrip() for check in phase.checks
        ]
    return lines


def _mark(check: Check) -> str:
    """Return the mark of a check; none for checks that only count."""
    if check.what in COUNTED_KINDS:
        return "   "
    return "yes" if check.holds else "NO "


def render_preserved_items(items: Sequence[PreservedState]) -> list[str]:
    """Render preserved items as rows: status, place and detail of each."""
    name_width = max((len(item.item) for item in items), default=0)
    places = [item.where if item.status != UNUSED else "-" for item in items]
    place = min(max(map(len, places), default=0), 40)
    return [
        f"{item.item:{name_width}}  {item.status:7}  {where:{place}}  {item.detail}".rstrip()
        for item, where in zip(items, places, strict=True)
    ]
