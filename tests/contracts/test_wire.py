"""What every message format promises: bytes come back as they came, whatever is in them."""

import base64
import gzip
import json
from pathlib import Path

import pytest

from holdfast.core.ledger.entry import (
    Attached,
    Media,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.errors import MixedWires, Unreadable
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import as_object
from holdfast.transcripts.ingest import Flaw, Ingested
from holdfast.wire.detect import MESSAGE_WIRES, WIRES
from holdfast.wire.jsonl import cut_line
from holdfast.wire.media import picture_size
from holdfast.wire.pieces import MAX_LINE_BYTES
from tests.contracts.transcripts import PNG, given_back, jsonl, read_in, taken

ODD: dict[str, tuple[bytes, ...]] = {
    "anthropic": (
        b'{"role":"user","content":"hi"}',
        b'{ "content" : [ {"text":"spaced","type":"text"} ],\t"role" : "user" }',
        b'{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},'
        b'{"type":"redacted_thinking","data":"AAAA"},'
        b'{"type":"tool_use","id":"t1","name":"f","input":{"n":1.0,"m":1e3,"k":1E+2,"z":-0.0}}]}',
        b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":'
        b'[{"type":"text","text":"a"},{"type":"tool_reference","tool_name":"g"}],"is_error":true}]}',
        b'{"role":"system","content":"Mind the gap."}',
        b'{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},'
        b'{"type":"hologram","x":{"y":[1,2.50]}},{"type":"text","text":"\\u00e9\\/"}],'
        b'"novel":{"b":1,"a":2}}',
        b'{"role":"user","content":"first","content":"second"}',
        b'{"role":"user","content":[]}',
        b'{"role":"user","content":null}',
        b'{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}',
    ),
    "openai_chat": (
        b'{"role":"system","content":"Be brief."}',
        b'{"role":"developer","content":[{"type":"text","text":"Be kind."}]}',
        b'{ "content":"hi" , "role":"user","name":"ann" }',
        b'{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"t1",'
        b'"type":"function","function":{"name":"f","arguments":"{ \\"n\\": 1.0 }"},"index":0}]}',
        b'{"role":"tool","tool_call_id":"t1","content":"4.20"}',
        b'{"role":"assistant","refusal":"No.","content":null,"audio":{"id":"x"}}',
        b'{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://e.org/a.png",'
        b'"detail":"low"}},{"type":"hologram","n":1E+2}]}',
        b'{"role":"assistant","function_call":{"name":"old","arguments":"{}"},"content":null}',
        b'{"role":"function","name":"old","content":"1e3"}',
        b'{"role":"user","content":"a","content":"b"}',
        b'{"role":"assistant","content":""}',
    ),
    "openai_responses": (
        b'{"role":"developer","content":[{"type":"input_text","text":"Be brief."}]}',
        b'{"type":"message","role":"user","content":"hi"}',
        b'{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],'
        b'"encrypted_content":"gAAA"}',
        b'{"arguments":"{\\"n\\":1.0}", "call_id":"t1","name":"f","type":"function_call"}',
        b'{"type":"function_call_output","call_id":"t1","output":"1e3"}',
        b'{"type":"local_shell_call","call_id":"t2","action":{"type":"exec","timeout_ms":1E+2}}',
        b'{"type":"custom_tool_call_output","call_id":"t3","output":[{"type":"input_text",'
        b'"text":"a"}]}',
        b'{"type":"compaction","encrypted_content":"AAAA","n":2.50}',
        b'{"type":"item_reference","id":"x"}',
        b'{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok",'
        b'"annotations":[]},{"type":"refusal","refusal":"No."},{"type":"hologram","n":1}]}',
        b'{"type":"hologram_call","call_id":"t4","x":[{}]}',
    ),
}
"""For each format, messages with every kind of part and every oddity of spelling."""

MESSAGES = [(wire, raw) for wire, raws in ODD.items() for raw in raws]


def read_of(wire: str, raw: bytes) -> list[Source]:
    """What the bytes of a message are read as."""
    return MESSAGE_WIRES[wire].read(as_object(json.loads(raw)))


def fresh(name: str = "s") -> Session:
    """A session of its own."""
    return Session(name, MemoryStore())


def parsed(raw: bytes) -> dict[str, object]:
    """What a message says."""
    value = json.loads(raw)
    assert isinstance(value, dict)
    return value  # pyright: ignore[reportUnknownVariableType]


def bodies(wire: str, value: object) -> list[Source]:
    """What a message of a wire is read as."""
    return MESSAGE_WIRES[wire].read(as_object(value))


@pytest.mark.parametrize("wire", ODD)
def test_messages_given_as_bytes_go_out_as_the_same_bytes(wire: str) -> None:
    session = fresh()
    for raw in ODD[wire]:
        session.append(raw)
    assert session.wire() == b"[" + b",".join(ODD[wire]) + b"]"


@pytest.mark.parametrize("wire", ODD)
def test_messages_given_as_text_go_out_as_the_same_bytes_from_a_fresh_process(wire: str) -> None:
    store = MemoryStore()
    Session("s", store).extend([raw.decode() for raw in ODD[wire]])
    again = Session("s", store)
    assert again.wire() == b"[" + b",".join(ODD[wire]) + b"]"
    assert given_back(again) == again.wire()


@pytest.mark.parametrize("wire", ODD)
def test_messages_given_as_dictionaries_come_back_equal_and_in_the_same_key_order(
    wire: str,
) -> None:
    given = [parsed(raw) for raw in ODD[wire]]
    session = fresh()
    session.extend(given)
    assert json.dumps(session.messages()) == json.dumps(given)


@pytest.mark.parametrize(("wire", "raw"), MESSAGES)
def test_every_message_is_read_into_at_least_one_body(wire: str, raw: bytes) -> None:
    assert bodies(wire, parsed(raw)) != []


@pytest.mark.parametrize(("wire", "raw"), MESSAGES)
def test_a_message_without_any_of_its_parts_is_gone(wire: str, raw: bytes) -> None:
    every = range(len(bodies(wire, parsed(raw))))
    assert MESSAGE_WIRES[wire].rewrite(raw, dict.fromkeys(every)) is None


@pytest.mark.parametrize(("wire", "raw"), [pair for pair in MESSAGES if len(read_of(*pair)) > 1])
def test_taking_one_part_out_leaves_exactly_the_others(wire: str, raw: bytes) -> None:
    whole = bodies(wire, parsed(raw))
    for gone in range(len(whole)):
        kept = MESSAGE_WIRES[wire].rewrite(raw, {gone: None})
        assert kept is not None
        assert bodies(wire, parsed(kept)) == [b for at, b in enumerate(whole) if at != gone]


@pytest.mark.parametrize(("wire", "raw"), MESSAGES)
def test_a_result_or_call_is_replaced_by_its_stand_in_and_the_rest_stays(
    wire: str, raw: bytes
) -> None:
    whole = bodies(wire, parsed(raw))
    for at, body in enumerate(whole):
        match body:
            case ToolReturned():
                stand_in: Source = ToolReturned(body.call, "[gone]", body.failed)
            case ToolCalled():
                stand_in = ToolCalled(body.call, body.tool, '{"content":"[gone]"}')
            case _:
                continue
        kept = MESSAGE_WIRES[wire].rewrite(raw, {at: stand_in})
        assert kept is not None
        after = bodies(wire, parsed(kept))
        assert after == [*whole[:at], stand_in, *whole[at + 1 :]]


@pytest.mark.parametrize(("wire", "raw"), MESSAGES)
def test_any_other_part_is_replaced_by_words(wire: str, raw: bytes) -> None:
    whole = bodies(wire, parsed(raw))
    for at, body in enumerate(whole):
        if isinstance(body, ToolReturned | ToolCalled):
            continue
        kept = MESSAGE_WIRES[wire].rewrite(raw, {at: Said("user", "[gone]")})
        assert kept is not None
        after = bodies(wire, parsed(kept))
        assert after[:at] + after[at + 1 :] == whole[:at] + whole[at + 1 :]
        stands = after[at]
        assert isinstance(stands, Said | Thought)
        assert stands.text == "[gone]"


@pytest.mark.parametrize("wire", ODD)
def test_replacing_one_part_keeps_the_bytes_of_the_others(wire: str) -> None:
    parts = {
        "anthropic": (b'{"type":"text","text":"a"}', b'{"type":"text","n":1E+2, "text":"b"}'),
        "openai_chat": (b'{"type":"text","text":"a"}', b'{"type":"text","n":1E+2, "text":"b"}'),
        "openai_responses": (
            b'{"type":"input_text","text":"a"}',
            b'{"type":"input_text","n":1E+2, "text":"b"}',
        ),
    }[wire]
    raw = b'{"role":"user", "x" : 1.0,"content":[%s , %s]}' % parts
    kept = MESSAGE_WIRES[wire].rewrite(raw, {0: Said("user", "c")})
    assert kept is not None
    assert parts[1] in kept
    assert b'"x":1.0' in kept
    assert list(parsed(kept)) == ["role", "x", "content"]


@pytest.mark.parametrize("wire", ODD)
def test_a_message_of_our_own_is_read_back_as_what_it_says(wire: str) -> None:
    for body in (ToolReturned("t1", "out"), Said("user", "words"), Said("system", "rules")):
        assert bodies(wire, parsed(MESSAGE_WIRES[wire].new_message(body))) == [body]


@pytest.mark.parametrize("wire", ODD)
def test_what_a_provider_has_no_form_for_is_said_by_the_user(wire: str) -> None:
    spoken = parsed(MESSAGE_WIRES[wire].new_message(Thought("hm", "seal")))
    assert bodies(wire, spoken) == [Said("user", "hm")]


# Documents: arrays, request bodies and one message a line.


def documents(wire: str) -> dict[str, bytes]:
    """The same messages in every kind of file they come in."""
    raws = ODD[wire]
    rows = [json.loads(raw) for raw in raws]
    member = b"input" if wire == "openai_responses" else b"messages"
    return {
        "lines.jsonl": b"\n".join(raws) + b"\n",
        "crlf.jsonl": b"\r\n".join(raws),
        "blank.jsonl": b"\n\n".join(raws) + b"\n\n",
        "marked.jsonl": b"\xef\xbb\xbf" + b"\n".join(raws),
        "array.json": b"[" + b",".join(raws) + b"]",
        "spaced.json": b" [ " + b" ,\n ".join(raws) + b"\n]\n",
        "pretty.json": json.dumps(rows, indent=2).encode(),
        "pretty-body.json": json.dumps({"model": "m", member.decode(): rows}, indent=4).encode(),
        "body.json": b'{"model":"m" , "%s": [' % member
        + b" , ".join(raws)
        + b'] , "max_tokens":1.0,"tools":[{"a":1}] }',
    }


@pytest.mark.parametrize("kind", documents("anthropic"))
@pytest.mark.parametrize("wire", ODD)
def test_a_file_of_messages_is_told_apart_and_given_back_byte_for_byte(
    wire: str, kind: str, tmp_path: Path
) -> None:
    data = documents(wire)[kind]
    done = read_in(MemoryStore(), tmp_path, data, kind)
    assert done.wire == wire
    store = MemoryStore()
    session = taken(store, tmp_path, data, kind)
    assert given_back(session) == data
    assert json.dumps(session.messages()) == json.dumps([json.loads(raw) for raw in ODD[wire]])
    assert list(store.check()) == []


@pytest.mark.parametrize("wire", ODD)
def test_a_compressed_file_is_read_like_the_file_inside(wire: str, tmp_path: Path) -> None:
    data = documents(wire)["body.json"]
    session = taken(MemoryStore(), tmp_path, gzip.compress(data), "body.json.gz")
    assert (session.name, given_back(session)) == ("body", data)


@pytest.mark.parametrize("wire", ODD)
def test_a_wire_named_by_the_caller_is_used(wire: str, tmp_path: Path) -> None:
    data = b'{"role":"user","content":"plain words"}\n'
    done = read_in(MemoryStore(), tmp_path, data, wire=wire)
    assert done == Ingested(str(tmp_path / "file.jsonl"), "file", wire, 1, 1, branched=False)


def test_plain_words_in_roles_are_read_as_the_most_widely_read_format(tmp_path: Path) -> None:
    done = read_in(MemoryStore(), tmp_path, b'[{"role":"user","content":"plain"}]', "a.json")
    assert (done.wire, done.added) == ("openai_chat", 1)


def test_a_name_that_is_no_wire_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        read_in(MemoryStore(), tmp_path, b"{}", wire="morse")
    assert caught.value.where == str(tmp_path / "file.jsonl")
    assert "morse" not in WIRES


def test_a_wire_that_fits_nothing_in_the_file_is_refused(tmp_path: Path) -> None:
    store = MemoryStore()
    with pytest.raises(Unreadable) as caught:
        read_in(store, tmp_path, jsonl({"role": "user", "content": "hi"}), wire="codex")
    assert (caught.value.line, store.sessions()) == (None, [])


@pytest.mark.parametrize(
    ("messages", "wire"),
    [
        (({"role": "assistant"},), ""),
        (({"role": "user", "content": "a"}, {"role": "assistant"}), ""),
        (({"role": "assistant", "function_call": {"name": "f", "arguments": ""}},), "openai_chat"),
        (({"role": "assistant", "refusal": "No."},), ""),
        (({"type": "message", "role": "user"},), "openai_responses"),
    ],
)
def test_messages_without_content_are_told_apart_too(
    messages: tuple[dict[str, object], ...], wire: str
) -> None:
    session = fresh()
    session.extend(messages)
    assert (session.ledger.head().wire, session.messages()) == (wire, list(messages))


@pytest.mark.parametrize(
    ("sure", "role"),
    [("anthropic", "assistant"), ("openai_chat", "user"), ("openai_responses", "user")],
)
def test_a_message_that_holds_nothing_but_a_block_nobody_knows_passes_through(
    sure: str, role: str, tmp_path: Path
) -> None:
    odd = {"role": role, "content": [{"type": "hologram", "n": 1}]}
    session = fresh()
    session.append(parsed(ODD[sure][3]))
    session.append(odd)
    assert session.messages() == [parsed(ODD[sure][3]), odd]
    done = read_in(MemoryStore(), tmp_path, jsonl(parsed(ODD[sure][3]), odd))
    assert (done.wire, done.flaws) == (sure, ())


def test_a_session_of_one_wire_refuses_messages_of_another() -> None:
    session = fresh()
    session.append({"role": "tool", "tool_call_id": "c", "content": "x"})
    with pytest.raises(MixedWires) as caught:
        session.append({"type": "function_call_output", "call_id": "c", "output": "x"})
    refusal = caught.value
    assert (refusal.session, refusal.has, refusal.got) == ("s", "openai_chat", "openai_responses")
    assert len(session.messages()) == 1


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b'"words"', "nothing", b"\xff"])
def test_what_is_no_message_is_refused_and_nothing_is_written(given: bytes | str) -> None:
    session = fresh()
    with pytest.raises(Unreadable) as caught:
        session.extend([{"role": "user", "content": "hi"}, given])
    assert caught.value.where == "message"
    assert session.messages() == []


