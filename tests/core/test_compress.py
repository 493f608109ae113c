from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from holdfast.core.apply import items_after
from holdfast.core.compress import plan_batch, plan_to_budget
from holdfast.core.ledger.entry import Compressed, Thought, ToolCalled, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.due import Due
from holdfast.core.plan.plan import Candidate, Plan
from holdfast.core.plan.policy import BatchRules, DueAt, Offload, Tail
from holdfast.core.plan.state import State
from holdfast.core.shrink.step import ShrinkContext, no_address
from tests.core.building import (
    BOUND,
    NO_TAIL,
    Told,
    answer,
    ask,
    back,
    bash,
    call,
    items,
    lines,
    named,
    state,
    steps_of,
    thought,
    words,
)

LARGE = replace(NO_TAIL, offload=Offload(above=500, share=0, sweep=300))
MEANS = ShrinkContext(words, no_address, NO_TAIL)
BIG = lines(400)


def turn(number: int, size: int = 100) -> list[Told]:
    """A turn with its answer: an intermediate result of twice so many words."""
    return [
        ask(f"Part {number}?"),
        bash(f"c{number}", f"show {number}"),
        back(f"c{number}", lines(size, f"p{number}")),
        answer(f"Part {number} is fine."),
    ]


def turns(count: int, size: int = 100) -> list[Item]:
    return items(*[message for number in range(count) for message in turn(number, size)])


WEIGH, FORCE = Due("weigh", "because"), Due("force", "because")


def made(shown: Sequence[Item], due: Due, *, limit: int = 1_000, **batched: int) -> Candidate:
    policy = replace(NO_TAIL, batch=BatchRules(**batched))
    return plan_batch(
        state(shown, limit=limit, policy=policy), ShrinkContext(words, no_address, policy), due
    )


@pytest.mark.seed("R119", "R133", "R136")
def test_a_batch_that_pays_is_one_entry_that_names_all_it_hides() -> None:
    shown = turns(6)
    came = made(shown, WEIGH, requests=100)
    assert came.body is not None
    finished = [("intermediate", named(3 + 4 * number)) for number in range(5)]
    assert steps_of(came) == [*finished, ("mask", named(23))]
    saved = sum(step.before - step.after for step in came.body.steps)
    assert replace(came.body, steps=()) == Compressed(
        steps=(),
        generation=0,
        watermark=24,
        trigger="because",
        before=came.plan.before.tokens,
        after=came.plan.before.tokens - saved,
        raw=came.plan.before.tokens - saved,
    )
    after = items_after(shown, came.body.steps)
    assert sum(words(text_of(item.body)) for item in after) == came.body.raw
    assert [item.entry.id for item in after] == [item.entry.id for item in shown]
    assert came.plan.verdict == "apply"


def test_a_batch_is_put_off_where_nothing_pays() -> None:
    came = made(items(ask("Go."), answer("Yes.")), WEIGH)
    assert (came.body, came.plan.verdict, came.plan.reason) == (
        None,
        "nothing",
        "nothing in sight would pay for being changed",
    )


def test_a_batch_is_put_off_when_it_would_take_out_too_little() -> None:
    came = made(turns(6), WEIGH, limit=2_000, requests=100, reclaim=90)
    assert (came.body, came.plan.verdict) == (None, "postpone")
    assert came.plan.reason.endswith("% of the window, less than 90%")
    assert came.plan.after.tokens < came.plan.before.tokens


def test_a_batch_is_put_off_when_it_wins_too_little_for_what_it_costs() -> None:
    came = made([*turns(6)], WEIGH, limit=2_000, requests=10, reclaim=1, margin=100_000)
    assert (came.body, came.plan.verdict) == (None, "postpone")
    assert came.plan.reason == "it would win too little for what it costs at once"


