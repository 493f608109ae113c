"""Propose what could leave the window: at most one proposal per item, of the gentlest kind.

Proposals are cheap: the size of a stand-in is estimated here, and known only when it is built.
`choose` decides which proposals are carried out.
"""

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from math import exp

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import EntryId, Said, Thought, ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.ledger.size import media_of
from holdfast.core.observe.files.reads import superseded_reads
from holdfast.core.observe.files.touch import Touch, touch_of
from holdfast.core.observe.requests.pastes import pasted_share
from holdfast.core.observe.results.failures import resolved_failures, shows_failure
from holdfast.core.observe.scene import Pair, Scene, final_answers
from holdfast.core.observe.worth import NamesByEntry, Worth, name_uses_of, worth_of
from holdfast.core.plan.cuts import EditContext, loops_of, may_change
from holdfast.core.plan.policy import Offload, Policy
from holdfast.core.plan.preserve import is_preserved_file, may_leave
from holdfast.text.jsontext import whole_number

GENTLEST_FIRST = (
    *("read", "debug", "thinking", "truncate", "intermediate", "offload", "paste", "mask"),
    "request",
)
"""The kinds of proposals in the order in which they are taken, the least needed content first."""

TIERS = {"truncate": 2, "read": 2, "debug": 2, "thinking": 2, "intermediate": 2}
"""Tier of each kind; kinds that are not listed, such as offloads and masks, are tier 1."""

RECOVERY_MARKS = (
    ".holdfast/",
    "holdfast recover",
    "holdfast show",
    "cache/offloaded/",
    "cache/intermediate/",
)
"""Texts in the arguments of calls that recover offloaded content; their results never leave."""


MIN_PASTE_TOKENS_DEEP, MIN_PASTE_TOKENS_TIGHT = 400, 120
"""Tokens from which the pastes of a request leave in a deep survey, or in a tight one."""
MIN_PASTE_CHARS = 200
"""Characters from which a paste is worth a reference."""
PASTE_NOTICE_TOKENS = 60
"""Approximate tokens of the line that replaces a paste."""


class Proposal(Struct, frozen=True):
    """One item that could leave, and an estimate of its replacement."""

    kind: str
    at: int
    """Its index among the items of the window."""
    entry: EntryId
    tool: str
    before: int
    guess: int
    """Estimated tokens of the stand-in."""
    reason: str
    touch: Touch = Touch()
    worth: Worth = Worth()
    risk: float = 0.0
    """Probability that something in it is needed again."""
    tight: bool = False
    """Whether the stand-in is one line, whatever the size of the item."""
    persisted: str = ""
    """How the content of a write is known to be on disk; empty when it is not."""

    @property
    def saves(self) -> int:
        """Estimated tokens that would leave."""
        return self.before - self.guess


class ProposalInput(Struct, frozen=True):
    """The input from which proposals are made."""

    context: EditContext
    tokens: Sequence[int]
    """Raw tokens of each item."""
    names_by_entry: NamesByEntry
    policy: Policy
    tail: int
    """Where the recent part starts."""
    persisted: Mapping[str, str]
    """For each entry of a call, how its content is known to be on disk."""
    deep: bool = False
    """Whether to propose everything legal: also open errors and inputs not seen on disk."""
    tight: bool = False
    """Whether every stand-in is one line."""
    hosted: bool = False
    """Whether another program makes the requests; then the user's words must not be cut."""


def propose(given: ProposalInput) -> list[Proposal]:
    """Return a proposal for each item that could leave, in the order of the window."""
    scene = given.context.scene
    touches = [touch_of(pair.body) for pair in scene.pairs]
    of_call = {pair.call: touch for pair, touch in zip(scene.pairs, touches, strict=True)}
    facts = _CallFacts(
        given=given,
        touches=of_call,
        reads=superseded_reads(scene, touches).keys(),
        fixed=resolved_failures(scene, touches).keys(),
        answers=final_answers(scene),
        loops=loops_of(scene),
    )
    legal = may_change(given.context)
    uses = name_uses_of(scene, given.names_by_entry)
    proposals: list[Proposal] = []
    for at in range(min(given.tail, len(scene.items))):
        if legal[at]:
            proposal = facts.propose(at)
            if proposal is None or not may_leave(proposal.kind, given.policy.preservation):
                continue
            if proposal.saves > 0 or proposal.kind == "thinking":
                worth = worth_of(at, scene, given.names_by_entry, uses)
                risk = miss_chance(proposal.kind, proposal.before, worth)
                proposals.append(replace(proposal, worth=worth, risk=risk))
    return proposals


