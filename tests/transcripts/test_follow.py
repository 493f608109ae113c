"""Following a transcript as it grows comes to the same as reading it at the end."""

import gzip
from pathlib import Path
from typing import NoReturn

import pytest

from holdfast.core.ledger.entry import Compressed, Derived, Said, ToolReturned
from holdfast.core.measure.usage import Level
from holdfast.core.plan.policy import NeverStore, Policy
from holdfast.engine.counts import update_counts
from holdfast.engine.originals import OriginalFacts, original_note, original_ref
from holdfast.engine.purge.rewrite import erase_session
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.store import Store
from holdfast.transcripts.follow import follow
from holdfast.transcripts.ingest import ingest
from tests.contracts import test_gemini as gemini
from tests.contracts import test_opencode as opencode
from tests.contracts.transcripts import (
    assistant,
    boundary,
    call,
    codex_line,
    jsonl,
    message,
    meta,
    result,
    summary,
    text,
    user,
)
from tests.real.data import names, native_file, unpacked

S = "s"
TURNS = [
    user("u1", None, "Find the bug."),
    assistant("a1", "u1", "m1", text("Looking.")),
    assistant("a2", "a1", "m1", call("t1", "Bash", command="ls")),
    assistant("a3", "a1", "m1", call("t2", "Bash", command="pwd")),
    result("r1", "a2", "t1", "a.py"),
    result("r2", "a3", "t2", "/app"),
    assistant("a4", "r2", "m2", text("It is in a.py."), usage={"input_tokens": 900}),
    user("u2", "a4", "Fix it."),
    assistant("a5", "u2", "m3", text("Fixed.")),
]
REWOUND = [*TURNS, user("u3", "a4", "Do not fix it."), assistant("a6", "u3", "m4", text("Fine."))]
COMPACTED = [
    *TURNS,
    boundary("b1", preservedMessages={"uuids": ["u1", "a1"]}),
    summary("s1", "b1", "All went well."),
    user("u4", "s1", "And now?"),
]
WORKER = [*TURNS, user("w1", None, "Sub-task", isSidechain=True, agentId="x9")]
CODEX = [
    meta(),
    message("user", "Find the bug."),
    message("assistant", "Found."),
    *[codex_line("event_msg", {"type": "task_complete"}) for _ in range(4)],
]
SNAPSHOT = gemini.told("s1", "user", [{"text": "<state_snapshot>All done.</state_snapshot>"}])
GEMINI = [*gemini.TURN, gemini.told("m5", "user", [{"text": "Thanks."}])]
GEMINI_AGAIN = [
    *GEMINI,
    gemini.HEADER,
    {"$set": {"messages": [gemini.CONTEXT]}},
    {"$set": {"messages": [gemini.CONTEXT, gemini.ASKED, gemini.CALLED]}},
    gemini.told("m6", "user", [{"text": "Go on."}]),
]
GEMINI_REWOUND = [*GEMINI, {"$rewindTo": "m1"}, gemini.told("m7", "user", [{"text": "Else."}])]
GEMINI_COMPACTED = [
    *GEMINI,
    {"$set": {"messages": [gemini.CONTEXT, SNAPSHOT, gemini.told("m4", "gemini", "One file.")]}},
    gemini.told("m8", "user", [{"text": "Go on."}]),
    gemini.told("m9", "gemini", "Gone on.", toolCalls=[gemini.call("ls_2", status="success")]),
]
READ_AGAIN = [GEMINI, GEMINI_AGAIN, GEMINI_REWOUND, GEMINI_COMPACTED]


def told(store: Store) -> object:
    update_counts(store, S)
    head = store.head(S)
    assert head is not None
    sources = [e.id for e in store.read(S) if not isinstance(e.body, Derived)]
    bytes_ = [(s.lead, s.raw) for s in store.sightings(S)]
    assert list(store.check()) == []
    sizes = {name: (at.end, at.tokens, at.calibration) for name, at in head.lanes.items()}
    return sources, bytes_, sizes


@pytest.mark.parametrize("lines", [TURNS, REWOUND, COMPACTED, WORKER, CODEX, *READ_AGAIN])
@pytest.mark.parametrize("step", [1, 2, 3, 5])
@pytest.mark.parametrize("counting", [1, 2, 99])
def test_following_line_by_line_is_reading_it_whole(
    tmp_path: Path, lines: list[dict[str, object]], step: int, counting: int
) -> None:
    path, whole, grown = tmp_path / "t.jsonl", MemoryStore(), MemoryStore()
    path.write_bytes(b"")
    for at in range(0, len(lines), step):
        with path.open("ab") as file:
            file.write(jsonl(*lines[at : at + step]))
        follow(grown, S, path)
        if at // step % counting == 0:
            update_counts(grown, S)
    ingest(path, whole, session=S)
    assert told(grown) == told(whole)


