"""A provider that takes nothing amiss silently: what a real API would say to a request.

Histories in the wild are broken in places already. `complaints` judges a request by itself;
`worse` judges what we made of one, and forgives what was wrong with it before.
"""

from collections import Counter
from collections.abc import Sequence

from tests.provider import anthropic, openai_chat, openai_responses
from tests.provider.bound import Bound
from tests.provider.rules import Broken

__all__ = ["WIRES", "Bound", "Broken", "broken", "complaints", "worse"]

WIRES = {
    "anthropic": anthropic,
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
}


def broken(wire: str, messages: Sequence[object], *, pending: bool = True) -> list[Broken]:
    """The rules that a request breaks; `pending` forgives calls at its end without a result."""
    return list(WIRES[wire].broken(messages, pending=pending))


def complaints(wire: str, messages: Sequence[object], *, pending: bool = True) -> list[str]:
    """The rules that a request breaks, a sentence each, with the position."""
    return [str(one) for one in broken(wire, messages, pending=pending)]


def worse(wire: str, before: Sequence[object], after: Sequence[object]) -> list[str]:
    """What is wrong with `after` (what we would send) that was not with `before` (the client's).

    Breaks are alike by rule and id, wherever they stand; as many as before are forgiven. A second
    result for a call is a result without one once the pair has left: no better, and no worse. Calls
    at the end count too: one that had its result must not lose it.
    """
    known = broken(wire, before, pending=False)
    forgiven = Counter((one.rule, one.about) for one in known)
    twice = Counter(one.about for one in known if one.rule == "duplicate_result")
    found: list[str] = []
    for one in broken(wire, after, pending=False):
        if forgiven[one.rule, one.about] > 0:
            forgiven[one.rule, one.about] -= 1
        elif one.rule == "orphan_result" and twice[one.about] > 0:
            twice[one.about] -= 1
        else:
            found.append(str(one))
    return found + [str(one) for one in WIRES[wire].changed(before, after)]
