"""Checkpoints: where the work stands, put down without a model, in three steps.

Persist: a readable copy and an entry of the ledger. Verify: both are read back and are what was
meant. Announce: the caller gets its reference, and the log shows it. A checkpoint changes nothing
in sight, so it may be taken at any time; the engine takes one before a summary replaces what is
old, and once when a window becomes critical.
"""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Checkpointed, Entry, Noted
from holdfast.core.ledger.summary import Summary
from holdfast.core.measure.usage import Level
from holdfast.core.plan.state import State
from holdfast.core.shrink.step import Means, ref_of
from holdfast.core.summarize import rows
from holdfast.core.view.forms import render
from holdfast.errors import Conflict, NotWritten, StoreDamaged

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

logger = logging.getLogger(__name__)

CRITICAL, REFUSED = "critical", "tier 3 refused"
ADVISED = "fresh_session"
"""What is noted when only a fresh session helps."""
TRIES = 3
UNREAD = "Not looked for: `holdfast recover --level 3` does, where there is room for them."


class Checkpoint(Struct, frozen=True):
    """A checkpoint that was taken: how to name it, and where it can be read."""

    ref: str
    path: str = ""
    """Below the project's root; empty when the session has none."""


def checkpoints_of(ledger: Iterable[Entry], agent: str = "") -> list[Entry]:
    """The checkpoints of an agent, oldest first."""
    return [e for e in ledger if isinstance(e.body, Checkpointed) and e.lane == agent]


def as_checkpoint(entry: Entry) -> Checkpoint:
    """How an entry of the ledger is called."""
    assert isinstance(entry.body, Checkpointed)
    return Checkpoint(ref_of(entry.id), entry.body.file)


def take(
    ledger: "Ledger", state: State, means: Means, trigger: str, *, alone: bool = False
) -> Checkpoint:
    """Put down where the work stands; the same state is put down once.

    Raises:
        NotWritten: the copy could not be written; the ledger has no such checkpoint then.
        Conflict: something came since the state was looked at, and `alone` was asked for.
    """
    last = _just_taken(ledger, state)
    if last is not None:
        return as_checkpoint(last)
    known = rows(state, means)
    body = _body(ledger, state, known, trigger)
    there = _same(state, body)
    if there is not None:
        return as_checkpoint(there)
    body = replace(body, file=_copy(ledger, state, known))
    made = ledger.derive(body, after=state.seq if alone else None)
    _verify(ledger, made)
    return _announce(ledger, made)


def take_now(ledger: "Ledger", look: Callable[[], State], means: Means, trigger: str) -> Checkpoint:
    """The same for whoever asks now: two who ask at once get one checkpoint."""
    for _ in range(TRIES):
        with suppress(Conflict):
            return take(ledger, look(), means, trigger, alone=True)
    # Others keep writing. What it tells of is said in it, so it is right all the same.
    return take(ledger, look(), means, trigger)


def _just_taken(ledger: "Ledger", state: State) -> Entry | None:
    """The newest checkpoint, if it is the last entry of all: nothing need be read again then."""
    from holdfast.engine.unattended import line_of  # late: most checkpoints are of attended work

    taken = checkpoints_of(state.window.ledger, state.window.lane)
    if not taken or taken[-1].seq != state.seq:
        return None
    body = taken[-1].body
    assert isinstance(body, Checkpointed)
    same = (body.run, body.generation) == (line_of(ledger), state.window.generation)
    return taken[-1] if same else None


def _same(state: State, wanted: Checkpointed) -> Entry | None:
    """The newest checkpoint, if nothing came since that it does not tell of."""
    taken = checkpoints_of(state.window.ledger, state.window.lane)
    if not taken or taken[-1].parent != state.window.end:
        return None
    body = taken[-1].body
    assert isinstance(body, Checkpointed)
    same = (body.summary, body.run, body.generation)
    return taken[-1] if same == (wanted.summary, wanted.run, wanted.generation) else None


