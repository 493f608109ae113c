"""Codex rollouts: what their lines mean, and that every byte of them comes back."""

from pathlib import Path

import pytest

from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Noted,
    Opaque,
    Said,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
    Used,
)
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.wire import codex
from tests.contracts.transcripts import (
    Line,
    codex_line,
    given_back,
    item,
    jsonl,
    message,
    meta,
    read_in,
    taken,
    token_count,
)

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Look first."}],
    "encrypted_content": "gAAAA",
}
CALL = {"type": "function_call", "name": "exec", "arguments": '{"cmd": "ls"}', "call_id": "c1"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}

TURN = (
    meta(),
    codex_line("turn_context", {"model": "gpt-5.5", "cwd": "/home/dev/app"}),
    codex_line("event_msg", {"type": "user_message", "message": "List the files."}),
    message("user", "<environment_context>Linux</environment_context>"),
    message("user", "List the files."),
    codex_line("response_item", REASONING),
    codex_line("response_item", CALL),
    codex_line("response_item", OUTPUT),
    token_count(12_000, 40, total=12_040, cached=9_000),
    token_count(12_000, 40, total=12_040, cached=9_000),
    codex_line("turn_context", {"model": "gpt-5.5"}),
    message("assistant", "One file."),
)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def spoken(session: Session) -> list[object]:
    """What is in sight, as bodies."""
    return [one.body for one in session.ledger.window().items]


def derived(store: MemoryStore, session: Session, kind: type) -> list[object]:
    """The derived bodies of a kind."""
    return [e.body for e in store.read(session.name) if isinstance(e.body, kind)]


def test_a_rollout_is_told_apart_and_given_back_byte_for_byte(
    store: MemoryStore, tmp_path: Path
) -> None:
    data = jsonl(*TURN).replace(b'"payload": ', b'"payload" :')
    done = read_in(store, tmp_path, data, "rollout-1.jsonl")
    session = Session(done.session, store)
    assert (done.session, done.wire, done.pieces, done.flaws) == ("codex-session", "codex", 12, ())
    assert given_back(session) == data
    assert list(store.check()) == []


def test_every_item_says_what_it_says(store: MemoryStore, tmp_path: Path) -> None:
    session = taken(store, tmp_path, jsonl(*TURN))
    assert spoken(session) == [
        Said("system", "Work with care.", "host"),
        Said("user", "<environment_context>Linux</environment_context>", "host"),
        Said("user", "List the files."),
        Thought("Look first.", "gAAAA"),
        ToolCalled("c1", "exec", '{"cmd": "ls"}'),
        ToolReturned("c1", "a.txt"),
        Said("assistant", "One file."),
    ]
    assert session.ledger.head().lane("").turns == 1


def test_items_go_out_as_they_came(store: MemoryStore, tmp_path: Path) -> None:
    session = taken(store, tmp_path, jsonl(*TURN))
    assert session.messages() == [
        {"type": "message", "role": "system", "content": "Work with care."},
        TURN[3]["payload"],
        TURN[4]["payload"],
        REASONING,
        CALL,
        OUTPUT,
        TURN[11]["payload"],
    ]


def test_the_model_of_a_turn_is_noted_when_it_changes(store: MemoryStore, tmp_path: Path) -> None:
    lines = (
        *TURN,
        codex_line("turn_context", {"model": "gpt-5.6"}),
        codex_line("turn_context", {}),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert derived(store, session, Noted) == [
        Noted("model", {"model": "gpt-5.5"}),
        Noted("model", {"model": "gpt-5.6"}),
    ]
    assert session.ledger.model().id == "gpt-5.6"


def test_usage_that_is_told_twice_is_noted_once(store: MemoryStore, tmp_path: Path) -> None:
    lines = (*TURN, token_count(12_500, 10, total=24_550))
    session = taken(store, tmp_path, jsonl(*lines))
    assert derived(store, session, Used) == [
        Used(12_040, 12_000, 40, 9_000, 0, "gpt-5.5"),
        Used(12_510, 12_500, 10, 0, 0, "gpt-5.5"),
    ]
    assert session.ledger.head().lane("").calibration.requests == 2


def test_a_count_without_a_prompt_is_not_noted(store: MemoryStore, tmp_path: Path) -> None:
    lines = (meta(), codex_line("event_msg", {"type": "token_count", "info": None}))
    session = taken(store, tmp_path, jsonl(*lines))
    assert derived(store, session, Used) == []


def test_a_rollout_without_instructions_begins_with_its_first_item(
    store: MemoryStore, tmp_path: Path
) -> None:
    first = codex_line("session_meta", {"id": "codex-session"})
    session = taken(store, tmp_path, jsonl(first, message("user", "Hi.")))
    assert spoken(session) == [Said("user", "Hi.")]


KEPT_USER = {
    "type": "message",
    "role": "user",
    "content": [{"type": "input_text", "text": "List the files."}],
}
SUMMARY = {
    "type": "message",
    "role": "user",
    "content": [{"type": "input_text", "text": "So far: one file."}],
}
SEALED = {"type": "compaction", "encrypted_content": "AAAA"}


def test_after_a_compaction_its_replacement_is_in_sight(store: MemoryStore, tmp_path: Path) -> None:
    replacement = {"message": "So far: one file.", "replacement_history": [KEPT_USER, SUMMARY]}
    lines = (*TURN, codex_line("compacted", replacement), message("user", "And now?"))
    session = taken(store, tmp_path, jsonl(*lines))
    assert [body.text for body in spoken(session) if isinstance(body, Said)] == [
        "List the files.",
        "So far: one file.",
        "And now?",
    ]
    assert derived(store, session, Compacted) == [Compacted("auto")]
    assert session.messages() == [KEPT_USER, SUMMARY, lines[-1]["payload"]]
    assert given_back(session) == jsonl(*lines)
    assert list(store.check()) == []


def test_a_sealed_compaction_goes_back_as_it_came(store: MemoryStore, tmp_path: Path) -> None:
    replacement = {"message": "", "replacement_history": [KEPT_USER, REASONING, SEALED]}
    lines = (*TURN, codex_line("compacted", replacement))
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session)[1:] == [
        Thought("Look first.", "gAAAA"),
        Opaque("", "compaction", '{"type":"compaction","encrypted_content":"AAAA"}'),
    ]
    assert session.messages() == [KEPT_USER, REASONING, SEALED]