@pytest.mark.parametrize(
    "content",
    ["\ud800 lone", "nul \0", "\u2028\u2029", "\U0001f9d1\u200d\U0001f680", "x" * 70_000],
    ids=["surrogate", "nul", "separators", "joined", "long"],
)
@pytest.mark.parametrize("wire", ODD)
def test_any_text_comes_back_as_it_was(wire: str, content: str) -> None:
    message: dict[str, object] = {"role": "user", "content": content}
    session = fresh()
    session.append(parsed(ODD[wire][2]))
    session.append(message)
    assert session.messages()[1] == message


@pytest.mark.parametrize("number", [2**70, -(2**63), 0.1, 1e308, 5e-324, -0.0])
def test_any_number_in_a_dictionary_comes_back_as_it_was(number: float) -> None:
    message: dict[str, object] = {"role": "user", "content": "n", "n": number}
    session = fresh()
    session.append(message)
    assert repr(session.messages()) == repr([message])


@pytest.mark.parametrize("spelling", [b"1" * 40, b"1.0", b"1e3", b"1E+2", b"-0", b"1e400"])
def test_any_spelling_of_a_number_stays_as_it_is(spelling: bytes) -> None:
    raw = b'{"role":"user","content":"n","n":%s}' % spelling
    session = fresh()
    session.append(raw)
    assert session.wire() == b"[" + raw + b"]"


