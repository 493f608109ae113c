"""Whatever JSON can hold is taken or refused in our own words; nothing else is ever raised."""

import json
import math
from collections.abc import Iterator
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.ledger.entry import (
    Attached,
    Derived,
    Media,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.engine.intake import Message
from holdfast.errors import HoldfastError
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.text.jsontext import Json, encode, parse
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES, wire_of_messages
from tests.examples import examples

MEMBERS = """
role content type text thinking signature data input id name arguments source media_type url
tool_use_id tool_call_id call_id is_error tool_calls function function_call custom refusal
reasoning reasoning_content image_url input_audio file file_data format output status summary
encrypted_content action operation message payload uuid parentUuid sessionId agentId usage
isSidechain isMeta isCompactSummary subtype compactMetadata preservedMessages uuids rendered
renderedRole timestamp requestId model info last_token_usage total_token_usage input_tokens
output_tokens cache_control replacement_history base_instructions trigger toolUseResult
"""
"""Members that some format gives a meaning."""
KINDS = """
user assistant system tool developer function text thinking redacted_thinking tool_use image
tool_result server_tool_use mcp_tool_use document message function_call function_call_output
custom_tool_call custom_tool_call_output local_shell_call reasoning input_text output_text
refusal image_url input_audio file input_image input_file attachment compact_boundary
session_meta turn_context response_item event_msg token_count compacted item_reference
"""
"""Roles and types that some format gives a meaning."""
WORDS = MEMBERS.split()
NAMES = KINDS.split()
LEAVES: list[Any] = [None, True, False, 0, -1, 2**64, 10**400, 1.5, math.inf, math.nan, "", {}, []]
ODD = (0x00, 0x0A, 0x22, 0x5C, 0x7F, 0xE9, 0x2028, 0xD800, 0xDFFF, 0xFFFD, 0x1F600, 0x202E)
STAND_INS: list[Source | None] = [
    None,
    Said("user", "short"),
    Thought("hm", "seal"),
    ToolCalled("c", "run", '{"a":1}'),
    ToolReturned("c", "done", True),
    Attached("user", Media("image")),
    Opaque("user", "odd", "{}"),
]

characters = st.characters(exclude_categories=[])
texts = st.one_of(st.sampled_from(KINDS.split()), st.text(characters, max_size=12))
keys = st.one_of(st.sampled_from(WORDS), st.sampled_from(WORDS), st.text(characters, max_size=6))
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, 2**64, -(2**63) - 1, 10**400]),
    st.floats(),
    texts,
)
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=5)),
    max_leaves=14,
)
blocks: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": texts}, optional={word: values for word in WORDS[:34] if word != "type"}
)
messages: st.SearchStrategy[Any] = st.one_of(
    st.dictionaries(keys, values, max_size=6),
    st.fixed_dictionaries(
        {"role": texts},
        optional={
            "content": st.one_of(values, st.lists(blocks, max_size=3)),
            "tool_calls": st.one_of(values, st.lists(blocks, max_size=3)),
            "function_call": values,
            "type": texts,
        },
    ),
    blocks,
)
given_as: st.SearchStrategy[Any] = st.one_of(
    messages,
    messages.map(json.dumps),
    messages.map(lambda value: json.dumps(value, ensure_ascii=False)),
    values,
    st.binary(max_size=30),
)
histories = st.lists(given_as, max_size=4)
stand_ins: st.SearchStrategy[Source | None] = st.one_of(
    st.none(),
    st.builds(Said, st.just("user"), st.text(max_size=5)),
    st.just(Thought("hm", "seal")),
    st.just(ToolCalled("c", "run", '{"a":1}')),
    st.just(ToolReturned("c", "done", True)),
    st.just(Attached("user", Media("image"))),
    st.just(Opaque("user", "odd", "{}")),
)


class Garbage:
    """The same kinds of garbage, made a hundred times as quickly and without shrinking."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def message(self) -> dict[str, Any]:
        """A message with members that some format gives a meaning."""
        made = {self.key(): self.value(3) for _ in range(self.random.randrange(6))}
        if self.random.random() < 0.8:
            made["role"] = self.text()
        if self.random.random() < 0.8:
            made["content"] = [self.block() for _ in range(self.random.randrange(4))]
        return made

    def block(self) -> Any:
        """A content block, or something in its place."""
        if self.random.random() < 0.2:
            return self.value(2)
        return {"type": self.text(), **{self.key(): self.value(2) for _ in range(3)}}

    def value(self, depth: int) -> Any:
        """Any value."""
        kind = self.random.randrange(9 if depth else 7)
        if kind < 5:
            return LEAVES[self.random.randrange(len(LEAVES))]
        if kind < 7:
            return self.text()
        if kind == 7:
            return [self.value(depth - 1) for _ in range(self.random.randrange(4))]
        return {self.key(): self.value(depth - 1) for _ in range(self.random.randrange(4))}

    def text(self) -> str:
        """A word that means something, or one that does not."""
        if self.random.random() < 0.7:
            return self.random.choice(NAMES)
        return "".join(chr(self.random.choice(ODD)) for _ in range(self.random.randrange(5)))

    def key(self) -> str:
        """A member's name."""
        return self.random.choice(WORDS) if self.random.random() < 0.8 else self.text()

    def stand_in(self) -> Source | None:
        """What may stand in for a part."""
        return self.random.choice(STAND_INS)


def _append(session: Session, history: list[object]) -> int:
    taken = 0
    for message in history:
        try:
            session.append(cast(Message, message))
        except HoldfastError:
            continue
        taken += 1
    return taken


