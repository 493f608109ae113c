"""What each quick command does: from a session and the rest of the words to text.

Any surface may call these: the command line, a hook that saw the words in a prompt, a server.
"""

from msgspec import Struct

from holdfast.core.compress import Candidate
from holdfast.core.ledger.entry import Compressed
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.summary import Phase
from holdfast.core.ledger.window import in_force
from holdfast.core.plan.gates import Verdict, concerned, facts_of, judge, large_inputs
from holdfast.core.plan.policy import for_model
from holdfast.core.plan.state import persisted
from holdfast.core.view.log import Event, render_log
from holdfast.core.view.plan import render_outcome
from holdfast.core.view.search.excerpts import Hit, fenced, fitted, part_of
from holdfast.core.view.status import render
from holdfast.core.view.summary import Asked, Summarized, asked_of, render_intent, summarized
from holdfast.engine.checkpoints import Checkpoint, as_checkpoint, checkpoints_of
from holdfast.engine.engine import Outcome
from holdfast.engine.recover import in_sight
from holdfast.engine.status import sized_window
from holdfast.errors import NotRecorded, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.session.resume import BUDGET as RESUMED
from holdfast.session.resume import ready
from holdfast.session.resume import resume as go_on
from holdfast.session.session import Session
from holdfast.surfaces.status import now_in, report_of
from holdfast.wire.detect import TRANSCRIPT_WIRES

RESET = "reset"
"""What follows "checkpoint" when the session is to be ended there."""
RECENT = 20
"""Events of the log that are shown when nobody says how many."""
EXCERPTS = 5
RECOVERED = 2_000
"""Tokens of excerpts when nobody says how many."""


def status(session: Session, rest: str = "") -> str:
    """How full the window is."""
    del rest
    return render(report_of(session, now_in(session.policy.timezone)))


def compress(session: Session, rest: str = "") -> str:
    """Run the planner now and apply what it recommends."""
    del rest
    made, summary = compacted(session)
    assert made.plan is not None
    told = render_outcome(session.name, made.plan, applied=bool(made.steps), summary=summary)
    return "\n".join([told, *told_elsewhere(session)]) if made.steps else told


def compacted(session: Session, budget: int | None = None) -> tuple[Outcome, Summarized | None]:
    """Compress, and tell what a summary did if it took one.

    Raises:
        NothingToShrink: the budget cannot be reached; nothing was changed.
    """
    before = sized_window(session.ledger)
    made = session.compact(budget)
    return made, summarized(before, _newest(session) if made.steps else None, made.after)


def summary_of(session: Session, candidate: Candidate) -> Summarized | None:
    """What a compression of tier 3 would do to the window."""
    return summarized(sized_window(session.ledger), candidate.body, candidate.plan.after)


def _newest(session: Session) -> Compressed | None:
    made = (entry.body for entry in reversed(in_force(session.ledger.sight.window(whole=True))))
    return next((body for body in made if isinstance(body, Compressed)), None)


def told_elsewhere(session: Session) -> list[str]:
    """What has to be said: what is not preserved, and that another program keeps the messages."""
    made = _newest(session)
    gaps = [
        f"{check.what} is not preserved: {check.detail}"
        for phase in (made.phases[:1] if made is not None else ())
        for check in phase.checks
        if not check.holds
    ]
    wire = (session.store.head(session.name) or Head()).wire
    if wire not in TRANSCRIPT_WIRES:
        return gaps
    told = f"only the ledger changed: the program that wrote this {wire} session is not told"
    return [told, *gaps]


def verdicts_of(session: Session, candidate: Candidate) -> list[Verdict]:
    """How the gates that a compression concerns are judged."""
    head, window = session.ledger.head(), session.ledger.sight.window(whole=True)
    policy = for_model(session.policy, session.policy.model or head.model)
    counts = session.store.counts(session.name, head.vocabulary)
    facts = facts_of(
        candidate.plan.before.fraction * 100,
        candidate.body,
        candidate.losses,
        inputs=large_inputs(window.items, counts, policy),
        persisted=persisted(window.ledger),
    )
    return [judge(gate, facts) for gate in concerned(policy, facts)]


def phases_of(session: Session, candidate: Candidate) -> tuple[Phase, ...]:
    """What a compression on paper goes through; nothing where there is no project."""
    keeping = session.engine.keeping
    return keeping.phases(candidate, session.engine.state()) if keeping is not None else ()


def log(session: Session, rest: str = "") -> str:
    """The recent compressions, newest last."""
    del rest
    return render_log(events_of(session, RECENT))


