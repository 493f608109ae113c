"""Write what a caller gives to its ledger: new messages, a resent history, provider reports."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, cast

from holdfast.core.ledger.append import Arrival, Batch, append_arrivals, append_note
from holdfast.core.ledger.entry import Derived, Used, role_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.marks import is_sent_summary
from holdfast.core.ledger.notes import Forked, LimitLearned, ModelNamed, Note, TaskNamed
from holdfast.engine.fault_log import notes_faults
from holdfast.engine.intake import Intake, Message, bytes_not_stored, first_entries
from holdfast.engine.ledger import Ledger
from holdfast.errors import Conflict, Unreadable
from holdfast.stores.store import Build, retry_on_conflict
from holdfast.text.jsontext import Json

if TYPE_CHECKING:
    from holdfast.core.verify.tampered import Fork
    from holdfast.engine.sync import Synced


TASK_DONE = "task_done"


@notes_faults
def append_messages(ledger: Ledger, intake: Intake, messages: Iterable[Message]) -> None:
    """Add new messages at the end, all or none.

    Raises:
        MixedWires: the session holds messages of another format.
        Unreadable: one of them is no message.
    """
    wire, given = intake.read(messages)
    arrivals = [message.arrival for message in given]
    batch = ledger.store.append(
        ledger.name, lambda head: append_arrivals(ledger.stamp_head(head, wire), arrivals)
    )
    ledger.live_window.override_bytes(bytes_not_stored(first_entries(batch), given))
    ledger.live_window.extend(batch)


@notes_faults
def sync_messages(ledger: Ledger, intake: Intake, messages: Iterable[Message]) -> "Synced":
    """Read a client's whole history: known messages stay, new ones are added."""
    from holdfast.engine.sync import sync  # late: hooks append

    wire, given = intake.read(messages)
    arrivals, forks = _without_changed_summaries(ledger, [message.arrival for message in given])
    done = sync(
        ledger.store,
        ledger.name,
        ledger.live_window,
        arrivals,
        model=ledger.model(),
        stamp=lambda head: ledger.stamp_head(head, wire),
    )
    whole = len(done.firsts)
    known = bytes_not_stored(done.firsts, given[:whole])
    ledger.live_window.override_bytes(
        {**known, **bytes_not_stored(first_entries(done.batch), given[whole:])}
    )
    ledger.live_window.extend(done.batch)
    for fork in forks:
        ledger.note(Forked(where="a summary that came back", text=fork.stored_text))
    return done.synced


def _without_changed_summaries(
    ledger: Ledger, arrivals: list[Arrival]
) -> "tuple[list[Arrival], list[Fork]]":
    """A resent history with our summaries as the ledger has them, and the changes not noted yet."""
    drafts = (draft for arrival in arrivals for draft in arrival.drafts)
    if not any(is_sent_summary(draft.body) for draft in drafts):
        return arrivals, []
    from holdfast.core.verify.tampered import is_noted, restore_ledger_summaries

    entries = ledger.whole_window().ledger
    restored, forks = restore_ledger_summaries(arrivals, entries)
    return restored, [fork for fork in forks if not is_noted(fork, entries)]


def note_named(
    ledger: Ledger, record: Callable[[Note], None], reach: Callable[[str], None]
) -> None:
    """Note the model and the task that the caller named, once each; a new task ends the old one."""
    model, ledger.named_model = ledger.named_model, ""
    if model and ledger.raw_head().model != model:
        record(ModelNamed(model))
    task, ledger.named_task = ledger.named_task, ""
    before = ledger.task() if task else ""
    if task == before:
        return
    if before:
        reach(TASK_DONE)
    record(TaskNamed(task))


@notes_faults
def note_report(
    ledger: Ledger,
    usage: object,
    error: str | Mapping[str, object] | BaseException | None,
    model: str | None,
) -> None:
    """Write what the provider reported about the last request.

    Raises:
        Unreadable: the usage counts no input tokens, or those of several requests.
    """
    from holdfast.core.measure.provider_usage import (  # late: hooks do not
        limit_in_error,
        usage_problem,
    )

    fault = usage_problem(usage) if usage is not None else ""
    if fault:
        raise Unreadable("usage", fault)
    if model:
        ledger.note(ModelNamed(model))
    if usage is not None:
        _note_usage(ledger, usage, model)
    refusal = str(error) if isinstance(error, BaseException) else cast(Json, error)
    limit = limit_in_error(refusal) if refusal is not None else 0
    if limit:
        ledger.note(LimitLearned(limit))


def _note_usage(ledger: Ledger, usage: object, model: str | None) -> None:
    from holdfast.core.measure.provider_usage import read_usage

    def attempt() -> Batch:
        head = ledger.head()
        named, answered = model or head.model, _is_answered(ledger, head)
        used = read_usage(usage, model=named, answered=answered)
        return ledger.write(_if_counted(ledger, used))

    retry_on_conflict(ledger.name, attempt)


def _if_counted(ledger: Ledger, used: Used) -> Build:
    """Note a report only if everything that it is about has been counted."""

    def build(head: Head) -> Batch:
        if head.stale or head.counted != head.seq:
            raise Conflict(ledger.name, expected=head.seq, found=head.counted)
        return append_note(head, used, lane=ledger.agent)

    return build


def _is_answered(ledger: Ledger, head: Head) -> bool:
    end = head.lane(ledger.agent).end
    numbers = ledger.store.names(ledger.name, [end] if end else [])
    last = list(ledger.store.read(ledger.name, numbers=numbers.values()))
    return any(
        not isinstance(entry.body, Derived) and role_of(entry.body) == "assistant" for entry in last
    )
