"""opencode sessions: an export, and its database, read as what was said; every byte comes back."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Said,
    Thought,
    ToolCalled,
    ToolReturned,
    Used,
)
from holdfast.errors import Unreadable
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.transcripts.find import session_files
from holdfast.transcripts.ingest import ingest
from holdfast.wire.opencode import CLEARED_RESULT
from tests.contracts.transcripts import Line, given_back, jsonl, read_in

SESSION = "ses_1"
TABLES = """
create table session (id text, directory text, time_updated integer);
create table message (id text, session_id text, data text);
create table part (id text, message_id text, session_id text, data text);
create table event (id text, aggregate_id text, seq integer, type text, data text);
"""


def info(role: str, name: str, **more: object) -> dict[str, object]:
    return {"role": role, "time": {"created": 1}, **more, "id": name, "sessionID": SESSION}


def tool(call: str, *, status: str = "completed", **state: object) -> dict[str, object]:
    told = {"status": status, "input": {"command": "ls"}, **state}
    return {"type": "tool", "callID": call, "tool": "bash", "state": told}


STEP = {
    "total": 1_050,
    "input": 600,
    "output": 50,
    "reasoning": 0,
    "cache": {"read": 400, "write": 0},
}
FINISH = {"type": "step-finish", "reason": "stop", "tokens": STEP}
ASKED = (info("user", "msg_1"), [{"type": "text", "text": "List the files."}])
SPOKEN = (
    info("assistant", "msg_2", modelID="gpt-5", time={"created": 1, "completed": 2}),
    [
        {"type": "step-start"},
        {"type": "reasoning", "text": "ls will do.", "time": {"start": 1, "end": 2}},
        {"type": "text", "text": "Looking.", "time": {"start": 1, "end": 2}},
        tool("c1", output="a.txt", metadata={"exit": 0}),
        tool("c2", output="no such file", metadata={"exit": 2}),
        tool("c3", status="error", error="not allowed"),
        FINISH,
    ],
)
READ = [
    Said("user", "List the files."),
    Thought("ls will do.", unsent=True),
    Said("assistant", "Looking."),
    ToolCalled("c1", "bash", '{"command":"ls"}'),
    ToolReturned("c1", "a.txt"),
    ToolCalled("c2", "bash", '{"command":"ls"}'),
    ToolReturned("c2", "no such file", failed=True),
    ToolCalled("c3", "bash", '{"command":"ls"}'),
    ToolReturned("c3", "not allowed", failed=True),
    Used(1_050, 1_000, 50, 400, 0, "gpt-5", "msg_2"),
]
COMPACTING = (info("user", "msg_3"), [{"type": "compaction", "auto": True}])
SUMMARY = (
    info("assistant", "msg_4", summary=True, time={"created": 3, "completed": 4}),
    [{"type": "text", "text": "All listed.", "time": {"start": 3, "end": 4}}, FINISH],
)
GOING_ON = (info("user", "msg_5"), [{"type": "text", "text": "Go on.", "synthetic": True}])
WHOLE = (ASKED, SPOKEN, COMPACTING, SUMMARY, GOING_ON)
SUMMARIZED = [
    Compacted("auto"),
    Said("user", "What did we do so far?", "summary"),
    Said("assistant", "All listed.", "summary"),
    Said("user", "Go on.", "host"),
]


class Database:
    """A database as opencode keeps it, in a process that has it open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "opencode.db"
        # Its type tells of what it takes in halves.
        self.open: Any = apsw.Connection(str(self.path))
        self.open.execute("pragma journal_mode = wal")
        self.open.execute(TABLES)
        self.open.execute("insert into session values (?, '/home/dev/app', 5000)", (SESSION,))
        self.seq = 0

    def log(self, kind: str, data: Line) -> None:
        row = (f"evt_{self.seq}", SESSION, self.seq, f"{kind}.1", json.dumps(data))
        self.open.execute("insert into event values (?, ?, ?, ?, ?)", row)
        self.seq += 1

    def speak(self, told: tuple[Line, Sequence[Line]]) -> None:
        message, parts = told
        self.log("message.updated", {"sessionID": SESSION, "info": message})
        for at, part in enumerate(parts):
            name = {"id": f"prt_{message['id']}_{at}", "messageID": message["id"]}
            if part["type"] == "tool":
                running = tool(str(part["callID"]), status="running", metadata={"output": "a"})
                self.log(
                    "message.part.updated", {"sessionID": SESSION, "part": {**running, **name}}
                )
            self.log("message.part.updated", {"sessionID": SESSION, "part": {**part, **name}})

    def session(self) -> Path:
        (found,) = session_files(self.path)
        assert (found.folder, found.changed) == ("/home/dev/app", 5.0)
        return found.path


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path)


def test_an_export_is_read_as_what_was_said_and_comes_back(tmp_path: Path) -> None:
    messages = [{"info": told, "parts": parts} for told, parts in WHOLE]
    document = json.dumps({"info": {"id": SESSION}, "messages": messages}, indent=2).encode()
    store = MemoryStore()
    done = read_in(store, tmp_path, document, "export.json")
    bodies = [entry.body for entry in store.read(SESSION)]
    assert (done.wire, done.session, done.flaws) == ("opencode", SESSION, ())
    used = Used(1_000, 1_000, 50, 400, 0, "gpt-5", "msg_2@1")
    assert bodies == [READ[0], used, *READ[1:-1], *SUMMARIZED]
    assert given_back(Session(SESSION, store, owns_store=False)) == document


