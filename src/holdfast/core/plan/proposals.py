"""What could leave the window: one proposal per block, the gentlest kind that fits it.

Proposals are cheap: how large a stand-in will be is guessed here and known once it is made. Which
of them are worth making is decided in `choose`.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from math import exp

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import (
    EntryId,
    Said,
    Thought,
    ToolCalled,
    ToolReturned,
    is_request,
)
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.ledger.size import media_of
from holdfast.core.observe.files.reads import superseded
from holdfast.core.observe.files.touch import Touch, touch_of
from holdfast.core.observe.requests.pastes import pasted_share
from holdfast.core.observe.results.failures import resolved, shows_failure
from holdfast.core.observe.scene import Pair, Scene, final_answers
from holdfast.core.observe.worth import Telling, Worth, uses_of, worth_of
from holdfast.core.plan.cuts import Ground, loops_of, may_change
from holdfast.core.plan.policy import Offload, Policy
from holdfast.core.plan.preserve import is_always_file, may_leave
from holdfast.text.jsontext import whole_number

GENTLEST_FIRST = (
    *("read", "debug", "thinking", "truncate", "intermediate", "offload", "paste", "mask"),
    "request",
)
"""The kinds in the order in which they are tried: what is surely not needed comes first."""

TIERS = {"truncate": 2, "read": 2, "debug": 2, "thinking": 2, "intermediate": 2}
"""Offloads and masks are tier 1; the rest goes with the batch of tier 2."""

OURS = (
    ".holdfast/",
    "holdfast recover",
    "holdfast show",
    "cache/offloaded/",
    "cache/intermediate/",
)
"""What a call names when it brings back what we put away: that never leaves again."""


PASTE_DEEP, PASTE_TIGHT = 400, 120
"""Tokens of pastes in a request from which they leave where room is short, or very short."""
PASTE_SHORT = 200
"""Characters of a paste that is not worth a reference."""
PASTE_NOTICE = 60
"""Tokens, about, of the line that stands where a paste was."""


class Proposal(Struct, frozen=True):
    """One block that could leave, and what would stand there."""

    kind: str
    at: int
    """Its place among the items."""
    entry: EntryId
    tool: str
    before: int
    guess: int
    """Tokens that the stand-in will probably have."""
    reason: str
    touch: Touch = Touch()
    worth: Worth = Worth()
    risk: float = 0.0
    """How likely it is that something in it is needed again and will be missed."""
    tight: bool = False
    """Whether one line has to do, however large it was."""
    persisted: str = ""
    """How the content of a write is known to be on disk; empty when it is not."""
    newer: str = ""
    """The entry that took its place, where there is one."""

    @property
    def saves(self) -> int:
        """Tokens that would leave, by the guess."""
        return self.before - self.guess


class Look(Struct, frozen=True):
    """Everything that proposals are made from."""

    ground: Ground
    tokens: Sequence[int]
    """Raw tokens of each item."""
    held: Telling
    policy: Policy
    tail: int
    """Where the recent part begins."""
    persisted: Mapping[str, str]
    """By entry of a call: how its content is known to be on disk."""
    deep: bool = False
    """Whether everything legal is asked for: the tail, open errors, what is not seen on disk."""
    tight: bool = False
    """Whether one line has to do for everything."""
    hosted: bool = False
    """Whether another program makes the requests: what the user said there is not ours to cut."""


def propose(look: Look) -> list[Proposal]:
    """What could leave, in the order in which it stands."""
    scene = look.ground.scene
    touches = [touch_of(pair.body) for pair in scene.pairs]
    of_call = {pair.call: touch for pair, touch in zip(scene.pairs, touches, strict=True)}
    facts = _Facts(
        look=look,
        touches=of_call,
        reads={at: newer.call for at, newer in superseded(scene, touches).items()},
        fixed=resolved(scene, touches),
        answers=final_answers(scene),
        loops=loops_of(scene),
    )
    legal = may_change(look.ground)
    uses = uses_of(scene, look.held)
    found: list[Proposal] = []
    for at in range(min(look.tail, len(scene.items))):
        if legal[at]:
            made = facts.propose(at)
            if made is None or not may_leave(made.kind, look.policy.preservation):
                continue
            if made.saves > 0 or made.kind == "thinking":
                worth = worth_of(at, scene, look.held, uses)
                risk = chance(made.kind, made.before, worth)
                found.append(replace(made, worth=worth, risk=risk))
    return found


MISSED = {
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
"""For each kind: how many of ten thousand tokens that leave hold a name that is missed later.
Twice what was measured on real sessions (`docs/performance.md`): what an agent has to go back for
costs it more than the tokens."""


def chance(kind: str, tokens: int, worth: Worth) -> float:
    """How likely something in a block is missed once it has left: by size, kind, and last use."""
    fading = 1.0 if worth.since <= 3 else 0.5 if worth.since <= 12 else 0.25
    return 1.0 - exp(-MISSED[kind] * 1e-4 * tokens * fading)


class _Facts(Struct, frozen=True):
    """What the record shows of the calls in sight."""

    look: Look
    touches: Mapping[int, Touch]
    reads: Mapping[int, int]
    fixed: Mapping[int, int]
    answers: Mapping[int, int]
    loops: Sequence[int]

    @rule(None)
    def propose(self, at: int) -> Proposal | None:
        """The gentlest thing that can be done about one item."""
        scene = self.look.ground.scene
        match scene.items[at].body:
            case ToolReturned() as body:
                pair = scene.of_result.get(at)
                return None if pair is None else self._result(at, body, pair)
            case ToolCalled() as body:
                return self._call(at, body)
            case Thought() as body:
                return self._thought(at, body)
            case Said() as body if is_request(body) and not self.look.hosted:
                return self._request(at, body)
            case _:
                return None

    def _request(self, at: int, body: Said) -> Proposal | None:
        """Pastes in what the user said: content like a tool's result."""
        look, size = self.look, self.look.tokens[at]
        short = PASTE_TIGHT if look.tight else PASTE_DEEP
        least = short if look.deep else look.policy.offload.sweep
        if size < least:
            return None
        pasted = round(size * pasted_share(body.text, PASTE_SHORT))
        if pasted < least:
            return None
        stays = PASTE_NOTICE if look.tight else min(200 + pasted // 20, 700)
        return self._made(
            "paste", at, "", size - pasted + stays, "a paste in a request", tight=look.tight
        )

    def _result(self, at: int, body: ToolReturned, pair: Pair) -> Proposal | None:
        touch, tool = self.touches[pair.call], pair.body.tool
        if is_exempt(tool, pair.body, body, self.look.policy.offload.never):
            return None
        kind, reason, newer = self._why(at, body, touch)
        if not kind:
            return None
        size = self.look.tokens[at]
        if self._is_always(kind, touch, size):
            return None
        tight = self.look.tight or size < self.look.policy.offload.sweep
        short = kind in ("read", "debug") or tight
        guess = min(45 if kind in ("read", "debug") else 75, size - size // 3)
        guess = guess if short else min(200 + size // 20, 900)
        return self._made(
            kind, at, tool, guess, reason, touch=touch, tight=short, newer=self._entry(newer)
        )

    def _is_always(self, kind: str, touch: Touch, size: int) -> bool:
        """Whether this is what was read of a preserved item; a newer read of it is as good."""
        small = size < self.look.policy.offload.sweep
        reading = touch.verb == "read" and kind != "read" and not self.look.deep
        return reading and small and is_always_file(touch.path)

    def _why(self, at: int, body: ToolReturned, touch: Touch) -> tuple[str, str, int]:
        scene = self.look.ground.scene
        if at in self.reads:
            return "read", f"{touch.path} was read or written again later", self.reads[at]
        if at in self.fixed:
            return "debug", "the same command went well later", self.fixed[at]
        answer = self.answers.get(scene.turns[at], -1)
        if answer > at:
            return "intermediate", "the turn it belongs to has its answer", answer
        if shows_failure(body) and not self.look.deep:
            return "", "", -1
        if media_of(body) or self.look.tokens[at] >= self.look.policy.offload.sweep:
            return "offload", "an old, large result", -1
        return "mask", "an old result", -1

    def _call(self, at: int, body: ToolCalled) -> Proposal | None:
        touch = self.touches[at]
        above = self.look.policy.truncate.above
        if touch.verb not in ("write", "edit") or self.look.tokens[at] <= above:
            return None
        persisted = self.look.persisted.get(self.look.ground.scene.items[at].entry.id, "")
        if not persisted and not self.look.deep:
            return None
        reason = "an old input whose content is on disk" if persisted else "an old, large input"
        return self._made(
            "truncate", at, body.tool, 90, reason, touch=touch, persisted=persisted, tight=True
        )

    def _thought(self, at: int, body: Thought) -> Proposal | None:
        scene = self.look.ground.scene
        # Words that the user put among results begin a turn, but the provider's loop goes on.
        in_loop = self.loops[at] == self.loops[-1]
        if body.seal and (in_loop or scene.turns[at] == scene.turns[-1]):
            return None
        if is_all_of_its_message(scene, at):
            return None
        return self._made("thinking", at, "", 0, "old thinking, kept in the ledger")

    def _made(
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
        newer: str = "",
    ) -> Proposal:
        return Proposal(
            kind=kind,
            at=at,
            entry=self._entry(at),
            tool=tool,
            before=self.look.tokens[at],
            guess=guess,
            reason=reason,
            touch=touch or Touch(),
            tight=tight,
            persisted=persisted,
            newer=newer,
        )

    def _entry(self, at: int) -> EntryId:
        return self.look.ground.scene.items[at].entry.id if at >= 0 else ""


def is_all_of_its_message(scene: Scene, at: int) -> bool:
    """Whether nothing would be left of a message without this part."""
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


def is_exempt(tool: str, call: ToolCalled, body: ToolReturned, never: tuple[str, ...]) -> bool:
    """Whether a result stays whatever its size: skills, what was recovered, our own stand-ins."""
    if any(fnmatchcase(tool, pattern) for pattern in never):
        return True
    if any(mark in call.arguments for mark in OURS):
        return True
    return is_stand_in(body.output)


def bound_for(tool: str, rules: Offload, limit: int = 0, *, reading: bool = False) -> int:
    """Tokens from which a tool's result is offloaded before it is sent.

    In a small window a result of fewer tokens is as large. A file that the agent asked for is no
    smaller for that: it would have to be asked for once more.
    """
    for row in rules.tools:
        pattern, _, tokens = row.rpartition("=")
        above = whole_number(tokens)
        if above is not None and fnmatchcase(tool, pattern):
            return above
    return rules.above if reading else by_share(rules, limit)


def by_share(rules: Offload, limit: int) -> int:
    """The bound for results of no tool in particular, in a window of so many tokens."""
    if not rules.share or not limit:
        return rules.above
    return min(rules.above, max(limit * rules.share // 100, rules.sweep))
