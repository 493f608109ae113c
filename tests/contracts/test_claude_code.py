"""Claude Code transcripts: what their lines mean, and that every byte of them comes back."""

import json
from pathlib import Path

import pytest

from holdfast.core.ledger.entry import (
    Attached,
    Compacted,
    Compressed,
    Derived,
    Said,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
    Used,
)
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.store import Store
from holdfast.transcripts.ingest import ingest
from tests.contracts.transcripts import (
    PNG,
    Line,
    assistant,
    boundary,
    call,
    cc_line,
    given_back,
    jsonl,
    read_in,
    result,
    summary,
    taken,
    text,
    tokens_of,
    user,
)

USAGE = {
    "input_tokens": 4,
    "cache_read_input_tokens": 20_000,
    "cache_creation_input_tokens": 1_000,
    "output_tokens": 50,
}

TURN = (
    user("u1", None, "Read both files."),
    assistant("a1", "u1", "m1", {"type": "thinking", "thinking": "Two.", "signature": "sig"}),
    assistant("a2", "a1", "m1", text("Reading.")),
    assistant("a3", "a2", "m1", call("c1", path="a.txt")),
    assistant("a4", "a3", "m1", call("c2", path="b.txt")),
    result("r1", "a3", "c1", "alpha"),
    result("r2", "a4", "c2", "beta"),
    assistant("a5", "r2", "m2", text("Both are read.")),
)
"""One turn with two parallel calls, as current versions write it."""

INTERLEAVED = (TURN[0], TURN[3], TURN[5], TURN[4], TURN[6], TURN[7])
"""The same calls, each followed by its own result."""


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def answers(*pairs: tuple[str, str]) -> dict[str, object]:
    """The user message that carries results."""
    blocks = [
        {"tool_use_id": name, "type": "tool_result", "content": words} for name, words in pairs
    ]
    return {"role": "user", "content": blocks}


def spoken(session: Session) -> list[object]:
    """What is in sight, as bodies."""
    return [item.body for item in session.ledger.window().items]


def derived(store: Store, session: Session, kind: type) -> list[object]:
    """The derived bodies of a kind."""
    return [e.body for e in store.read(session.name) if isinstance(e.body, kind)]


def test_a_transcript_is_told_apart_and_given_back_byte_for_byte(
    store: MemoryStore, tmp_path: Path
) -> None:
    data = jsonl(*TURN).replace(b'"isSidechain": false', b'"isSidechain" :false')
    done = read_in(store, tmp_path, data)
    session = Session(done.session, store)
    assert (done.session, done.wire, done.pieces, done.flaws) == (
        "cc-session",
        "claude_code",
        8,
        (),
    )
    assert given_back(session) == data
    assert list(store.check()) == []


def test_the_blocks_of_one_message_are_put_together_again(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*TURN))
    assert session.messages() == [
        {"role": "user", "content": "Read both files."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two.", "signature": "sig"},
                text("Reading."),
                call("c1", path="a.txt"),
                call("c2", path="b.txt"),
            ],
        },
        answers(("c1", "alpha"), ("c2", "beta")),
        {"role": "assistant", "content": [text("Both are read.")]},
    ]


def test_interleaved_parallel_calls_go_out_as_one_message_with_all_results_after_it(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*INTERLEAVED))
    assert session.messages() == [
        {"role": "user", "content": "Read both files."},
        {
            "role": "assistant",
            "content": [call("c1", path="a.txt"), call("c2", path="b.txt")],
        },
        answers(("c1", "alpha"), ("c2", "beta")),
        {"role": "assistant", "content": [text("Both are read.")]},
    ]


@pytest.mark.parametrize("lines", [TURN, INTERLEAVED], ids=["gathered", "interleaved"])
def test_a_message_with_parallel_calls_is_one_step_of_the_agent(
    store: MemoryStore, tmp_path: Path, lines: tuple[Line, ...]
) -> None:
    session = taken(store, tmp_path, jsonl(*lines))
    lane = session.ledger.head().lane("")
    assert (lane.turns, lane.steps) == (1, 2)


@pytest.mark.parametrize("lines", [TURN, INTERLEAVED], ids=["gathered", "interleaved"])
def test_parallel_calls_are_no_branches(
    store: MemoryStore, tmp_path: Path, lines: tuple[Line, ...]
) -> None:
    session = taken(store, tmp_path, jsonl(*lines))
    entries = list(store.read(session.name))
    assert [e.parent for e in entries] == [None, *(e.id for e in entries[:-1])]
    assert len(session.ledger.window().items) == len(lines)