def test_not_a_number_comes_back_as_it_was() -> None:
    session = fresh()
    session.append({"role": "user", "content": "n", "n": [float("inf"), None]})
    assert session.messages() == [{"role": "user", "content": "n", "n": [float("inf"), None]}]


# What is read: Anthropic.


@pytest.mark.parametrize(
    ("block", "body"),
    [
        ({"type": "text", "text": "hi"}, Said("assistant", "hi")),
        ({"type": "thinking", "thinking": "hm", "signature": "s"}, Thought("hm", "s")),
        ({"type": "thinking", "thinking": "", "signature": "s"}, Thought("", "s")),
        ({"type": "redacted_thinking", "data": "d"}, Thought("", "d")),
        (
            {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 1, "a": 2.0}},
            ToolCalled("t", "f", '{"b":1,"a":2.0}'),
        ),
        (
            {"type": "server_tool_use", "id": "t", "name": "web", "input": {}},
            ToolCalled("t", "web", "{}"),
        ),
        ({"type": "tool_result", "tool_use_id": "t", "content": "out"}, ToolReturned("t", "out")),
        ({"type": "tool_result", "tool_use_id": "t"}, ToolReturned("t", "")),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": {"a": 1}},
            ToolReturned("t", '{"a":1}'),
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True},
            ToolReturned("t", "no", failed=True),
        ),
        (
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            },
            ToolReturned("t", "a\nb"),
        ),
        (
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{"type": "tool_reference", "tool_name": "g"}, "bare"],
            },
            ToolReturned("t", '{"tool_name":"g","type":"tool_reference"}\nbare'),
        ),
        (
            {
                "type": "web_search_tool_result",
                "tool_use_id": "t",
                "content": [{"type": "web_search_result", "url": "u"}],
            },
            ToolReturned("t", '{"type":"web_search_result","url":"u"}'),
        ),
        (
            {"type": "hologram", "n": 1.0},
            Opaque("assistant", "hologram", '{"type":"hologram","n":1.0}'),
        ),
        ("bare words", Opaque("assistant", "", '"bare words"')),
    ],
)
def test_an_anthropic_block_is_read_as_what_it_says(block: object, body: Source) -> None:
    assert bodies("anthropic", {"role": "assistant", "content": [block]}) == [body]