def _body(ledger: "Ledger", state: State, known: Summary, trigger: str) -> Checkpointed:
    """What the ledger will hold, but for where its readable copy is."""
    from holdfast.engine.unattended import line_of  # late: most checkpoints are of attended work

    usage = state.usage
    return Checkpointed(
        known,
        generation=state.window.generation,
        upto=state.seq,
        trigger=trigger,
        tokens=usage.tokens,
        limit=usage.limit,
        run=line_of(ledger),
    )


def page_of(known: Summary, session: str) -> str:
    """A checkpoint as people read it."""
    return render(known, "checkpoint", session=session, facts=UNREAD)


def _copy(ledger: "Ledger", state: State, known: Summary) -> str:
    """Write the readable copy, and tell where."""
    if not ledger.root:
        return ""
    from holdfast.project.layout import checkpoint_of
    from holdfast.project.write import project

    page = page_of(known, ledger.name).encode("utf-8", "surrogatepass")
    path = checkpoint_of(ledger.name, ledger.now(), page, state.policy.layout)
    project(ledger.root, path, page)
    return path


def _verify(ledger: "Ledger", made: Entry) -> None:
    """Read both back.

    Raises:
        StoreDamaged: the ledger does not hold what was written.
        NotWritten: the copy is not there.
    """
    assert isinstance(made.body, Checkpointed)
    found = list(ledger.store.read(ledger.name, numbers=[made.seq]))
    if [entry.body for entry in found] != [made.body]:
        raise StoreDamaged(ledger.name, f"checkpoint {ref_of(made.id)} is not what was written")
    if made.body.file and not Path(ledger.root, made.body.file).is_file():
        raise NotWritten(made.body.file, "it is not there")


def _announce(ledger: "Ledger", made: Entry) -> Checkpoint:
    done = as_checkpoint(made)
    logger.info("checkpoint %s of %r: %s", done.ref, ledger.name, done.path or "in the ledger")
    return done


def at_critical(ledger: "Ledger", state: State, means: Means, trigger: str) -> None:
    """Take a checkpoint when a window has become critical: once, until something leaves it."""
    _once(ledger, state, means, CRITICAL, trigger)


def after_refusal(ledger: "Ledger", state: State, means: Means, trigger: str) -> None:
    """Put down where the work stands, and advise a fresh session, when a summary was not taken."""
    if state.usage.fraction * 100 < state.policy.at.summary:
        return
    _once(ledger, state, means, REFUSED, trigger)
    _advise(ledger, state, "its summary was refused")


def _once(ledger: "Ledger", state: State, means: Means, why: str, trigger: str) -> None:
    """Take a checkpoint for this reason, unless there is one since something last left."""
    taken = checkpoints_of(state.window.ledger, state.window.lane)
    for entry in taken:
        assert isinstance(entry.body, Checkpointed)
        same = entry.body.generation == state.window.generation
        if same and entry.body.trigger.startswith(why):
            return
    take(ledger, state, means, f"{why}: {trigger}")


def advise(ledger: "Ledger", state: State) -> None:
    """Recommend a fresh session, once, where nothing that may leave is enough."""
    if state.usage.level is Level.CRITICAL:
        _advise(ledger, state, "it is critical and nothing more may leave it")


def _advise(ledger: "Ledger", state: State, why: str) -> None:
    generation = str(state.window.generation)
    notes = (entry.body for entry in state.window.ledger if isinstance(entry.body, Noted))
    if any(one.what == ADVISED and one.facts.get("generation") == generation for one in notes):
        return
    taken = checkpoints_of(state.window.ledger, state.window.lane)
    ref = ref_of(taken[-1].id) if taken else ""
    ledger.note(ADVISED, generation=generation, checkpoint=ref)
    logger.info(
        "the window of %r cannot be made smaller, %s: go on in a fresh session"
        " (`holdfast checkpoint --reset`, or holdfast.resume(%r))",
        ledger.name,
        why,
        ref or ledger.name,
    )
