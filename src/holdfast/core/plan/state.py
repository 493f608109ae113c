"""Hold the state that a plan is made from, and survey it for what could leave the window."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, EntryId
from holdfast.core.ledger.head import Lane
from holdfast.core.ledger.notes import Persisted, notes_in
from holdfast.core.ledger.window import Item, Window
from holdfast.core.measure.models import Model
from holdfast.core.measure.sizes import raw_sizes
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.measure.usage import Usage, estimate_usage, factor_of, measure
from holdfast.core.observe.moments.story import StoryReading
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.observe.worth import NamesByEntry, names_by_entry
from holdfast.core.plan.choose import Pricing
from holdfast.core.plan.cuts import EditContext, tail_start
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.proposals import Proposal, ProposalInput, propose


class State(Struct, frozen=True):
    """The state of a session that a plan is made from."""

    window: Window
    counts: Mapping[int, int]
    """Raw tokens by sequence number of the entry."""
    lane: Lane
    model: Model
    limit: int
    policy: Policy
    seq: int
    """Sequence number of the session's last entry; nothing later may be hidden."""
    sent: int = 0
    """Sequence number of the last entry that the provider has seen."""
    warm: bool = True
    """Whether the sent part is still in the provider's cache."""
    known_names: NamesByEntry = {}
    """The names in entries, as far as they were read before."""
    brought_back: frozenset[EntryId] = frozenset()
    """Entries that the user restored to the window; they do not leave again automatically."""
    fixed_tokens: int = 0
    """Tokens before the messages that are in no entry."""
    hosted: bool = False
    """Whether another program makes the requests; then the user's words must not be cut."""
    limit_from: str = ""
    """Where the limit comes from."""
    reading: StoryReading | None = None
    """What the path says; None if it is to be read from the window's ledger."""

    @property
    def usage(self) -> Usage:
        """How full the window is."""
        return self.usage_at(self.lane.tokens)

    def usage_at(self, raw: int) -> Usage:
        """Return how full the window would be with `raw` raw tokens in it."""
        method = measure(self.lane, self.model, self.limit).method
        calibration = self.lane.calibration
        usage = estimate_usage(raw, self.model, calibration, self.limit, method, self.limit_from)
        if not self.fixed_tokens:
            return usage
        overhead = usage.overhead + self.fixed_tokens
        return replace(usage, tokens=usage.messages + overhead, overhead=overhead)

    def raw_over(self, tokens: int) -> int:
        """Return how many raw tokens must leave for the window to have at most `tokens` tokens."""
        raw, over = self.lane.tokens, self.usage.tokens - tokens
        if over <= 0:
            return 0
        need = -int(-over // factor_of(self.model, self.lane.calibration))
        # Rounding may leave the window one token above.
        while need < raw and self.usage_at(raw - need).tokens > tokens:
            need += 1
        return need


class Survey(Struct, frozen=True):
    """What could leave a window, with everything needed to choose from it."""

    context: EditContext
    tokens: list[int]
    tail: int
    """Where the recent part starts."""
    names_by_entry: NamesByEntry
    proposals: list[Proposal]
    pricing: Pricing

    @property
    def scene(self) -> Scene:
        """The window, read as turns, steps and calls."""
        return self.context.scene


def survey(
    state: State,
    count: CountTokens,
    *,
    deep: bool = False,
    tight: bool = False,
    whole: bool = False,
) -> Survey:
    """Find what could leave the window.

    Only the part before the tail is searched; with `deep`, everything but the last step; with
    `whole`, everything.
    """
    context = EditContext(read_scene(state.window.items), state.model)
    tokens = tokens_of(state, count)
    share = 0 if deep else state.limit * state.policy.tail.percent // 100
    tail = tail_start(
        context, tokens, max_tokens=share, min_steps=1 if deep else state.policy.tail.steps
    )
    tail = len(tokens) if whole else tail
    names = names_by_entry(state.window.items, state.known_names)
    proposals = propose(
        ProposalInput(
            context=context,
            tokens=tokens,
            names_by_entry=names,
            policy=state.policy,
            tail=tail,
            persisted=persisted_calls(state.window.ledger),
            deep=deep,
            tight=tight,
            hosted=state.hosted,
        )
    )
    return Survey(context, tokens, tail, names, proposals, pricing_of(state, tokens))


def tokens_of(state: State, count: CountTokens) -> list[int]:
    """Return the raw tokens of each item in the window."""
    return raw_sizes(state.window.items, state.counts, count)


def pricing_of(state: State, tokens: list[int]) -> Pricing:
    """Return the numbers that proposals for this window are priced with."""
    return Pricing(
        tokens=tokens,
        sent=sum(item.entry.seq <= state.sent for item in state.window.items),
        window=state.usage.tokens,
        requests=state.policy.batch.requests or max(state.lane.steps, 1),
        cache=state.model.cache,
        warm=state.warm,
    )


def persisted_calls(ledger: Iterable[Entry]) -> dict[EntryId, str]:
    """Return, for each entry of a call, the hash with which its content was seen on disk."""
    return {note.entry: note.sha256 for _, note in notes_in(ledger, Persisted)}


def unsent_places(state: State) -> list[int]:
    """Return the places of items that were not sent yet."""
    items: Sequence[Item] = state.window.items
    return [at for at in range(len(items)) if items[at].entry.seq > state.sent]
