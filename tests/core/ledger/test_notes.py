"""Notes: typed here, texts by key in the store, and never a reason to fail."""

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, Noted, Said
from holdfast.core.ledger.notes import (
    KINDS,
    Anchored,
    CompactedByHand,
    Continued,
    Drifted,
    Finding,
    FollowedBy,
    Forked,
    FreshSessionAdvised,
    Kind,
    LevelWarned,
    LimitLearned,
    ModelNamed,
    Note,
    NotedSignal,
    Original,
    PacketWanted,
    Persisted,
    Pinned,
    Postponed,
    Prompted,
    Purged,
    RecoveryFailed,
    Reminded,
    RuleFailed,
    SessionEnded,
    Span,
    Spawned,
    SummarizerRefused,
    SummaryBlocked,
    Switched,
    TaskNamed,
    ThinkingLogged,
    UnattendedRun,
    Unpinned,
    WholeTask,
    encode,
    is_note,
    newest_note,
    note_of,
    notes_in,
)
from tests.core.building import named
from tests.examples import examples

DRIFTED = Drifted(
    entry="e",
    summary="s",
    score=0.756,
    step=2,
    names="subtask, decision",
    why="it is another; it was decided",
    action="Edit: a.py",
    signals=(NotedSignal("subtask", Finding(0.5, "it is another", missing=("a.py",))),),
    recovered=(Span("ab12", 3, 9),),
)
WRITTEN: list[tuple[Note, str, dict[str, str]]] = [
    (Switched(), "switched", {}),
    (ModelNamed("claude"), "model", {"model": "claude"}),
    (LimitLearned(9_000), "limit", {"limit": "9000"}),
    (TaskNamed("SB-41"), "task", {"name": "SB-41"}),
    (Pinned("Port 8443."), "pinned", {"text": "Port 8443."}),
    (Unpinned("ab12"), "unpinned", {"pin": "ab12"}),
    (SessionEnded(), "session_end", {}),
    (SessionEnded("clear"), "session_end", {"reason": "clear"}),
    (Continued("s-2", "ab12"), "continued", {"session": "s-2", "checkpoint": "ab12"}),
    (Purged(entries=("a", "b")), "purged", {"entries": "a b"}),
    (Purged(session="s"), "purged", {"session": "s"}),
    (Persisted("e", sha256="5eed"), "persisted", {"entry": "e", "sha256": "5eed"}),
    (
        Persisted("e", "a.py", "5eed"),
        "persisted",
        {"entry": "e", "path": "a.py", "sha256": "5eed"},
    ),
    (Postponed(70), "postponed", {"raw": "70"}),
    (
        Postponed(70, "", "too little", 0, -3),
        "postponed",
        {"raw": "70", "trigger": "", "reason": "too little", "saves": "0", "gain": "-3"},
    ),
    (
        SummaryBlocked(("decision_log", "active_beads")),
        "blocked",
        {"missing": "decision_log,active_beads"},
    ),
    (ThinkingLogged("t.jsonl", 7, 2), "trajectory", {"path": "t.jsonl", "upto": "7", "count": "2"}),
    (Forked("NOTES.md", "other"), "fork", {"where": "NOTES.md", "text": "other"}),
    (RecoveryFailed(lost="3 of 4"), "recovery_failed", {"lost": "3 of 4"}),
    (
        RecoveryFailed(level=2, reason="too long", review="look"),
        "recovery_failed",
        {"level": "2", "reason": "too long", "review": "look"},
    ),
    (SummarizerRefused("no JSON"), "summarizer", {"refused": "no JSON"}),
    (FreshSessionAdvised(0, ""), "fresh_session", {"generation": "0", "checkpoint": ""}),
    (RuleFailed("pins", "e", "no"), "fault", {"rule": "pins", "entry": "e", "error": "no"}),
    (
        DRIFTED,
        "drift",
        {
            "entry": "e",
            "summary": "s",
            "score": "0.76",
            "step": "2",
            "names": "subtask, decision",
            "why": "it is another; it was decided",
            "action": "Edit: a.py",
            "signals": '[{"name":"subtask","finding":'
            '{"strength":0.5,"why":"it is another","missing":["a.py"]}}]',
            "recovered": '[["ab12",3,9]]',
        },
    ),
    (
        UnattendedRun("p7", "RUNNING", "me", True, "t", "u", 3_600, "seal"),
        "run",
        {
            "plan": "p7",
            "state": "RUNNING",
            "owner": "me",
            "consent": "yes",
            "started": "t",
            "until": "u",
            "max_age": "3600",
            "seal": "seal",
        },
    ),
    (
        Spawned("Refund it", "2", "", "minimal"),
        "spawn",
        {"task": "Refund it", "pane": "2", "agent": "", "depth": "minimal"},
    ),
    (WholeTask("a long one"), "packet_task", {"text": "a long one"}),
    (
        PacketWanted("pane-1", "refresh", "it is old", "ab12"),
        "packet_wanted",
        {"pane": "pane-1", "kind": "refresh", "why": "it is old", "packet": "ab12"},
    ),
    (
        Original("c", "Bash", "ab12", "words"),
        "original",
        {"call": "c", "tool": "Bash", "ref": "ab12", "output": "words"},
    ),
    (
        Original("c", "Bash", "ab12", "words", True, 900, 90, "a.txt"),
        "original",
        {
            "call": "c",
            "tool": "Bash",
            "ref": "ab12",
            "output": "words",
            "failed": "yes",
            "before": "900",
            "after": "90",
            "file": "a.txt",
        },
    ),
    (Prompted("Go on."), "prompt", {"text": "Go on."}),
    (Anchored("auto"), "anchored", {"trigger": "auto"}),
    (Reminded(), "kept", {}),
    (LevelWarned("RED"), "warned", {"level": "RED"}),
    (CompactedByHand(), "compacted_by_hand", {}),
    (FollowedBy("s-2"), "followed_by", {"session": "s-2"}),
]