def test_a_window_that_a_provider_said_is_full_is_full_before_anything_is_counted(
    tmp_path: Path,
) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    full = assistant("a9", "u2", "m9", text("Fixed."), usage={"input_tokens": 900_000})
    path.write_bytes(jsonl(*TURNS[:-1], full))
    follow(store, S, path)
    session = Session(S, store)
    assert session.status(quick=True).level is Level.CRITICAL
    assert session.status(quick=True).tokens == 900_000
    head = store.head(S)
    assert head is not None
    assert not head.counted
    assert session.status().level is Level.CRITICAL


def test_what_did_not_grow_is_not_read(tmp_path: Path) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    path.write_bytes(jsonl(*TURNS))
    assert follow(store, S, path) > 0
    before = store.head(S)
    assert follow(store, S, path) == 0
    assert store.head(S) == before


def opened_again(*_: object) -> NoReturn:
    pytest.fail("it was opened")


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_file_that_looks_as_it_did_is_not_even_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path, store = tmp_path / f"t.jsonl{ending}", MemoryStore()
    raw = jsonl(*TURNS).rstrip(b"\n")  # the last line may still be written: it is not settled
    path.write_bytes(gzip.compress(raw) if ending else raw)
    assert follow(store, S, path) > 0
    with monkeypatch.context() as closed:
        closed.setattr(Path, "open", opened_again)
        assert follow(store, S, path) == 0
    whole = jsonl(*TURNS, user("u5", "a5", "Thanks."))
    path.write_bytes(gzip.compress(whole) if ending else whole)
    assert follow(store, S, path) == 1


def test_a_line_that_is_half_written_waits_for_its_end(tmp_path: Path) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    raw = jsonl(*TURNS)
    path.write_bytes(jsonl(*TURNS[:3]))
    follow(store, S, path)
    path.write_bytes(raw[:-20])
    follow(store, S, path)
    path.write_bytes(raw)
    follow(store, S, path)
    whole = MemoryStore()
    ingest(path, whole, session=S)
    assert told(store) == told(whole)


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    path.write_bytes(jsonl(*TURNS))
    follow(store, S, path)
    path.write_bytes(jsonl(*TURNS[:-2], user("u9", "a4", "Something else entirely, please.")))
    follow(store, S, path)
    said = [e.body for e in store.read(S) if "Something else" in str(e.body)]
    assert len(said) == 1


def test_a_file_that_somebody_else_reads_in_the_meantime_is_added_once(tmp_path: Path) -> None:
    path, store, whole = tmp_path / "t.jsonl", MemoryStore(), MemoryStore()
    path.write_bytes(jsonl(*TURNS))
    ingest(path, whole, session=S)
    others: list[int] = []

    def overtake(_: int) -> None:
        if not others:
            others.append(0)
            others[0] = ingest(path, store, session=S).added

    assert ingest(path, store, session=S, progress=overtake).added == 0
    assert others[0] > 0
    assert told(store) == told(whole)


def test_only_what_is_new_is_read_from_a_long_transcript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    path.write_bytes(jsonl(*TURNS))
    follow(store, S, path)
    with path.open("ab") as file:
        file.write(jsonl(user("u5", "a5", "Thanks.")))
    never_again(store, monkeypatch)
    assert follow(store, S, path) == 1


