"""Read the summary rows of a scene from its original entries, not from their stand-ins."""

from collections.abc import Container, Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

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
    return replace(
        guiding_rows(scene, names),
        files=_own(files_of(scene), names),
        errors=errors_of(scene, errors),
        next=_own(next_steps_of(scene), names),
        questions=_own(unanswered_questions(scene), names),
        state=_own(state_of(scene), names),
    )


def guiding_rows(scene: Scene, names: Container[EntryId] | None = None) -> Summary:
    """Return only the rows that say what to do: the user's words, decisions and progress."""
    want, progress = cut_wanted(read_intent(scene)), progress_of(scene)
    intent = want.intent
    return Summary(
        intent=Intent(
            _own_quote(intent.original, names),
            _own_quote(intent.current, names),
            _own(intent.changes, names),
            _own(intent.original_rest, names),
            _own(intent.current_rest, names),
        ),
        constraints=_own(want.constraints, names),
        words=_own(want.words, names),
        decisions=_own(decisions_of(scene), names),
        progress=progress if names is None or progress.entry in names else Progress(),
    )


def _own(rows: Iterable[Row], names: Container[EntryId] | None) -> tuple[Row, ...]:
    """Return the rows of the named entries."""
    return tuple(row for row in rows if names is None or row.entry in names)


def _own_quote(quote: Quote, names: Container[EntryId] | None) -> Quote:
    return quote if names is None or quote.entry in names else Quote()
