"""Read the summary rows of a scene from its original entries, not from their stand-ins."""

from collections.abc import Container, Iterable, Sequence
from typing import TypeVar

from holdfast.core.ledger.entry import EntryId, Said, is_ours
from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    File,
    Intent,
    Next,
    Progress,
    Quote,
    Summary,
)
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.changes import files_of
from holdfast.core.observe.moments.state import state_of
from holdfast.core.observe.requests.intent import read_intent
from holdfast.core.observe.results.decisions import decisions_of
from holdfast.core.observe.results.errors import errors_of
from holdfast.core.observe.results.progress import next_steps_of, progress_of, unanswered_questions
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.shrink.clip_pastes import cut_wanted
from holdfast.core.shrink.summary.text import read_summary

Row = TypeVar("Row", Constraint, Decision, Error, File, Next, Quote)


def is_anchor(item: Item) -> bool:
    """Return whether an item is a summary of ours, also one that a client sent back."""
    body = item.body
    if not isinstance(body, Said) or body.role != "user":
        return False
    return (item.stand_in is not None and is_ours(body)) or read_summary(body.text) is not None


def original_scene(items: Sequence[Item]) -> Scene:
    """Return a scene of the original entries, without items that stand in for several entries."""
    return read_scene([Item(item.entry) for item in items if len(item.covers) < 2])


def rows_of_scene(
    scene: Scene, names: Container[EntryId] | None = None, errors: Sequence[Error] = ()
) -> Summary:
    """Return the rows that a scene shows, without facts; only those of the named entries.

    `errors` of earlier entries come first, with their status after this scene.
    """
    want = cut_wanted(read_intent(scene))

    def own(rows: Iterable[Row]) -> tuple[Row, ...]:
        return tuple(row for row in rows if names is None or row.entry in names)

    def own_quote(quote: Quote) -> Quote:
        return quote if names is None or quote.entry in names else Quote()

    intent, progress = want.intent, progress_of(scene)
    return Summary(
        intent=Intent(
            own_quote(intent.original),
            own_quote(intent.current),
            own(intent.changes),
            own(intent.original_rest),
            own(intent.current_rest),
        ),
        constraints=own(want.constraints),
        words=own(want.words),
        files=own(files_of(scene)),
        decisions=own(decisions_of(scene)),
        errors=errors_of(scene, errors),
        progress=progress if names is None or progress.entry in names else Progress(),
        next=own(next_steps_of(scene)),
        questions=own(unanswered_questions(scene)),
        state=own(state_of(scene)),
    )