def test_a_compaction_without_a_replacement_goes_on_with_its_message(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (*TURN, codex_line("compacted", {"message": "So far: one file."}))
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [Said("user", "So far: one file.", "summary")]
    assert session.messages() == [
        {"type": "message", "role": "user", "content": "So far: one file."}
    ]


def test_one_item_of_a_replacement_can_be_hidden_without_the_others(
    store: MemoryStore, tmp_path: Path
) -> None:
    replacement = {"message": "", "replacement_history": [KEPT_USER, SUMMARY]}
    session = taken(store, tmp_path, jsonl(*TURN, codex_line("compacted", replacement)))
    kept = session.ledger.window().items[0].entry
    last = session.ledger.head().seq
    session.ledger.commit(
        Compressed((Step((kept.id,), "old"),), session.ledger.window().generation, last)
    )
    assert session.messages() == [SUMMARY]


def test_items_of_several_parts_are_told_apart_when_one_of_them_is_hidden(
    store: MemoryStore, tmp_path: Path
) -> None:
    parts = [{"type": "input_text", "text": word} for word in ("one", "two", "three")]
    first = {"type": "message", "role": "user", "content": parts}
    replacement = {"message": "", "replacement_history": [first, SUMMARY]}
    session = taken(store, tmp_path, jsonl(*TURN, codex_line("compacted", replacement)))
    hidden = [item.entry.id for item in session.ledger.window().items][1:4:2]
    steps = tuple(Step((name,), "old") for name in hidden)
    session.ledger.commit(
        Compressed(steps, session.ledger.window().generation, session.ledger.head().seq)
    )
    assert session.messages() == [{**first, "content": [parts[0], parts[2]]}]


def test_lines_of_other_kinds_hold_no_items() -> None:
    assert codex.messages_in(jsonl(codex_line("event_msg", {"type": "task_started"}))) == []


def test_a_hidden_output_is_replaced_and_the_rest_of_its_item_stays(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*TURN))
    hidden = next(e for e in session.ledger.path() if isinstance(e.body, ToolReturned))
    step = Step((hidden.id,), "large", ToolReturned("c1", "[a]"))
    session.ledger.commit(Compressed((step,), 0, session.ledger.head().seq))
    assert session.messages()[5] == {**OUTPUT, "output": "[a]"}


@pytest.mark.parametrize(
    ("payload", "body"),
    [
        (
            {
                "type": "custom_tool_call",
                "name": "apply_patch",
                "input": "*** Begin",
                "call_id": "c",
            },
            ToolCalled("c", "apply_patch", "*** Begin"),
        ),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            ToolCalled("c", "local_shell", '{"command":["ls"]}'),
        ),
        (
            {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
            ToolReturned("c", "ok"),
        ),
        ({"type": "dreamt", "n": 1}, Opaque("", "dreamt", '{"type":"dreamt","n":1}')),
    ],
)
def test_each_kind_of_item_is_read(
    store: MemoryStore, tmp_path: Path, payload: Line, body: object
) -> None:
    session = taken(store, tmp_path, jsonl(meta(""), codex_line("response_item", payload)))
    assert spoken(session) == [body]
    assert session.messages() == [payload]


def test_lines_that_are_no_items_are_kept_and_say_nothing(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        meta(""),
        codex_line("world_state", {"full": True}),
        codex_line("token_usage_record", {"usage": {"input_tokens": 5}}),
        codex_line("event_msg", {"type": "task_started"}),
        codex_line("dreamt", {"of": "sheep"}),
        item("message", role="user", content=[{"type": "input_text", "text": "Hi."}]),
    )
    done = read_in(store, tmp_path, jsonl(*lines))
    session = Session(done.session, store)
    assert (done.pieces, done.added, done.flaws) == (6, 1, ())
    assert given_back(session) == jsonl(*lines)


@pytest.mark.parametrize("cut", range(1, len(TURN)))
def test_reading_a_growing_rollout_equals_reading_it_whole(
    store: MemoryStore, tmp_path: Path, cut: int
) -> None:
    data = jsonl(*TURN)
    taken(store, tmp_path, jsonl(*TURN[:cut]) + data[:15])
    session = taken(store, tmp_path, data)
    whole = MemoryStore()
    alone = taken(whole, tmp_path, data)
    assert list(store.read(session.name)) == list(whole.read(alone.name))
    assert session.ledger.head().lanes == alone.ledger.head().lanes