def test_text_that_a_hook_adds_between_parallel_results_parts_no_pair(
    store: MemoryStore, tmp_path: Path
) -> None:
    note = cc_line(
        "attachment",
        "h1",
        "r1",
        attachment={"type": "hook_additional_context"},
        rendered=[{"content": "Mind the licence."}],
        renderedRole="system",
    )
    lines = (TURN[0], TURN[3], TURN[5], note, TURN[4], TURN[6], TURN[7])
    session = taken(store, tmp_path, jsonl(*lines))
    assert session.messages() == [
        {"role": "user", "content": "Read both files."},
        {"role": "assistant", "content": [call("c1", path="a.txt"), call("c2", path="b.txt")]},
        answers(("c1", "alpha"), ("c2", "beta")),
        {"role": "system", "content": "Mind the licence."},
        {"role": "assistant", "content": [text("Both are read.")]},
    ]


def test_every_line_says_what_its_blocks_say(store: MemoryStore, tmp_path: Path) -> None:
    session = taken(store, tmp_path, jsonl(*TURN))
    assert spoken(session) == [
        Said("user", "Read both files."),
        Thought("Two.", "sig"),
        Said("assistant", "Reading."),
        ToolCalled("c1", "Read", '{"path":"a.txt"}'),
        ToolCalled("c2", "Read", '{"path":"b.txt"}'),
        ToolReturned("c1", "alpha"),
        ToolReturned("c2", "beta"),
        Said("assistant", "Both are read."),
    ]


def test_entries_carry_the_time_and_the_message_of_their_line(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*TURN))
    entries = list(store.read(session.name))
    assert [(e.seq, e.message, e.group) for e in entries] == [
        (1, 1, ""),
        (2, 2, "m1"),
        (3, 2, "m1"),
        (4, 2, "m1"),
        (5, 2, "m1"),
        (6, 6, ""),
        (7, 7, ""),
        (8, 8, "m2"),
    ]
    assert {e.at for e in entries} == {"2026-03-01T10:00:02.000Z"}


def test_a_rewind_starts_a_branch_and_loses_nothing(store: MemoryStore, tmp_path: Path) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("Started.")),
        user("u2", "a1", "Go left."),
        assistant("a2", "u2", "m2", text("Left.")),
        user("u3", "a1", "Go right."),
        assistant("a3", "u3", "m3", text("Right.")),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [
        Said("user", "Start."),
        Said("assistant", "Started."),
        Said("user", "Go right."),
        Said("assistant", "Right."),
    ]
    assert len(list(store.read(session.name))) == 6
    assert session.ledger.head().lane("").turns == 2
    assert given_back(session) == jsonl(*lines)
    assert list(store.check()) == []


def test_a_rewind_to_the_very_beginning_starts_a_path_of_its_own(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("Started.")),
        user("u2", None, "Start again."),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [Said("user", "Start again.")]


def test_a_prompt_sent_again_after_a_rewind_is_the_entry_it_was(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("Started.")),
        user("u2", "a1", "Go on."),
        assistant("a2", "u2", "m2", text("One way.")),
        user("u3", "a1", "Go on."),
        assistant("a3", "u3", "m3", text("Another way.")),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    names = [e.id for e in store.read(session.name)]
    assert len(set(names)) == len(names)
    assert spoken(session) == [
        Said("user", "Start."),
        Said("assistant", "Started."),
        Said("user", "Go on."),
        Said("assistant", "Another way."),
    ]
    assert given_back(session) == jsonl(*lines)
    assert list(store.check()) == []


def test_a_rewind_is_understood_when_the_rest_of_the_file_comes_later(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("Started.")),
        user("u2", "a1", "Go left."),
        assistant("a2", "u2", "m2", text("Left.")),
        user("u3", "a1", "Go right."),
    )
    taken(store, tmp_path, jsonl(*lines[:4]))
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [
        Said("user", "Start."),
        Said("assistant", "Started."),
        Said("user", "Go right."),
    ]