MISS_RATE = {
    "read": 0.2,
    "debug": 0.2,
    "thinking": 6.0,
    "truncate": 1.6,
    "intermediate": 2.4,
    "offload": 1.8,
    "mask": 4.8,
    "paste": 1.8,
    "request": 4.8,
}
"""For each kind, the rate of later needed names per 10,000 tokens that leave. The values are twice
those measured on real sessions (`docs/performance.md`), because fetching something again costs an
agent more than the tokens."""


def miss_chance(kind: str, tokens: int, worth: Worth) -> float:
    """Return the probability that something in an item is needed after it has left."""
    fading = 1.0 if worth.since <= 3 else 0.5 if worth.since <= 12 else 0.25
    return 1.0 - exp(-MISS_RATE[kind] * 1e-4 * tokens * fading)


class _CallFacts(Struct, frozen=True):
    """Facts about the calls in the window, and the proposals that follow from them."""

    given: ProposalInput
    touches: Mapping[int, Touch]
    reads: Collection[int]
    fixed: Collection[int]
    answers: Mapping[int, int]
    loops: Sequence[int]

    @rule(None)
    def propose(self, at: int) -> Proposal | None:
        """Return the gentlest proposal for one item, or None."""
        scene = self.given.context.scene
        match scene.items[at].body:
            case ToolReturned() as body:
                pair = scene.by_result.get(at)
                return None if pair is None else self._propose_result(at, body, pair)
            case ToolCalled() as body:
                return self._propose_call(at, body)
            case Thought() as body:
                return self._propose_thinking(at, body)
            case Said() as body if is_request(body) and not self.given.hosted:
                return self._propose_paste(at, body)
            case _:
                return None

    def _propose_paste(self, at: int, body: Said) -> Proposal | None:
        """Propose to cut pastes out of a request: they are content, like a tool's result."""
        given, size = self.given, self.given.tokens[at]
        min_when_short = MIN_PASTE_TOKENS_TIGHT if given.tight else MIN_PASTE_TOKENS_DEEP
        min_tokens = min_when_short if given.deep else given.policy.offload.sweep
        if size < min_tokens:
            return None
        pasted = round(size * pasted_share(body.text, MIN_PASTE_CHARS))
        if pasted < min_tokens:
            return None
        rest = PASTE_NOTICE_TOKENS if given.tight else min(200 + pasted // 20, 700)
        return self._proposal(
            "paste", at, "", size - pasted + rest, "a paste in a request", tight=given.tight
        )

    def _propose_result(self, at: int, body: ToolReturned, pair: Pair) -> Proposal | None:
        touch, tool = self.touches[pair.call], pair.body.tool
        if is_exempt(tool, pair.body, body, self.given.policy.offload.never):
            return None
        kind, reason = self._kind_and_reason(at, body, touch)
        if not kind:
            return None
        size = self.given.tokens[at]
        if self._is_preserved_read(kind, touch, size):
            return None
        tight = self.given.tight or size < self.given.policy.offload.sweep
        short = kind in ("read", "debug") or tight
        guess = min(45 if kind in ("read", "debug") else 75, size - size // 3)
        guess = guess if short else min(200 + size // 20, 900)
        return self._proposal(kind, at, tool, guess, reason, touch=touch, tight=short)

    def _is_preserved_read(self, kind: str, touch: Touch, size: int) -> bool:
        """Whether a small result is a read of a preserved file that no later read replaces."""
        small = size < self.given.policy.offload.sweep
        reading = touch.verb == "read" and kind != "read" and not self.given.deep
        return reading and small and is_preserved_file(touch.path)

    def _kind_and_reason(self, at: int, body: ToolReturned, touch: Touch) -> tuple[str, str]:
        scene = self.given.context.scene
        if at in self.reads:
            return "read", f"{touch.path} was read or written again later"
        if at in self.fixed:
            return "debug", "the same command went well later"
        if self.answers.get(scene.turns[at], -1) > at:
            return "intermediate", "the turn it belongs to has its answer"
        if shows_failure(body) and not self.given.deep:
            return "", ""
        if media_of(body) or self.given.tokens[at] >= self.given.policy.offload.sweep:
            return "offload", "an old, large result"
        return "mask", "an old result"

    def _propose_call(self, at: int, body: ToolCalled) -> Proposal | None:
        touch = self.touches[at]
        above = self.given.policy.truncate.above
        if touch.verb not in ("write", "edit") or self.given.tokens[at] <= above:
            return None
        persisted = self.given.persisted.get(self.given.context.scene.items[at].entry.id, "")
        if not persisted and not self.given.deep:
            return None
        reason = "an old input whose content is on disk" if persisted else "an old, large input"
        return self._proposal(
            "truncate", at, body.tool, 90, reason, touch=touch, persisted=persisted, tight=True
        )

    def _propose_thinking(self, at: int, body: Thought) -> Proposal | None:
        scene = self.given.context.scene
        # Words of the user in a message with results start a turn, but not a loop of the provider.
        in_loop = self.loops[at] == self.loops[-1]
        if body.seal and (in_loop or scene.turns[at] == scene.turns[-1]):
            return None
        if is_whole_message(scene, at):
            return None
        return self._proposal("thinking", at, "", 0, "old thinking, kept in the ledger")

    def _proposal(
        self,
        kind: str,
        at: int,
        tool: str,
        guess: int,
        reason: str,
        *,
        touch: Touch | None = None,
        tight: bool = False,
        persisted: str = "",
    ) -> Proposal:
        return Proposal(
            kind=kind,
            at=at,
            entry=self.given.context.scene.items[at].entry.id,
            tool=tool,
            before=self.given.tokens[at],
            guess=guess,
            reason=reason,
            touch=touch or Touch(),
            tight=tight,
            persisted=persisted,
        )


def is_whole_message(scene: Scene, at: int) -> bool:
    """Whether the message would be empty without this part."""
    entry = scene.items[at].entry
    near = scene.items[max(at - 8, 0) : at + 9]
    own = (
        item.entry
        for item in near
        if item.entry.id != entry.id and not isinstance(item.body, Thought)
    )
    return not any(
        other.message == entry.message or (entry.group and other.group == entry.group)
        for other in own
    )


def is_exempt(
    tool: str, call: ToolCalled, body: ToolReturned, exempt_tools: tuple[str, ...]
) -> bool:
    """Whether a result stays at any size: exempt tools, recovered content, our own stand-ins."""
    if any(fnmatchcase(tool, pattern) for pattern in exempt_tools):
        return True
    if any(mark in call.arguments for mark in RECOVERY_MARKS):
        return True
    return is_stand_in(body.output)


def offload_bound(tool: str, rules: Offload, limit: int = 0, *, reading: bool = False) -> int:
    """Return the tokens above which a tool's result is offloaded before it is sent.

    The bound is lower in a small window, except for a file that the agent reads: offloading it
    would only make the agent read it again.
    """
    for row in rules.tools:
        pattern, _, tokens = row.rpartition("=")
        above = whole_number(tokens)
        if above is not None and fnmatchcase(tool, pattern):
            return above
    return rules.above if reading else default_bound(rules, limit)


def default_bound(rules: Offload, limit: int) -> int:
    """Return the bound for tools without a setting of their own, in a window of `limit` tokens."""
    if not rules.share or not limit:
        return rules.above
    return min(rules.above, max(limit * rules.share // 100, rules.sweep))
