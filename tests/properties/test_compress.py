"""Laws of compressing messages: whatever the history, the budget and the policy."""

from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import Policy
from tests.examples import examples
from tests.properties.laws import (
    MODELS,
    anchor_at,
    broken_laws,
    compressed,
    pieces,
    policies,
    sendable,
    size_of,
    spelled,
)
from tests.provider.histories import histories
from tests.provider.strict import WIRES, Bound

Message: TypeAlias = dict[str, Any]
Drawn: TypeAlias = tuple[str, list[Message], str]

percents = st.integers(0, 105)
FEW = settings(max_examples=examples(33))


def any_of(wires: tuple[str, ...] = tuple(WIRES)) -> st.SearchStrategy[Drawn]:
    """A wire, a history in it and a model that speaks it."""
    return st.sampled_from(wires).flatmap(
        lambda wire: st.tuples(st.just(wire), histories(wire), st.sampled_from(MODELS[wire]))
    )


@pytest.mark.seed("R004")
@FEW
@given(any_of(), percents, policies)
def test_compressing_breaks_no_request_and_loses_nothing(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    wire, messages, model = drawn
    budget = size_of(messages, model) * percent // 100
    made, refused = compressed(messages, budget, model=model, policy=policy)
    assert broken_laws(wire, messages, made) == []
    if refused is None:
        assert made.after.tokens <= budget
    else:
        assert (refused.floor, refused.budget) == (made.after.tokens, budget)
        assert made.after.tokens > budget
    assert size_of(made.messages, model) == made.after.tokens
    if made.before.tokens <= budget:
        assert (spelled(made.messages), made.steps) == (spelled(messages), ())


@FEW
@given(any_of(), percents, policies)
def test_compressing_again_changes_nothing(drawn: Drawn, percent: int, policy: Policy) -> None:
    _, messages, model = drawn
    budget = size_of(messages, model) * percent // 100
    once, _ = compressed(messages, budget, model=model, policy=policy)
    same, _ = compressed(messages, budget, model=model, policy=policy)
    assert spelled(same.messages) == spelled(once.messages)
    twice, _ = compressed(once.messages, budget, model=model, policy=policy)
    assert spelled(twice.messages) == spelled(once.messages)


@FEW
@given(any_of(), percents, policies, st.data())
def test_what_was_compressed_grows_and_is_compressed_again(
    drawn: Drawn, percent: int, policy: Policy, data: st.DataObject
) -> None:
    wire, messages, model = drawn
    budget = size_of(messages, model) * percent // 100
    once, _ = compressed(messages, budget, model=model, policy=policy)
    grown = [*once.messages, *data.draw(histories(wire))]
    less = size_of(grown, model) * data.draw(percents) // 100
    made, _ = compressed(grown, less, model=model, policy=policy)
    assert broken_laws(wire, grown, made) == []


@FEW
@given(any_of(), percents, policies)
def test_what_people_and_the_system_said_stands_word_for_word(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    wire, messages, model = drawn
    budget = size_of(messages, model) * percent // 100
    made, _ = compressed(messages, budget, model=model, policy=policy)
    at = anchor_at(messages, made.messages)
    kept = made.messages if at is None else made.messages[:at] + made.messages[at + 1 :]
    said = [one for one in pieces(wire, messages) if one.kind == "words"]
    stands = [one for one in pieces(wire, kept) if one.kind == "words"]
    lead = [one for one in pieces(wire, kept[: at or 0]) if one.kind == "words"]
    gone = said[len(lead) : len(said) - len(stands) + len(lead)]
    left = [one for one in said if one not in gone]
    assert [one.spelled for one in stands] == [one.spelled for one in left]
    assert at is not None or not gone
    whole = {made.read(ref) for ref in made.originals}
    texts = [sendable(one.text) for one in gone if one.text]
    assert [text for text in texts if text not in map(sendable, whole)] == []


@FEW
@given(histories("anthropic"), percents, policies, st.sampled_from(("claude-opus-5-5", "")))
def test_thinking_that_is_bound_is_never_parted_from_what_it_was_made_on(
    messages: list[Message], percent: int, policy: Policy, model: str
) -> None:
    budget = size_of(messages, model) * percent // 100
    made, _ = compressed(messages, budget, model=model, policy=policy)
    provider = Bound()
    first = provider.feed(messages)
    # A break that was there before may leave with what a summary stands for; none is added.
    assert set(provider.feed(made.messages)) <= set(first)
    signed = [one for one in pieces("anthropic", messages) if one.kind == "thinking"]
    kept = [one for one in pieces("anthropic", made.messages) if one.kind == "thinking"]
    gone = [] if anchor_at(messages, made.messages) is not None else signed
    assert [one.spelled for one in kept] == [one.spelled for one in gone]


@FEW
@given(any_of(), percents, policies)
def test_a_history_can_be_compressed_wherever_it_breaks_off(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    wire, messages, model = drawn
    for upto in range(1, len(messages) + 1):
        budget = size_of(messages[:upto], model) * percent // 100
        made, _ = compressed(messages[:upto], budget, model=model, policy=policy)
        assert broken_laws(wire, messages[:upto], made) == []


def test_thinking_without_words_leaves_with_what_comes_after_it() -> None:
    def step(thought: str, seal: str, said: str) -> Message:
        thinking = {"type": "thinking", "thinking": thought, "signature": seal}
        return {"role": "assistant", "content": [thinking, {"type": "text", "text": said}]}

    messages: list[Message] = [
        {"role": "user", "content": "one"},
        step("", "S0", "a"),
        {"role": "user", "content": "two"},
        step("So it is, and that is that.", "S1", "b"),
        {"role": "user", "content": "three"},
        {"role": "assistant", "content": [{"type": "text", "text": "c"}]},
    ]
    made, refused = compressed(messages, 10, model="claude-opus-4-6")
    assert broken_laws("anthropic", messages, made) == []
    assert size_of(made.messages) == made.after.tokens
    assert refused is None