def test_pictures_in_a_tool_result_are_read_with_their_size() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    block = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [{"type": "text", "text": "see"}, {"type": "image", "source": source}],
    }
    (body,) = bodies("anthropic", {"role": "user", "content": [block]})
    assert isinstance(body, ToolReturned)
    assert (body.output, [(m.kind, m.type, m.width, m.height) for m in body.media]) == (
        "see",
        [("image", "image/png", 170, 85)],
    )


def test_a_document_is_read_by_its_size_in_bytes() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "A" * 400}
    block = {"type": "document", "source": source, "title": "Report"}
    (body,) = bodies("anthropic", {"role": "user", "content": [block]})
    assert isinstance(body, Attached)
    assert (body.role, body.media.kind, body.media.type, body.media.size) == (
        "user",
        "document",
        "application/pdf",
        300,
    )


def test_a_picture_by_address_is_known_by_its_address() -> None:
    def read(url: str) -> list[Source]:
        block = {"type": "image", "source": {"type": "url", "url": url}}
        return bodies("anthropic", {"role": "user", "content": [block]})

    assert read("https://e.org/a.png") == read("https://e.org/a.png")
    assert read("https://e.org/a.png") != read("https://e.org/b.png")


def test_a_picture_by_file_id_is_known_by_its_file() -> None:
    def read(name: str) -> list[Source]:
        block = {"type": "image", "source": {"type": "file", "file_id": name}}
        return bodies("anthropic", {"role": "user", "content": [block]})

    assert read("file_1") == read("file_1")
    assert read("file_1") != read("file_2")