def events_of(session: Session, limit: int, *, everything: bool = False) -> list[Event]:
    """The last events of a session, oldest first; those put off only with everything."""
    found = [one for one in session.log() if everything or one.kind != "POSTPONED"]
    return found[-limit:] if limit else found


def recover(session: Session, rest: str = "") -> str:
    """What was said about something, in sight or not."""
    if not rest:
        return "say what to look for: recover [topic]"
    found = excerpts_of(session, rest)
    if not found:
        return f"nothing in {session.name} holds {rest!r}"
    return "\n\n".join(fenced(one) for one in found)


def excerpts_of(
    session: Session,
    query: str,
    *,
    limit: int = EXCERPTS,
    budget: int = RECOVERED,
    scope: str = "session",
) -> list[Hit]:
    """Excerpts around what is looked for, fences within the budget."""
    found = session.recover(query, limit, scope=scope)
    return fitted(found, counter(session.ledger.head().vocabulary), budget)


def intent(session: Session, rest: str = "") -> str:
    """What was asked for, word for word."""
    del rest
    return render_intent(asked_in(session))


def asked_in(session: Session) -> Asked:
    """What the user wants, and what binds the agent."""
    shown = session.ledger.redactor.entries
    return asked_of(
        shown(session.ledger.path()), shown(session.ledger.sight.window(whole=True).ledger)
    )


class Afresh(Struct, frozen=True):
    """A session that was ended, and the one that goes on."""

    ended: Checkpoint
    fresh: str
    text: str
    """What the fresh one begins with."""


def checkpoint(session: Session, rest: str = "") -> str:
    """Put down where the work stands; with `reset`, end here and go on in a fresh session."""
    if rest == RESET:
        made = start_afresh(session)
        told = f"{session.name} ended at checkpoint {made.ended.ref}; {made.fresh} goes on"
        return f"{made.text}\n\n{told}"
    taken = session.checkpoint()
    where = [f"  {taken.path}"] if taken.path else []
    told = f"checkpoint {taken.ref} of {session.name}"
    return "\n".join([told, *where, f"go on from it: holdfast resume {taken.ref}"])


def start_afresh(session: Session, name: str | None = None) -> Afresh:
    """Checkpoint, end, open afresh: what a long session needs, at once.

    Raises:
        BadSetting: the name is taken.
    """
    session.checkpoint()
    session.note("session_end")
    with go_on(session, as_=name) as fresh:
        text = str(fresh.messages()[0]["content"])
        taken = checkpoints_of(session.ledger.events(), session.agent)[-1]
        return Afresh(as_checkpoint(taken), fresh.name, text)


def resume(session: Session, rest: str = "") -> str:
    """What a fresh session needs to go on from here; nothing is changed."""
    del rest
    return ready(session, None, RESUMED).text


# Lines of one entry, as many as a budget takes: what a reference leads to, on any surface.


LAST = 10**9
WHOLE = (1, LAST)


def span_of(text: str) -> tuple[int, int]:
    """The first line and the last of `40-80`, `40-` or `40`.

    Raises:
        Unreadable: it is no span of lines.
    """
    first, dash, last = text.strip().partition("-")
    digits = f"{first}{last or '1'}"
    if first and digits.isascii() and digits.isdigit() and len(digits) < 20:
        end = int(last) if last else LAST if dash else int(first)
        if 1 <= int(first) <= end:
            return int(first), end
    raise Unreadable("lines", f"{text[:40]!r} is no span of lines such as 40-80")


def lines_of(session: Session, ref: str, lines: tuple[int, int], budget: int) -> Hit:
    """Some lines of an entry, as many as the budget takes.

    Raises:
        NotRecorded: there is no such entry, or no such line in it.
        Ambiguous: several entries begin like this.
    """
    session = session.holding(ref)
    entry = session.ledger.find(ref)
    hidden = entry.id not in in_sight(session.store, session.name)
    entries = session.store.read(session.name)
    part = part_of(entry, entries, first=lines[0], last=lines[1], hidden=hidden)
    if part is None or part.last < part.first:
        what = "words" if part is None else f"lines {lines[0]} and on"
        raise NotRecorded(what, "", where=f"entry {ref!r}")
    fitting = fitted([part], counter(session.ledger.head().vocabulary), budget)
    if not fitting:
        where = f"entry {ref!r} that a budget of {budget:,} tokens takes; `holdfast show --ref`"
        raise NotRecorded("line", "", where=where)
    return fitting[0]


def left_of(found: Hit, lines: tuple[int, int] | None) -> str:
    """The lines that were cut off, as they are asked for; nothing when all are there."""
    last = min(lines[1] if lines else LAST, found.lines)
    return f"{found.last + 1}-{last}" if found.last < last else ""
