"""Whether a result is large: one decision, whoever asks."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.compress import at_birth
from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.measure.tokens import count_body, estimate_tokens
from holdfast.core.plan.large import is_large
from holdfast.core.plan.policy import COMPACTABLE, Offload, Policy, Preservation
from holdfast.core.shrink.step import ShrinkContext, no_address
from holdfast.surfaces.hooks.events.tool_result import large_tokens
from tests.core.building import NO_TAIL, ask, back, bash, call, items, lines, state
from tests.examples import examples

CALLS = [
    bash("a", "show"),
    bash("a", "sed -n 1,400p a.py"),
    bash("a", "holdfast recover 0123456789ab"),
    bash("a", "cat a.py"),
    call("a", "Read", file_path="a.py"),
    call("a", "Read", file_path="a.py", offset=1, limit=400),
    call("a", "Skill", name="x"),
    call("a", "Grep", pattern="x"),
]

TOOLS = ["Ba*=300", "Read=50", "Odd=many"]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    offload = Offload(
        above=draw(st.integers(0, 900)),
        share=0,
        tools=tuple(draw(st.lists(st.sampled_from(TOOLS), max_size=2))),
    )
    kinds = tuple(draw(st.lists(st.sampled_from(COMPACTABLE), unique=True)))
    return replace(NO_TAIL, offload=offload, preservation=Preservation(compactable=kinds))


@settings(max_examples=examples(200))
@given(asked=st.sampled_from(CALLS), rows=st.integers(1, 400), policy=policies())
def test_a_hook_decides_like_the_engine_when_the_count_is_the_same(
    asked: ToolCalled, rows: int, policy: Policy
) -> None:
    result = back("a", lines(rows))
    shown = items(ask("Go."), asked, result)
    counts = {item.entry.seq: count_body(item.body, estimate_tokens) for item in shown}
    now = replace(state(shown, policy=policy, sent=2), counts=counts)
    leaves = at_birth(now, ShrinkContext(estimate_tokens, no_address, policy)) is not None
    tokens = large_tokens(asked, result, policy)
    assert bool(tokens) == leaves
    assert leaves == is_large(asked, result, policy, now.limit, estimate_tokens(result.output))
    assert tokens in (0, estimate_tokens(result.output))