@pytest.mark.seed("R098")
def test_a_critical_window_is_brought_down_to_between_its_first_two_bounds() -> None:
    shown = turns(6)
    full = state(shown).usage.tokens
    came = made(shown, FORCE, limit=full * 100 // 90, requests=1)
    assert came.body is not None
    assert came.plan.after.fraction <= 0.625


@pytest.mark.seed("R098")
def test_force_goes_on_to_what_is_recent_and_open_when_what_is_old_is_not_enough() -> None:
    shown = items(
        ask("Go."),
        bash("a", "make"),
        back("a", f"FAILED x\n{lines(300)}"),
        bash("b", "show"),
        back("b", lines(300)),
        answer("Hm."),
    )
    # Where tier 3 begins only with a full window, tiers 1 and 2 are alone.
    policy = replace(NO_TAIL, tail=Tail(percent=10, steps=9), at=DueAt(batch=0, summary=100))
    now = state(shown, limit=1_250, policy=policy)
    assert steps_of(plan_batch(now, MEANS, WEIGH)) == []
    assert [name for _, name in steps_of(plan_batch(now, MEANS, FORCE))] == [named(3), named(5)]


def test_a_critical_window_is_left_alone_when_it_would_be_full_again_at_once() -> None:
    shown = items(ask("word " * 900), bash("a", "ls"), back("a", lines(40)), answer("Hm."))
    came = made(shown, FORCE)
    assert (came.body, came.plan.verdict) == (None, "postpone")
    assert came.plan.reason == "all that may leave is less than 20% of the window"
    nothing = made(items(ask("word " * 900), answer("Hm.")), FORCE)
    assert (nothing.body, nothing.plan.reason) == (None, "nothing in sight may leave")


def to(shown: Sequence[Item], budget: int, now: State | None = None) -> Candidate:
    return plan_to_budget(now or state(shown), MEANS, budget, "asked")


def test_a_budget_is_kept_and_a_smaller_one_takes_more() -> None:
    shown = turns(6)
    whole = state(shown).usage.tokens
    taken: list[int] = []
    for budget in range(whole - 700, whole, 100):
        came = to(shown, budget)
        assert came.body is not None
        assert came.plan.after.tokens <= budget
        taken.append(len(came.body.steps))
    assert taken == sorted(taken, reverse=True)
    assert taken[-1] == 1


def test_a_window_within_its_budget_stays_and_says_so() -> None:
    shown = turns(2)
    usage = state(shown).usage
    came = to(shown, usage.tokens)
    assert came.body is None
    assert came.plan == Plan("asked", usage, usage, reason="the window is within its budget")


def test_a_budget_that_cannot_be_kept_gives_the_smallest_legal_window() -> None:
    shown = turns(3)
    came = to(shown, 1)
    assert came.body is not None
    assert came.plan.after.tokens > 1
    hidden = {name for step in came.body.steps for name in step.hides}
    assert hidden >= {named(3), named(7)}


@pytest.mark.seed("R005")
def test_what_is_surely_not_needed_leaves_first() -> None:
    shown = items(
        ask("Go."),
        bash("a", "show"),
        back("a", lines(200)),
        call("b", "Read", file_path="a.py"),
        back("b", lines(200)),
        call("c", "Read", file_path="a.py"),
        back("c", lines(200)),
        answer("Hm."),
    )
    whole = state(shown).usage.tokens
    assert steps_of(to(shown, whole - 10)) == [("read", named(5))]
    two = steps_of(to(shown, whole - 400))
    assert ("read", named(5)) in two and len(two) == 2


def sealed(*seals: str) -> list[Item]:
    """Finished turns, each with sealed thinking, and one under way."""
    messages: list[Told] = []
    for seal in seals:
        messages += [ask("Go on."), (thought("so it is " * 20, seal), answer("Yes."))]
    return items(*messages, ask("And?"), answer("Hm."))


def test_sealed_thinking_leaves_from_the_front() -> None:
    shown = sealed("S1", "S2", "S3")
    whole = state(shown).usage.tokens
    seals: list[list[str]] = []
    for budget in (whole - 1, whole - 61, whole - 121):
        came = to(shown, budget)
        assert came.body is not None
        after = items_after(shown, came.body.steps)
        seals.append([i.body.seal for i in after if isinstance(i.body, Thought)])
    assert seals == [["S2", "S3"], ["S3"], []]


def test_thinking_without_words_goes_with_what_stands_behind_it() -> None:
    shown = items(
        ask("One."),
        (thought("", "S1"), answer("Yes.")),
        ask("Two."),
        (thought("so it is", "S2"), answer("Yes.")),
        ask("And?"),
        answer("Hm."),
    )
    came = to(shown, state(shown).usage.tokens - 1)
    assert steps_of(came) == [("thinking", named(2)), ("thinking", named(5))]


def test_thinking_that_is_bound_keeps_all_that_stands_before_it() -> None:
    shown = items(*turn(1), ask("And?"), (thought("x", "S"), answer("y")))
    now = state(shown, model=BOUND, limit=10_000)
    assert steps_of(plan_batch(now, MEANS, FORCE)) == []
    assert ("intermediate", named(3)) in steps_of(plan_batch(state(shown), MEANS, FORCE))


def test_where_a_summary_stands_no_thinking_is_left_that_was_bound_to_what_it_hides() -> None:
    shown = items(*turn(1), ask("And?"), (thought("x", "S"), answer("y")))
    came = to(shown, 1, state(shown, model=BOUND))
    assert came.body is not None
    after = items_after(shown, came.body.steps)
    assert [item for item in after if isinstance(item.body, Thought)] == []


def test_the_same_window_gives_the_same_candidate() -> None:
    assert made(turns(6), WEIGH, requests=100) == made(turns(6), WEIGH, requests=100)
    assert to(turns(6), 300) == to(turns(6), 300)


@pytest.mark.seed("R003")
def test_the_first_request_stands_word_for_word_whatever_leaves() -> None:
    shown = turns(4)
    came = to(shown, 1)
    assert came.body is not None
    assert came.body.intent
    assert text_of(shown[0].body) in text_of(items_after(shown, came.body.steps)[0].body)


def test_a_plan_tells_what_each_step_is_about() -> None:
    came = made(turns(6), WEIGH, requests=100)
    first = came.plan.steps[0]
    assert (first.kind, first.tier, first.what, first.ref) == (
        "intermediate",
        2,
        "Bash show 0",
        named(3)[:12],
    )
    assert came.plan.before == Usage(came.plan.before.tokens, 1_000, "exact")


def test_half_of_a_character_in_a_write_does_not_keep_everything_else_in_sight() -> None:
    half = '{"file_path": "a", "content": "\\ud800 ' + "word " * 900 + '"}'
    wrote = (ask("Go."), ToolCalled("w", "Write", half), back("w", "ok"))
    shown = items(*wrote, *turn(1), ask("And?"), answer("Hm."))
    alone = state(shown, policy=replace(NO_TAIL, at=DueAt(summary=100)), limit=1_150)
    came = plan_batch(alone, MEANS, FORCE)
    assert came.losses == ()
    assert steps_of(came) == [("truncate", named(2)), ("intermediate", named(6))]
    summed = to(shown, 100)
    assert (summed.losses, steps_of(summed)) == ((), [("summary", named(1))])
