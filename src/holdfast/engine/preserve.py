"""What a project preserves outside of the ledger: looked at, kept up to date, carried along.

The ledger is the default: whatever no outside file holds is there already. A file of the project
is touched only where the project has it, or says that it works that way (`layout: loa`).
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Compressed,
    Entry,
    Noted,
    Thought,
    is_request,
    text_of,
)
from holdfast.core.ledger.summary import RECOVERY, Phase, Quote, Ref, Summary
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import STRICT, Policy
from holdfast.core.plan.preserve import KEPT, SIMPLE, UNUSED, Held, always_of, refs_of
from holdfast.core.plan.state import State
from holdfast.core.verify.phases import Made, phases_of
from holdfast.core.verify.tampered import KEPT as EDITED
from holdfast.core.view.forms.exports import continuity, decided
from holdfast.core.view.forms.parts import About
from holdfast.errors import BadCompression, Blocked, HoldfastError, NotWritten, Unreadable
from holdfast.project.integrations import beads, named_files, notes, run_state, sprint, trajectory

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

logger = logging.getLogger(__name__)

LAYOUT = "loa"
BLOCKED, LOGGED, FORK, FAILED = "blocked", "trajectory", "fork", "recovery_failed"
"""What is noted: a summary that was blocked, thinking that was logged, words that contradict the
ledger, and what could not be brought back."""
NOTED = ("session continuity", "decision log")
"""What the notes hold, by how its lines begin."""
CREATED = ("session_continuity", "decision_log")
"""What can be made where it is missing."""
IN_LEDGER = {
    "session_continuity": "requests, state and next steps are in the record",
    "decision_log": "decisions are in the record",
    "trajectory_entries": "thinking is in the record",
}
"""What the ledger holds of an item when nothing else does."""


def held_in(root: str, policy: Policy) -> tuple[Held, ...]:
    """How each item that a policy preserves was found in a project."""
    rules, expected = policy.preservation, policy.layout == LAYOUT
    place = notes.place_of(root, expected=expected) if rules.notes == "on" else ""
    both = notes.look(root, place) if place else ()
    found = {
        **{one.item: one for one in both},
        "trajectory_entries": trajectory.look(root, expected=expected),
        "active_beads": beads.look(root),
        "sprint_context": sprint.look(root),
        "run_mode_state": run_state.look(root),
    }
    names = [one.name for one in always_of(rules) if one.built_in and one.on]
    own = (found.get(name, Held(name, UNUSED)) for name in names)
    return (*map(_or_ledger, own), *(named_files.look(root, item) for item in rules.always))


def _or_ledger(one: Held) -> Held:
    if one.status == UNUSED and one.item in IN_LEDGER:
        return Held(one.item, KEPT, detail=IN_LEDGER[one.item])
    return one


def creatable(held: Iterable[Held]) -> list[Held]:
    """What is missing and could be made."""
    return [one for one in held if one.status == "missing" and one.item in CREATED]


def create(root: str, held: Sequence[Held]) -> None:
    """Make the sections that are missing.

    Raises:
        Unreadable: the notes lead out of the project, or are no file.
        NotWritten: they could not be written.
    """
    missing = creatable(held)
    if missing:
        notes.create(root, missing[0].where, [one.item for one in missing])


def looked_at(held: Iterable[Held], policy: Policy) -> list[Held]:
    """What a checkpoint looks at."""
    simple = policy.preservation.checkpoint == "simple"
    return [one for one in held if not simple or one.item in SIMPLE]


def offer(lacking: Sequence[Held]) -> str:
    """One sentence: what is missing, and how to go on."""
    names = "; ".join(f"{one.item} is missing ({one.where}: {one.detail})" for one in lacking)
    if creatable(lacking):
        return f"{names}; `holdfast preserve --create` makes it"
    return f"{names}; `holdfast preserve` checks it again"


class Keeping:
    """What one session has to carry along, and where it is kept up to date."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._held: tuple[Held, ...] = ()
        self._warned = ""
        self._done: dict[str, str] = {}
        """By item: what was written for the compression at hand."""

    def refs(self, policy: Policy) -> tuple[Ref, ...]:
        """The lines that the next summary has to carry."""
        self._held, self._done = held_in(self._ledger.root, policy), {}
        return refs_of(self._held)

    def phases(self, candidate: Candidate, state: State) -> tuple[Phase, ...]:
        """What a compression on paper goes through."""
        body = candidate.body
        readable = None if body is None else self._readable(body)
        made = Made(state.window.items, state.counts, body, candidate.losses, readable)
        held = [self._with_news(one, body) for one in self.seen(state.policy)]
        return phases_of(made, held)

    def _with_news(self, one: Held, body: Compressed | None) -> Held:
        """How an item was found, with what a summary did or would add to it."""
        if one.item in self._done and not one.lacks:
            return replace(one, detail=f"{one.detail}; {self._done[one.item]}")
        if one.item != "decision_log" or not one.told or body is None or body.summary is None:
            return one
        new = notes.missing(self._ledger.root, one.where, _log_rows(body.summary))
        return replace(one, detail=f"{one.detail}; {len(new)} to be added") if new else one

    def seen(self, policy: Policy) -> list[Held]:
        """What a checkpoint looks at, as it was last found."""
        return looked_at(self._held, policy)

    def _readable(self, body: Compressed) -> frozenset[str]:
        """Of what a compression hides: what the store gives back, read and not only named."""
        session = self._ledger
        hidden = [name for step in body.steps for name in step.hides]
        numbers = session.store.names(session.name, hidden).values()
        return frozenset(entry.id for entry in session.store.read(session.name, numbers=numbers))

    def before(self, candidate: Candidate, state: State) -> Compressed:
        """See to everything that has to be so before a compression is written.

        Raises:
            Blocked: something is missing, and strict mode blocks this once.
            NotWritten: strict mode, and what should be kept up to date could not be written.
        """
        body = candidate.body
        assert body is not None
        self._done = {}
        if body.summary is None:
            self._log_thinking(body, state)
            return body
        lacking = self._lacking(state)
        broken = self._keep_up(body, state)
        made = self.phases(candidate, state)
        self._check_recovery(made)
        gaps = bool(lacking or broken)
        return replace(body, phases=made, mark=body.mark or ("unpreserved" if gaps else ""))

    def _check_recovery(self, made: Sequence[Phase]) -> None:
        """Refuse what could not be brought back.

        Raises:
            BadCompression: the ledger does not give back all that would be hidden.
        """
        for check in made[-1].checks:
            if check.what == RECOVERY and not check.holds:
                self.failed(check.detail)
                raise BadCompression(self._ledger.name, f"only {check.detail}")

    def _lacking(self, state: State) -> list[Held]:
        rules = state.policy.preservation
        if rules.create_missing == "auto" and creatable(self.seen(state.policy)):
            create(self._ledger.root, self.seen(state.policy))
            self._held = held_in(self._ledger.root, state.policy)
        lacking = [one for one in self.seen(state.policy) if one.lacks]
        if not lacking:
            return []
        names = ",".join(one.item for one in lacking)
        if rules.enforcement == STRICT and not _was_blocked(state.window.ledger, names):
            self._ledger.note(BLOCKED, missing=names)
            raise Blocked(self._ledger.name, offer(lacking))
        if names != self._warned:
            logger.warning("a summary of %r goes on: %s", self._ledger.name, offer(lacking))
            self._warned = names
        return lacking

    def _keep_up(self, body: Compressed, state: State) -> bool:
        """Write down what outside ledgers should have; whether one of them could not be."""
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
        place = next((one.where for one in self._held if one.label in NOTED), "")
        # The notes tell where the session stands, not where one of its helpers does.
        if not place or body.summary is None or session.agent:
            return
        summary = _as_of_now(body.summary, state)
        lines = continuity(summary, About(session.name))
        done = notes.update(session.root, place, lines, _log_rows(summary))
        if done.edited:
            session.note(FORK, where=place, text=done.edited[:EDITED])
        if done.broken:
            raise Unreadable(place, "one of the two comments around our lines is gone")
        self._done["session_continuity"] = "up to date"
        self._done["decision_log"] = f"{done.added} added"

    def _log_thinking(self, body: Compressed, state: State) -> None:
        """Log the thinking that leaves to the trajectory, where the project keeps one."""
        policy, session = state.policy, self._ledger
        if policy.preservation.trajectory_log != "on":
            return
        hidden = {name for step in body.steps for name in step.hides}
        upto = _logged_upto(state.window.ledger)
        leaving = [
            entry
            for entry in state.window.ledger
            if isinstance(entry.body, Thought) and entry.id in hidden and entry.seq > upto
        ]
        folder = trajectory.folder_of(session.root, expected=policy.layout == LAYOUT)
        if not leaving or not folder:
            return
        at = session.now() or leaving[-1].at
        path = trajectory.log(
            session.root, folder, at[:10] or "undated", _rows(session.name, leaving)
        )
        self._done["trajectory_entries"] = f"{len(leaving)} thoughts logged to {path}"
        session.note(LOGGED, path=path, upto=str(leaving[-1].seq), count=str(len(leaving)))

    def failed(self, lost: str) -> None:
        """Log that something could not be recovered, to the ledger and to the trajectory."""
        session = self._ledger
        session.note(FAILED, lost=lost)
        folder = trajectory.folder_of(session.root)
        if folder:
            at = session.now()
            row = {"ts": at, "agent": "holdfast", "action": FAILED, "lost": lost}
            try:
                trajectory.log(session.root, folder, at[:10] or "undated", [row])
            except HoldfastError as error:
                logger.warning("the failure could not be logged: %s", error)


