"""Text of every script and of none: dictionaries come back equal, texts can always be written."""

import json
from pathlib import Path

import pytest

from holdfast.core.ledger.entry import Derived, text_of
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.text.jsontext import encode
from tests.input.making import given_back, read_in, run, texts_of

LONE = "\ud800"
TEXTS = {
    "emoji": "👩🏽‍🚀 lands 🛰️",
    "family of joiners": "👨‍👩‍👧‍👦" * 3,
    "flags": "🇿🇦🇪🇺🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "hangul jamo": "한글 각각 ㄱㄲ",
    "combining marks": "e\u0301 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G",
    "right to left": "\u202eabc\u202c שלום مرحبا",
    "tag characters": "a\U000e0041\U000e0042",
    "astral": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0010ffff",
    "non-characters": "\ufffe\uffff\ufdd0",
    "NUL inside": "a\0b\0",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029",
    "lone high": f"before {LONE} behind",
    "lone low": "\udfff",
    "reversed pair": "\udc00\ud800",
    "half an emoji": "👩\ud83d",
    "byte order mark": "\ufeffx",
}
each_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def _messages(text: str) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": text},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": text, "signature": "c2lnbg=="},
                {"type": "text", "text": text},
                {"type": "tool_use", "id": "c1", "name": "run", "input": {text: [text]}},
                {"type": "never heard of", "words": text},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": text}],
        },
    ]


def _plain(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


@each_text
def test_messages_come_back_equal_and_their_texts_can_be_written(text: str, tmp_path: Path) -> None:
    messages = _messages(text)
    with open_session("s", root=tmp_path) as session:
        session.sync(messages)
        assert session.messages() == messages
        assert json.loads(session.wire()) == messages
        entries = session.ledger.path()
        assert session.read(entries[0].id) == _plain(text)
    with open_session("s", root=tmp_path) as session:
        assert session.messages() == messages
        assert session.sync(messages).added == 0
    words = [text_of(entry.body) for entry in entries if not isinstance(entry.body, Derived)]
    assert json.dumps(words, ensure_ascii=False).encode().decode() == json.dumps(
        words, ensure_ascii=False
    )
    assert words[:3] == [_plain(text)] * 3
    assert words[-1] == _plain(text)


@each_text
def test_a_session_told_message_by_message_is_exported_as_equal_messages(
    text: str, tmp_path: Path
) -> None:
    messages = _messages(text)
    with open_session("s", root=tmp_path) as session:
        session.extend(messages)
    assert json.loads(given_back(tmp_path, "s")) == messages
    with open_store(tmp_path) as store:
        assert list(store.check()) == []


@each_text
@pytest.mark.parametrize("escaped", [True, False], ids=["escaped", "as bytes"])
def test_a_file_comes_back_byte_for_byte_and_can_be_shown(
    text: str, escaped: bool, tmp_path: Path
) -> None:
    lines = [json.dumps(message, ensure_ascii=escaped) for message in _messages(text)]
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    (tmp_path / "text.jsonl").write_bytes(data)
    done = read_in(tmp_path / "text.jsonl", tmp_path)
    assert given_back(tmp_path, done.session) == data
    json.dumps(texts_of(tmp_path, done.session), ensure_ascii=False).encode()
    assert (done.pieces, done.added) == (3, 6)


def test_a_text_is_shown_by_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    data = b"".join(encode(_messages(text)[0]) + b"\n" for text in TEXTS.values())
    (tmp_path / "text.jsonl").write_bytes(data)
    for variables in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {}):
        assert run("ingest", "text.jsonl", cwd=tmp_path, **variables).code == 0
        for command in ("show", "sessions", "status"):
            ran = run(command, cwd=tmp_path, **variables)
            assert (ran.code, ran.err) == (0, "")


def test_no_control_character_of_a_session_reaches_the_terminal(tmp_path: Path) -> None:
    attack = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e"
    call = {"id": "c", "type": "function", "function": {"name": attack, "arguments": attack}}
    messages = [
        {"role": "user", "content": attack},
        {"role": "assistant", "content": attack, "tool_calls": [call]},
        {"role": attack, "content": attack},
    ]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    (tmp_path / "attack.jsonl").write_bytes(data)
    outputs = [run("ingest", "attack.jsonl", "--session", attack, cwd=tmp_path)]
    outputs += [run(command, cwd=tmp_path) for command in ("show", "sessions", "status", "fsck")]
    assert [ran.code for ran in outputs] == [0] * 5
    odd = {char for ran in outputs for char in ran.out + ran.err if not char.isprintable()}
    assert odd <= {"\n"}