def test_a_line_that_got_lost_does_not_make_the_next_prompt_a_rewind(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("Started.")),
        assistant("lost", "a1", "m1", text("This line is gone.")),
        user("u2", "lost", "Go on."),
    )
    session = taken(store, tmp_path, jsonl(lines[0], lines[1], lines[3]))
    assert spoken(session) == [
        Said("user", "Start."),
        Said("assistant", "Started."),
        Said("user", "Go on."),
    ]


def test_a_prompt_right_behind_a_compaction_is_no_rewind(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("Started.")),
        boundary("b1"),
        user("u2", "b1", "Go on."),
        assistant("a2", "u2", "m2", text("On.")),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [Said("user", "Go on."), Said("assistant", "On.")]
    entries = [e for e in store.read(session.name) if not isinstance(e.body, Derived)]
    assert [e.parent for e in entries] == [None, *(e.id for e in entries[:-1])]


SIDE = (
    user("s1", None, "Look for TODOs.", isSidechain=True),
    assistant("s2", "s1", "m9", text("Three."), isSidechain=True),
)


def test_a_sub_agent_inside_the_file_is_a_lane_of_its_own(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (TURN[0], SIDE[0], TURN[3], SIDE[1], TURN[5])
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [
        Said("user", "Read both files."),
        ToolCalled("c1", "Read", '{"path":"a.txt"}'),
        ToolReturned("c1", "alpha"),
    ]
    helper = Session(session.name, store, agent="s1")
    assert spoken(helper) == [Said("user", "Look for TODOs."), Said("assistant", "Three.")]
    assert helper.messages() == [
        {"role": "user", "content": "Look for TODOs."},
        {"role": "assistant", "content": [text("Three.")]},
    ]
    assert given_back(session) == jsonl(*lines)


OWN_FILE = tuple({**line, "agentId": "x7"} for line in SIDE)


def test_a_sub_agents_own_file_joins_its_session(store: MemoryStore, tmp_path: Path) -> None:
    session = taken(store, tmp_path, jsonl(*TURN), "cc-session.jsonl")
    done = read_in(store, tmp_path, jsonl(*OWN_FILE), "cc-session/subagents/agent-x7.jsonl")
    assert (done.session, done.added) == (session.name, 2)
    assert len(spoken(session)) == 8
    assert spoken(Session(session.name, store, agent="x7")) == [
        Said("user", "Look for TODOs."),
        Said("assistant", "Three."),
    ]
    assert given_back(session) == jsonl(*TURN)
    assert given_back(session, "agent-x7") == jsonl(*OWN_FILE)
    assert list(store.check()) == []


def test_a_rewritten_transcript_leaves_the_sub_agents_alone(
    store: MemoryStore, tmp_path: Path
) -> None:
    taken(store, tmp_path, jsonl(*TURN), "cc-session.jsonl")
    taken(store, tmp_path, jsonl(*OWN_FILE), "agent-x7.jsonl")
    other = (*TURN[:7], assistant("a6", "r2", "m3", text("Both.")))
    session = taken(store, tmp_path, jsonl(*other), "cc-session.jsonl")
    assert spoken(session)[-1] == Said("assistant", "Both.")
    assert spoken(Session(session.name, store, agent="x7")) == [
        Said("user", "Look for TODOs."),
        Said("assistant", "Three."),
    ]


def test_a_rewritten_sub_agents_file_leaves_the_main_agent_alone(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*TURN), "cc-session.jsonl")
    before = spoken(session)
    taken(store, tmp_path, jsonl(*OWN_FILE), "agent-x7.jsonl")
    other = {**assistant("s3", "s1", "m8", text("Four."), isSidechain=True), "agentId": "x7"}
    taken(store, tmp_path, jsonl(OWN_FILE[0], other), "agent-x7.jsonl")
    assert spoken(session) == before
    assert spoken(Session(session.name, store, agent="x7")) == [
        Said("user", "Look for TODOs."),
        Said("assistant", "Four."),
    ]


COMPACTED = (
    user("u1", None, "Start."),
    assistant("a1", "u1", "m1", text("Started.")),
    user("u2", "a1", "Go on."),
    assistant("a2", "u2", "m2", text("On.")),
    boundary("b1"),
    summary("u3", "b1", "So far: started and went on."),
    user("u4", "u3", "And now?"),
    assistant("a4", "u4", "m4", text("Done.")),
)
AFTER = [
    Said("user", "So far: started and went on.", "summary"),
    Said("user", "And now?"),
    Said("assistant", "Done."),
]