@pytest.mark.parametrize(("note", "what", "facts"), WRITTEN)
def test_the_persisted_names_and_their_order_never_change(
    note: Note, what: str, facts: dict[str, str]
) -> None:
    body = encode(note)
    assert (body.what, list(body.facts.items())) == (what, list(facts.items()))


def test_every_kind_is_in_the_table_above() -> None:
    assert {type(note) for note, _, _ in WRITTEN} == set(get_args(Note)) == set(KINDS.values())
    assert list(KINDS) == [kind.what for kind in get_args(Note)]
    assert len(KINDS) == len(set(KINDS))


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=",; "), min_size=1)
findings = st.builds(
    Finding,
    strength=st.floats(0, 1),
    why=st.text(),
    quote=st.text(),
    missing=st.lists(st.text()).map(tuple),
)
FIELDS: dict[tuple[type[Kind], str], st.SearchStrategy[Any]] = {
    (Purged, "entries"): st.lists(words).map(tuple),
    (SummaryBlocked, "missing"): st.lists(words).map(tuple),
    (Drifted, "score"): st.integers(0, 100).map(lambda number: number / 100),
    (Drifted, "signals"): st.lists(st.builds(NotedSignal, st.text(), findings)).map(tuple),
    (Drifted, "recovered"): st.lists(
        st.builds(Span, st.text(), st.integers(0, 99), st.integers(0, 99))
    ).map(tuple),
    (Postponed, "saves"): st.none() | st.integers(-(10**9) + 1, 10**9 - 1),
    (Postponed, "gain"): st.none() | st.integers(-(10**9) + 1, 10**9 - 1),
    (UnattendedRun, "max_age"): st.integers(0, 10**11 - 1),
}
"""Values of the fields that are neither texts, nor marks, nor whole numbers above zero."""
counts = st.integers(0, 10**9 - 1)


def values_of(kind: type[Note], field: structs.FieldInfo) -> st.SearchStrategy[Any]:
    """Values that a field may have."""
    known = FIELDS.get((kind, field.name))
    if known is not None:
        return known
    declared = str(field.type)
    plain = counts if "int" in declared else st.booleans() if "bool" in declared else st.text()
    return st.none() | plain if "None" in declared else plain


