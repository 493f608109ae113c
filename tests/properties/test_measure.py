"""How full a window is: the quick answer and the exact one name the same level."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.size import max_tokens
from holdfast.core.measure.tokens import count_body
from holdfast.core.plan.policy import Policy
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.properties.sessions import Message, any_history


@given(any_history, st.sampled_from(("gpt-4o", "claude-opus-4", "")), st.integers(40, 4_000))
def test_the_quick_answer_names_the_level_of_the_exact_one(
    drawn: tuple[str, list[Message]], model: str, window: int
) -> None:
    session = Session("s", MemoryStore(), policy=Policy(model=model, window=window))
    session.extend(drawn[1])
    assert session.status(quick=True).level == session.status().level


@given(any_history)
def test_no_body_has_more_tokens_than_can_be_told_without_counting(
    drawn: tuple[str, list[Message]],
) -> None:
    session = Session("s", MemoryStore())
    session.extend(drawn[1])
    count = counter("o200k_base")
    for item in session.ledger.window().items:
        assert count_body(item.body, count) <= max_tokens(item.body)


@given(any_history)
def test_an_entry_is_counted_once_in_its_life(drawn: tuple[str, list[Message]]) -> None:
    session = Session("s", MemoryStore())
    session.extend(drawn[1])
    head = session.ledger.head()
    counts = session.store.counts("s", head.vocabulary)
    assert sorted(counts) == list(range(1, head.seq + 1))
    assert head.lane("").tokens == sum(counts.values())
    assert session.ledger.head() == head
