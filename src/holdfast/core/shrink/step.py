"""Turn one proposal into one step: the entry that it hides, and the stand-in for it."""

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
from holdfast.core.plan.proposals import MIN_PASTE_CHARS, TIERS, Proposal
from holdfast.core.shrink import offload as tier_1
from holdfast.core.shrink.clip_pastes import ONE_LINE, PasteForm, cut_pastes, fit_request
from holdfast.core.shrink.outline.outline import outline
from holdfast.core.shrink.truncate import truncate

Address: TypeAlias = Callable[[Proposal, Item], str]
"""Returns the path of the readable copy of an item that will be hidden; empty if there is none."""

REF_LENGTH = 12


class ShrinkContext(Struct, frozen=True):
    """Settings and functions for shrinking that come from outside of the core."""

    count: CountTokens
    address: Address
    policy: Policy
    session: str = ""
    archive: str = ""
    """The path of the file with the whole conversation; empty if there is none."""
    model_rows: Summary = Summary()
    """Checked rows that a model wrote about the hidden span; empty if no model was asked."""
    preserved_refs: tuple[Ref, ...] | None = None
    """References to what a project preserves outside of the ledger. Every summary has them, and
    they replace older ones; None keeps the older ones."""


def no_address(proposal: Proposal, item: Item) -> str:
    """Return an empty path: an `Address` for callers that write no copies."""
    del proposal, item
    return ""


def ref_of(entry: str) -> str:
    """Return the short reference of an entry id."""
    return entry[:REF_LENGTH]


@rule(None)
def shrink(proposal: Proposal, item: Item, context: ShrinkContext) -> Step | None:
    """Return the step that applies a proposal; None if the stand-in would not be smaller."""
    file = context.address(proposal, item) if proposal.kind in ("offload", "intermediate") else ""
    # A request is cut from the original message, also if the window shows one that was cut before.
    body = Item(item.entry).body if proposal.kind in ("paste", "request") else item.body
    stand_in = _make_stand_in(proposal, body, file, context)
    if stand_in is None and proposal.kind != "thinking":
        return None
    after = count_body(stand_in, context.count) if stand_in is not None else 0
    if after >= proposal.before and stand_in is not None:
        return None
    return Step(
        hides=(item.entry.id,),
        reason=proposal.reason,
        stand_in=stand_in,
        tier=TIERS.get(proposal.kind, 1),
        before=proposal.before,
        after=after,
        kind=proposal.kind,
        file=file,
    )


def _make_stand_in(
    proposal: Proposal, body: Source, file: str, context: ShrinkContext
) -> Source | None:
    ref = ref_of(proposal.entry)
    match body:
        case ToolCalled():
            return truncate(
                body,
                touch=proposal.touch,
                ref=ref,
                persisted=bool(proposal.persisted),
                rules=context.policy.truncate,
                count=context.count,
            )
        case ToolReturned():
            return _shrink_result(proposal, body, tier_1.OriginalLocation(ref, file), context)
        case Said():
            return Said(body.role, _cut_request(proposal, body.text, ref, context), body.by)
        case _:
            return None


def _cut_request(proposal: Proposal, text: str, ref: str, context: ShrinkContext) -> str:
    """Return a request with its pastes cut, or cut to the tokens that the proposal grants."""
    if proposal.kind == "request":
        return fit_request(text, ref, proposal.guess, context.count)
    rules = context.policy.offload
    form = PasteForm(
        max_whole_chars=MIN_PASTE_CHARS,
        head_lines=rules.lines,
        width=rules.width,
        preview_chars=rules.preview // 2,
        outline_lines=rules.outline // 2,
    )
    return cut_pastes(text, ref, ONE_LINE if proposal.tight else form)


def _shrink_result(
    proposal: Proposal,
    body: ToolReturned,
    location: tier_1.OriginalLocation,
    context: ShrinkContext,
) -> ToolReturned:
    used = proposal.worth.used
    if proposal.kind == "read":
        text = (
            f"{MASKED}{location.ref}] {_describe_lines(proposal)} read; read or written again later"
        )
        return ToolReturned(body.call, text, body.failed)
    if proposal.kind == "debug":
        summary = outline(body.output, lines=0).summary
        text = f"{MASKED}{location.ref}] {summary}; resolved: the same command went well later"
        return ToolReturned(body.call, text, body.failed)
    if proposal.tight:
        return tier_1.mask(body, tool=proposal.tool, location=location, key_words=used)
    return tier_1.offload(
        body,
        tool=proposal.tool,
        location=location,
        rules=context.policy.offload,
        count=context.count,
        key_words=used,
        before=proposal.before,
    )


def _describe_lines(proposal: Proposal) -> str:
    touch = proposal.touch
    if not touch.paged:
        return touch.path
    last = f"–{touch.last}" if touch.last else " on"
    return f"{touch.path} lines {max(touch.first, 1)}{last}"