# What is read: OpenAI.


@pytest.mark.parametrize(
    ("message", "read"),
    [
        ({"role": "user", "content": "hi"}, [Said("user", "hi")]),
        ({"role": "assistant", "content": ""}, [Said("assistant", "")]),
        ({"role": "assistant"}, [Said("assistant", "")]),
        (
            {"role": "assistant", "reasoning": "hm", "content": "ok"},
            [Thought("hm"), Said("assistant", "ok")],
        ),
        (
            {
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": "No."}],
                "refusal": "Never.",
            },
            [Said("assistant", "No."), Said("assistant", "Never.")],
        ),
        (
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}},
                    {"id": "b", "function": {"name": "f", "arguments": {"x": 1}}},
                    {"id": "c", "type": "custom", "custom": {"name": "g", "input": "free text"}},
                    {"id": "d", "function": {"name": "h"}},
                ],
            },
            [
                ToolCalled("a", "f", '{"x": 1}'),
                ToolCalled("b", "f", '{"x":1}'),
                ToolCalled("c", "g", "free text"),
                ToolCalled("d", "h", "{}"),
            ],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}]},
            [ToolReturned("a", "x")],
        ),
        ({"role": "function", "name": "f", "content": "x"}, [ToolReturned("f", "x")]),
        (
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA"}}]},
            [Attached("user", Media("audio", digest="63c1dd951ffedf6f7fd968ad4efa39b8", size=3))],
        ),
        (
            {"role": "user", "content": [{"type": "hologram"}]},
            [Opaque("user", "hologram", '{"type":"hologram"}')],
        ),
    ],
)
def test_a_chat_message_is_read_as_what_it_says(
    message: dict[str, object], read: list[Source]
) -> None:
    assert bodies("openai_chat", message) == read


