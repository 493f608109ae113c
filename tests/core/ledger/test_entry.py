import msgspec
import pytest

from holdfast.core.ledger.entry import (
    Attached,
    Body,
    Compacted,
    Compressed,
    Media,
    Noted,
    Opaque,
    Restored,
    Said,
    Source,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
    Unread,
    Used,
    is_request,
    pack,
    role_of,
    text_of,
    unpack,
)

PICTURE = Media("image", "image/png", "ab", 10, 20, 30)
SOURCES: list[tuple[Source, str, str]] = [
    (Said("user", "hi"), "user", "hi"),
    (Thought("hm", "seal"), "assistant", "hm"),
    (ToolCalled("c", "read", '{"a":1}'), "assistant", 'read{"a":1}'),
    (ToolReturned("c", "out", failed=True, media=(PICTURE,)), "tool", "out"),
    (Attached("user", PICTURE), "user", ""),
    (Opaque("system", "odd", '{"x":1}'), "system", '{"x":1}'),
]
DERIVED: list[Body] = [
    Compressed((Step(("a", "b"), "why", ToolReturned("c", "-"), 1, 9, 2),), 3, 7, "host"),
    Compressed((Step(("a",), "why"),), 0, 1),
    Restored("a" * 32, 4, 5),
    Compacted("auto", ("a", "b")),
    Used(10, 9, 8, 7, 6, "m", "r"),
    Noted("task_done", {"task": "one"}),
]


@pytest.mark.parametrize("body", [*(body for body, _, _ in SOURCES), *DERIVED])
def test_a_body_packed_is_unpacked_equal(body: Body) -> None:
    assert unpack(pack(body)) == body


@pytest.mark.parametrize(("body", "role", "text"), SOURCES)
def test_a_source_body_has_a_role_and_words(body: Source, role: str, text: str) -> None:
    assert (role_of(body), text_of(body)) == (role, text)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (msgspec.msgpack.encode({"type": "dreamt", "of": 1}), "dreamt"),
        (msgspec.msgpack.encode({"type": "said", "role": 7}), "said"),
        (msgspec.msgpack.encode({"no": "type"}), ""),
    ],
)
def test_a_body_nobody_here_knows_is_carried_as_it_is(data: bytes, kind: str) -> None:
    body = unpack(data)
    assert body == Unread(kind, data)
    assert pack(body) == data


@pytest.mark.parametrize(
    ("body", "starts"),
    [
        (Said("user", "hi"), True),
        (Said("user", "hi", "host"), False),
        (Said("assistant", "hi"), False),
        (ToolReturned("c", "hi"), False),
    ],
)
def test_only_the_users_own_words_start_a_turn(body: Body, starts: bool) -> None:
    assert is_request(body) is starts
