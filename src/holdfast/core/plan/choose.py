"""Choose the set of proposals with the highest net gain.

The provider writes everything behind the first change to its cache again, so every proposal behind
it that pays for itself is taken too. Only the place of the first change is left to decide; each
place is tried.
"""

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.measure.models import Cache
from holdfast.core.plan.gain import Bill, refetch_cost, weigh
from holdfast.core.plan.proposals import GENTLEST_FIRST, Proposal


class Pricing(Struct, frozen=True):
    """The numbers that proposals are priced with."""

    tokens: Sequence[int]
    """Raw tokens of each item."""
    sent: int
    """How many items the provider has seen; only those can be in its cache."""
    window: int
    """Tokens of a whole request."""
    requests: int
    """How many further requests are expected."""
    cache: Cache
    warm: bool = True

    def sent_from(self, at: int) -> int:
        """Return how many sent tokens follow from a place on."""
        return sum(self.tokens[at : self.sent])


class Selection(Struct, frozen=True):
    """The proposals to carry out, with their cost and gain."""

    proposals: tuple[Proposal, ...]
    bill: Bill

    @property
    def saves(self) -> int:
        """Tokens that leave the window."""
        return sum(proposal.saves for proposal in self.proposals)


EMPTY_SELECTION = Selection((), Bill(0.0, 0.0))


def choose(proposals: Sequence[Proposal], pricing: Pricing) -> Selection:
    """Return the proposals with the highest common gain; none if no set has a gain."""
    best, best_gain = len(proposals), 0.0
    total = 0.0
    behind, upto = 0, pricing.sent
    write_again = (pricing.cache.write - pricing.cache.read) if pricing.warm else 0.0
    for number in range(len(proposals) - 1, -1, -1):
        proposal = proposals[number]
        total += max(value_of(proposal, pricing), 0.0)
        if proposal.at < upto:
            behind += sum(pricing.tokens[proposal.at : upto])
            upto = proposal.at
        gain = total - write_again * behind
        if gain > best_gain:
            best, best_gain = number, gain
    taken = tuple(proposal for proposal in proposals[best:] if value_of(proposal, pricing) > 0)
    return price(taken, pricing)


def choose_all_profitable(proposals: Sequence[Proposal], pricing: Pricing) -> Selection:
    """Return all proposals with a gain, assuming that the cache is rewritten in any case."""
    return price([proposal for proposal in proposals if value_of(proposal, pricing) > 0], pricing)


def value_of(proposal: Proposal, pricing: Pricing) -> float:
    """Return the gain of one proposal, assuming that the cache is rewritten in any case."""
    saved = proposal.saves * (pricing.cache.write + pricing.cache.read * pricing.requests)
    return saved - proposal.risk * refetch_cost(
        proposal.before, pricing.window, pricing.cache, pricing.requests
    )


def price(taken: Sequence[Proposal], pricing: Pricing) -> Selection:
    """Return the proposals with the cost and gain of carrying them out together."""
    if not taken:
        return EMPTY_SELECTION
    first = min(proposal.at for proposal in taken)
    bill = weigh(
        removed=sum(proposal.saves for proposal in taken),
        behind=pricing.sent_from(first),
        requests=pricing.requests,
        cache=pricing.cache,
        warm=pricing.warm,
    )
    miss_cost = sum(
        proposal.risk
        * refetch_cost(proposal.before, pricing.window, pricing.cache, pricing.requests)
        for proposal in taken
    )
    return Selection(tuple(taken), Bill(bill.cost, bill.gain - miss_cost))


def choose_enough(
    proposals: Sequence[Proposal], need: int, base: Selection, pricing: Pricing
) -> Selection:
    """Return `base` plus the gentlest further proposals until `need` tokens are saved."""
    taken = list(base.proposals)
    taken_places = {proposal.at for proposal in taken}
    saved = base.saves
    rest = [proposal for proposal in proposals if proposal.at not in taken_places]
    for proposal in sorted(rest, key=_gentleness):
        if saved >= need:
            break
        taken.append(proposal)
        saved += proposal.saves
    return price(sorted(taken, key=lambda proposal: proposal.at), pricing)


def _gentleness(proposal: Proposal) -> tuple[int, float, int, bool]:
    """Return a sort key: by kind, then by risk per token saved, then by age.

    Tool inputs are sorted differently: the oldest first, then the largest, then those on disk.
    """
    kind = GENTLEST_FIRST.index(proposal.kind)
    if proposal.kind == "truncate":
        return kind, -proposal.worth.age, -proposal.before, not proposal.persisted
    per_token = proposal.risk / proposal.saves if proposal.saves else 1.0
    return kind, round(per_token, 9), proposal.at, False