def made(kind: type[Note]) -> st.SearchStrategy[Note]:
    fields = {field.name: values_of(kind, field) for field in structs.fields(kind)}
    return st.builds(kind, **fields)


@settings(max_examples=examples(300))
@given(st.one_of([made(kind) for kind in KINDS.values()]))
def test_every_note_is_read_as_it_was_written(note: Note) -> None:
    assert note_of(encode(note)) == note


anything = st.text() | st.sampled_from(["", "-", "-1", "²", "٣", "[", "[{}]", "[[]]", "9" * 12])
keys = st.sampled_from(sorted({name for _, _, facts in WRITTEN for name in facts}))


@settings(max_examples=examples(300))
@given(st.sampled_from(list(KINDS)) | st.text(), st.dictionaries(keys | st.text(), anything))
def test_whatever_a_client_recorded_is_read_without_an_exception(
    what: str, facts: dict[str, str]
) -> None:
    note = note_of(Noted(what, facts))
    assert note is None or (isinstance(note, KINDS[what]) and encode(note).what == what)


@pytest.mark.parametrize("kind", KINDS.values())
def test_a_note_without_facts_is_read_unless_it_says_nothing_then(kind: type[Note]) -> None:
    note = note_of(Noted(kind.what))
    assert (note is None) == (kind in (ModelNamed, LimitLearned))


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (Noted("limit", {"limit": "12k"}), None),
        (Noted("postponed", {"raw": "many", "reason": "r"}), Postponed(0, reason="r")),
        (Noted("postponed", {"raw": "-5", "saves": "x"}), Postponed(0)),
        (Noted("trajectory", {"upto": "[purged]"}), ThinkingLogged()),
        (Noted("run", {"consent": "true", "max_age": "1" * 12}), UnattendedRun()),
        (
            Noted("run", {"consent": "yes", "max_age": "1" * 11}),
            UnattendedRun(consent=True, max_age=int("1" * 11)),
        ),
        (Noted("packet_wanted"), PacketWanted(kind="more")),
        (
            Noted("original", {"failed": "no", "before": "[purged]"}),
            Original(failed=True, before=0),
        ),
        (Noted("original", {"before": ""}), Original()),
        (Noted("pinned", {"text": "a", "colour": "red"}), Pinned("a")),
        (Noted("task_done", {"text": "a"}), None),
        (Said("user", "pinned"), None),
    ],
)
def test_a_missing_or_damaged_fact_has_its_default(body: Noted | Said, note: Note | None) -> None:
    assert note_of(body) == note


@pytest.mark.parametrize("damaged", ["", "[", "{}", '[{"name":"subtask"}]', "[[1,2,3]]", "\ud800"])
def test_a_note_of_drift_keeps_its_line_when_its_evidence_is_damaged(damaged: str) -> None:
    whole = encode(DRIFTED)
    for name in ("signals", "recovered"):
        note = note_of(Noted(whole.what, {**whole.facts, name: damaged}))
        assert isinstance(note, Drifted)
        assert not note.is_readable
        assert (note.entry, note.names) == (DRIFTED.entry, DRIFTED.names)
    assert replace(DRIFTED, score=0.76) == note_of(whole)
    assert DRIFTED.is_readable


def test_notes_of_one_kind_are_found_with_their_entries() -> None:
    bodies = [encode(Pinned("a")), Said("user", "a"), encode(Unpinned("b")), encode(Pinned("c"))]
    ledger = [Entry(named(seq), None, body, seq) for seq, body in enumerate(bodies, 1)]
    assert [(e.seq, note.text) for e, note in notes_in(ledger, Pinned)] == [(1, "a"), (4, "c")]
    assert newest_note(ledger, Pinned) == (ledger[3], Pinned("c"))
    assert newest_note(ledger, TaskNamed) is None
    assert [is_note(body, Pinned, Unpinned) for body in bodies] == [True, False, True, True]
    assert is_note(Noted("limit"), LimitLearned)
