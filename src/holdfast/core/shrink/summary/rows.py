"""Read the summary rows of a span from the record.

Rows are read from the original entries, not from their stand-ins. Requests and decisions are read
from the hidden span, and from entries that a host dropped before. Progress, next steps and
questions are read from the whole session: the newest may be in the tail, or hidden long ago.
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
from holdfast.core.observe.requests.intent import IntentReading, first_request, read_intent
from holdfast.core.observe.results.decisions import decisions_of
from holdfast.core.observe.results.errors import describe_call, errors_of
from holdfast.core.observe.results.failures import call_failed, whole_result_of
from holdfast.core.observe.results.findings import findings_of
from holdfast.core.observe.results.progress import next_steps_of, progress_of, unanswered_questions
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.shrink.clip_pastes import cut_wanted
from holdfast.core.shrink.summary.text import read_summary


class HiddenSpan(Struct, frozen=True):
    """The entries that a cut hides, the window around them, and the record."""

    hidden: Scene
    """The original entries that will be hidden."""
    window: Scene
    """The original entries of the whole window, without an older summary."""
    record: Scene
    """All entries that will be hidden, those that were hidden before included."""
    left: tuple[Item, ...] = ()
    """Entries of the record that a host dropped and that no summary in the window covers."""

    @property
    def unsummarized(self) -> Scene:
        """The entries that no summary covers yet: dropped by a host, or hidden by this cut."""
        return read_scene([*self.left, *self.hidden.items]) if self.left else self.hidden

    @property
    def whole(self) -> Scene:
        """The original entries of the whole session: an open task may have been hidden long ago."""
        left = {item.entry.id for item in self.record.items}
        stays = [item for item in self.window.items if item.entry.id not in left]
        return read_scene([*self.record.items, *stays]) if stays else self.record

    @property
    def names(self) -> frozenset[EntryId]:
        """The ids of the entries that will be hidden."""
        return frozenset(item.entry.id for item in self.hidden.items)


def is_anchor(item: Item) -> bool:
    """Return whether an item is a summary of ours, also one that a client sent back."""
    body = item.body
    if not isinstance(body, Said) or body.role != "user":
        return False
    return (item.stand_in is not None and is_ours(body)) or read_summary(body.text) is not None


def original_scene(items: Sequence[Item]) -> Scene:
    """Return a scene of the original entries, without items that stand in for several entries."""
    return read_scene([Item(item.entry) for item in items if len(item.covers) < 2])


def rows_of_span(span: HiddenSpan) -> Summary:
    """Return a summary of all rows that a span adds, without facts."""
    names, whole, told = span.names, span.whole, span.unsummarized
    want = cut_wanted(_since_the_beginning(read_intent(told), span))
    return Summary(
        intent=want.intent,
        constraints=want.constraints,
        words=want.words,
        files=files_of(span.record),
        decisions=decisions_of(told),
        findings=findings_of(whole, {item.entry.id for item in told.items}),
        errors=tuple(error for error in errors_of(span.window) if error.entry in names),
        progress=progress_of(whole),
        next=next_steps_of(whole),
        questions=unanswered_questions(whole),
        hidden=len(names),
        at=max((item.entry.at for item in span.hidden.items), default=""),
    )


@rule_keeping(0)
def _since_the_beginning(want: IntentReading, span: HiddenSpan) -> IntentReading:
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
def passed_commands(scene: Scene) -> dict[str, EntryId]:
    """Return the commands whose last run passed, by name, with the entry of that result."""
    found: dict[str, EntryId] = {}
    for pair in scene.pairs:
        body = whole_result_of(scene, pair)
        if body is None or pair.result is None:
            continue
        touch = touch_of(pair.body)
        what = describe_call(pair.body, touch)
        if call_failed(touch, body):
            found.pop(what, None)
        else:
            found[what] = scene.items[pair.result].entry.id
    return found
