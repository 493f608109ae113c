"""What stands in for the bundled session's results and inputs, kept byte for byte.

An agent sees these texts: a change of them breaks the cache of every session under way, and has to
be meant. `python -m tests.goldens` writes them anew.
"""

import json
from pathlib import Path

from msgspec import to_builtins

from holdfast.core.apply import apply_choice
from holdfast.core.compress import plan_batch, plan_to_budget
from holdfast.core.ledger.entry import Step, text_of
from holdfast.core.plan.choose import price
from holdfast.core.plan.due import Due
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import BatchRules, Policy
from holdfast.core.plan.state import State, survey
from holdfast.core.shrink.step import ShrinkContext
from holdfast.engine.engine import Engine
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.transcripts.ingest import ingest
from tests.input.making import LEDGERLY

FOLDER = Path(__file__).parent / "data" / "golden"
POLICY = Policy(
    model="claude-sonnet-4-5",
    window=160_000,
    reserve=32_000,
    batch=BatchRules(requests=300, reclaim=5),
)
BUDGET = 40_000


def made() -> dict[str, Candidate]:
    """Plans for the bundled session: what pays, all of tiers 1 and 2, and a budget."""
    store = MemoryStore()
    name = ingest(LEDGERLY, store, policy=POLICY).session
    engine = Engine(Session(name, store, policy=POLICY).ledger)
    state, means = engine.state(), engine.shrink_context(POLICY)
    return {
        "batch": plan_batch(state, means, Due("weigh", "golden")),
        "all": _all(state, means),
        "budget": plan_to_budget(state, means, BUDGET, "golden"),
    }


def _all(state: State, means: ShrinkContext) -> Candidate:
    """Everything that tiers 1 and 2 could do at once, to what is recent as well."""
    looked = survey(state, means.count, deep=True)
    return apply_choice(state, means, looked, price(looked.proposals, looked.pricing), "golden")


def spelled(candidate: Candidate) -> str:
    """A plan and its stand-ins, as they are kept."""
    steps = candidate.body.steps if candidate.body is not None else ()
    plan = to_builtins(candidate.plan)
    kept = {
        "before": plan["before"],
        "after": plan["after"],
        "verdict": plan["verdict"],
        "steps": [_spelled(step) for step in steps],
    }
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def _spelled(step: Step) -> dict[str, object]:
    text = text_of(step.stand_in) if step.stand_in is not None else ""
    return {
        "hides": step.hides,
        "kind": step.kind,
        "tier": step.tier,
        "reason": step.reason,
        "before": step.before,
        "after": step.after,
        "stand_in": text.split("\n"),
    }


def path_of(name: str) -> Path:
    """Where a plan is kept."""
    return FOLDER / f"ledgerly_{name}.json"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, candidate in made().items():
        path_of(name).write_text(spelled(candidate), encoding="utf-8")


if __name__ == "__main__":
    main()
