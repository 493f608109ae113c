"""The rules in force as a person reads them, and the gates in the protocol's own XML."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Entry, Noted
from holdfast.core.ledger.summary import HALF, INTACT, RECOVERY, Check, Phase
from holdfast.core.plan.preserve import KIND_OF, UNUSED, Always, Compactable, Held
from holdfast.core.plan.rules import Gate, Question, Rule, Rules, Trigger


class Shown(Struct, frozen=True):
    """A value in force, and where it came from."""

    name: str
    value: str
    origin: str


def render_rules(rules: Rules, values: Sequence[Shown]) -> str:
    """The rules as text: values and where they come from, then what follows from them."""
    sections = (
        ("Values in force", _values(values)),
        ("Levels", _levels(rules)),
        ("Gates", [line for gate in rules.gates for line in _gate(gate)]),
        ("Rules", [line for rule in rules.rules for line in _rule(rule)]),
        ("Triggers", _triggers(rules.triggers)),
        ("Decision tree", _tree(rules.tree)),
        ("Always preserved", [line for one in rules.always_preserve for line in _always(one)]),
        ("Compactable", _compactable(rules.compactable)),
        ("Truth hierarchy", [f"{one.rank}. {one.source:10}  {one.kept}" for one in rules.truth]),
        ("Sequence", _sequence(rules.sequence)),
    )
    parts = ["## Context Rules"]
    for title, lines in sections:
        if lines:
            parts += ["", f"### {title}", *lines]
    return "\n".join(parts)


LONGEST = 60
"""Characters of a value; `config show` has the whole of it."""


def _values(values: Sequence[Shown]) -> list[str]:
    name = max((len(one.name) for one in values), default=0)
    value = min(max((len(one.value) for one in values), default=0), 24)
    return [f"{one.name:{name}}  {_cut(one.value):{value}}  {one.origin}" for one in values]


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…"


def _levels(rules: Rules) -> list[str]:
    ends = [f"< {one.start}%" for one in rules.thresholds[1:]]
    spans = [*ends, f"{rules.thresholds[-1].start}% up"]
    pairs = zip(rules.thresholds, spans, strict=True)
    return [f"{one.level:8}  {span:>7}  {one.action}" for one, span in pairs]


def _gate(gate: Gate) -> list[str]:
    lines = [f"{gate.id} {gate.type:4}  {gate.trigger}"]
    lines += [f"  check    {check}" for check in gate.checks]
    lines += [f"  {word:7}  {text}" for word, text in _branches(gate) if text]
    return lines


def _branches(gate: Gate) -> tuple[tuple[str, str], ...]:
    return ("on pass", gate.on_pass), ("on fail", gate.on_fail), ("action", gate.action)


def _rule(rule: Rule) -> list[str]:
    name = rule.sign + rule.name
    return [f"{name:31} {rule.text}", f"  {rule.kept}"]


def _triggers(triggers: Iterable[Trigger]) -> list[str]:
    return [
        f"{'on ' if one.on else 'off'} {one.name:18}  {one.metric:8}  {one.when:29}  {one.action}"
        for one in triggers
    ]


def _tree(tree: Iterable[Question]) -> list[str]:
    lines: list[str] = []
    for number, one in enumerate(tree, 1):
        lines += [f"{number}. {one.moment}", f"   {one.question}"]
        lines += [f"   {row.when:18} → {row.then}" for row in one.branches]
    return lines


def _always(one: Always) -> list[str]:
    own = "" if one.built_in else " (yours)"
    return [f"{_on(one.on)} {one.name:18}  {one.text}{own}", f"  {one.rationale}"]


def _compactable(rows: Iterable[Compactable]) -> list[str]:
    return [f"{_on(one.on)} {one.name:20}  {one.when:24}  → {one.replacement}" for one in rows]


def _on(on: bool) -> str:
    return "on " if on else "off"


def _sequence(phases: Iterable[Phase]) -> list[str]:
    lines: list[str] = []
    for number, phase in enumerate(phases, 1):
        lines += [f"{number}. {phase.name}", *(f"   {check.what}" for check in phase.checks)]
    return lines


def render_xml(gates: Iterable[Gate]) -> str:
    """The gates as `<stop-hook>` elements."""
    return "\n\n".join("\n".join(_element(gate)) for gate in gates)


def _element(gate: Gate) -> list[str]:
    lines = [f'<stop-hook id="{_escaped(gate.id)}" type="{_escaped(gate.type)}">']
    lines.append(_leaf("trigger", gate.trigger))
    if gate.checks:
        checks = ("  " + _leaf("check", check) for check in gate.checks)
        lines += ["  <validation>", *checks, "  </validation>"]
    named = (("on-pass", gate.on_pass), ("on-fail", gate.on_fail), ("action", gate.action))
    lines += [_leaf(name, text) for name, text in named if text]
    return [*lines, "</stop-hook>"]


def _leaf(name: str, text: str) -> str:
    return f"  <{name}>{_escaped(text)}</{name}>"


def _escaped(text: str) -> str:
    """Text as XML has it; a lone `>` may stand, and the protocol writes it so."""
    for plain, code in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;"), ("]]>", "]]&gt;")):
        text = text.replace(plain, code)
    return text


# The four phases and what is preserved, as a reader gets them; and the metrics over them.


KINDS = (*KIND_OF.values(), "tool_inputs", "words")
"""What is counted where things leave."""


class Metrics(Struct, frozen=True):
    """How the summaries of a session did, against the protocol's targets."""

    summaries: int = 0
    before: int = 0
    """Tokens of the windows before them, in all."""
    after: int = 0
    ratio: float | None = None
    """What is left of a window on average; the target is below one half."""
    halved: int = 0
    """Summaries that met it."""
    recovery: float | None = None
    """The share of summaries all of whose hidden entries read back; the target is 1."""
    preservation: float | None = None
    """The share of checks of preserved items that held; the target is 1."""
    failures: int = 0
    """Times that something could not be brought back."""