@pytest.mark.parametrize(
    ("item", "read"),
    [
        ({"role": "user", "content": []}, [Said("user", "")]),
        (
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            [ToolCalled("a", "f", "{}")],
        ),
        (
            {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "*** Begin"},
            [ToolCalled("a", "patch", "*** Begin")],
        ),
        (
            {"type": "local_shell_call", "call_id": "a", "action": {"cmd": ["ls"]}},
            [ToolCalled("a", "local_shell", '{"cmd":["ls"]}')],
        ),
        (
            {"type": "function_call_output", "call_id": "a", "output": "x"},
            [ToolReturned("a", "x")],
        ),
        (
            {"type": "function_call_output", "call_id": "a", "output": {"ok": True}},
            [ToolReturned("a", '{"ok":true}')],
        ),
        ({"type": "function_call_output", "call_id": "a", "output": None}, [ToolReturned("a", "")]),
        (
            {"type": "shell_call_output", "call_id": "a", "output": "x", "status": "failed"},
            [ToolReturned("a", "x", failed=True)],
        ),
        (
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "a"}],
                "content": [{"type": "reasoning_text", "text": "b"}],
                "encrypted_content": "e",
            },
            [Thought("a\nb", "e")],
        ),
        (
            {"type": "compaction", "encrypted_content": "e"},
            [Opaque("", "compaction", '{"type":"compaction","encrypted_content":"e"}')],
        ),
        (
            {"type": "web_search_call", "id": "w"},
            [Opaque("assistant", "web_search_call", '{"type":"web_search_call","id":"w"}')],
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA"},
                    {"type": "refusal", "refusal": "No."},
                ],
            },
            [
                Attached(
                    "user",
                    Media("document", digest="cfad95cdcd25a6f56ac8ef5cf65c05f6", size=26),
                ),
                Said("user", "No."),
            ],
        ),
    ],
)
def test_a_responses_item_is_read_as_what_it_says(
    item: dict[str, object], read: list[Source]
) -> None:
    found = bodies("openai_responses", item)
    assert [type(body) for body in found] == [type(body) for body in read]
    if not any(isinstance(body, Attached) for body in found):
        assert found == read


def test_pictures_in_an_output_are_read_with_their_size() -> None:
    output = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
    ]
    item = {"type": "function_call_output", "call_id": "a", "output": output}
    (body,) = bodies("openai_responses", item)
    assert isinstance(body, ToolReturned)
    assert (body.output, [(m.type, m.width, m.height) for m in body.media]) == (
        "see",
        [("image/png", 170, 85)],
    )


def test_a_picture_replaced_by_words_is_no_longer_sent() -> None:
    parts = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
    ]
    raw = json.dumps({"role": "user", "content": parts}).encode()
    kept = MESSAGE_WIRES["openai_responses"].rewrite(raw, {1: Said("user", "[a picture]")})
    assert kept is not None
    assert PNG.encode() not in kept
    assert bodies("openai_responses", parsed(kept)) == [
        Said("user", "see"),
        Said("user", "[a picture]"),
    ]


def test_a_custom_tool_call_can_be_replaced() -> None:
    calls = [{"id": "c", "type": "custom", "custom": {"name": "g", "input": "long text"}}]
    raw = json.dumps({"role": "assistant", "content": None, "tool_calls": calls}).encode()
    kept = MESSAGE_WIRES["openai_chat"].rewrite(raw, {0: ToolCalled("c", "g", "short")})
    assert kept is not None
    assert bodies("openai_chat", parsed(kept)) == [ToolCalled("c", "g", "short")]


# Pictures: what their head says.


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x06"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\0\0"


def jpeg(width: int, height: int) -> bytes:
    frame = b"\xff\xc2\x00\x11\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\x03" + b"\0" * 9
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc4\x00\x04\0\0" + frame


