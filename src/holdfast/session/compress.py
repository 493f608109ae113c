"""Compress a list of messages without a session, files or a model; deterministic."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.compress import plan_to_budget
from holdfast.core.measure.tokens import CountTokens, check_token_count
from holdfast.core.plan.policy import Policy
from holdfast.engine.engine import Engine, Outcome
from holdfast.engine.fault_log import noting_faults
from holdfast.engine.intake import Message
from holdfast.engine.live_window import message_dicts
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import encode


def compress(
    messages: Iterable[Message],
    budget: int,
    *,
    system: object = None,
    tools: object = None,
    model: str | None = None,
    policy: Policy | None = None,
    wire: str | None = None,
) -> Outcome:
    """Bring messages under a budget of tokens, without session, files or model; deterministic.

    Raises:
        NothingToShrink: the budget cannot be reached; its `outcome` is the smallest legal window.
        Unreadable: one of them is no message.
        BadSetting: the budget is no number of tokens.
    """
    check_token_count("budget", budget)
    chosen = replace(policy or Policy(), model=model or (policy or Policy()).model)
    session = Session("compress", MemoryStore(), policy=chosen, wire=wire or "")
    session.extend(messages)
    engine = Engine(session.ledger)
    state = engine.state()
    fixed = _fixed_tokens(system, tools, engine.shrink_context(state.policy).count)
    # Tokens of the vocabulary are exact, so the budget is too.
    exact = replace(state, model=replace(state.model, exact=True), limit=budget, fixed_tokens=fixed)
    context = engine.shrink_context(state.policy)
    if exact.usage.tokens <= budget:
        return Outcome(
            message_dicts(session.ledger.live_window.messages()), exact.usage, exact.usage
        )
    with noting_faults(session.ledger):
        candidate = plan_to_budget(exact, context, budget, f"budget of {budget:,} tokens")
        outcome = engine.outcome(candidate)
    if outcome.after.tokens > budget:
        raise engine.nothing_to_shrink(candidate, exact, budget)
    return outcome


def _fixed_tokens(system: object, tools: object, count: CountTokens) -> int:
    """Count the tokens of the system prompt and the tools."""
    texts = [
        part if isinstance(part, str) else encode(part).decode() for part in (system, tools) if part
    ]
    return sum(count(text) for text in texts)
