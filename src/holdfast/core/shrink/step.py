"""One proposal becomes one step: what it hides, and what stands there instead."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import Said, Source, Step, ToolCalled, ToolReturned
from holdfast.core.ledger.marks import MASKED
from holdfast.core.ledger.summary import Ref, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.proposals import PASTE_SHORT, TIERS, Proposal
from holdfast.core.shrink import offload as tier_1
from holdfast.core.shrink.clip_pastes import ONE_LINE, Form, cut_pastes, within
from holdfast.core.shrink.outline.outline import outline
from holdfast.core.shrink.truncate import truncate

Address: TypeAlias = Callable[[Proposal, Item], str]
"""Where a readable copy of what leaves will be; empty when there is none."""

REF_LENGTH = 12


class Means(Struct, frozen=True):
    """What shrinking needs and the core does not have."""

    count: CountTokens
    address: Address
    policy: Policy
    session: str = ""
    archive: str = ""
    """Where the whole conversation can be read, when there is such a file."""
    added: Summary = Summary()
    """Rows of a model about what leaves, checked against it; none when nobody asked one."""
    kept: tuple[Ref, ...] | None = None
    """Lines of what a project preserves outside of the ledger: every summary carries them, and
    they take the place of older ones. None where nobody looked: then the older ones stay."""


def nowhere(proposal: Proposal, item: Item) -> str:
    """The address of what has none."""
    del proposal, item
    return ""


def ref_of(entry: str) -> str:
    """How an entry is called where room is short."""
    return entry[:REF_LENGTH]


@rule(None)
def shrink(one: Proposal, item: Item, means: Means) -> Step | None:
    """The step that carries a proposal out; nothing when what stands in would not be smaller."""
    file = means.address(one, item) if one.kind in ("offload", "intermediate") else ""
    # A request is cut from the message as it came, also where it was cut before.
    body = Item(item.entry).body if one.kind in ("paste", "request") else item.body
    stand_in = _stand_in(one, body, file, means)
    if stand_in is None and one.kind != "thinking":
        return None
    after = count_body(stand_in, means.count) if stand_in is not None else 0
    if after >= one.before and stand_in is not None:
        return None
    return Step(
        hides=(item.entry.id,),
        reason=one.reason,
        stand_in=stand_in,
        tier=TIERS.get(one.kind, 1),
        before=one.before,
        after=after,
        kind=one.kind,
        file=file,
    )


def _stand_in(one: Proposal, body: Source, file: str, means: Means) -> Source | None:
    ref = ref_of(one.entry)
    match body:
        case ToolCalled():
            return truncate(
                body,
                touch=one.touch,
                ref=ref,
                persisted=bool(one.persisted),
                rules=means.policy.truncate,
                count=means.count,
            )
        case ToolReturned():
            return _result(one, body, tier_1.Source(ref, file), means)
        case Said():
            return Said(body.role, _request(one, body.text, ref, means), body.by)
        case _:
            return None


def _request(one: Proposal, text: str, ref: str, means: Means) -> str:
    """What the user said with its pastes cut; in so many tokens where that is asked for."""
    if one.kind == "request":
        return within(text, ref, one.guess, means.count)
    rules = means.policy.offload
    form = Form(
        above=PASTE_SHORT,
        lines=rules.lines,
        width=rules.width,
        preview=rules.preview // 2,
        outline=rules.outline // 2,
    )
    return cut_pastes(text, ref, ONE_LINE if one.tight else form)


def _result(one: Proposal, body: ToolReturned, source: tier_1.Source, means: Means) -> ToolReturned:
    used = one.worth.used
    if one.kind == "read":
        text = f"{MASKED}{source.ref}] {_lines(one)} read; read or written again later"
        return ToolReturned(body.call, text, body.failed)
    if one.kind == "debug":
        seen = outline(body.output, lines=0)
        text = f"{MASKED}{source.ref}] {seen.summary}; resolved: the same command went well later"
        return ToolReturned(body.call, text, body.failed)
    if one.tight:
        return tier_1.mask(body, tool=one.tool, source=source, telling=used)
    return tier_1.offload(
        body,
        tool=one.tool,
        source=source,
        rules=means.policy.offload,
        count=means.count,
        telling=used,
        before=one.before,
    )


def _lines(one: Proposal) -> str:
    touch = one.touch
    if not touch.paged:
        return touch.path
    last = f"–{touch.last}" if touch.last else " on"
    return f"{touch.path} lines {max(touch.first, 1)}{last}"
