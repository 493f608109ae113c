"""The quick commands: one function per command, from a session and an argument to text.

The command line, the hooks and the MCP server call these functions; those that other commands
share (excerpts, lines of an entry, plans) are here too.
"""

from collections.abc import Iterator
from itertools import takewhile

from msgspec import Struct

from holdfast.core.compress import Candidate
from holdfast.core.ledger.entry import Compressed, Noted, Restored
from holdfast.core.ledger.notes import SessionEnded, SummarizerRefused, note_of
from holdfast.core.ledger.summary import Phase
from holdfast.core.ledger.window import in_force
from holdfast.core.plan.gates import Verdict, facts_of, judge_gate, large_inputs, triggered_gates
from holdfast.core.plan.policy import for_model
from holdfast.core.plan.state import persisted_calls
from holdfast.core.view.log import Event, describe_refusal, render_log
from holdfast.core.view.plan import render_outcome
from holdfast.core.view.search.excerpts import Hit, cut_to_budget, excerpt_of_lines, fence_hit
from holdfast.core.view.status import render_status
from holdfast.core.view.summary import (
    SessionIntent,
    SummaryEffect,
    render_intent,
    session_intent_of,
    summary_effect,
)
from holdfast.engine.checkpoints import Checkpoint, as_checkpoint
from holdfast.engine.engine import Outcome
from holdfast.engine.recover import visible_entries
from holdfast.engine.status import sized_window
from holdfast.errors import NotRecorded, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.session.resume import RESUME_BUDGET, resume_point
from holdfast.session.resume import resume as resume_session
from holdfast.session.session import Session, record
from holdfast.surfaces.status import current_time, status_report
from holdfast.wire.detect import TRANSCRIPT_WIRES

RESET = "reset"
"""Argument of `checkpoint` that also ends the session."""
DEFAULT_LOG_EVENTS = 20
"""Number of log events shown by default."""
DEFAULT_EXCERPTS = 5
DEFAULT_EXCERPT_TOKENS = 2_000
"""Maximum tokens of all excerpts by default."""


def status(session: Session, rest: str = "") -> str:
    """Return the status report of a session."""
    del rest
    return render_status(status_report(session, current_time(session.policy.timezone)))


def compress(session: Session, rest: str = "") -> str:
    """Run the planner now and apply what it recommends."""
    del rest
    outcome, summary = compact(session)
    assert outcome.plan is not None
    text = render_outcome(session.name, outcome.plan, applied=bool(outcome.steps), summary=summary)
    return "\n".join([text, *notes_after_compression(session)]) if outcome.steps else text


def compact(session: Session, budget: int | None = None) -> tuple[Outcome, SummaryEffect | None]:
    """Compress a session; return the outcome and, if a summary was made, its effect.

    Raises:
        NothingToShrink: the budget cannot be reached; nothing is changed.
    """
    before = sized_window(session.ledger)
    outcome = session.compact(budget)
    newest = _newest_compression(session) if outcome.steps else None
    return outcome, summary_effect(before, newest, outcome.after)


def summary_of(session: Session, candidate: Candidate) -> SummaryEffect | None:
    """Return the effect that a plan with a summary would have on the window."""
    return summary_effect(sized_window(session.ledger), candidate.body, candidate.plan.after)


def _newest_compression(session: Session) -> Compressed | None:
    bodies = (entry.body for entry in reversed(in_force(session.ledger.whole_window())))
    return next((body for body in bodies if isinstance(body, Compressed)), None)


def notes_after_compression(session: Session) -> list[str]:
    """Return notes to print: a model's unused rows, failed preservation checks, and that only the
    ledger changed."""
    newest = _newest_compression(session)
    gaps = [
        f"{check.what} is not preserved: {check.detail}"
        for phase in (newest.phases[:1] if newest is not None else ())
        for check in phase.checks
        if not check.holds
    ]
    gaps = [*_refusals(session), *gaps]
    wire = session.ledger.raw_head().wire
    if wire not in TRANSCRIPT_WIRES:
        return gaps
    note = f"only the ledger changed: the program that wrote this {wire} session is not told"
    return [note, *gaps]


def _refusals(session: Session) -> Iterator[str]:
    """Yield what the newest compression did not use of a model's answer, and why."""
    bodies = (entry.body for entry in reversed(session.ledger.whole_window().ledger))
    since = takewhile(lambda body: not isinstance(body, (Compressed, Restored)), bodies)
    notes = (note_of(body) for body in since if isinstance(body, Noted))
    yield from (describe_refusal(note) for note in notes if isinstance(note, SummarizerRefused))


def verdicts_of(session: Session, candidate: Candidate) -> list[Verdict]:
    """Return the verdicts of the gates that apply to a plan."""
    head, window = session.ledger.head(), session.ledger.whole_window()
    policy = for_model(session.policy, session.policy.model or head.model)
    counts = session.store.counts(session.name, head.vocabulary)
    facts = facts_of(
        candidate.plan.before.fraction * 100,
        candidate.body,
        candidate.losses,
        inputs=large_inputs(window.items, counts, policy),
        persisted=persisted_calls(window.ledger),
    )
    return [judge_gate(gate, facts) for gate in triggered_gates(policy, facts)]


