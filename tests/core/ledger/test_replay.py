import pytest

from holdfast.core.ledger.append import Arrival, Draft, append_arrivals, derived_entry
from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Derived,
    Entry,
    Noted,
    Restored,
    Said,
    Step,
    Used,
)
from holdfast.core.ledger.head import Document, Head, advance_head
from holdfast.core.ledger.replay import replay_ledger

COUNTS = {1: 10, 2: 20, 3: 40, 4: 80}


def entries(*drafts: Draft) -> list[Entry]:
    """Drafts as entries, each an arrival of its own."""
    return list(append_arrivals(Head(), [Arrival(b"", (draft,)) for draft in drafts]).entries)


A, B, C, D = entries(
    Draft(Said("user", "a"), at="early"),
    Draft(Said("assistant", "b")),
    Draft(Said("user", "c")),
    Draft(Said("assistant", "d")),
)
STAND_IN = Said("user", "-")


def about(seq: int, body: Derived, entry: Entry = D) -> Entry:
    return derived_entry(seq, body, parent=entry.id)


def hiding(seq: int, *hidden: Entry, before: int, after: int) -> Entry:
    step = Step(tuple(e.id for e in hidden), "x", STAND_IN, before=before, after=after)
    return about(seq, Compressed((step,), 0, seq - 1))


def branch(seq: int, parent: Entry) -> Entry:
    return Entry("e" * 32, parent.id, Said("user", "e"), seq, message=seq)


def test_a_replay_is_the_head_kept_entry_by_entry() -> None:
    head = Head()
    for entry in (A, B, C, D):
        head = advance_head(head, entry, COUNTS[entry.seq])
    assert replay_ledger([A, B, C, D], COUNTS, Head()) == head


def test_what_no_entry_tells_is_as_it_was_known() -> None:
    known = Head(
        seq=9,
        wire="anthropic",
        vocabulary="o200k_base",
        title="old",
        model="old",
        limit=5,
        stale=True,
        documents={"": Document(4)},
    )
    head = replay_ledger([A], COUNTS, known)
    assert (head.wire, head.vocabulary, head.documents) == (
        "anthropic",
        "o200k_base",
        {"": Document(4)},
    )
    assert (head.seq, head.title, head.model, head.limit, head.stale) == (1, "a", "", 0, False)


def test_after_a_rewind_only_the_path_counts() -> None:
    lane = replay_ledger([A, B, C, D, branch(5, B)], {**COUNTS, 5: 5}, Head()).lane("")
    assert (lane.tokens, lane.messages, lane.turns, lane.steps) == (35, 3, 2, 1)


def test_after_a_switch_only_the_path_counts() -> None:
    lane = replay_ledger([A, B, C, D, about(5, Noted("switched"), B)], COUNTS, Head()).lane("")
    assert (lane.end, lane.tokens, lane.messages) == (B.id, 30, 2)


def test_after_a_rewind_what_nobody_counted_is_summed_by_its_bytes() -> None:
    lane = replay_ledger([A, B, C, D, branch(5, B)], {1: 10}, Head()).lane("")
    assert (lane.tokens, lane.uncounted) == (10, 2)


def test_after_a_rewind_compressions_that_hold_count_as_their_stand_ins() -> None:
    ledger = [A, B, C, D, hiding(5, A, before=10, after=3), branch(6, B)]
    assert replay_ledger(ledger, {**COUNTS, 6: 5}, Head()).lane("").tokens == 3 + 20 + 5


def test_a_stand_in_replaced_by_another_counts_once() -> None:
    ledger = [
        A,
        B,
        C,
        D,
        hiding(5, A, before=10, after=6),
        hiding(6, A, before=6, after=2),
        branch(7, B),
    ]
    assert replay_ledger(ledger, {**COUNTS, 7: 5}, Head()).lane("").tokens == 2 + 20 + 5


def test_a_lifted_compression_counts_no_stand_in() -> None:
    hidden = hiding(5, A, before=10, after=3)
    ledger = [A, B, C, D, hidden, about(6, Restored(hidden.id, 1, 7)), branch(7, B)]
    assert replay_ledger(ledger, {**COUNTS, 7: 5}, Head()).lane("").tokens == 10 + 20 + 5


@pytest.mark.parametrize(("kept", "tokens"), [((), 0), ((B.id,), 20)])
def test_after_a_compaction_only_what_was_kept_counts(kept: tuple[str, ...], tokens: int) -> None:
    ledger = [A, B, C, D, about(5, Compacted("auto", kept))]
    head = replay_ledger(ledger, COUNTS, Head())
    assert (head.lane("").tokens, head.stale) == (tokens, False)


def test_reports_are_replayed_against_what_was_in_sight_then() -> None:
    ledger = [A, B, about(3, Used(100)), Entry("c" * 32, B.id, C.body, 4, message=4)]
    known = replay_ledger([*ledger, about(5, Used(160))], {1: 10, 2: 20, 4: 40}, Head()).lane("")
    assert (known.calibration.raw, known.calibration.grown, known.calibration.billed) == (
        70,
        40,
        60,
    )
