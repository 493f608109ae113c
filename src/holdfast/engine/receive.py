"""Write what a caller hands over to its ledger: messages, a resent history, provider reports."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from holdfast.core.ledger.append import Arrival, Batch, arrive, note
from holdfast.core.ledger.entry import Derived, Used, role_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.marks import is_sent_summary
from holdfast.engine.intake import Intake, Message, firsts_of, withheld
from holdfast.engine.ledger import MODEL, TASK, Ledger
from holdfast.errors import Conflict, Unreadable
from holdfast.stores.store import Build, retried
from holdfast.text.jsontext import Json

if TYPE_CHECKING:
    from holdfast.core.verify.tampered import Fork
    from holdfast.engine.sync import Synced


def intake_for(ledger: Ledger) -> Intake:
    """The intake of a ledger's messages."""
    return Intake(
        ledger.store,
        ledger.name,
        agent=ledger.agent,
        wire=ledger.wire,
        clock=ledger.clock,
        withholder=ledger.withholder,
    )


def append_messages(ledger: Ledger, intake: Intake, messages: Iterable[Message]) -> None:
    """Add new messages at the end, all or none.

    Raises:
        MixedWires: the session holds messages of another format.
        Unreadable: one of them is no message.
    """
    wire, given = intake.arrivals(messages)
    arrivals = [message.arrival for message in given]
    batch = ledger.store.append(
        ledger.name, lambda head: arrive(ledger.stamped(head, wire), arrivals)
    )
    ledger.sight.hold(withheld(firsts_of(batch), given))
    ledger.sight.took(batch)


def sync_messages(ledger: Ledger, intake: Intake, messages: Iterable[Message]) -> "Synced":
    """Read a client's whole history: known messages stay, new ones are added."""
    from holdfast.engine.sync import sync  # late: hooks append

    wire, given = intake.arrivals(messages)
    arrivals, forks = _without_changed_summaries(ledger, [message.arrival for message in given])
    done = sync(
        ledger.store,
        ledger.name,
        ledger.sight,
        arrivals,
        model=ledger.model(),
        stamp=lambda head: ledger.stamped(head, wire),
    )
    whole = len(done.firsts)
    known = withheld(done.firsts, given[:whole])
    ledger.sight.hold({**known, **withheld(firsts_of(done.batch), given[whole:])})
    ledger.sight.took(done.batch)
    for fork in forks:
        ledger.note("fork", where="a summary that came back", text=fork.kept)
    return done.synced


def _without_changed_summaries(
    ledger: Ledger, arrivals: list[Arrival]
) -> "tuple[list[Arrival], list[Fork]]":
    """A resent history with our summaries as the ledger has them, and the changes not noted yet."""
    drafts = (draft for arrival in arrivals for draft in arrival.drafts)
    if not any(is_sent_summary(draft.body) for draft in drafts):
        return arrivals, []
    from holdfast.core.verify.tampered import as_the_ledger_has_it, is_noted

    entries = ledger.sight.window(whole=True).ledger
    restored, forks = as_the_ledger_has_it(arrivals, entries)
    return restored, [fork for fork in forks if not is_noted(fork, entries)]


def note_model(ledger: Ledger, model: str) -> None:
    """Note the model that the caller named, so that a later process knows it."""
    if model and ledger.raw_head().model != model:
        ledger.note(MODEL, model=model)


def note_task(ledger: Ledger, task: str) -> None:
    """Note the name of the task that is worked on from here."""
    ledger.note(TASK, name=task)


def note_report(
    ledger: Ledger,
    usage: object,
    error: str | Mapping[str, object] | BaseException | None,
    model: str | None,
) -> None:
    """Write what the provider said of the last request.

    Raises:
        Unreadable: the usage counts no input tokens, or those of several requests.
    """
    from holdfast.core.measure.provider_usage import fault_of, learned_limit  # late: hooks do not

    fault = fault_of(usage) if usage is not None else ""
    if fault:
        raise Unreadable("usage", fault)
    if model:
        ledger.note(MODEL, model=model)
    if usage is not None:
        _note_usage(ledger, usage, model)
    refusal = str(error) if isinstance(error, BaseException) else cast(Json, error)
    limit = learned_limit(refusal) if refusal is not None else 0
    if limit:
        ledger.note("limit", limit=str(limit))


def _note_usage(ledger: Ledger, usage: object, model: str | None) -> None:
    from holdfast.core.measure.provider_usage import read_usage

    def attempt() -> Batch:
        head = ledger.head()
        named, answered = model or head.model, _is_answered(ledger, head)
        used = read_usage(usage, model=named, answered=answered)
        return ledger.write(_if_counted(ledger, used))

    retried(ledger.name, attempt)


def _if_counted(ledger: Ledger, used: Used) -> Build:
    """Note a report only if everything that it is about has been counted."""

    def build(head: Head) -> Batch:
        if head.stale or head.counted != head.seq:
            raise Conflict(ledger.name, expected=head.seq, found=head.counted)
        return note(head, used, lane=ledger.agent)

    return build


def _is_answered(ledger: Ledger, head: Head) -> bool:
    end = head.lane(ledger.agent).end
    numbers = ledger.store.names(ledger.name, [end] if end else [])
    last = list(ledger.store.read(ledger.name, numbers=numbers.values()))
    return any(
        not isinstance(entry.body, Derived) and role_of(entry.body) == "assistant" for entry in last
    )