def phases_of(session: Session, candidate: Candidate) -> tuple[Phase, ...]:
    """Return the phases of a plan; none if the session has no project."""
    keeping = session.engine.preserver
    return keeping.phases(candidate, session.engine.state()) if keeping is not None else ()


def log(session: Session, rest: str = "") -> str:
    """Return the newest log events as text, newest last."""
    del rest
    return render_log(events_of(session, DEFAULT_LOG_EVENTS))


def events_of(session: Session, limit: int, *, everything: bool = False) -> list[Event]:
    """Return the last events of a session, oldest first; postponed ones only with `everything`."""
    found = [event for event in session.log() if everything or event.kind != "POSTPONED"]
    return found[-limit:] if limit else found


def recover(session: Session, rest: str = "") -> str:
    """Search the session for a topic and return excerpts."""
    if not rest:
        return "say what to look for: recover [topic]"
    found = excerpts_of(session, rest)
    if not found:
        return f"nothing in {session.name} holds {rest!r}"
    return "\n\n".join(fence_hit(hit) for hit in found)


def excerpts_of(
    session: Session,
    query: str,
    *,
    limit: int = DEFAULT_EXCERPTS,
    budget: int = DEFAULT_EXCERPT_TOKENS,
    scope: str = "session",
) -> list[Hit]:
    """Return excerpts that match a query; their tokens, fences included, fit the budget."""
    found = session.recover(query, limit, scope=scope)
    return cut_to_budget(found, counter(session.ledger.head().vocabulary), budget)


def intent(session: Session, rest: str = "") -> str:
    """Return the user's requests and constraints as text, word for word."""
    del rest
    return render_intent(user_intent(session))


def user_intent(session: Session) -> SessionIntent:
    """Return the user's requests and constraints, redacted."""
    redact = session.ledger.redactor.entries
    return session_intent_of(
        session.engine.path_rows(),
        redact(session.ledger.path()),
        redact(session.ledger.whole_window().ledger),
    )


class SessionReset(Struct, frozen=True):
    """A session that was ended at a checkpoint, and the new session that continues it."""

    ended: Checkpoint
    new_session: str
    text: str
    """First message of the new session."""


def checkpoint(session: Session, rest: str = "") -> str:
    """Create a checkpoint; with `reset`, also end the session and open a new one."""
    if rest == RESET:
        reset = reset_session(session)
        line = f"{session.name} ended at checkpoint {reset.ended.ref}; {reset.new_session} goes on"
        return f"{reset.text}\n\n{line}"
    saved = session.checkpoint()
    where = [f"  {saved.path}"] if saved.path else []
    line = f"checkpoint {saved.ref} of {session.name}"
    return "\n".join([line, *where, f"go on from it: holdfast resume {saved.ref}"])


def reset_session(session: Session, name: str | None = None) -> SessionReset:
    """Create a checkpoint, end the session, and open a new session that continues it.

    Raises:
        BadSetting: a session of that name exists.
    """
    session.checkpoint()
    record(session, SessionEnded())
    with resume_session(session, as_=name) as new:
        text = str(new.messages()[0]["content"])
        newest = next(session.ledger.newest_checkpoints())
        return SessionReset(as_checkpoint(newest), new.name, text)


def resume(session: Session, rest: str = "") -> str:
    """Return what a new session needs to continue this one; change nothing."""
    del rest
    return resume_point(session, None, RESUME_BUDGET).text


# Reading the lines of one entry within a budget.


MAX_LINE = 10**9
ALL_LINES = (1, MAX_LINE)


def parse_line_range(text: str) -> tuple[int, int]:
    """Parse `40-80`, `40-` or `40` to the first and the last line.

    Raises:
        Unreadable: the text is not a range of lines.
    """
    first, dash, last = text.strip().partition("-")
    digits = f"{first}{last or '1'}"
    if first and digits.isascii() and digits.isdigit() and len(digits) < 20:
        end = int(last) if last else MAX_LINE if dash else int(first)
        if 1 <= int(first) <= end:
            return int(first), end
    raise Unreadable("lines", f"{text[:40]!r} is no span of lines such as 40-80")


def read_lines(session: Session, ref: str, lines: tuple[int, int], budget: int) -> Hit:
    """Return the given lines of an entry, cut to the budget.

    Raises:
        NotRecorded: there is no such entry, or it has no such line.
        Ambiguous: several entries have an id that begins with `ref`.
    """
    session = session.holding(ref)
    entry = session.ledger.find(ref)
    hidden = entry.id not in visible_entries(session.store, session.name)
    entries = session.store.read(session.name)
    part = excerpt_of_lines(entry, entries, first=lines[0], last=lines[1], hidden=hidden)
    if part is None or part.last < part.first:
        what = "words" if part is None else f"lines {lines[0]} and on"
        raise NotRecorded(what, "", where=f"entry {ref!r}")
    within_budget = cut_to_budget([part], counter(session.ledger.head().vocabulary), budget)
    if not within_budget:
        where = f"entry {ref!r} that a budget of {budget:,} tokens takes; `holdfast show --ref`"
        raise NotRecorded("line", "", where=where)
    return within_budget[0]


def remaining_lines(found: Hit, lines: tuple[int, int] | None) -> str:
    """Return the range of lines that were cut off, or an empty text if none were."""
    last = min(lines[1] if lines else MAX_LINE, found.lines)
    return f"{found.last + 1}-{last}" if found.last < last else ""