def never_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a document whole begins with what was seen of it."""

    def read_again(*_: str) -> NoReturn:
        pytest.fail("it was all read again")

    monkeypatch.setattr(store, "sightings", read_again)


def test_only_what_is_new_is_read_where_a_line_means_what_those_before_it_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    path.write_bytes(jsonl(*GEMINI[:-3]))
    follow(store, S, path)
    never_again(store, monkeypatch)
    for line in GEMINI[-3:]:
        with path.open("ab") as file:
            file.write(jsonl(line))
        follow(store, S, path)
    assert [entry.body for entry in store.read(S)][-2:] == [
        Said("assistant", "One file."),
        Said("user", "Thanks."),
    ]


def test_only_what_is_new_is_read_from_the_database_of_opencode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, store = opencode.Database(tmp_path), MemoryStore()
    database.log("session.created", {"sessionID": opencode.SESSION, "info": {"id": "ses_1"}})
    database.speak(opencode.ASKED)
    follow(store, opencode.SESSION, database.session())
    never_again(store, monkeypatch)
    for said in opencode.WHOLE[1:]:
        database.speak(said)
        assert follow(store, opencode.SESSION, database.session()) > 0 or "compaction" in str(said)
    bodies = [entry.body for entry in store.read(opencode.SESSION)]
    assert bodies == [*opencode.READ, *opencode.SUMMARIZED]
    assert follow(store, opencode.SESSION, database.session()) == 0


def test_a_reader_that_was_forgotten_reads_all_again_and_adds_nothing_twice(
    tmp_path: Path,
) -> None:
    path, grown, whole = tmp_path / "t.jsonl", MemoryStore(), MemoryStore()
    path.write_bytes(jsonl(*GEMINI[:-2]))
    follow(grown, S, path)
    head = grown.head(S)
    assert head is not None
    grown.write_cache(S, "reader", head, b"what nobody can read")
    path.write_bytes(jsonl(*GEMINI))
    follow(grown, S, path)
    ingest(path, whole, session=S)
    assert told(grown) == told(whole)


def test_the_transcripts_of_workers_are_followed_too(tmp_path: Path) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    path.write_bytes(jsonl(*TURNS))
    worker = tmp_path / "t" / "subagents" / "agent-x9.jsonl"
    worker.parent.mkdir(parents=True)
    lines = [user("w1", None, "Sub-task", isSidechain=True, agentId="x9")]
    worker.write_bytes(jsonl(*lines))
    follow(store, S, path)
    more = assistant("w2", "w1", "w", text("Done."), isSidechain=True, agentId="x9")
    worker.write_bytes(jsonl(*lines, more))
    assert follow(store, S, path) == 1
    head = store.head(S)
    assert head is not None
    assert set(head.lanes) == {"", "x9"}


def test_a_session_that_was_purged_stays_away(tmp_path: Path) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    path.write_bytes(jsonl(*TURNS))
    follow(store, S, path)
    erase_session(store, S, Policy(), reason="purged", at="2026-03-01T10:00:00Z")
    assert follow(store, S, path) == 0
    assert store.head(S) is None


def test_a_purged_session_stays_away_although_something_was_noted_of_it_since(
    tmp_path: Path,
) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    path.write_bytes(jsonl(*TURNS))
    follow(store, S, path)
    erase_session(store, S, Policy(), reason="purged", at="2026-03-01T10:00:00Z")
    Session(S, store).note("asked", text="What now?")
    assert follow(store, S, path) == 0
    assert not any(isinstance(entry.body, Said) for entry in store.read(S))


def test_what_must_not_be_stored_is_not_although_its_call_was_read_before(tmp_path: Path) -> None:
    path, store = tmp_path / "t.jsonl", MemoryStore()
    rules = Policy(never_store=NeverStore(tools=("Vault",)))
    lines = [
        user("u1", None, "Show me the key."),
        assistant("a1", "u1", "m1", call("t1", "Vault", key="db")),
        result("r1", "a1", "t1", "CANARY-17"),
    ]
    for count in range(1, 4):
        path.write_bytes(jsonl(*lines[:count]))
        follow(store, S, path, policy=rules)
    assert len(list(store.read(S))) >= 3
    assert not any(b"CANARY-17" in sighting.raw for sighting in store.sightings(S))


@pytest.mark.parametrize("name", names("claude", native=True))
def test_real_sessions_come_to_the_same_when_they_are_followed(name: str, tmp_path: Path) -> None:
    raw = unpacked(native_file(name)).rstrip(b"\n") + b"\n"
    lines = raw.splitlines(keepends=True)
    file, whole, grown = tmp_path / "t.jsonl", MemoryStore(), MemoryStore()
    file.write_bytes(b"")
    step = max(len(lines) // 7, 1)
    for at in range(0, len(lines), step):
        with file.open("ab") as out:
            out.writelines(lines[at : at + step])
        follow(grown, S, file)
    ingest(file, whole, session=S)
    assert told(grown) == told(whole)


STAND_IN = "line 1\n[holdfast: 900 lines not shown]"
ORIGINAL = "\n".join(f"line {number}" for number in range(1, 1_000))
SHORTENED = [*TURNS[:4], result("r1", "a2", "t1", STAND_IN), result("r2", "a3", "t2", "/app")]


def store_original(store: Store) -> None:
    """What the hook for a tool result does just before the host shows the stand-in."""
    original = ToolReturned("t1", ORIGINAL, False)
    facts = OriginalFacts("Bash", original_ref(S, "", original), 3_000, 20, "a copy")
    Session(S, store).ledger.derive(original_note(original, facts))


def results_of(store: Store) -> list[str]:
    return [one.body.output for one in store.read(S) if isinstance(one.body, ToolReturned)]


def offloaded(store: Store) -> list[Compressed]:
    return [one.body for one in store.read(S) if isinstance(one.body, Compressed)]


def test_an_original_waits_for_a_result_that_comes_after_other_lines(tmp_path: Path) -> None:
    store, file = MemoryStore(), tmp_path / f"{S}.jsonl"
    for end in (2, 3):
        file.write_bytes(jsonl(*SHORTENED[:end]))
        follow(store, S, file)
    store_original(store)
    for end in (4, 5, 6):
        file.write_bytes(jsonl(*SHORTENED[:end]))
        follow(store, S, file)
    assert results_of(store) == [ORIGINAL, "/app"]
    assert len(offloaded(store)) == 1


def test_an_original_that_is_stored_while_the_file_is_read_is_found(tmp_path: Path) -> None:
    store, file = MemoryStore(), tmp_path / f"{S}.jsonl"
    file.write_bytes(jsonl(*SHORTENED[:2]))
    follow(store, S, file)
    file.write_bytes(jsonl(*SHORTENED))
    done: list[int] = []

    def meanwhile(size: int) -> None:
        if not done:
            done.append(size)
            store_original(store)

    ingest(file, store, session=S, progress=meanwhile)
    assert done
    assert results_of(store) == [ORIGINAL, "/app"]
    assert len(offloaded(store)) == 1
