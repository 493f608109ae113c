"""Compressing a list of messages, without a session, files or a model: the same each time."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.compress import to_budget
from holdfast.core.measure.tokens import CountTokens, check_tokens
from holdfast.core.plan.policy import Policy
from holdfast.engine.engine import Engine, Outcome
from holdfast.engine.fault_log import noting
from holdfast.engine.intake import Message
from holdfast.engine.live_window import copied
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
    """Bring messages under a budget of tokens: no session, no files, no model, the same each time.

    Raises:
        NothingToShrink: the budget cannot be reached; its `outcome` is the smallest legal window.
        Unreadable: one of them is no message.
        BadSetting: the budget is no number of tokens.
    """
    check_tokens("budget", budget)
    chosen = replace(policy or Policy(), model=model or (policy or Policy()).model)
    session = Session("compress", MemoryStore(), policy=chosen, wire=wire or "")
    session.extend(messages)
    engine = Engine(session.ledger)
    state = engine.state()
    fixed = _fixed(system, tools, engine.means(state.policy).count)
    # Here tokens are those of the vocabulary: a budget in them can be kept exactly.
    exact = replace(state, model=replace(state.model, exact=True), limit=budget, fixed=fixed)
    means = engine.means(state.policy)
    if exact.usage.tokens <= budget:
        return Outcome(copied(session.ledger.sight.messages()), exact.usage, exact.usage)
    with noting(session.ledger):
        candidate = to_budget(exact, means, budget, f"budget of {budget:,} tokens")
        made = engine.outcome(candidate)
    if made.after.tokens > budget:
        raise engine.nothing_to_shrink(candidate, exact, budget)
    return made


def _fixed(system: object, tools: object, count: CountTokens) -> int:
    """Tokens of what stands before the messages."""
    texts = [
        part if isinstance(part, str) else encode(part).decode() for part in (system, tools) if part
    ]
    return sum(count(text) for text in texts)
