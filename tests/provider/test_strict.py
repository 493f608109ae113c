"""The strict provider itself: it sees every rule broken, never raises, and takes what is right."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.provider.histories import (
    BROKEN,
    FLAVOURS,
    WIRES,
    Message,
    histories,
    kinds,
    prefixes,
    well_formed,
)
from tests.provider.strict import Bound, broken, complaints, worse

few = settings(max_examples=examples(40))
wires = st.sampled_from(WIRES)


def rules(wire: str, *messages: Any, pending: bool = True) -> list[str]:
    """The names of the rules that messages break."""
    return [one.rule for one in broken(wire, messages, pending=pending)]


def user(*content: Any) -> Message:
    return {"role": "user", "content": list(content) if len(content) != 1 else content[0]}


def agent(*blocks: Any) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str = "words", **more: Any) -> Message:
    return {"type": "text", "text": words, **more}


def use(call: str = "a", **more: Any) -> Message:
    return {"type": "tool_use", "id": call, "name": "Read", "input": {}, **more}


def result(call: str = "a", **more: Any) -> Message:
    return {"type": "tool_result", "tool_use_id": call, "content": "x", **more}


def thought(signature: str = "s", **more: Any) -> Message:
    return {"type": "thinking", "thinking": "hm", "signature": signature, **more}


def system(content: Any = "now") -> Message:
    return {"role": "system", "content": content}


ASK = user("go")
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}}
PAGE = {"type": "document", "source": {"type": "url", "url": "http://x/a.pdf"}}
SEARCH: Message = {"type": "server_tool_use", "id": "w", "name": "web_search", "input": {}}
FOUND: Message = {"type": "web_search_tool_result", "tool_use_id": "w", "content": []}
ANTHROPIC: dict[str, list[tuple[Any, ...]]] = {
    "no_messages": [()],
    "not_json": [(user(text(), {**text(), "cache_control": float("nan")}),)],
    "not_utf8": [(user("half \ud83d"),)],
    "extra_key": [
        ({**ASK, "id": "m1"},),
        (user([text(ref="x")]),),
        (ASK, agent(use()), user([result(content=[text(ref="x")])])),
    ],
    "role": [({"role": "tool", "content": "x"},), ({"content": "x"},)],
    "first_role": [(agent(text()),)],
    "system_text": [(ASK, system([IMAGE]))],
    "system_place": [
        (system(), user("x")),
        (ASK, agent(text()), system()),
        (ASK, system(), user("x")),
    ],
    "content": [({"role": "user", "content": None},), ({"role": "user"},)],
    "no_content": [({"role": "user", "content": []},)],
    "blank_text": [
        (user(""),),
        (user(" \n"), ASK),
        (user([text("")]),),
        (ASK, agent(use()), user([result(content=[text("")])])),
    ],
    "text": [(user([{"type": "text"}]),)],
    "image": [
        (user([{"type": "image", "source": {"type": "base64"}}]),),
        (ASK, agent(use()), user([result(content=[{"type": "image"}])])),
    ],
    "block_type": [
        (user([{"type": "hologram"}]),),
        (user(["bare"]),),
        (ASK, agent(use()), user([result(content=[use("b")])])),
    ],
    "block_role": [(user([use()]),), (ASK, agent(result()), ASK)],
    "call_id": [
        (ASK, agent(use("no spaces!"))),
        (ASK, agent({"type": "tool_use", "name": "Read", "input": {}})),
        (ASK, agent(use()), user([result(tool_use_id=None)])),
    ],
    "call_name": [(ASK, agent(use(name="")))],
    "call_input": [(ASK, agent(use(input="{}"))), (ASK, agent(use(input=None)))],
    "result_content": [(ASK, agent(use()), user([result(content={"a": 1})]))],
    "is_error": [(ASK, agent(use()), user([result(is_error="yes")]))],
    "results_first": [(ASK, agent(use()), user(text(), result()))],
    "duplicate_call": [
        (ASK, agent(use(), use()), user([result()])),
        (ASK, agent(use()), user([result()]), agent(use()), user([result()])),
    ],
    "unanswered_call": [
        (ASK, agent(use()), ASK),
        (ASK, agent(use(), use("b")), user(result("b"), text())),
        (ASK, agent(use()), ASK, user([result()])),
    ],
    "orphan_result": [
        (user([result()]),),
        (ASK, agent(use()), user([result("a")]), user([result("a")])),
        (ASK, agent(use()), user(result(), result("b"))),
        (ASK, agent(FOUND)),
    ],
    "duplicate_result": [(ASK, agent(use()), user(result(), result()))],
    "signature": [
        (ASK, agent({"type": "thinking", "thinking": "hm"}, text())),
        (ASK, agent(thought(signature=""), text())),
        (ASK, agent({"type": "redacted_thinking"}, text())),
    ],
    "thinking_first": [(ASK, agent(text(), thought()))],
    "loop_thinking": [
        (ASK, agent(thought(), text()), ASK, agent(use()), user([result()])),
    ],
}
FINE: dict[str, list[tuple[Any, ...]]] = {
    "anthropic": [
        (ASK,),
        (ASK, agent()),
        (ASK, agent(use())),
        (ASK, agent(use(), use("b")), user([result()])),
        (ASK, agent(use(), use("b")), user(result("b"), result("a", is_error=True), text())),
        (ASK, agent(use()), user([result(content=[text(), IMAGE, PAGE])]), system(), agent(text())),
        (ASK, system([text()]), agent(thought(thinking=""), text(cache_control={"type": "e"}))),
        (ASK, agent(thought(), use()), user([result()]), agent(use("b")), user([result("b")])),
        (ASK, agent(SEARCH, FOUND, text()), ASK),
        (agent({"type": "compaction", "content": "short"}), ASK),
        (ASK, agent({"type": "redacted_thinking", "data": "d"}, text("x")), user([IMAGE])),
    ],
}


def call(name: str = "a", arguments: Any = "{}", **more: Any) -> Message:
    made = {"name": "Read", "arguments": arguments}
    return {"id": name, "type": "function", "function": made, **more}


def calling(*calls: Any, **more: Any) -> Message:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def answer(name: str = "a", content: Any = "x") -> Message:
    return {"role": "tool", "tool_call_id": name, "content": content}


CUSTOM = {"id": "a", "type": "custom", "custom": {"name": "apply_patch", "input": "*** Begin"}}
URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}
CHAT: dict[str, list[tuple[Any, ...]]] = {
    "no_messages": [()],
    "not_utf8": [(ASK, calling(call(), content="\udc00"))],
    "extra_key": [({**ASK, "ref": 1},)],
    "role": [({"role": "robot", "content": "x"},), ("bare",)],
    "content": [
        (user(None),),
        ({"role": "system"},),
        (user([]),),
        (user(7),),
        (ASK, {"role": "assistant", "content": None}),
        (ASK, calling(call()), answer(content=None)),
    ],
    "part_type": [(user([IMAGE]),), (ASK, calling(call()), answer(content=[URL]))],
    "text": [(user([{"type": "text"}]),)],
    "image": [(user([{"type": "image_url", "image_url": "x"}]),)],
    "no_calls": [(ASK, calling(content="x")), (ASK, calling(tool_calls=7, content="x"))],
    "call_id": [
        (ASK, calling(call(""))),
        (ASK, {"role": "tool", "content": "x"}),
        (ASK, {"role": "function", "content": "x"}),
    ],
    "call_type": [(ASK, calling(call(type="magic")))],
    "call_name": [(ASK, calling(call(function={"arguments": "{}"})))],
    "call_input": [(ASK, calling(call(arguments={}))), (ASK, calling(call(arguments='{"a": ')))],
    "duplicate_call": [(ASK, calling(call(), call()), answer())],
    "unanswered_call": [
        (ASK, calling(call()), ASK),
        (ASK, calling(call(), call("b")), answer(), ASK),
        (ASK, calling(call()), ASK, answer()),
    ],
    "orphan_result": [(ASK, answer()), (ASK, calling(call()), answer(), ASK, answer())],
    "duplicate_result": [(ASK, calling(call()), answer(), answer())],
}
FINE["openai_chat"] = [
    (system(), ASK),
    (user([text(), URL]), {"role": "assistant", "content": "x"}),
    (ASK, calling(call(), call("b")), answer("b"), answer(content=[text()]), ASK),
    (ASK, calling(call()), answer(), calling(call()), answer()),
    (ASK, calling(CUSTOM, reasoning_content="hm"), answer()),
    (ASK, calling(call())),
    (ASK, calling(call(), call("b")), answer()),
]


def made(name: str = "a", arguments: Any = "{}", **more: Any) -> Message:
    base = {"type": "function_call", "call_id": name, "name": "Read", "arguments": arguments}
    return {**base, **more}


def output(name: str = "a", words: Any = "x", **more: Any) -> Message:
    return {"type": "function_call_output", "call_id": name, "output": words, **more}


def said(role: str = "assistant", kind: str = "output_text", **more: Any) -> Message:
    content = [{"type": kind, "text": "x"}]
    return {"type": "message", "role": role, "content": content, **more}


REASON: Message = {"type": "reasoning", "id": "rs_1", "summary": []}
PATCH = {"type": "custom_tool_call", "call_id": "a", "name": "apply_patch", "input": "*** Begin"}
RESPONSES: dict[str, list[tuple[Any, ...]]] = {
    "no_messages": [()],
    "not_utf8": [(ASK, made(), output(words="\ud800"))],
    "item_type": [({"type": "hologram"},), ("bare",)],
    "role": [({"role": "tool", "content": "x"},)],
    "content": [(user(None),)],
    "part_type": [
        (said("user"),),
        (said("assistant", "input_text"),),
        (ASK, made(), output(words=[text()])),
    ],
    "text": [({"role": "user", "content": [{"type": "input_text"}]},)],
    "summary": [(ASK, {"type": "reasoning"}, said())],
    "call_id": [(ASK, made(call_id=None)), (ASK, output(call_id=""))],
    "call_name": [(ASK, {**made(), "name": ""})],
    "call_input": [(ASK, made(arguments={})), (ASK, made(arguments="{"))],
    "result_content": [(ASK, made(), output(words=None))],
    "duplicate_call": [(ASK, made(), made(), output(), output())],
    "unanswered_call": [(ASK, made(), ASK), (ASK, made(), said())],
    "orphan_result": [(ASK, output()), (ASK, output(), made()), (ASK, PATCH, output())],
    "duplicate_result": [(ASK, made(), output(), output())],
    "reasoning_alone": [(ASK, REASON), (ASK, REASON, ASK), (ASK, made(), REASON, output())],
}
FINE["openai_responses"] = [
    (ASK,),
    (said("developer", "input_text"), said("user", "input_text"), said()),
    (ASK, REASON, made(), made("b"), output("b"), output(), REASON, said()),
    (ASK, made(), output(), made(), output()),
    (ASK, PATCH, output(type="custom_tool_call_output"), ASK),
    (ASK, REASON, made()),
    (ASK, made(), ASK, output()),
    (ASK, {"type": "web_search_call", "id": "ws"}, said()),
]
RULES = {"anthropic": ANTHROPIC, "openai_chat": CHAT, "openai_responses": RESPONSES}


@pytest.mark.parametrize(
    ("wire", "rule"), [(wire, rule) for wire, found in RULES.items() for rule in found]
)
def test_a_request_that_breaks_a_rule_is_told_so(wire: str, rule: str) -> None:
    for messages in RULES[wire][rule]:
        assert rule in rules(wire, *messages), messages


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_that_breaks_none_hears_nothing(wire: str) -> None:
    assert [complaints(wire, messages) for messages in FINE[wire]] == [[] for _ in FINE[wire]]


@pytest.mark.parametrize(
    ("wire", "messages"),
    [
        ("anthropic", (ASK, agent(use()))),
        ("anthropic", (ASK, agent(use(), use("b")), user([result("b")]))),
        ("openai_chat", (ASK, calling(call()))),
        ("openai_chat", (ASK, calling(call(), call("b")), answer("b"))),
        ("openai_responses", (ASK, REASON, made())),
        ("openai_responses", (ASK, made(), made("b"), output("b"))),
    ],
)
def test_a_call_at_the_end_may_wait_only_where_that_is_allowed(
    wire: str, messages: Sequence[Message]
) -> None:
    assert complaints(wire, messages) == []
    assert rules(wire, *messages, pending=False) == ["open_call"]


def test_a_complaint_says_where_and_about_what() -> None:
    late = (ASK, agent(use()), user(text(), result()))
    assert [one[:3] for one in broken("anthropic", late)] == [
        ("results_first", "messages.2.content.1", "a")
    ]
    assert complaints("anthropic", late) == [
        "messages.2.content.1: tool_result must come before the other blocks of its message"
        " [results_first]"
    ]


# What we made worse.

STEP = (ASK, agent(thought(), use()), user([result()]))


@pytest.mark.parametrize(
    ("wire", "before", "after"),
    [
        ("anthropic", STEP, STEP[:2]),
        ("anthropic", STEP, (ASK, STEP[2])),
        ("anthropic", STEP, (ASK, agent(use()), user([result()]))),
        ("anthropic", STEP, (ASK, agent(thought(thinking="h"), use()), user([result()]))),
        ("anthropic", (*STEP, agent(text())), (ASK, agent(thought(), text()))),
        ("anthropic", (ASK, agent(use())), (ASK, agent(use()), ASK)),
        ("anthropic", (user(""), ASK), (user(""), user(""), ASK)),
        (
            "anthropic",
            (*STEP, agent(use("b")), user([result("b")])),
            (ASK, agent(use("b")), user([result("b")])),
        ),
        ("openai_chat", (ASK, calling(call()), answer()), (ASK, calling(call()))),
        ("openai_chat", (ASK, calling(call()), answer()), (ASK, answer())),
        ("openai_responses", (ASK, REASON, made()), (ASK, {**REASON, "summary": [1]}, made())),
        ("openai_responses", (ASK, REASON, made(id="fc_1")), (ASK, made(id="fc_1"))),
        ("openai_responses", (ASK, made(), output()), (ASK, output())),
    ],
)
def test_a_break_that_was_not_there_is_worse(
    wire: str, before: Sequence[Message], after: Sequence[Message]
) -> None:
    assert len(worse(wire, before, after)) >= 1


@pytest.mark.parametrize(
    ("wire", "before", "after"),
    [
        ("anthropic", STEP, STEP),
        ("anthropic", (*STEP, agent(text())), (ASK, agent(use()), user([result()]), agent(text()))),
        ("anthropic", STEP, (user("In short: the file was read; it says x."),)),
        ("anthropic", (ASK, agent(use()), ASK, user([result()])), (ASK, user([result()]))),
        ("anthropic", (ASK, ASK, agent(use()), ASK, ASK), (ASK, agent(use()), ASK)),
        ("anthropic", (user(""), user(""), ASK), (ASK, user(""))),
        ("openai_chat", (ASK, calling(call()), ASK), (system(), calling(call()), ASK)),
        ("openai_responses", (ASK, REASON, made(), output(), ASK), (ASK, made(), output(), ASK)),
    ],
)
def test_what_was_broken_before_is_forgiven_wherever_it_stands(
    wire: str, before: Sequence[Message], after: Sequence[Message]
) -> None:
    assert worse(wire, before, after) == []


@few
@given(wires.flatmap(lambda wire: st.tuples(st.just(wire), histories(wire))))
def test_a_request_is_not_worse_than_itself(drawn: tuple[str, list[Message]]) -> None:
    wire, messages = drawn
    assert worse(wire, messages, messages) == []


# Thinking that is bound to what came before it.


def test_thinking_after_an_unchanged_beginning_is_taken() -> None:
    bound = Bound()
    assert bound.feed(STEP) == []
    same = (
        user([text(" go\n", cache_control={"type": "ephemeral"})]),
        {"content": STEP[1]["content"], "role": "assistant"},
        user([result(content=[text("x")])]),
    )
    assert bound.feed([*same, agent(thought("t"), text())]) == []
    assert bound.feed([*STEP, agent(thought("t"), text()), ASK]) == []


def test_thinking_after_a_changed_beginning_is_refused() -> None:
    after = agent(thought("t"), use("b"))
    for early in (
        (user("go!"), *STEP[1:]),
        (ASK, agent(thought(), use(input={"a": 1})), STEP[2]),
        (ASK, STEP[1], user([result(content="gone")])),
        (ASK, STEP[1], user([result(is_error=True)])),
        STEP[:1],
        (ASK, *STEP),
    ):
        bound = Bound()
        assert bound.feed([*STEP, after, user([result("b")])]) == []
        found = bound.feed([*early, after, user([result("b")])])
        assert found[-1].startswith(f"messages.{len(early)}.content.0: Invalid `signature`")


def test_thinking_is_bound_to_the_request_that_it_answered() -> None:
    bound = Bound()
    bound.feed(STEP)
    bound.answered(agent(thought("t"), text()))
    shorter = (*STEP[:2], user([result(content="gone")]))
    assert len(bound.feed([*shorter, agent(thought("t"), text()), ASK])) == 1
    assert bound.feed([*STEP, agent(thought("t"), text()), ASK]) == []


def test_thinking_is_bound_to_the_system_prompt_and_to_the_set_of_tools() -> None:
    one, two = {"name": "Read", "strict": True}, {"name": "Bash", "strict": True}
    bound = Bound()
    assert bound.feed(STEP, system="be good", tools=[one, two]) == []
    assert bound.feed(STEP, system=[text("be good")], tools=[two, one]) == []
    assert len(bound.feed(STEP, system="be quick", tools=[one, two])) == 1
    assert len(bound.feed(STEP, system="be good", tools=[one])) == 1


def test_earlier_thinking_leaves_from_the_front_only_and_never_comes_back() -> None:
    def spoken(*signatures: str) -> list[Message]:
        return [
            agent(*([thought(sign)] if sign in signatures else []), text(sign)) for sign in "abc"
        ]

    bound = Bound()
    assert bound.feed([ASK, *spoken("a", "b", "c")]) == []
    assert len(bound.feed([ASK, *spoken("a", "c")])) == 1
    assert bound.feed([ASK, *spoken("b", "c")]) == []
    assert len(bound.feed([ASK, *spoken("a", "b", "c")])) == 2


# Garbage.

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2),
    st.floats(),
    st.sampled_from(("", "user", "assistant", "system", "tool", "a", "{}", "\ud800")),
    st.sampled_from(("text", "tool_use", "tool_result", "thinking", "function_call")),
    st.sampled_from(("function_call_output", "reasoning", "message", "image", "function")),
    st.binary(max_size=2),
)
keys = st.sampled_from(
    (
        *("role", "content", "type", "text", "id", "tool_use_id", "input", "signature", "source"),
        *("tool_calls", "tool_call_id", "function", "arguments", "call_id", "output", "summary"),
    )
)
garbage = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
        st.dictionaries(st.none() | st.integers(0, 1) | keys, inner, max_size=2),
    ),
    max_leaves=12,
)


@few
@given(wires, st.lists(garbage, max_size=5), st.lists(garbage, max_size=5), st.booleans())
def test_garbage_is_judged_and_raises_nothing(
    wire: str, one: list[Any], other: list[Any], pending: bool
) -> None:
    complaints(wire, one, pending=pending)
    worse(wire, one, other)
    bound = Bound()
    bound.feed(one, system=other, tools=one)
    bound.answered(other)
    bound.feed(other, system=one, tools=other)
    list(prefixes(one))


def test_nesting_without_end_is_judged_and_raises_nothing() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    messages = (ASK, agent(use(input={"a": deep})), user([result(content=deep)]))
    assert "not_json" in rules("anthropic", *messages)
    assert worse("anthropic", messages, messages) == []
    assert Bound().feed(messages) == []


# Drawn histories.


@pytest.mark.parametrize("wire", WIRES)
def test_well_formed_histories_and_all_on_the_way_to_them_break_no_rule(wire: str) -> None:
    @few
    @given(well_formed(wire))
    def law(messages: list[Message]) -> None:
        assert complaints(wire, messages) == []
        for sent in prefixes(messages):
            assert complaints(wire, sent, pending=sent == messages) == []

    law()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", sorted(FLAVOURS))
def test_a_flavour_is_refused_at_times_only_if_it_is_a_broken_one(wire: str, kind: str) -> None:
    refused = 0

    @settings(max_examples=25, database=None, derandomize=True)
    @given(kinds(wire)[kind])
    def count(messages: list[Message]) -> None:
        nonlocal refused
        refused += bool(complaints(wire, messages))

    count()
    assert (refused > 0) == (kind in BROKEN[wire])


def is_result(message: Message) -> bool:
    shape = str(message)
    return message.get("role") == "tool" or "'tool_result'" in shape or "_call_output'" in shape


@pytest.mark.parametrize("wire", WIRES)
def test_cutting_anywhere_and_dropping_results_is_noticed_soon(wire: str) -> None:
    cut = dropped = 0

    @settings(max_examples=40, database=None, derandomize=True)
    @given(well_formed(wire), st.integers(1, 6))
    def count(messages: list[Message], kept: int) -> None:
        nonlocal cut, dropped
        cut += bool(worse(wire, messages, [ASK, *messages[-kept:]]))
        dropped += bool(worse(wire, messages, [m for m in messages if not is_result(m)]))

    count()
    assert cut > 0
    assert dropped > 0


@few
@given(kinds("anthropic")["thinking"])
def test_a_client_that_edits_nothing_never_hears_of_its_thinking(messages: list[Message]) -> None:
    bound = Bound()
    for sent in prefixes(messages):
        assert bound.feed(sent) == []
        bound.answered(messages[len(sent)] if len(sent) < len(messages) else None)


def test_prefixes_are_the_requests_that_a_client_sends_on_the_way() -> None:
    messages = [system(), ASK, calling(call()), answer(), calling(call("b")), answer("b")]
    assert list(prefixes(messages)) == [messages[:2], messages[:4], messages]
    items = [ASK, REASON, made(), output(), said(), ASK, said()]
    assert list(prefixes(items)) == [items[:1], items[:4], items[:6]]