def metrics_of(entries: Iterable[Entry]) -> Metrics:
    """The metrics of a session; what was never measured is None."""
    known = list(entries)
    made = [entry.body for entry in known if isinstance(entry.body, Compressed)]
    sums = [body for body in made if body.summary is not None and body.before]
    failed = sum(isinstance(e.body, Noted) and e.body.what == "recovery_failed" for e in known)
    before, after = sum(body.before for body in sums), sum(body.after for body in sums)
    recovered = [check.holds for body in sums for check in checks_named(body.phases, RECOVERY)]
    kept = [check.holds for body in sums for check in preserved_checks(body.phases)]
    return Metrics(
        summaries=len(sums),
        before=before,
        after=after,
        ratio=round(after / before, 4) if before else None,
        halved=sum(halves(body.before, body.after) for body in sums),
        recovery=_share([*recovered, *([False] * failed)]),
        preservation=_share(kept),
        failures=failed,
    )


def _share(held: Sequence[bool]) -> float | None:
    return round(sum(held) / len(held), 4) if held else None


def halves(before: int, after: int) -> bool:
    """Whether a window came down to less than half of what it was."""
    return after * 100 < HALF * before


def checks_named(phases: Iterable[Phase], what: str) -> list[Check]:
    """The checks of that name."""
    return [check for phase in phases for check in phase.checks if check.what == what]


def preserved_checks(phases: Sequence[Phase]) -> list[Check]:
    """The checks of preserved items: that each was there, and that they are intact after."""
    return [*(phases[0].checks if phases else ()), *checks_named(phases, INTACT)]


def render_phases(phases: Iterable[Phase]) -> list[str]:
    """The phases as lines; what does not hold says so."""
    lines: list[str] = []
    for number, phase in enumerate(phases, 1):
        lines.append(f"{number}. {phase.name}")
        lines += [f"   {_mark(one)}  {one.what:22}  {one.detail}".rstrip() for one in phase.checks]
    return lines


def _mark(check: Check) -> str:
    """Whether a check holds; what leaves is only counted."""
    if check.what in KINDS:
        return "   "
    return "yes" if check.holds else "NO "


def render_held(held: Sequence[Held]) -> list[str]:
    """Preserved items as rows: how each was found, and where."""
    wide = max((len(one.item) for one in held), default=0)
    places = [one.where if one.status != UNUSED else "-" for one in held]
    place = min(max(map(len, places), default=0), 40)
    return [
        f"{one.item:{wide}}  {one.status:7}  {where:{place}}  {one.detail}".rstrip()
        for one, where in zip(held, places, strict=True)
    ]