def test_after_a_compaction_only_what_follows_is_in_sight(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*COMPACTED))
    assert spoken(session) == AFTER
    assert derived(store, session, Compacted) == [Compacted("auto")]
    assert session.ledger.window().generation == 1
    assert len(session.ledger.path()) == 7
    assert list(store.check()) == []


def test_the_count_after_a_compaction_is_that_of_what_is_in_sight(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*COMPACTED))
    in_sight = tokens_of(session, (item.entry for item in session.ledger.window().items))
    assert session.ledger.head().lane("").tokens == in_sight


def test_messages_preserved_by_a_compaction_stay_in_sight(
    store: MemoryStore, tmp_path: Path
) -> None:
    kept = boundary("b1", preservedMessages={"anchorUuid": "u3", "uuids": ["u2", "a2", "unknown"]})
    lines = (*COMPACTED[:4], kept, *COMPACTED[5:])
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [Said("user", "Go on."), Said("assistant", "On."), *AFTER]
    in_sight = tokens_of(session, (item.entry for item in session.ledger.window().items))
    assert session.ledger.head().lane("").tokens == in_sight
    assert list(store.check()) == []


def test_a_preserved_line_with_several_blocks_is_kept_whole(
    store: MemoryStore, tmp_path: Path
) -> None:
    results = user(
        "r1",
        "a2",
        [
            {"type": "tool_result", "tool_use_id": "c1", "content": "alpha"},
            {"type": "tool_result", "tool_use_id": "c2", "content": "beta"},
        ],
    )
    lines = (
        TURN[0],
        TURN[3],
        TURN[4],
        results,
        boundary("b1", preservedMessages={"uuids": ["a3", "a4", "r1"]}),
        summary("u3", "b1", "So far."),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [
        ToolCalled("c1", "Read", '{"path":"a.txt"}'),
        ToolCalled("c2", "Read", '{"path":"b.txt"}'),
        ToolReturned("c1", "alpha"),
        ToolReturned("c2", "beta"),
        Said("user", "So far.", "summary"),
    ]


def test_a_transcript_rewritten_before_its_compaction_shows_what_it_showed(
    store: MemoryStore, tmp_path: Path
) -> None:
    taken(store, tmp_path, jsonl(*COMPACTED))
    reordered = dict(reversed(COMPACTED[0].items()))
    session = taken(store, tmp_path, jsonl(reordered, *COMPACTED[1:]))
    assert spoken(session) == AFTER
    assert given_back(session) == jsonl(reordered, *COMPACTED[1:])
    assert list(store.check()) == []


def test_a_compaction_that_is_new_in_a_rewritten_transcript_is_taken(
    store: MemoryStore, tmp_path: Path
) -> None:
    taken(store, tmp_path, jsonl(*COMPACTED[:4]))
    reordered = dict(reversed(COMPACTED[0].items()))
    session = taken(store, tmp_path, jsonl(reordered, *COMPACTED[1:]))
    assert spoken(session) == AFTER
    assert list(store.check()) == []


def test_a_rewind_to_before_a_compaction_brings_back_what_was_in_sight_then(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*COMPACTED, user("u5", "a1", "Another way.")))
    assert spoken(session) == [
        Said("user", "Start."),
        Said("assistant", "Started."),
        Said("user", "Another way."),
    ]


