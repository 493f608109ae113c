"""Preserve the project's own notes and logs: find them, update them, carry them in summaries.

The ledger is the default: it holds whatever no outside file holds. A file of the project is touched
only if the project has it or declares that layout (`layout: loa`).
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Entry, Thought, is_request, text_of
from holdfast.core.ledger.notes import (
    Forked,
    RecoveryFailed,
    SummaryBlocked,
    ThinkingLogged,
    encode,
    is_note,
    newest_note,
)
from holdfast.core.ledger.summary import CHECK_RECOVERY, Phase, Quote, Ref, Summary
from holdfast.core.ledger.window import Window
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import STRICT, Policy
from holdfast.core.plan.preserve import (
    KEPT,
    SIMPLE_CHECKPOINT_ITEMS,
    UNUSED,
    PreservedState,
    preserved_items,
    preserved_refs,
)
from holdfast.core.plan.state import State
from holdfast.core.verify.phases import CheckedCompression, check_phases
from holdfast.core.verify.tampered import MAX_KEPT_CHARS as EDITED
from holdfast.core.view.forms.exports import continuity_lines, decision_log_line
from holdfast.core.view.forms.parts import FormContext
from holdfast.errors import BadCompression, Blocked, HoldfastError, NotWritten, Unreadable
from holdfast.project.integrations import beads, named_files, notes, run_state, sprint, trajectory

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

logger = logging.getLogger(__name__)

LOA_LAYOUT = "loa"
NOTES_LABELS = ("session continuity", "decision log")
"""Labels of the items that are sections of the notes file."""
CREATABLE_ITEMS = ("session_continuity", "decision_log")
"""Items that can be created if they are missing."""
IN_LEDGER = {
    "session_continuity": "requests, state and next steps are in the record",
    "decision_log": "decisions are in the record",
    "trajectory_entries": "thinking is in the record",
}
"""What the ledger holds of an item that no outside file holds."""


def find_preserved(root: str, policy: Policy) -> tuple[PreservedState, ...]:
    """Return the state in which each item that a policy preserves was found in a project."""
    rules, expected = policy.preservation, policy.layout == LOA_LAYOUT
    place = notes.notes_path(root, expected=expected) if rules.notes == "on" else ""
    sections = notes.find_sections(root, place) if place else ()
    found = {
        **{found_item.item: found_item for found_item in sections},
        "trajectory_entries": trajectory.find_trajectory(root, expected=expected),
        "active_beads": beads.find_beads(root),
        "sprint_context": sprint.find_sprint(root),
        "run_mode_state": run_state.find_run_state(root),
    }
    names = [
        found_item.name
        for found_item in preserved_items(rules)
        if found_item.built_in and found_item.on
    ]
    built_in = (found.get(name, PreservedState(name, UNUSED)) for name in names)
    return (
        *map(_or_in_ledger, built_in),
        *(named_files.find_named_file(root, item) for item in rules.always),
    )


def _or_in_ledger(item: PreservedState) -> PreservedState:
    if item.status == UNUSED and item.item in IN_LEDGER:
        return PreservedState(item.item, KEPT, detail=IN_LEDGER[item.item])
    return item


def creatable(held: Iterable[PreservedState]) -> list[PreservedState]:
    """Return the missing items that can be created."""
    return [item for item in held if item.status == "missing" and item.item in CREATABLE_ITEMS]


def create_missing(root: str, held: Sequence[PreservedState]) -> None:
    """Create the sections that are missing.

    Raises:
        Unreadable: the notes are outside of the project, or are no file.
        NotWritten: they could not be written.
    """
    missing = creatable(held)
    if missing:
        notes.create_sections(root, missing[0].where, [item.item for item in missing])


def items_to_check(held: Iterable[PreservedState], policy: Policy) -> list[PreservedState]:
    """Return the items that a checkpoint checks."""
    simple = policy.preservation.checkpoint == "simple"
    return [item for item in held if not simple or item.item in SIMPLE_CHECKPOINT_ITEMS]


def missing_message(missing: Sequence[PreservedState]) -> str:
    """Return one sentence that says which items are missing and how to continue."""
    names = "; ".join(f"{item.item} is missing ({item.where}: {item.detail})" for item in missing)
    if creatable(missing):
        return f"{names}; `holdfast preserve --create` makes it"
    return f"{names}; `holdfast preserve` checks it again"


class Preserver:
    """Finds the items that one session has to carry, and updates the files that hold them."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._items: tuple[PreservedState, ...] = ()
        self._warned: tuple[str, ...] = ()
        self._updates: dict[str, str] = {}
        """By item: what was written for the current compression."""

    def refs(self, policy: Policy) -> tuple[Ref, ...]:
        """Return the lines that the next summary has to carry."""
        self._items, self._updates = find_preserved(self._ledger.root, policy), {}
        return preserved_refs(self._items)

    def phases(self, candidate: Candidate, state: State) -> tuple[Phase, ...]:
        """Return the phases that a planned compression goes through."""
        body = candidate.body
        readable = None if body is None else self._readable_entries(body, state.window)
        made = CheckedCompression(
            state.window.items, state.counts, body, candidate.losses, readable
        )
        held = [self._with_additions(item, body) for item in self.checked_items(state.policy)]
        return check_phases(made, held)

    def _with_additions(self, item: PreservedState, body: Compressed | None) -> PreservedState:
        """Return an item with what a summary added or would add to it."""
        if item.item in self._updates and not item.lacks:
            return replace(item, detail=f"{item.detail}; {self._updates[item.item]}")
        if item.item != "decision_log" or not item.told or body is None or body.summary is None:
            return item
        new = notes.missing_decisions(self._ledger.root, item.where, _decision_rows(body.summary))
        return replace(item, detail=f"{item.detail}; {len(new)} to be added") if new else item

    def checked_items(self, policy: Policy) -> list[PreservedState]:
        """Return the items that a checkpoint checks, as they were last found."""
        return items_to_check(self._items, policy)

    def _readable_entries(self, body: Compressed, window: Window) -> frozenset[str]:
        """Return which of the entries that a compression hides the store can actually read back.

        Those that an older summary hides were read back when that one was written.
        """
        session = self._ledger
        before = frozenset[str]().union(*(item.covers for item in window.items))
        hidden = frozenset(name for step in body.steps for name in step.hides)
        numbers = session.store.names(session.name, hidden - before).values()
        found = session.store.read(session.name, numbers=numbers)
        return (hidden & before).union(entry.id for entry in found)

    def prepare(self, candidate: Candidate, state: State) -> Compressed:
        """Check and update the preserved items before a compression is written.

        Raises:
            Blocked: an item is missing, and strict mode blocks the first attempt.
            NotWritten: strict mode, and a file could not be updated.
        """
        body = candidate.body
        assert body is not None
        self._updates = {}
        if body.summary is None:
            self._log_thinking(body, state)
            return body
        missing = self._find_missing(state)
        broken = self._update_outside_files(body, state)
        phases = self.phases(candidate, state)
        self._check_recovery(phases)
        gaps = bool(missing or broken)
        return replace(body, phases=phases, mark=body.mark or ("unpreserved" if gaps else ""))

    def _check_recovery(self, phases: Sequence[Phase]) -> None:
        """Refuse a compression that could not be undone.

        Raises:
            BadCompression: the ledger does not give back all that would be hidden.
        """
        for check in phases[-1].checks:
            if check.what == CHECK_RECOVERY and not check.holds:
                self.log_failure(check.detail)
                raise BadCompression(self._ledger.name, f"only {check.detail}")

    def _find_missing(self, state: State) -> list[PreservedState]:
        rules = state.policy.preservation
        if rules.create_missing == "auto" and creatable(self.checked_items(state.policy)):
            create_missing(self._ledger.root, self.checked_items(state.policy))
            self._items = find_preserved(self._ledger.root, state.policy)
        missing = [item for item in self.checked_items(state.policy) if item.lacks]
        if not missing:
            return []
        blocked = SummaryBlocked(tuple(item.item for item in missing))
        if rules.enforcement == STRICT and not _was_blocked(state.window.ledger, blocked):
            self._ledger.note(blocked)
            raise Blocked(self._ledger.name, missing_message(missing))
        if blocked.missing != self._warned:
            logger.warning(
                "a summary of %r goes on: %s", self._ledger.name, missing_message(missing)
            )
            self._warned = blocked.missing
        return missing

    def _update_outside_files(self, body: Compressed, state: State) -> bool:
        """Update the trajectory log and the notes; return whether writing one of them failed."""
        try:
            self._log_thinking(body, state)
            self._update_notes(body, state)
        except (NotWritten, Unreadable) as error:
            if state.policy.preservation.enforcement == STRICT:
                raise
            logger.warning("what %r preserves is not up to date: %s", self._ledger.name, error)
            return True
        return False

    def _update_notes(self, body: Compressed, state: State) -> None:
        session = self._ledger
        place = next((item.where for item in self._items if item.label in NOTES_LABELS), "")
        # The notes describe the main session, not its sub-agents.
        if not place or body.summary is None or session.agent:
            return
        summary = _with_newest_request(body.summary, state)
        lines = continuity_lines(summary, FormContext(session.name))
        update = notes.update_notes(session.root, place, lines, _decision_rows(summary))
        if update.edited:
            session.note(Forked(where=place, text=update.edited[:EDITED]))
        if update.broken:
            raise Unreadable(place, "one of the two comments around our lines is gone")
        self._updates["session_continuity"] = "up to date"
        self._updates["decision_log"] = f"{update.added} added"

    def _log_thinking(self, body: Compressed, state: State) -> None:
        """Append hidden thinking to the trajectory log, if the project keeps one."""
        policy, session = state.policy, self._ledger
        if policy.preservation.trajectory_log != "on":
            return
        folder = trajectory.trajectory_folder(session.root, expected=policy.layout == LOA_LAYOUT)
        if not folder:
            return
        hidden = {name for step in body.steps for name in step.hides}
        logged = newest_note(session.notes(), ThinkingLogged)
        upto = logged[1].upto if logged is not None else 0
        later = (item.entry for item in state.window.items if item.entry.seq > upto)
        thoughts = [e for e in later if isinstance(e.body, Thought) and e.id in hidden]
        if not thoughts:
            return
        at = session.now() or thoughts[-1].at
        path = trajectory.append_rows(
            session.root, folder, at[:10] or "undated", _thinking_rows(session.name, thoughts)
        )
        self._updates["trajectory_entries"] = f"{len(thoughts)} thoughts logged to {path}"
        session.note(ThinkingLogged(path, upto=thoughts[-1].seq, count=len(thoughts)))

    def log_failure(self, lost: str) -> None:
        """Log a failed recovery to the ledger and to the trajectory."""
        session = self._ledger
        session.note(RecoveryFailed(lost=lost))
        folder = trajectory.trajectory_folder(session.root)
        if folder:
            at = session.now()
            row = {"ts": at, "agent": "holdfast", "action": RecoveryFailed.what, "lost": lost}
            try:
                trajectory.append_rows(session.root, folder, at[:10] or "undated", [row])
            except HoldfastError as error:
                logger.warning("the failure could not be logged: %s", error)