def test_events_of_the_database_are_read_once_they_are_whole(database: Database) -> None:
    database.log("session.created", {"sessionID": SESSION, "info": {"id": SESSION}})
    database.speak(ASKED)
    database.speak(SPOKEN)
    store = MemoryStore()
    done = ingest(database.session(), store)
    assert (done.wire, done.session, done.flaws) == ("opencode", SESSION, ())
    assert [entry.body for entry in store.read(SESSION)] == READ
    assert b'"running"' not in given_back(Session(SESSION, store, owns_store=False))


def test_a_session_that_grows_in_the_database_adds_its_tail(database: Database) -> None:
    store = MemoryStore()
    for told in WHOLE:
        database.log("session.updated", {"sessionID": SESSION})
        database.speak(told)
        done = ingest(database.session(), store)
        assert (done.branched, done.flaws) == (False, ())
    assert [entry.body for entry in store.read(SESSION)] == [*READ, *SUMMARIZED]
    assert ingest(database.session(), store).added == 0


def test_a_message_that_was_taken_back_makes_a_branch(database: Database) -> None:
    for told in (ASKED, SPOKEN):
        database.speak(told)
    for name in ("msg_2", "msg_1"):
        database.log("message.removed", {"sessionID": SESSION, "messageID": name})
    database.speak((info("user", "msg_9"), [{"type": "text", "text": "List the folders."}]))
    store = MemoryStore()
    ingest(database.session(), store)
    session = Session(SESSION, store, owns_store=False)
    assert session.messages() == [{"role": "user", "content": "List the folders."}]


def test_a_session_from_before_events_is_read_from_its_messages(database: Database) -> None:
    for message, parts in WHOLE[:2]:
        told = {key: value for key, value in message.items() if key not in ("id", "sessionID")}
        row = (str(message["id"]), SESSION, json.dumps(told, separators=(",", ":")))
        database.open.execute("insert into message values (?, ?, ?)", row)
        for at, part in enumerate(parts):
            name = (f"prt_{at}", str(message["id"]), SESSION, json.dumps(part))
            database.open.execute("insert into part values (?, ?, ?, ?)", name)
    unfinished = ("msg_7", SESSION, '{"role":"assistant","time":{"created":9}}')
    database.open.execute("insert into message values (?, ?, ?)", unfinished)
    store = MemoryStore()
    done = ingest(database.session(), store)
    assert (done.pieces, done.session) == (2, SESSION)
    assert len([entry.body for entry in store.read(SESSION)]) == len(READ)


def test_a_session_that_is_not_in_the_database_is_refused(database: Database) -> None:
    with pytest.raises(Unreadable):
        ingest(database.path / "ses_none.jsonl", MemoryStore())


def test_parallel_calls_are_sent_as_one_message_with_their_results_behind(tmp_path: Path) -> None:
    messages = [{"info": told, "parts": parts} for told, parts in (ASKED, SPOKEN)]
    store = MemoryStore()
    read_in(store, tmp_path, jsonl(*messages))
    sent = Session(SESSION, store, owns_store=False).messages()
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    shown: Any = sent[1:]
    kinds = [[block["type"] for block in message["content"]] for message in shown]
    assert kinds == [["text", "tool_use", "tool_use", "tool_use"], ["tool_result"] * 3]


LONG = "a line of what it printed\n" * 200
MORE = (info("user", "msg_6", time={"created": 90}), [{"type": "text", "text": "And now?"}])


def pruned(when: int) -> tuple[Line, list[Line]]:
    """A step of which a result is no longer sent from a moment on."""
    told = info("assistant", "msg_2", modelID="gpt-5", time={"created": 1, "completed": 2})
    return told, [tool("c1", output=LONG, time={"start": 1, "compacted": when}), FINISH]


def shown_results(session: Session) -> list[object]:
    """What the results in the messages say."""
    sent: Any = [message["content"] for message in session.messages()]
    blocks = (some for some in sent if not isinstance(some, str))
    found: list[dict[str, object]] = [block for some in blocks for block in some]
    return [block["content"] for block in found if block["type"] == "tool_result"]


@pytest.mark.parametrize(("when", "shown"), [(50, CLEARED_RESULT), (95, LONG)])
def test_a_result_that_opencode_pruned_is_shown_as_it_sends_it_from_then_on(
    when: int, shown: str, tmp_path: Path
) -> None:
    store = MemoryStore()
    lines = [{"info": told, "parts": parts} for told, parts in (ASKED, pruned(when), MORE)]
    read_in(store, tmp_path, jsonl(*lines))
    session = Session(SESSION, store, owns_store=False)
    assert shown_results(session) == [shown]
    assert ToolReturned("c1", LONG) in [entry.body for entry in session.ledger.path()]
    made = [entry.body for entry in store.read(SESSION) if isinstance(entry.body, Compressed)]
    assert [(body.by, len(body.steps)) for body in made] == [("host", 1)] * (
        shown == CLEARED_RESULT
    )


def test_a_result_that_is_pruned_later_in_the_database_is_no_longer_shown(
    database: Database,
) -> None:
    store = MemoryStore()
    whole = pruned(0)
    database.speak(ASKED)
    database.speak(whole)
    ingest(database.session(), store)
    session = Session(SESSION, store, owns_store=False)
    assert shown_results(session) == [LONG]
    part = {**pruned(50)[1][0], "id": "prt_msg_2_0", "messageID": "msg_2"}
    database.log("message.part.updated", {"sessionID": SESSION, "part": part})
    before = session.status().tokens
    ingest(database.session(), store)
    assert shown_results(session) == [CLEARED_RESULT]
    assert session.status().tokens < before
    assert ingest(database.session(), store).added == 0