def test_an_attachment_counts_as_what_it_put_before_the_model(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        cc_line(
            "attachment",
            "h1",
            "u1",
            attachment={"type": "date"},
            rendered=[{"content": "It is Monday."}, {"content": "It is late."}, {"other": 1}],
            renderedRole="system",
        ),
        cc_line("attachment", "h2", "h1", attachment={"type": "file"}),
        assistant("a1", "h2", "m1", text("Started.")),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [
        Said("user", "Start."),
        Said("system", "It is Monday.", "host"),
        Said("system", "It is late.", "host"),
        Said("assistant", "Started."),
    ]
    assert session.messages() == [
        {"role": "user", "content": "Start."},
        {"role": "system", "content": "It is Monday."},
        {"role": "system", "content": "It is late."},
        {"role": "assistant", "content": [text("Started.")]},
    ]


def test_a_result_that_comes_after_host_text_stands_with_the_results_before_it(
    store: MemoryStore, tmp_path: Path
) -> None:
    note = cc_line(
        "attachment",
        "h1",
        "r1",
        attachment={"type": "date"},
        rendered=[{"content": "It is late."}],
        renderedRole="system",
    )
    lines = (TURN[0], TURN[3], TURN[4], TURN[5], note, TURN[6])
    session = taken(store, tmp_path, jsonl(*lines))
    assert session.messages()[2:] == [
        answers(("c1", "alpha"), ("c2", "beta")),
        {"role": "system", "content": "It is late."},
    ]


def test_a_result_that_nothing_goes_before_stands_by_itself(
    store: MemoryStore, tmp_path: Path
) -> None:
    note = cc_line(
        "attachment",
        "h1",
        None,
        attachment={"type": "date"},
        rendered=[{"content": "It is late."}],
        renderedRole="system",
    )
    session = taken(store, tmp_path, jsonl(note, TURN[5]))
    assert session.messages() == [
        {"role": "system", "content": "It is late."},
        answers(("c1", "alpha")),
    ]


@pytest.mark.parametrize("gone", [1, 2])
def test_one_text_of_an_attachment_can_be_hidden_without_the_other(
    store: MemoryStore, tmp_path: Path, gone: int
) -> None:
    texts = ["It is Monday.", "It is late."]
    lines = (
        user("u1", None, "Start."),
        cc_line(
            "attachment",
            "h1",
            "u1",
            attachment={"type": "date"},
            rendered=[{"content": words} for words in texts],
            renderedRole="system",
        ),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    session.ledger.commit(Compressed((Step((session.ledger.path()[gone].id,), "old"),), 0, 3))
    left = texts[2 - gone]
    assert session.messages()[1:] == [{"role": "system", "content": left}]


@pytest.mark.parametrize(
    "line",
    [
        user("m1", "u1", "Caveat of the host.", isMeta=True),
        user("m1", "u1", "<task-notification>done</task-notification>"),
        user("m1", "u1", "  <system-reminder>mind</system-reminder>"),
        user("m1", "u1", [text("[Request interrupted by user]")]),
    ],
    ids=["meta", "notification", "reminder", "interrupted"],
)
def test_text_that_the_host_put_in_is_not_the_users(
    store: MemoryStore, tmp_path: Path, line: Line
) -> None:
    session = taken(store, tmp_path, jsonl(user("u1", None, "Start."), line))
    last = session.ledger.path()[-1].body
    assert isinstance(last, Said)
    assert (last.role, last.by) == ("user", "host")
    assert session.ledger.head().lane("").turns == 1


def test_host_text_never_starts_a_branch(store: MemoryStore, tmp_path: Path) -> None:
    lines = (
        user("u1", None, "Start."),
        user("m1", "u1", "One.", isMeta=True),
        user("m2", "u1", "Two.", isMeta=True),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert len(spoken(session)) == 3


def test_usage_is_noted_once_a_request(store: MemoryStore, tmp_path: Path) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("One."), usage=USAGE),
        assistant("a2", "a1", "m1", call("c1"), usage=USAGE),
        result("r1", "a2", "c1", "alpha"),
        assistant("a3", "r1", "m2", text("Two."), usage={**USAGE, "input_tokens": 9}),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert derived(store, session, Used) == [
        Used(21_004, 21_004, 50, 20_000, 1_000, "claude-sonnet-5", "req-m1"),
        Used(21_009, 21_009, 50, 20_000, 1_000, "claude-sonnet-5", "req-m2"),
    ]
    assert session.ledger.head().lane("").calibration.requests == 2
    assert session.ledger.head().model == "claude-sonnet-5"


def test_usage_that_a_later_line_of_the_request_corrects_counts_as_one_request(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("One."), usage=USAGE),
        assistant("a2", "a1", "m1", text("More."), usage={**USAGE, "output_tokens": 90}),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert [used.output for used in derived(store, session, Used) if isinstance(used, Used)] == [
        50,
        90,
    ]
    assert session.ledger.head().lane("").calibration.requests == 1


def test_a_request_that_reported_nothing_is_not_noted(store: MemoryStore, tmp_path: Path) -> None:
    nothing = dict.fromkeys(USAGE, 0)
    lines = (user("u1", None, "Hi."), assistant("a1", "u1", "m1", text("Hi."), usage=nothing))
    session = taken(store, tmp_path, jsonl(*lines))
    assert derived(store, session, Used) == []


def test_an_api_error_is_the_hosts_and_not_the_models(store: MemoryStore, tmp_path: Path) -> None:
    error = assistant(
        "a1", "u1", "m1", text("API Error: 529"), model="<synthetic>", isApiErrorMessage=True
    )
    session = taken(store, tmp_path, jsonl(user("u1", None, "Start."), error))
    assert spoken(session)[1] == Said("assistant", "API Error: 529", "host")
    assert session.ledger.head().model == ""


def test_pictures_failures_and_open_calls_are_read(store: MemoryStore, tmp_path: Path) -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
    }
    lines = (
        user("u1", None, [text("See."), picture]),
        assistant("a1", "u1", "m1", call("c1")),
        assistant("a2", "a1", "m1", call("c2")),
        result("r1", "a1", "c1", "no such file", is_error=True),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    bodies = spoken(session)
    assert isinstance(bodies[1], Attached)
    assert (bodies[1].media.width, bodies[1].media.height) == (170, 85)
    assert bodies[4] == ToolReturned("c1", "no such file", failed=True)
    assert [body.call for body in bodies if isinstance(body, ToolCalled)] == ["c1", "c2"]


def test_lines_that_are_no_messages_are_kept_and_say_nothing(
    store: MemoryStore, tmp_path: Path
) -> None:
    odd: tuple[Line, ...] = (
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "cc-session"},
        {"type": "summary", "summary": "Before.", "leafUuid": "zzz"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        cc_line("progress", "p1", None, data={"type": "hook"}),
        cc_line("system", "y1", "p1", subtype="turn_duration", durationMs=12),
        cc_line("dreamt", "y2", "y1", of="sheep"),
        cc_line("assistant", "y3", "y2", message="no message"),
        cc_line("user", "y4", "y3"),
    )
    lines = (*odd, user("u1", "y4", "Start."))
    done = read_in(store, tmp_path, jsonl(*lines))
    session = Session(done.session, store)
    assert (done.pieces, done.added, done.flaws) == (9, 1, ())
    assert spoken(session) == [Said("user", "Start.")]
    assert given_back(session) == jsonl(*lines)


def test_links_through_lines_that_say_nothing_lead_to_the_message_before(
    store: MemoryStore, tmp_path: Path
) -> None:
    lines = (
        user("u1", None, "Start."),
        assistant("a1", "u1", "m1", text("Started.")),
        cc_line("progress", "p1", "a1"),
        user("u2", "p1", "Go left."),
        cc_line("progress", "p2", "a1"),
        user("u3", "p2", "Go right."),
    )
    session = taken(store, tmp_path, jsonl(*lines))
    assert spoken(session) == [
        Said("user", "Start."),
        Said("assistant", "Started."),
        Said("user", "Go right."),
    ]


def test_a_hidden_result_is_replaced_inside_the_message_it_is_gathered_in(
    store: MemoryStore, tmp_path: Path
) -> None:
    session = taken(store, tmp_path, jsonl(*INTERLEAVED))
    hidden = session.ledger.path()[2]
    assert hidden.body == ToolReturned("c1", "alpha")
    step = Step((hidden.id,), "large", ToolReturned("c1", "[a]"))
    session.ledger.commit(Compressed((step,), 0, 6))
    assert session.messages()[2] == answers(("c1", "[a]"), ("c2", "beta"))


def test_reading_a_transcript_again_adds_nothing(store: MemoryStore, tmp_path: Path) -> None:
    data = jsonl(*COMPACTED)
    session = taken(store, tmp_path, data)
    before = (list(store.read(session.name)), store.head(session.name))
    done = ingest(tmp_path / "file.jsonl", store)
    assert (done.added, done.branched) == (0, False)
    assert (list(store.read(session.name)), store.head(session.name)) == before


@pytest.mark.parametrize("cut", range(1, len(COMPACTED)))
def test_reading_a_growing_transcript_equals_reading_it_whole(
    store: MemoryStore, tmp_path: Path, cut: int
) -> None:
    data = jsonl(*COMPACTED)
    taken(store, tmp_path, jsonl(*COMPACTED[:cut]) + data[:20])
    session = taken(store, tmp_path, data)
    whole = MemoryStore()
    alone = taken(whole, tmp_path, data)
    assert list(store.read(session.name)) == list(whole.read(alone.name))
    assert session.ledger.head().lanes == alone.ledger.head().lanes
    assert json.dumps(session.messages()) == json.dumps(alone.messages())