def _with_newest_request(summary: Summary, state: State) -> Summary:
    """Return a summary with the newest request, which is not among the hidden entries."""
    requests = (item for item in reversed(state.window.items) if is_request(item.body))
    newest = next(requests, None)
    if newest is None:
        return summary
    current = Quote(text_of(newest.body), newest.entry.id)
    return replace(summary, intent=replace(summary.intent, current=current))


def _decision_rows(summary: Summary) -> list[notes.LoggedDecision]:
    return [
        notes.LoggedDecision(decision.choice, decision_log_line(decision, summary.at))
        for decision in summary.decisions
    ]


def _thinking_rows(session: str, entries: Iterable[Entry]) -> Iterator[dict[str, str]]:
    for entry in entries:
        assert isinstance(entry.body, Thought)
        yield {
            "ts": entry.at,
            "agent": entry.lane or "main",
            "action": "thinking",
            "session": session,
            "entry": entry.id[:12],
            "text": text_of(entry.body),
        }


def _was_blocked(ledger: Sequence[Entry], blocked: SummaryBlocked) -> bool:
    """Return whether the same items already blocked a summary since the last one was written."""
    for entry in reversed(ledger):
        if isinstance(entry.body, Compressed) and entry.body.summary is not None:
            return False
        if is_note(entry.body, SummaryBlocked):
            # Compared in persisted form: the name of an item may contain the separator of names.
            return entry.body == encode(blocked)
    return False
