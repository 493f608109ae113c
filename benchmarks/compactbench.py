"""Do rules, decisions and names keep their places through summary after summary?

The starter templates of the public benchmark `compactbench`: a rule said once among small talk, a
decision that another takes the place of, two people with a task each, a rule that is only pointed
at later. Each conversation is compacted, goes on a little, and is compacted again, five times over.

The benchmark has a model answer questions from the artifact. Here nobody answers: what the
benchmark knows to be true is looked for in the section of the artifact where it belongs, with the
benchmark's own comparison of texts, and what was retired must stand in no other. Its own items are
scored as well, with the section that a question is about as the answer.

    pip install compactbench
"""

import asyncio
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.data import data_folder
from benchmarks.table import print_table

if TYPE_CHECKING:
    from compactbench.contracts import CompactionArtifact, GeneratedCase, Transcript
    from compactbench.dsl import TemplateDefinition

    from benchmarks.compactor import Stateless

SEEDS = 10
"""Cases of a template at a level; those that contradict themselves are left out."""
CYCLES = 5
"""How often a conversation goes on and is compacted again."""
LEVELS = ("easy", "medium", "hard")
REPLY = "Noted. I keep to what was agreed, and go on from there."
"""What an agent that says nothing of substance answers."""


class Cycle(NamedTuple):
    """One artifact: which checks it failed, and what its items scored."""

    method: str
    family: str
    level: str
    number: int
    checks: dict[str, bool]
    score: float
    case: str


def run() -> None:
    """Print the tables."""
    folder = data_folder()
    suite = folder / "compactbench" if folder else None
    if suite is None or not suite.is_dir():
        print("compactbench: no templates here (set HOLDFAST_DATA)")
        return
    if find_spec("compactbench") is None:
        print("compactbench: left out: compactbench is not installed")
        return
    from compactbench.dsl import load_suite

    from benchmarks.compactor import Kept, Stateless

    methods = {"compress, fed its own output": Stateless, "a session": Kept}
    templates = load_suite(suite)
    cycles = [
        cycle
        for name, method in methods.items()
        for template in templates
        for cycle in _cycles(name, method, template)
    ]
    families = [template.family for template in templates]
    for name in methods:
        made = [cycle for cycle in cycles if cycle.method == name]
        _print(name, families, made)
    _print_failed(cycles)


def _print_failed(cycles: Iterable[Cycle]) -> None:
    """Which kinds of checks failed, in how many artifacts, with one of them."""
    failed: dict[tuple[str, str, str], list[str]] = {}
    for cycle in cycles:
        for check, held in cycle.checks.items():
            if not held:
                kind = (cycle.method, cycle.family.replace("_", " "), check.partition(":")[0])
                failed.setdefault(kind, []).append(f"{check} (cycle {cycle.number})")
    print_table(
        "Failed checks",
        ("method", "family", "check", "artifacts", "the first"),
        [(*kind, len(found), found[0]) for kind, found in failed.items()],
    )


def _print(name: str, families: Iterable[str], cycles: list[Cycle]) -> None:
    """One method: artifacts in which every check held, by family, level and cycle."""
    rows: list[tuple[object, ...]] = []
    for family in families:
        of_family = [cycle for cycle in cycles if cycle.family == family]
        for level in LEVELS:
            made = [cycle for cycle in of_family if cycle.level == level]
            held = (
                _held(cycle for cycle in made if cycle.number == number)
                for number in range(CYCLES + 1)
            )
            score = fmean(cycle.score for cycle in made)
            cases = len(made) // (CYCLES + 1)
            rows.append((family.replace("_", " "), level, cases, *held, f"{score:.3f}"))
    print_table(
        f"compactbench, {name}: artifacts with everything in its place",
        (
            "family",
            "difficulty",
            "cases",
            "at first",
            *(f"cycle {n + 1}" for n in range(CYCLES)),
            "items",
        ),
        rows,
    )


def _held(cycles: Iterable[Cycle]) -> str:
    return f"{fmean(all(cycle.checks.values()) for cycle in cycles):.0%}"


def _cycles(
    name: str, method: "type[Stateless]", template: "TemplateDefinition"
) -> Iterator[Cycle]:
    from compactbench.dsl import DifficultyLevel
    from compactbench.engine import derive_case_seed, generate_case

    for level in map(DifficultyLevel, LEVELS):
        for slot in range(SEEDS):
            seed = derive_case_seed(f"starter@{template.version}", "default", slot)
            case = generate_case(template, seed, level)
            if not _makes_sense(case):
                continue
            artifacts = asyncio.run(_compacted(case, method()))
            for number, artifact in enumerate(artifacts):
                checks = dict(_checks(case, artifact))
                score = _score(case, artifact)
                yield Cycle(name, template.family, level.value, number, checks, score, case.case_id)


