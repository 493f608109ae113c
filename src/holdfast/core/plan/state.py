"""State: everything that a plan is made from; and a look at it: what could leave, weighed how."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, EntryId, Noted
from holdfast.core.ledger.head import Lane
from holdfast.core.ledger.window import Item, Window
from holdfast.core.measure.models import Model
from holdfast.core.measure.sizes import raw_sizes
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.measure.usage import Usage, factor_of, measure, usage_of
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.observe.worth import Telling, hold
from holdfast.core.plan.choose import Scale
from holdfast.core.plan.cuts import Ground, tail_start
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.proposals import Look, Proposal, propose


class State(Struct, frozen=True):
    """Everything that a plan is made from."""

    window: Window
    counts: Mapping[int, int]
    """Raw tokens by entry number."""
    lane: Lane
    model: Model
    limit: int
    policy: Policy
    seq: int
    """The last entry of the session: nothing later may be hidden."""
    sent: int = 0
    """The last entry that the provider has seen."""
    warm: bool = True
    """Whether what was sent is still in the provider's cache."""
    known: Telling = {}
    """What entries hold, as far as it was looked at before."""
    spared: frozenset[EntryId] = frozenset()
    """What the user brought back into sight: it does not leave by itself as soon as it is there."""
    fixed: int = 0
    """Tokens that stand before the messages and that no entry tells of."""
    hosted: bool = False
    """Whether another program makes the requests: what the user said there is not ours to cut."""
    limit_from: str = ""
    """Where the limit comes from."""

    @property
    def usage(self) -> Usage:
        """How full the window is."""
        return self.usage_at(self.lane.tokens)

    def usage_at(self, raw: int) -> Usage:
        """How full the window would be with so many raw tokens in it."""
        method = measure(self.lane, self.model, self.limit).method
        known = self.lane.calibration
        usage = usage_of(raw, self.model, known, self.limit, method, self.limit_from)
        if not self.fixed:
            return usage
        overhead = usage.overhead + self.fixed
        return replace(usage, tokens=usage.messages + overhead, overhead=overhead)

    def raw_over(self, tokens: int) -> int:
        """Raw tokens that have to leave for the window to come down to so many."""
        raw, over = self.lane.tokens, self.usage.tokens - tokens
        if over <= 0:
            return 0
        need = -int(-over // factor_of(self.model, self.lane.calibration))
        # Rounding may leave the window one token above.
        while need < raw and self.usage_at(raw - need).tokens > tokens:
            need += 1
        return need


class Looked(Struct, frozen=True):
    """A window that was looked at for what could leave."""

    ground: Ground
    tokens: list[int]
    tail: int
    """Where the recent part begins."""
    held: Telling
    proposals: list[Proposal]
    scale: Scale

    @property
    def scene(self) -> Scene:
        """The window as what the agent did."""
        return self.ground.scene


def look(
    state: State,
    count: CountTokens,
    *,
    deep: bool = False,
    tight: bool = False,
    whole: bool = False,
) -> Looked:
    """Look for what could leave: what is old, all but the last step (`deep`), or that as well."""
    ground = Ground(read_scene(state.window.items), state.model)
    tokens = tokens_of(state, count)
    share = 0 if deep else state.limit * state.policy.tail.percent // 100
    tail = tail_start(ground, tokens, share=share, steps=1 if deep else state.policy.tail.steps)
    tail = len(tokens) if whole else tail
    held = hold(state.window.items, state.known)
    proposals = propose(
        Look(
            ground=ground,
            tokens=tokens,
            held=held,
            policy=state.policy,
            tail=tail,
            persisted=persisted(state.window.ledger),
            deep=deep,
            tight=tight,
            hosted=state.hosted,
        )
    )
    return Looked(ground, tokens, tail, held, proposals, scale_of(state, tokens))


def tokens_of(state: State, count: CountTokens) -> list[int]:
    """Raw tokens of each item in sight."""
    return raw_sizes(state.window.items, state.counts, count)


def scale_of(state: State, tokens: list[int]) -> Scale:
    """What proposals for a window are weighed with."""
    return Scale(
        tokens=tokens,
        sent=sum(item.entry.seq <= state.sent for item in state.window.items),
        window=state.usage.tokens,
        requests=state.policy.batch.requests or max(state.lane.steps, 1),
        cache=state.model.cache,
        warm=state.warm,
    )


def persisted(ledger: Iterable[Entry]) -> dict[EntryId, str]:
    """By entry of a call: the hash under which its content was seen on disk."""
    return {
        entry.body.facts.get("entry", ""): entry.body.facts.get("sha256", "")
        for entry in ledger
        if isinstance(entry.body, Noted) and entry.body.what == "persisted"
    }


def fresh(state: State) -> list[int]:
    """The places of what was not sent yet."""
    items: Sequence[Item] = state.window.items
    return [at for at in range(len(items)) if items[at].entry.seq > state.sent]
