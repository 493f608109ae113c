"""What a span adds to the summary: every row that the record shows, uncut.

Rows are read off the entries as they came, also where a stand-in is all that is in sight. What the
user wants and what was decided is read from the span that leaves, and from what a host dropped
before; how things stand now is read from everything up to now, because the newest word on it may be
in the part that stays, or left long ago.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule, rule_keeping
from holdfast.core.ledger.entry import EntryId, Said, is_ours
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.changes import files_of
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.requests.intent import Wanted, first_request, wanted
from holdfast.core.observe.results.decisions import decisions_of
from holdfast.core.observe.results.errors import errors_of, what_of
from holdfast.core.observe.results.failures import result_of, went_wrong
from holdfast.core.observe.results.findings import findings_of
from holdfast.core.observe.results.progress import next_of, progress_of, questions_of
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.shrink.clip_pastes import cut_wanted
from holdfast.core.shrink.summary.text import read


class Span(Struct, frozen=True):
    """What is about to leave, and what it leaves behind."""

    hidden: Scene
    """The entries that leave, as they came."""
    window: Scene
    """All that is in sight, as it came, without a summary that stands there already."""
    record: Scene
    """All entries that will be out of sight, those that left before included."""
    left: tuple[Item, ...] = ()
    """Those of them that a host dropped, and that no summary in sight stands for."""

    @property
    def told(self) -> Scene:
        """What nobody has accounted for: the words of the user hold, whoever dropped them."""
        return read_scene([*self.left, *self.hidden.items]) if self.left else self.hidden

    @property
    def whole(self) -> Scene:
        """Everything up to now, as it came: a list of tasks may have left long ago, and hold."""
        left = {item.entry.id for item in self.record.items}
        stays = [item for item in self.window.items if item.entry.id not in left]
        return read_scene([*self.record.items, *stays]) if stays else self.record

    @property
    def names(self) -> frozenset[EntryId]:
        """The entries that leave."""
        return frozenset(item.entry.id for item in self.hidden.items)


def is_anchor(item: Item) -> bool:
    """Whether this is a summary of ours, in its place or sent back by a client."""
    body = item.body
    if not isinstance(body, Said) or body.role != "user":
        return False
    return (item.stand_in is not None and is_ours(body)) or read(body.text) is not None


def as_it_came(items: Sequence[Item]) -> Scene:
    """Items without what stands in for them; one that stands for several is left out."""
    return read_scene([Item(item.entry) for item in items if len(item.covers) < 2])


def account(span: Span) -> Summary:
    """Every row that a span adds, facts apart."""
    names, whole, told = span.names, span.whole, span.told
    want = cut_wanted(_since_the_beginning(wanted(told), span))
    return Summary(
        intent=want.intent,
        constraints=want.constraints,
        words=want.words,
        files=files_of(span.record),
        decisions=decisions_of(told),
        findings=findings_of(whole, {item.entry.id for item in told.items}),
        errors=tuple(error for error in errors_of(span.window) if error.entry in names),
        progress=progress_of(whole),
        next=next_of(whole),
        questions=questions_of(whole),
        hidden=len(names),
        at=max((item.entry.at for item in span.hidden.items), default=""),
    )


@rule_keeping(0)
def _since_the_beginning(want: Wanted, span: Span) -> Wanted:
    """The first request is that of the whole record: a host may have dropped it from the window."""
    if len(span.record.items) <= len(span.hidden.items):
        return want
    own = want.intent.original
    first, *rest = first_request(span.record) or (own,)
    if not own.text or own == first:
        return want
    intent, older = want.intent, (own, *want.intent.original_rest)
    if own == intent.current:
        # All that was asked since is one request: it is the newest now, and the first is another.
        made = replace(intent, original=first, original_rest=tuple(rest), current_rest=older[1:])
        return replace(want, intent=made)
    made = replace(intent, original=first, original_rest=tuple(rest))
    return replace(want, intent=made, words=(*older, *want.words))


@rule({})
def passed(scene: Scene) -> dict[str, EntryId]:
    """Commands that went well the last time, by what they are called, and what shows it."""
    found: dict[str, EntryId] = {}
    for pair in scene.pairs:
        body = result_of(scene, pair)
        if body is None or pair.result is None:
            continue
        touch = touch_of(pair.body)
        what = what_of(pair.body, touch)
        if went_wrong(touch, body):
            found.pop(what, None)
        else:
            found[what] = scene.items[pair.result].entry.id
    return found
