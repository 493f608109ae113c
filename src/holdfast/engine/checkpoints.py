"""Checkpoints: save the state of the work without a model, as an entry and a readable page.

Three steps. Persist: write a readable page and an entry of the ledger. Verify: read both back.
Announce: return the reference and log it. A checkpoint hides nothing, so it may be taken at any
time; the engine takes one before a summary replaces old entries, and one when a window becomes
critical.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Checkpointed, Entry
from holdfast.core.ledger.notes import FreshSessionAdvised, newest_note
from holdfast.core.ledger.summary import Summary
from holdfast.core.measure.usage import Level
from holdfast.core.plan.state import State
from holdfast.core.shrink.step import ShrinkContext, ref_of
from holdfast.core.summarize import summary_with_story
from holdfast.core.view.forms import render_form
from holdfast.engine.cache import read_cached, rules_digest, write_cached
from holdfast.errors import Conflict, NotWritten, StoreDamaged
from holdfast.text.utf8 import to_bytes

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

logger = logging.getLogger(__name__)

CRITICAL, REFUSED, BEFORE_SUMMARY = "critical", "tier 3 refused", "before tier 3"
"""Why the engine takes a checkpoint, as its trigger begins."""
MAX_PAGES = 20
"""Pages on disk of the checkpoints that the engine takes; the ledger keeps every checkpoint."""
ENGINE_TRIGGERS = (CRITICAL, REFUSED, BEFORE_SUMMARY)
PAGES_CACHE = "checkpoint pages"
MAX_TRIES = 3
STORY_TOKENS = 1_500
"""Tokens of the facts that a checkpoint contains."""


class Checkpoint(Struct, frozen=True):
    """A checkpoint that was taken: its reference and its path."""

    ref: str
    path: str = ""
    """Relative to the project's root; empty if the session has none."""


def as_checkpoint(entry: Entry) -> Checkpoint:
    """Return the reference and path of a checkpoint's entry."""
    assert isinstance(entry.body, Checkpointed)
    return Checkpoint(ref_of(entry.id), entry.body.file)


def take_checkpoint(
    ledger: "Ledger",
    state: State,
    context: ShrinkContext,
    trigger: str,
    *,
    only_if_unchanged: bool = False,
) -> Checkpoint:
    """Save the state of the work, unless the newest checkpoint has the same state.

    Raises:
        NotWritten: the page could not be written; then the ledger has no such checkpoint.
        Conflict: `only_if_unchanged`, and something was written since the state was read.
    """
    last = _newest_if_last_entry(ledger, state)
    if last is not None:
        return as_checkpoint(last)
    known = summary_with_story(state, context, STORY_TOKENS)
    body = _checkpoint_body(ledger, state, known, trigger)
    existing = _newest_if_same(ledger, state, body)
    if existing is not None:
        return as_checkpoint(existing)
    body = replace(body, file=_write_page(ledger, state, known))
    entry = ledger.derive(body, after=state.seq if only_if_unchanged else None)
    _verify_written(ledger, entry)
    if body.file and trigger.startswith(ENGINE_TRIGGERS):
        _remove_old_page(ledger, body.file)
    return _announce(ledger, entry)


def take_checkpoint_now(
    ledger: "Ledger", read_state: Callable[[], State], context: ShrinkContext, trigger: str
) -> Checkpoint:
    """Take a checkpoint; two callers at the same time get one checkpoint."""
    for _ in range(MAX_TRIES):
        with suppress(Conflict):
            return take_checkpoint(ledger, read_state(), context, trigger, only_if_unchanged=True)
    # Others keep writing. The checkpoint names its last entry, so it is correct anyway.
    return take_checkpoint(ledger, read_state(), context, trigger)


def _newest_if_last_entry(ledger: "Ledger", state: State) -> Entry | None:
    """Return the newest checkpoint if it is the last entry of all: then nothing has to be read."""
    from holdfast.engine.unattended import run_line  # late: most runs are attended

    newest = next(ledger.newest_checkpoints(), None)
    if newest is None or newest.seq != state.seq:
        return None
    body = newest.body
    assert isinstance(body, Checkpointed)
    same = (body.run, body.generation) == (run_line(ledger), state.window.generation)
    return newest if same else None


def _newest_if_same(ledger: "Ledger", state: State, new: Checkpointed) -> Entry | None:
    """Return the newest checkpoint if it already has the same state."""
    newest = next(ledger.newest_checkpoints(), None)
    if newest is None or newest.parent != state.window.end:
        return None
    body = newest.body
    assert isinstance(body, Checkpointed)
    same = (body.summary, body.run, body.generation)
    return newest if same == (new.summary, new.run, new.generation) else None


def _checkpoint_body(ledger: "Ledger", state: State, known: Summary, trigger: str) -> Checkpointed:
    """Return the entry to write, without the path of its page."""
    from holdfast.engine.unattended import run_line  # late: most runs are attended

    usage = state.usage
    return Checkpointed(
        known,
        generation=state.window.generation,
        upto=state.seq,
        trigger=trigger,
        tokens=usage.tokens,
        limit=usage.limit,
        run=run_line(ledger),
    )


