"""Which proposals to carry out: the set that wins most, over every place where it could begin.

Everything behind the first change is written to the cache again anyway, so all that pays for
itself there goes along. What is left to decide is only where to begin; each place is tried.
"""

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.measure.models import Cache
from holdfast.core.plan.gain import Bill, refetch, weigh
from holdfast.core.plan.proposals import GENTLEST_FIRST, Proposal


class Scale(Struct, frozen=True):
    """What proposals are weighed with."""

    tokens: Sequence[int]
    """Raw tokens of each item."""
    sent: int
    """How many items the provider has seen: only they can be in its cache."""
    window: int
    """Tokens of a whole request."""
    requests: int
    """Further requests to expect."""
    cache: Cache
    warm: bool = True

    def behind(self, at: int) -> int:
        """Sent tokens from a place on."""
        return sum(self.tokens[at : self.sent])


class Choice(Struct, frozen=True):
    """What to carry out, and what that comes to."""

    proposals: tuple[Proposal, ...]
    bill: Bill

    @property
    def saves(self) -> int:
        """Tokens that leave."""
        return sum(one.saves for one in self.proposals)


NOTHING = Choice((), Bill(0.0, 0.0))


def choose(proposals: Sequence[Proposal], scale: Scale) -> Choice:
    """The proposals that win most when carried out together; none when nothing wins."""
    best, best_gain = len(proposals), 0.0
    total = 0.0
    behind, upto = 0, scale.sent
    write_again = (scale.cache.write - scale.cache.read) if scale.warm else 0.0
    for number in range(len(proposals) - 1, -1, -1):
        one = proposals[number]
        total += max(value(one, scale), 0.0)
        if one.at < upto:
            behind += sum(scale.tokens[one.at : upto])
            upto = one.at
        gain = total - write_again * behind
        if gain > best_gain:
            best, best_gain = number, gain
    taken = tuple(one for one in proposals[best:] if value(one, scale) > 0)
    return priced(taken, scale)


def worthwhile(proposals: Sequence[Proposal], scale: Scale) -> Choice:
    """All that wins when something has to be done in any case, and the cache with it."""
    return priced([one for one in proposals if value(one, scale) > 0], scale)


def value(one: Proposal, scale: Scale) -> float:
    """What a proposal wins when the cache is written anew in any case."""
    saved = one.saves * (scale.cache.write + scale.cache.read * scale.requests)
    return saved - one.risk * refetch(one.before, scale.window, scale.cache, scale.requests)


def priced(taken: Sequence[Proposal], scale: Scale) -> Choice:
    """Proposals with what carrying them out together comes to."""
    if not taken:
        return NOTHING
    first = min(one.at for one in taken)
    bill = weigh(
        removed=sum(one.saves for one in taken),
        behind=scale.behind(first),
        requests=scale.requests,
        cache=scale.cache,
        warm=scale.warm,
    )
    missed = sum(
        one.risk * refetch(one.before, scale.window, scale.cache, scale.requests) for one in taken
    )
    return Choice(tuple(taken), Bill(bill.cost, bill.gain - missed))


def enough(proposals: Sequence[Proposal], need: int, base: Choice, scale: Scale) -> Choice:
    """`base` and as many more as it takes to save `need` tokens, the gentlest first."""
    taken = list(base.proposals)
    known = {one.at for one in taken}
    saved = base.saves
    rest = [one for one in proposals if one.at not in known]
    for one in sorted(rest, key=_gentleness):
        if saved >= need:
            break
        taken.append(one)
        saved += one.saves
    return priced(sorted(taken, key=lambda one: one.at), scale)


def _gentleness(one: Proposal) -> tuple[int, float, int, bool]:
    """Kinds in their order; among those of a kind what is missed least for its tokens, then age.

    Inputs have an order of their own: the oldest, then the largest, then those on disk.
    """
    kind = GENTLEST_FIRST.index(one.kind)
    if one.kind == "truncate":
        return kind, -one.worth.age, -one.before, not one.persisted
    per_token = one.risk / one.saves if one.saves else 1.0
    return kind, round(per_token, 9), one.at, False
