"""Gemini CLI chats: what their lines mean, and that every byte of them comes back."""

from pathlib import Path

from holdfast.core.ledger.entry import Compacted, Said, Thought, ToolCalled, ToolReturned, Used
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.wire.gemini import call_id
from tests.contracts.transcripts import Line, given_back, jsonl, read_in

CALL = call_id("run_shell_command", {"command": "ls"})
AGAIN = f"{CALL}-2"


def told(name: str, kind: str, content: object, **more: object) -> Line:
    return {
        "id": name,
        "timestamp": "2026-11-16T12:28:33Z",
        "type": kind,
        "content": content,
        **more,
    }


def answer(call: str, **response: object) -> Line:
    return {"functionResponse": {"id": call, "name": "run_shell_command", "response": response}}


def call(name: str, *, status: str = "", **response: object) -> Line:
    asked = {"id": name, "name": "run_shell_command", "args": {"command": "ls"}}
    return {**asked, "status": status, "result": [answer(name, **response)]} if status else asked


HEADER = {"sessionId": "gem-1", "projectHash": "bb86", "startTime": "2026-11-16T12:28:33Z"}
CONTEXT = told("m0", "user", [{"text": "<session_context>\nThis is the Gemini CLI."}])
ASKED = told("m1", "user", [{"text": "<hook_context>ours</hook_context>\n\nList the files."}])
SPOKEN = told(
    "m2",
    "gemini",
    "Looking.",
    thoughts=[{"subject": "Files", "description": "ls will do."}],
    tokens={"input": 900, "output": 20, "cached": 300, "thoughts": 0, "tool": 0, "total": 920},
    model="gemini-2.5-pro",
)
CALLED = {**SPOKEN, "toolCalls": [call("ls_1", status="success", output="a.txt")]}
TURN = (
    HEADER,
    {"$set": {"messages": [CONTEXT], "lastUpdated": "2026-11-16T12:28:33Z"}},
    ASKED,
    {"$set": {"lastUpdated": "2026-11-16T12:28:34Z"}},
    SPOKEN,
    CALLED,
    told("m3", "user", [answer("ls_1", output="a.txt")]),
    told("m4", "gemini", "One file."),
)
READ = [
    Said("user", "<session_context>\nThis is the Gemini CLI.", "host"),
    Said("user", "<hook_context>ours</hook_context>\n\n", "host"),
    Said("user", "List the files."),
    Used(900, 900, 20, 300, 0, "gemini-2.5-pro", "m2"),
    Thought("Files\nls will do.", unsent=True),
    Said("assistant", "Looking."),
    ToolCalled(CALL, "run_shell_command", '{"command":"ls"}'),
    ToolReturned(CALL, "a.txt"),
    Said("assistant", "One file."),
]


def bodies(tmp_path: Path, *lines: Line) -> list[object]:
    store = MemoryStore()
    done = read_in(store, tmp_path, jsonl(*lines))
    assert (done.wire, done.session, done.flaws) == ("gemini", "gem-1", ())
    assert given_back(Session("gem-1", store, owns_store=False)) == jsonl(*lines)
    return [entry.body for entry in store.read(done.session)]


def test_messages_that_come_again_with_more_are_read_once(tmp_path: Path) -> None:
    assert bodies(tmp_path, *TURN) == READ


def test_what_is_sent_keeps_calls_and_results_together(tmp_path: Path) -> None:
    store = MemoryStore()
    read_in(store, tmp_path, jsonl(*TURN))
    use = {"type": "tool_use", "id": CALL, "name": "run_shell_command", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": CALL, "content": "a.txt"}
    assert Session("gem-1", store, owns_store=False).messages()[1:] == [
        {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "One file."},
    ]


def test_going_on_in_a_chat_is_no_compaction(tmp_path: Path) -> None:
    parts = [{"text": "Looking."}, {"functionCall": call("ls_1")}]
    whole = [CONTEXT, ASKED, told("m2", "gemini", parts), told("m4", "gemini", "One file.")]
    restarted = (HEADER, {"$set": {"messages": [CONTEXT]}}, {"$set": {"messages": whole}})
    more = told("m5", "user", [{"text": "Thanks."}])
    assert bodies(tmp_path, *TURN, *restarted, more) == [*READ, Said("user", "Thanks.")]


def test_messages_that_stand_for_what_was_dropped_are_a_summary(tmp_path: Path) -> None:
    snapshot = told("s1", "user", [{"text": "<state_snapshot>All done.</state_snapshot>"}])
    compacted = {"$set": {"messages": [CONTEXT, snapshot, told("m4", "gemini", "One file.")]}}
    found = bodies(tmp_path, *TURN, compacted, told("m5", "user", [{"text": "Go on."}]))
    boundary = found[len(READ)]
    assert isinstance(boundary, Compacted)
    assert len(boundary.keeps) == 2
    assert found[len(READ) + 1 :] == [
        Said("user", "<state_snapshot>All done.</state_snapshot>", "summary"),
        Said("user", "Go on."),
    ]


def test_a_chat_that_was_rewound_is_a_branch(tmp_path: Path) -> None:
    store = MemoryStore()
    lines = (*TURN, {"$rewindTo": "m1"}, told("m6", "user", [{"text": "List the folders."}]))
    read_in(store, tmp_path, jsonl(*lines))
    session = Session("gem-1", store, owns_store=False)
    assert [message["content"] for message in session.messages()] == [
        [
            {"type": "text", "text": "<session_context>\nThis is the Gemini CLI."},
            {"type": "text", "text": "List the folders."},
        ]
    ]


def test_the_same_call_made_again_has_a_name_of_its_own_and_errors_are_told(tmp_path: Path) -> None:
    again = told("m5", "gemini", "", toolCalls=[call("ls_2", status="error", error="gone")])
    assert bodies(tmp_path, *TURN, again)[len(READ) :] == [
        ToolCalled(AGAIN, "run_shell_command", '{"command":"ls"}'),
        ToolReturned(AGAIN, "gone", failed=True),
    ]


def test_an_empty_chat_of_the_same_session_takes_nothing_back(tmp_path: Path) -> None:
    store = MemoryStore()
    read_in(store, tmp_path, jsonl(*TURN))
    stub = jsonl(HEADER, {"$set": {"messages": [CONTEXT], "lastUpdated": "later"}})
    done = read_in(store, tmp_path, stub, "empty.jsonl")
    assert (done.session, done.branched) == ("gem-1", False)
    grown = read_in(store, tmp_path, jsonl(*TURN, ASKED))
    assert (grown.added, grown.branched) == (0, False)


def test_an_older_chat_is_one_document(tmp_path: Path) -> None:
    document = {**HEADER, "messages": [CONTEXT, ASKED, CALLED]}
    store = MemoryStore()
    done = read_in(store, tmp_path, jsonl(document), "chat.json")
    assert (done.wire, done.flaws) == ("gemini", ())
    assert [entry.body for entry in store.read(done.session)] == READ[:-1]
    assert given_back(Session("chat", store, owns_store=False)) == jsonl(document)