def checkpoint_page(known: Summary, session: str) -> str:
    """Render a checkpoint as a page for people."""
    return render_form(known, "checkpoint", session=session)


def _write_page(ledger: "Ledger", state: State, known: Summary) -> str:
    """Write the page, and return its path."""
    if not ledger.root:
        return ""
    from holdfast.project.layout import checkpoint_path
    from holdfast.project.write import write_copy

    page = to_bytes(checkpoint_page(known, ledger.name))
    path = checkpoint_path(ledger.name, ledger.now(), page, state.policy.layout)
    write_copy(ledger.root, path, page)
    return path


def _verify_written(ledger: "Ledger", checkpoint: Entry) -> None:
    """Read the entry and the page back.

    Raises:
        StoreDamaged: the ledger does not hold what was written.
        NotWritten: the page does not exist.
    """
    assert isinstance(checkpoint.body, Checkpointed)
    found = list(ledger.store.read(ledger.name, numbers=[checkpoint.seq]))
    if [entry.body for entry in found] != [checkpoint.body]:
        raise StoreDamaged(
            ledger.name, f"checkpoint {ref_of(checkpoint.id)} is not what was written"
        )
    if checkpoint.body.file and not Path(ledger.root, checkpoint.body.file).is_file():
        raise NotWritten(checkpoint.body.file, "it is not there")


def _remove_old_page(ledger: "Ledger", newest: str) -> None:
    """Remove the oldest page if the engine's checkpoints have one too many with the newest."""
    from holdfast.project.remove import remove_copy

    rules = rules_digest(PAGES_CACHE, ledger.erased_upto)
    name = f"{PAGES_CACHE} {ledger.agent}".rstrip()
    cached = read_cached(ledger.store, ledger.name, name, rules, tuple[str, ...])
    pages = (*cached[1], newest) if cached is not None else _engine_pages(ledger)
    kept = pages[-MAX_PAGES:]
    for page in pages[:-MAX_PAGES]:
        if page not in kept:
            with suppress(NotWritten):  # A page that stays takes space only.
                remove_copy(ledger.root, page)
    head = ledger.store.head(ledger.name)
    if head is not None:
        write_cached(ledger.store, ledger.name, name, rules, head, kept)


def _engine_pages(ledger: "Ledger") -> tuple[str, ...]:
    """Return the newest pages of the checkpoints that the engine took, oldest first."""
    pages = (
        entry.body.file
        for entry in ledger.newest_checkpoints()
        if isinstance(entry.body, Checkpointed)
        and entry.body.file
        and entry.body.trigger.startswith(ENGINE_TRIGGERS)
    )
    return tuple(islice(pages, MAX_PAGES + 1))[::-1]


def _announce(ledger: "Ledger", entry: Entry) -> Checkpoint:
    checkpoint = as_checkpoint(entry)
    logger.info(
        "checkpoint %s of %r: %s", checkpoint.ref, ledger.name, checkpoint.path or "in the ledger"
    )
    return checkpoint


def checkpoint_at_critical(
    ledger: "Ledger", state: State, context: ShrinkContext, trigger: str
) -> None:
    """Take a checkpoint when a window becomes critical: one for each generation."""
    _checkpoint_once(ledger, state, context, CRITICAL, trigger)


def checkpoint_after_refusal(
    ledger: "Ledger", state: State, context: ShrinkContext, trigger: str
) -> None:
    """Take a checkpoint and advise a fresh session if a summary was due and refused."""
    if state.usage.fraction * 100 < state.policy.at.summary:
        return
    _checkpoint_once(ledger, state, context, REFUSED, trigger)
    _advise_fresh_session(ledger, state, "its summary was refused")


def _checkpoint_once(
    ledger: "Ledger", state: State, context: ShrinkContext, reason: str, trigger: str
) -> None:
    """Take a checkpoint for this reason, unless this generation has one."""
    for entry in ledger.newest_checkpoints():
        assert isinstance(entry.body, Checkpointed)
        if entry.body.generation != state.window.generation:
            break
        if entry.body.trigger.startswith(reason):
            return
    take_checkpoint(ledger, state, context, f"{reason}: {trigger}")


def advise_if_critical(ledger: "Ledger", state: State) -> None:
    """Recommend a fresh session, once, if the window is still critical."""
    if state.usage.level is Level.CRITICAL:
        _advise_fresh_session(ledger, state, "it is critical and nothing more may leave it")


def _advise_fresh_session(ledger: "Ledger", state: State, reason: str) -> None:
    generation = state.window.generation
    advised = newest_note(ledger.notes(), FreshSessionAdvised)
    if advised is not None and advised[1].generation == generation:
        return
    newest = next(ledger.newest_checkpoints(), None)
    ref = ref_of(newest.id) if newest is not None else ""
    ledger.note(FreshSessionAdvised(generation, ref))
    logger.info(
        "the window of %r cannot be made smaller, %s: go on in a fresh session (`holdfast "
        "checkpoint --reset`, or holdfast.resume(%r))",
        ledger.name,
        reason,
        ref or ledger.name,
    )