def _take(session: Session, history: list[object]) -> None:
    taken = _append(session, history)
    assert len(session.messages()) == taken
    assert len(parsed(session.wire())) == taken
    session.status()
    for resent in (history, history[:-1], [*history[1:], *history[:1]]):
        try:
            session.sync(cast(list[Message], resent))
        except HoldfastError:
            continue
        parsed(session.wire())
    assert list(session.store.check()) == []


def parsed(raw: bytes) -> list[Json]:
    """The messages of an array, however oddly they are spelled."""
    value, _ = parse(raw)
    assert isinstance(value, list)
    return value


@settings(max_examples=examples(250))
@given(histories)
def test_a_session_takes_garbage_or_refuses_it_in_our_words(history: list[object]) -> None:
    _take(Session("s", MemoryStore()), history)


@pytest.mark.slow
def test_a_session_takes_a_hundred_thousand_messages_of_garbage() -> None:
    garbage = Garbage(seed=1)
    for _ in range(25_000):
        _take(Session("s", MemoryStore()), [garbage.message() for _ in range(4)])


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqliteStore, list[str]]]:
    """A store of the whole module, and the names used in it so far."""
    with SqliteStore(str(tmp_path_factory.mktemp("garbage") / "store" / "ledger.db")) as store:
        yield store, []


@settings(max_examples=examples(60))
@given(history=histories)
def test_a_file_store_takes_garbage_or_refuses_it_in_our_words(
    sqlite: tuple[SqliteStore, list[str]], history: list[object]
) -> None:
    store, used = sqlite
    used.append(f"session {len(used)}")
    taken = _append(Session(used[-1], store), history)
    assert len(Session(used[-1], store).messages()) == taken


def _through_wires(message: dict[str, Json], shown: dict[int, Source | None]) -> None:
    wire_of_messages([message])
    raw = encode(message)
    for wire in MESSAGE_WIRES.values():
        assert wire.fits(message) in (True, False, None)
        bodies = wire.read(message)
        assert bodies
        written = wire.rewrite(raw, {at: body for at, body in shown.items() if at < len(bodies)})
        if written is not None:
            value, _ = parse(written)
            assert isinstance(value, dict)
        for body in bodies:
            assert isinstance(parse(wire.new_message(body))[0], dict)
    for wire in TRANSCRIPT_WIRES.values():
        assert wire.fits(message) in (True, False)
        drafts = wire.Reader().read(message, 0)
        assert isinstance(wire.session_of(message), str)
        if not wire.HOLDS_MESSAGES:
            assert wire.messages_in(raw) == []
        elif any(not isinstance(draft.body, Derived) for draft in drafts):
            assert all(isinstance(parse(spoken)[0], dict) for spoken in wire.messages_in(raw))


part_changes = st.dictionaries(st.integers(0, 3), stand_ins, max_size=3)


@settings(max_examples=examples(500))
@given(messages, part_changes)
def test_every_wire_reads_and_rewrites_garbage(
    message: dict[str, Json], shown: dict[int, Source | None]
) -> None:
    _through_wires(cast(dict[str, Json], parse(encode(message))[0]), shown)


@pytest.mark.slow
def test_every_wire_reads_and_rewrites_a_hundred_thousand_messages_of_garbage() -> None:
    garbage = Garbage(seed=2)
    for _ in range(100_000):
        message = cast(dict[str, Json], parse(encode(garbage.message()))[0])
        _through_wires(
            message, {at: garbage.stand_in() for at in range(garbage.random.randrange(3))}
        )


@settings(max_examples=examples(60))
@given(messages)
def test_a_message_of_a_custom_tool_call_is_rewritten_by_each_wire(
    custom: dict[str, Json],
) -> None:
    call: dict[str, Json] = {"id": "c", "type": "custom", "custom": custom}
    message: dict[str, Json] = {"role": "assistant", "content": None, "tool_calls": [call]}
    _through_wires(
        cast(dict[str, Json], parse(encode(message))[0]), {0: ToolCalled("c", "run", "{}")}
    )


def _nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("depth", [150, 190, 205, 400, 600, 990, 5_000, 100_000])
@pytest.mark.parametrize("where", ["opaque", "tool_use", "top"])
def test_a_message_however_deep_is_taken_or_refused_in_our_words(depth: int, where: str) -> None:
    block = {"type": "tool_use", "id": "c", "name": "run", "input": _nested(depth)}
    odd = {"type": "never heard of", "x": _nested(depth)}
    content = {"opaque": [odd], "tool_use": [block], "top": "words"}[where]
    message = {"role": "assistant", "content": content}
    message = {**message, "x": _nested(depth)} if where == "top" else message
    session = Session("s", MemoryStore())
    try:
        session.append(message)
    except HoldfastError:
        assert session.messages() == []
        return
    assert session.messages() == [message]
    session.sync([message])
    session.status()


@pytest.mark.parametrize("number", [math.nan, math.inf, 2**70, -(2**70), 10**400, 1e308, 5e-324])
def test_a_number_no_strict_reader_takes_comes_back_as_it_was(number: float) -> None:
    block = {"type": "tool_use", "id": "c", "name": "run", "input": {"n": number}}
    message = {"role": "assistant", "content": [block]}
    session = Session("s", MemoryStore())
    session.append(message)
    assert repr(session.messages()) == repr([message])


@pytest.mark.parametrize("message", [{"role": "user"}, {"role": "assistant"}, {}, {"content": 5}])
def test_a_message_with_nearly_nothing_in_it_is_kept(message: dict[str, object]) -> None:
    session = Session("s", MemoryStore())
    session.append(message)
    session.append({"role": "user", "content": "next"})
    assert session.messages() == [message, {"role": "user", "content": "next"}]
