import pytest
from msgspec.structs import replace

from holdfast.core.compress import at_birth
from holdfast.core.ledger.entry import Compressed, Step, ToolReturned
from holdfast.core.ledger.head import AT_BIRTH
from holdfast.core.ledger.window import Item
from holdfast.core.plan.large import may_be_large
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import Offload, Policy
from holdfast.core.shrink.step import ShrinkContext, no_address
from tests.core.building import (
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
    words,
)

LARGE = replace(NO_TAIL, offload=Offload(above=500, share=0, sweep=300))
MEANS = ShrinkContext(words, no_address, NO_TAIL)
BIG = lines(400)


def born(*messages: Told, policy: Policy = LARGE, sent: int = 2) -> Candidate | None:
    now = state(items(*messages), policy=policy, sent=sent)
    return at_birth(now, ShrinkContext(words, no_address, policy))


LEAVES = [("offload", named(3))]


@pytest.mark.seed("R040", "R041", "R050", "R051", "R223")
def test_a_large_result_leaves_before_it_is_sent() -> None:
    made = born(ask("Go."), bash("a", "show"), back("a", BIG))
    assert made is not None and made.body is not None
    (step,) = made.body.steps
    assert isinstance(step.stand_in, ToolReturned)
    assert step == Step(
        hides=(named(3),),
        reason="a result of 800 tokens",
        stand_in=step.stand_in,
        tier=1,
        before=800,
        after=words(step.stand_in.output),
        kind="offload",
    )
    saved = step.before - step.after
    assert made.body == Compressed(
        steps=(step,),
        generation=0,
        watermark=3,
        trigger=AT_BIRTH,
        before=803,
        after=803 - saved,
        raw=803 - saved,
    )
    assert (made.plan.verdict, made.losses) == ("apply", ())


def test_what_was_never_sent_leaves_at_no_cost() -> None:
    made = born(ask("Go."), bash("a", "show"), back("a", BIG))
    assert made is not None and made.body is not None
    (step,) = made.body.steps
    assert made.plan.bill.cost == pytest.approx(-1.25 * (step.before - step.after))


@pytest.mark.parametrize(
    ("asked", "output", "policy"),
    [
        pytest.param(bash("a", "show"), lines(250), LARGE, id="on the bound"),
        pytest.param(call("a", "Skill", name="x"), BIG, LARGE, id="never"),
        pytest.param(
            call("a", "Read", file_path="a.py", offset=1, limit=400), BIG, LARGE, id="a page"
        ),
        pytest.param(bash("a", "sed -n 1,400p a.py"), BIG, LARGE, id="a page by the shell"),
        pytest.param(bash("a", "holdfast recover 0123456789ab"), BIG, LARGE, id="recovered"),
        pytest.param(
            call("a", "Read", file_path=".holdfast/cache/offloaded/x.md"), BIG, LARGE, id="a copy"
        ),
        pytest.param(bash("srvtoolu_1", "show"), BIG, LARGE, id="the provider's own"),
        pytest.param(
            bash("a", "show"),
            BIG,
            replace(LARGE, offload=Offload(above=10, tools=("Bash=900",))),
            id="a bound of its own",
        ),
    ],
)
def test_what_stays_as_it_came(asked: Told, output: str, policy: Policy) -> None:
    name = getattr(asked, "call", "a")
    assert born(ask("Go."), asked, back(name, output), policy=policy) is None


def test_a_whole_file_leaves_and_a_tool_may_have_a_lower_bound() -> None:
    whole = (ask("Go."), call("a", "Read", file_path="a.py"), back("a", BIG))
    assert steps_of(born(*whole)) == LEAVES
    lower = replace(LARGE, offload=Offload(above=9_000, tools=("Re*=700",)))
    assert steps_of(born(*whole, policy=lower)) == LEAVES


def test_what_was_sent_or_brought_back_by_the_user_does_not_leave_by_itself() -> None:
    shown = items(ask("Go."), bash("a", "show"), back("a", BIG))
    assert at_birth(state(shown, policy=LARGE, sent=3), MEANS) is None
    spared = state(shown, policy=LARGE, sent=2, spared=frozenset({named(3)}))
    assert at_birth(spared, MEANS) is None


def test_a_result_that_answers_no_call_in_sight_stays() -> None:
    assert born(ask("Go."), answer("Yes."), back("z", BIG)) is None


def test_bytes_alone_tell_what_cannot_be_large() -> None:
    limit = 1_000
    (item,) = items(back("a", "x" * 500))
    assert not may_be_large(item, LARGE, limit)
    (item,) = items(back("a", "x" * 501))
    assert may_be_large(item, LARGE, limit)
    assert not may_be_large(Item(item.entry, (item.entry.id,), item.body), LARGE, limit)
    assert not may_be_large(items(ask("x" * 500))[0], LARGE, limit)
    assert may_be_large(items(ask("x" * 900))[0], LARGE, limit)
    assert not may_be_large(items(answer("x" * 900))[0], LARGE, limit)
    lower = replace(LARGE, offload=Offload(above=900, tools=("Bash=400", "Odd=many")))
    assert may_be_large(item, lower, 100_000)
    by_share = replace(LARGE, offload=Offload(above=900, share=50, sweep=300))
    assert may_be_large(item, by_share, limit)
    assert not may_be_large(item, by_share, 2 * limit)


def test_in_a_small_window_a_smaller_result_is_large_unless_a_file_was_read() -> None:
    share = replace(LARGE, offload=Offload(above=2_000, share=40, sweep=300))
    shown = (ask("Go."), bash("a", "show"), back("a", BIG))
    assert steps_of(born(*shown, policy=share)) == LEAVES
    read = (ask("Go."), call("a", "Read", file_path="a.py"), back("a", BIG))
    assert born(*read, policy=share) is None