def _as_of_now(summary: Summary, state: State) -> Summary:
    """A summary with the newest request, which is in sight and not in what left."""
    said = (item for item in reversed(state.window.items) if is_request(item.body))
    last = next(said, None)
    if last is None:
        return summary
    current = Quote(text_of(last.body), last.entry.id)
    return replace(summary, intent=replace(summary.intent, current=current))


def _log_rows(summary: Summary) -> list[notes.Row]:
    return [notes.Row(one.choice, decided(one, summary.at)) for one in summary.decisions]


def _rows(session: str, entries: Iterable[Entry]) -> Iterator[dict[str, str]]:
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


def _logged_upto(ledger: Iterable[Entry]) -> int:
    noted = (e.body for e in ledger if isinstance(e.body, Noted) and e.body.what == LOGGED)
    return max((int(body.facts.get("upto", "0")) for body in noted), default=0)


def _was_blocked(ledger: Iterable[Entry], names: str) -> bool:
    """Whether the same was blocked since the last summary: once is enough."""
    blocked = False
    for entry in ledger:
        if isinstance(entry.body, Compressed) and entry.body.summary is not None:
            blocked = False
        elif isinstance(entry.body, Noted) and entry.body.what == BLOCKED:
            blocked = entry.body.facts.get("missing") == names
    return blocked