def _makes_sense(case: "GeneratedCase") -> bool:
    """Whether the dice did not decide what they forbid, or make one person of two."""
    truth = case.ground_truth
    apart = set(truth.locked_decisions).isdisjoint(truth.forbidden_behaviors)
    tasks = [fact.rpartition(": ")[2] for fact in truth.immutable_facts]
    people = 2 if case.template_key.startswith("entity_confusion") else 1
    return apart and len(set(tasks)) == len(tasks) and len(truth.entity_map) == people


async def _compacted(case: "GeneratedCase", compactor: "Stateless") -> "list[CompactionArtifact]":
    """The artifact of each cycle; between two the user asks on, and is answered."""
    transcript, made = case.transcript, list["CompactionArtifact"]()
    for number in range(CYCLES + 1):
        if number:
            transcript = _went_on(transcript, case.seed, number)
        made.append(await compactor.compact(transcript))
    return made


def _went_on(transcript: "Transcript", seed: int, number: int) -> "Transcript":
    from compactbench.contracts import Transcript, Turn, TurnRole
    from compactbench.runner.continuation import select_continuation_prompt

    at = len(transcript.turns)
    asked = Turn(id=at, role=TurnRole.USER, content=select_continuation_prompt(seed, number))
    answered = Turn(id=at + 1, role=TurnRole.ASSISTANT, content=REPLY)
    return Transcript(turns=[*transcript.turns, asked, answered])


def _checks(case: "GeneratedCase", artifact: "CompactionArtifact") -> Iterator[tuple[str, bool]]:
    """What is true of a case, and whether it stands where it belongs."""
    truth, state = case.ground_truth, artifact.structured_state
    retired = set(truth.forbidden_behaviors) if truth.locked_decisions else set[str]()
    for decision in truth.locked_decisions:
        yield f"decided: {decision}", _stands(decision, state.locked_decisions)
    for behavior in truth.forbidden_behaviors:
        yield f"forbidden: {behavior}", _stands(behavior, state.forbidden_behaviors)
        yield f"not decided: {behavior}", not _stands(behavior, state.locked_decisions)
    for behavior in retired:
        yield f"not a fact: {behavior}", not _stands(behavior, state.immutable_facts)
    for decision in truth.locked_decisions:
        yield f"not forbidden: {decision}", not _stands(decision, state.forbidden_behaviors)
    for entity in truth.entity_map:
        yield f"named: {entity}", entity in state.entity_map
    tasks = dict(fact.split(" owns: ") for fact in truth.immutable_facts if " owns: " in fact)
    for owner, own in tasks.items():
        role = [state.entity_map.get(owner, "")]
        right = all(_stands(task, role) == (task == own) for task in tasks.values())
        yield f"{owner} owns: {own}", right
    for fact in truth.immutable_facts:
        what = fact.rpartition(": ")[2]
        known = (*state.immutable_facts, *state.locked_decisions)
        yield f"known: {fact}", _stands(what, known)


def _stands(what: str, rows: Iterable[str]) -> bool:
    from compactbench.scoring import contains_normalized

    return any(contains_normalized(what, row) for row in rows)


def _score(case: "GeneratedCase", artifact: "CompactionArtifact") -> float:
    """The benchmark's own score of a cycle, contradictions taken off."""
    from compactbench.scoring import contradiction_rate, score_item

    answers = {
        item.key: _answer(item.item_type.value, item.prompt, item.expected["check"], artifact)
        for item in case.evaluation_items
    }
    scores = [score_item(item, answers[item.key]) for item in case.evaluation_items]
    total = sum(score.score * score.weight for score in scores)
    share = total / sum(score.weight for score in scores)
    return share * (1 - contradiction_rate(case.evaluation_items, answers, case.ground_truth))


def _answer(kind: str, prompt: str, check: str, artifact: "CompactionArtifact") -> str:
    """The part of an artifact that a question is about."""
    state = artifact.structured_state
    asked = [row for name, row in state.entity_map.items() if name in prompt]
    match kind:
        case "locked_decision_retention":
            return "\n".join((*state.locked_decisions, *state.forbidden_behaviors))
        case "forbidden_behavior_retention" if check == "contains_normalized":
            return "\n".join(state.forbidden_behaviors)
        case "forbidden_behavior_retention" if asked:
            return "\n".join(asked[:1])
        case "entity_integrity":
            return "\n".join(asked or (f"{k}: {v}" for k, v in state.entity_map.items()))
        case _:
            return "\n".join(state.locked_decisions)