def webp(kind: bytes, payload: bytes) -> bytes:
    body = b"WEBP" + kind + len(payload).to_bytes(4, "little") + payload
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def webp_extended(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X", b"\x10\0\0\0" + size)


def webp_lossy(width: int, height: int) -> bytes:
    size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return webp(b"VP8 ", b"\x30\x01\0\x9d\x01\x2a" + size + b"\0" * 12)


def webp_lossless(width: int, height: int) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return webp(b"VP8L", b"\x2f" + bits.to_bytes(4, "little") + b"\0" * 12)


PICTURES = {
    "png": png,
    "gif": gif,
    "jpeg": jpeg,
    "webp extended": webp_extended,
    "webp lossy": webp_lossy,
    "webp lossless": webp_lossless,
}


@pytest.mark.parametrize("kind", PICTURES)
def test_the_size_of_a_picture_is_read_off_its_head(kind: str) -> None:
    data = base64.b64encode(PICTURES[kind](1201, 640)).decode()
    source = {"type": "base64", "media_type": "image/any", "data": data}
    (body,) = bodies(
        "anthropic", {"role": "user", "content": [{"type": "image", "source": source}]}
    )
    assert isinstance(body, Attached)
    assert (body.media.width, body.media.height) == (1201, 640)


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_whose_head_breaks_off_has_no_size(kind: str) -> None:
    whole = PICTURES[kind](1201, 640)
    for length in (0, 1, 8, 12, 16):
        data = base64.b64encode(whole[: min(length, len(whole) - 12)]).decode()
        source = {"type": "base64", "media_type": "image/any", "data": data}
        message = {"role": "user", "content": [{"type": "image", "source": source}]}
        (body,) = bodies("anthropic", message)
        assert isinstance(body, Attached)
        assert (body.media.width, body.media.height) == (0, 0)


@pytest.mark.parametrize("data", ["not base64!", "é", "AAAAA"])
def test_a_picture_that_is_no_base64_has_no_size(data: str) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    (body,) = bodies(
        "anthropic", {"role": "user", "content": [{"type": "image", "source": source}]}
    )
    assert isinstance(body, Attached)
    assert (body.media.width, body.media.height) == (0, 0)


# Files that are not as they should be.


def test_a_format_nobody_knows_is_kept_line_by_line(tmp_path: Path) -> None:
    data = b'{"kind":"session"}\n\n  plain words \r\n\xff\xfe\n{"kind":"end"}'
    store = MemoryStore()
    session = taken(store, tmp_path, data, "odd.log")
    assert (session.name, session.ledger.head().wire) == ("odd.log", "lines")
    assert [item.body for item in session.ledger.window().items] == [
        Opaque("", "line", '{"kind":"session"}'),
        Opaque("", "line", "plain words"),
        Opaque("", "line", "\ufffd\ufffd"),
        Opaque("", "line", '{"kind":"end"}'),
    ]
    assert given_back(session) == data
    assert session.messages() == []


def test_a_json_document_nobody_knows_is_kept_line_by_line(tmp_path: Path) -> None:
    data = json.dumps({"info": {"id": 1}, "messages": [{"parts": [1]}]}, indent=1).encode()
    session = taken(MemoryStore(), tmp_path, data, "odd.json")
    assert (session.ledger.head().wire, given_back(session)) == ("lines", data)


def test_a_torn_line_is_kept_and_reported(tmp_path: Path) -> None:
    data = jsonl({"role": "user", "content": "a"}) + b'{"role":"user","con\n'
    done = read_in(MemoryStore(), tmp_path, data)
    assert (done.pieces, done.added) == (2, 1)
    assert done.flaws == (Flaw(2, done.flaws[0].reason, read=False),)
    assert given_back(taken(MemoryStore(), tmp_path, data)) == data


def test_a_line_behind_nul_bytes_is_read(tmp_path: Path) -> None:
    line = jsonl({"role": "user", "content": "a"})
    data = line + b"\0" * 9 + line
    done = read_in(MemoryStore(), tmp_path, data)
    assert (done.added, [flaw.line for flaw in done.flaws]) == (2, [2])
    assert given_back(taken(MemoryStore(), tmp_path, data)) == data


def test_a_line_behind_a_torn_one_is_read(tmp_path: Path) -> None:
    line = jsonl({"role": "user", "content": "a"})
    data = line + b'{"role":"assistant","content":"half a s' + line
    session = taken(MemoryStore(), tmp_path, data)
    assert [message["role"] for message in session.messages()] == ["user", "user"]
    assert given_back(session) == data


def test_an_array_that_breaks_off_gives_the_messages_that_are_whole(tmp_path: Path) -> None:
    data = b'{"messages":[{"role":"user","content":"a]}"},{"role":"user","content":"\\"b'
    session = taken(MemoryStore(), tmp_path, data, "cut.json")
    assert session.messages() == [{"role": "user", "content": "a]}"}]
    assert given_back(session) == data


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(tmp_path: Path, data: bytes) -> None:
    store = MemoryStore()
    with pytest.raises(Unreadable) as caught:
        read_in(store, tmp_path, data)
    assert (caught.value.where, store.sessions()) == (str(tmp_path / "file.jsonl"), [])


def test_two_files_of_one_name_become_two_sessions(tmp_path: Path) -> None:
    store = MemoryStore()
    one = read_in(store, tmp_path / "one", jsonl({"role": "user", "content": "a"}))
    two = read_in(store, tmp_path / "two", jsonl({"role": "user", "content": "b"}))
    assert one.session == "file"
    assert two.session != "file"
    assert two.session.startswith("file-")


def test_a_file_that_grew_adds_its_tail(tmp_path: Path) -> None:
    store = MemoryStore()
    first = jsonl({"role": "user", "content": "a"})
    tail = jsonl({"role": "assistant", "content": "b"})
    read_in(store, tmp_path, first)
    done = read_in(store, tmp_path, first + tail)
    assert (done.pieces, done.added, done.branched) == (2, 1, False)
    assert given_back(Session(done.session, store)) == first + tail


def test_a_line_completed_since_takes_the_place_of_its_torn_beginning(tmp_path: Path) -> None:
    store = MemoryStore()
    data = jsonl({"role": "user", "content": "a"}, {"role": "assistant", "content": "bcdef"})
    read_in(store, tmp_path, data[:-9])
    done = read_in(store, tmp_path, data)
    assert (done.added, done.branched) == (1, False)
    assert given_back(Session(done.session, store)) == data
    assert list(store.check()) == []


def test_a_file_rewritten_from_some_line_on_becomes_a_branch(tmp_path: Path) -> None:
    store = MemoryStore()
    rows = [{"role": "user", "content": word} for word in ("a", "b", "c", "d")]
    other = [rows[0], {"role": "user", "content": "x"}, {"role": "user", "content": "y"}, rows[3]]
    read_in(store, tmp_path, jsonl(*rows))
    done = read_in(store, tmp_path, jsonl(*other))
    session = Session(done.session, store)
    assert (done.added, done.branched) == (3, True)
    assert session.messages() == other
    assert given_back(session) == jsonl(*other)
    assert len(list(store.read(done.session))) == 7
    assert list(store.check()) == []


def test_a_file_rewritten_shorter_is_given_back_as_it_is_now(tmp_path: Path) -> None:
    store = MemoryStore()
    rows = [{"role": "user", "content": word} for word in ("a", "b", "c", "d")]
    shorter = [rows[0], {"role": "user", "content": "x"}]
    read_in(store, tmp_path, jsonl(*rows))
    session = taken(store, tmp_path, jsonl(*shorter))
    assert session.messages() == shorter
    assert given_back(session) == jsonl(*shorter)
    assert list(store.check()) == []


def test_a_rewritten_file_that_says_what_was_said_before_goes_back_to_it(tmp_path: Path) -> None:
    store = MemoryStore()
    rows = [{"role": "user", "content": word} for word in ("a", "b", "c")]
    other = [rows[0], {"role": "user", "content": "x"}, rows[2]]
    for data in (jsonl(*rows), jsonl(*other), jsonl(*rows)):
        session = taken(store, tmp_path, data)
        assert given_back(session) == data
    assert session.messages() == rows
    assert session.ledger.path() == list(store.read("file", numbers=[1, 2, 3]))
    assert list(store.check()) == []


def test_a_lone_surrogate_is_replaced_in_what_is_read_and_kept_in_the_bytes() -> None:
    raw = b'{"role":"user","content":"\\ud800 a"}'
    session = fresh()
    session.append(raw)
    assert [entry.body for entry in session.ledger.path()] == [Said("user", "\ufffd a")]
    assert session.wire() == b"[" + raw + b"]"


def test_a_file_can_be_read_as_lines_whatever_it_is(tmp_path: Path) -> None:
    data = documents("anthropic")["lines.jsonl"]
    done = read_in(MemoryStore(), tmp_path, data, wire="lines")
    assert (done.wire, done.added) == ("lines", len(ODD["anthropic"]))


@pytest.mark.parametrize(
    "data",
    [
        b'{"model":"m","messages":"none"}',
        b'{"messages":{"a":1},"input":7}',
        b'{\n"messages": 5,\n"x": [',
        b'{\n"other": [1],\n',
        b"[]",
    ],
)
def test_a_document_without_a_list_of_messages_is_kept_as_lines(
    tmp_path: Path, data: bytes
) -> None:
    session = taken(MemoryStore(), tmp_path, data, "odd.json")
    assert (session.ledger.head().wire, given_back(session)) == ("lines", data)


def test_an_array_cut_right_behind_a_message_gives_that_message(tmp_path: Path) -> None:
    data = b'[{"role":"user","content":"a"}'
    session = taken(MemoryStore(), tmp_path, data, "cut.json")
    assert session.messages() == [{"role": "user", "content": "a"}]
    assert given_back(session) == data


def test_a_line_too_long_to_read_is_kept_and_reported() -> None:
    raw = b" " * (MAX_LINE_BYTES + 1)
    (piece,) = cut_line(raw)
    assert (piece.raw is raw, piece.value, piece.flaw != "") == (True, None, True)


def test_a_picture_of_a_kind_nobody_knows_has_no_size() -> None:
    assert picture_size(webp(b"VP9 ", b"\0" * 40)) == (0, 0)


def test_a_file_in_a_chat_message_is_a_document() -> None:
    part = {"type": "file", "file": {"file_data": "data:application/pdf;base64," + "A" * 400}}
    (body,) = bodies("openai_chat", {"role": "user", "content": [part]})
    assert isinstance(body, Attached)
    assert (body.role, body.media.kind) == ("user", "document")


def test_reasoning_can_be_taken_out_of_a_chat_message() -> None:
    raw = b'{"role":"assistant","reasoning_content":"hm","content":"ok"}'
    kept = MESSAGE_WIRES["openai_chat"].rewrite(raw, {0: None})
    assert kept == b'{"role":"assistant","content":"ok"}'


def test_blocks_of_another_format_are_surely_not_responses() -> None:
    message = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}
    assert MESSAGE_WIRES["openai_responses"].fits(as_object(message)) is False
