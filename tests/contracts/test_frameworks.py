"""Messages and usages that are objects of SDKs and frameworks: read whole, or refused.

The classes here have the shapes of the real ones, so that these tests run without them; the last
tests use the real ones where they are installed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

import holdfast
from holdfast.core.ledger.entry import Said, Source, Thought, ToolCalled, ToolReturned, Used
from holdfast.errors import HoldfastError, MixedWires, Unreadable
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore


class Model:
    """An object that can be dumped, as those of pydantic can."""

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
        """Its members, those of its members dumped too."""
        assert (mode, exclude_unset) == ("json", True)
        return {key: dumped(value) for key, value in self.__dict__.items()}


def dumped(value: Any) -> Any:
    """A value as pydantic dumps it."""
    if isinstance(value, Model):
        return value.model_dump(mode="json", exclude_unset=True)
    items: Any = value
    return [dumped(item) for item in items] if isinstance(value, list) else value


class HumanMessage(Model):
    """LangChain's: a type in place of a role, which `exclude_unset` leaves out of a dump."""

    type = "human"

    def __init__(self, content: Any, **members: Any) -> None:
        super().__init__(content=content, **members)


class SystemMessage(HumanMessage):
    """LangChain's."""

    type = "system"


class AIMessage(HumanMessage):
    """LangChain's."""

    type = "ai"


class ToolMessage(HumanMessage):
    """LangChain's."""

    type = "tool"


class RemoveMessage(HumanMessage):
    """LangGraph's order to forget a message."""

    type = "remove"


@dataclass
class Part:
    """A part of a message of Pydantic AI's."""

    part_kind: str
    content: Any = None
    tool_name: str | None = None
    tool_call_id: str = ""
    args: Any = None
    signature: str | None = None
    provider_name: str | None = None
    outcome: str = "success"


@dataclass
class ModelMessage:
    """A request or a response of Pydantic AI's."""

    kind: str
    parts: list[Any]
    instructions: str | None = None
    usage: Any = field(default_factory=dict[str, Any])


@dataclass
class ImageUrl:
    """A picture in a prompt of Pydantic AI's."""

    url: str
    kind: str = "image-url"


CALL = {"name": "read", "args": {"path": "a.py"}, "id": "c1", "type": "tool_call"}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CALLED = ToolCalled("c1", "read", '{"path":"a.py"}')
USE = {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.py"}}

LANGCHAIN = [
    SystemMessage("Be brief."),
    HumanMessage("Read a.py"),
    AIMessage("Reading.", tool_calls=[CALL], invalid_tool_calls=[], additional_kwargs={}),
    ToolMessage("print(1)", tool_call_id="c1", status="success"),
    AIMessage("It prints 1."),
]
PYDANTIC_AI = [
    ModelMessage(
        "request",
        [Part("system-prompt", "Be brief."), Part("user-prompt", "Read a.py")],
    ),
    ModelMessage(
        "response",
        [
            Part("text", "Reading."),
            Part("tool-call", tool_name="read", args={"path": "a.py"}, tool_call_id="c1"),
        ],
    ),
    ModelMessage("request", [Part("tool-return", "print(1)", "read", "c1")]),
    ModelMessage("response", [Part("text", "It prints 1.")]),
]
SAID: list[Source] = [
    Said("system", "Be brief."),
    Said("user", "Read a.py"),
    Said("assistant", "Reading."),
    CALLED,
    ToolReturned("c1", "print(1)"),
    Said("assistant", "It prints 1."),
]
HISTORIES = {"langchain": LANGCHAIN, "pydantic-ai": PYDANTIC_AI}


def fresh(wire: str = "") -> Session:
    return Session("s", MemoryStore(), wire=wire)


def said(session: Session) -> list[Any]:
    """What a session holds, in order."""
    return [entry.body for entry in session.ledger.path()]


def told(*messages: Any, wire: str = "") -> list[Any]:
    """What a session holds after messages."""
    session = fresh(wire)
    session.extend(messages)
    return said(session)


def sent(*messages: Any, wire: str = "") -> list[dict[str, Any]]:
    """What is sent after messages."""
    session = fresh(wire)
    session.extend(messages)
    return session.messages()


@pytest.mark.parametrize("framework", HISTORIES)
def test_messages_of_a_framework_keep_roles_words_calls_and_results(framework: str) -> None:
    history = HISTORIES[framework]
    assert told(*history) == SAID
    one_by_one = fresh()
    for message in history:
        one_by_one.append(message)
    assert said(one_by_one) == SAID
    made = holdfast.compress(history, 10_000)
    assert [message["role"] for message in made.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert made.before.tokens > 15


@pytest.mark.parametrize("framework", HISTORIES)
def test_a_history_of_a_framework_that_is_synced_again_adds_nothing(framework: str) -> None:
    session, history = fresh(), HISTORIES[framework]
    session.sync(history[:2])
    session.sync(history)
    again = session.sync(history)
    assert (again.added, again.branched, said(session)) == (0, False, SAID)


def test_a_tool_result_that_failed_says_so_where_the_format_can() -> None:
    failed = ToolMessage("no such file", tool_call_id="c1", status="error")
    use = AIMessage([{"type": "text", "text": "Reading."}, USE], tool_calls=[CALL])
    assert told(use, failed)[-1] == ToolReturned("c1", "no such file", failed=True)
    retried = Part("retry-prompt", "no such file", "read", "c1")
    asked = Part("tool-call", tool_name="read", args="{}", tool_call_id="c1")
    history = [ModelMessage("response", [asked]), ModelMessage("request", [retried])]
    assert told(*history, wire="anthropic")[-1] == ToolReturned("c1", "no such file", failed=True)
    assert told(*history)[-1] == ToolReturned("c1", "no such file")


def test_blocks_of_anthropic_in_a_langchain_message_make_an_anthropic_session() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "seal"}
    use = AIMessage([thought, {"type": "text", "text": "Reading."}, USE], tool_calls=[CALL])
    history = [HumanMessage("Read a.py"), use, ToolMessage("print(1)", tool_call_id="c1")]
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "print(1)"}
    assert sent(*history) == [
        {"role": "user", "content": "Read a.py"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "Reading."}, USE]},
        {"role": "user", "content": [result]},
    ]


def test_sealed_thinking_of_pydantic_ai_keeps_its_seal() -> None:
    thought = Part("thinking", "hm", signature="seal", provider_name="anthropic")
    asked = Part("tool-call", tool_name="read", args='{"path":"a.py"}', tool_call_id="c1")
    assert told(ModelMessage("response", [thought, asked])) == [Thought("hm", "seal"), CALLED]
    plain = Part("thinking", "hm")
    assert told(ModelMessage("response", [plain, asked])) == [Thought("hm"), CALLED]


def test_results_and_words_of_one_request_are_one_message_of_anthropic() -> None:
    request = ModelMessage(
        "request",
        [
            Part("tool-return", {"lines": 1}, "read", "c1"),
            Part("tool-return", "ok", "read", "c2"),
            Part("user-prompt", "And now?"),
        ],
    )
    calls = [Part("tool-call", tool_name="read", tool_call_id=name) for name in ("c1", "c2")]
    *_, last = sent(ModelMessage("response", calls), request, wire="anthropic")
    assert [block["type"] for block in last["content"]] == ["tool_result", "tool_result", "text"]
    assert last["content"][0]["content"] == '{"lines":1}'


def test_pictures_go_along_in_the_format_of_the_session() -> None:
    data = "data:image/png;base64,iVBORw0KGgo="
    prompt = ModelMessage("request", [Part("user-prompt", ["What is this?", ImageUrl(data)])])
    block = {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}
    for message in (prompt, HumanMessage([{"type": "text", "text": "What is this?"}, block])):
        (chat,) = sent(message)
        assert chat["content"][1] == {"type": "image_url", "image_url": {"url": data}}
        (other,) = sent(message, wire="anthropic")
        assert other["content"][1] == {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
        }


def test_a_call_whose_arguments_are_no_json_goes_along_as_the_model_wrote_it() -> None:
    odd = {"name": "read", "args": "{path: a", "id": "c1", "error": "no JSON"}
    message = AIMessage("", tool_calls=[], invalid_tool_calls=[odd])
    assert told(message) == [ToolCalled("c1", "read", "{path: a")]
    with pytest.raises(Unreadable, match="not a JSON object"):
        told(message, wire="anthropic")


def test_reasoning_that_langchain_keeps_beside_the_content_is_a_thought() -> None:
    message = AIMessage("4", additional_kwargs={"reasoning_content": "2 + 2"})
    assert told(message) == [Thought("2 + 2"), Said("assistant", "4")]


def test_an_answer_of_anthropic_is_taken_as_the_message_that_is_sent_back() -> None:
    use = Model(type="tool_use", id="c1", name="read", input={"path": "a.py"})
    answer = Model(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-4-5",
        content=[Model(type="text", text="Reading."), use],
        stop_reason="tool_use",
        usage=Model(input_tokens=4, output_tokens=9),
    )
    block = {"type": "text", "text": "Reading."}
    expected = [{"role": "assistant", "content": [block, USE]}]
    assert sent(answer) == expected
    assert sent(dumped(answer)) == expected


def test_a_message_of_the_openai_sdk_is_taken_as_it_dumps_itself() -> None:
    call = Model(id="c1", type="function", function=Model(name="read", arguments="{}"))
    message = Model(role="assistant", content=None, tool_calls=[call])
    assert sent(message) == [{"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}]
    item = Model(type="function_call", call_id="c1", name="read", arguments="{}")
    assert told(item) == [ToolCalled("c1", "read", "{}")]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (RemoveMessage(""), "a RemoveMessage cannot be read: it has no role"),
        (ToolMessage("out", tool_call_id=None), "it has no tool_call_id"),
        (HumanMessage(None), "it has no content"),
        (HumanMessage([{"text": "no type"}]), "no type"),
        (AIMessage("", tool_calls=[{**CALL, "id": None}]), "no id or no name"),
        (ModelMessage("response", [Part("builtin-tool-call")]), "'builtin-tool-call'"),
        (ModelMessage("request", []), "it has no parts"),
        (
            ModelMessage("request", [Part("user-prompt", [SimpleNamespace(kind="video-url")])]),
            "'video-url'",
        ),
        (
            ModelMessage("response", [Part("thinking", "", signature="s", provider_name="openai")]),
            "sealed by openai",
        ),
        (Model(choices=[], usage=None), r"pass its \.choices\[0\]\.message"),
        (Model(output=[], usage=None), r"pass the items of its \.output"),
        (SimpleNamespace(output="x", new_messages=list), r"\.new_messages\(\) returns"),
        (Model(role="user", blocks=["text"]), "it has no content"),
        (Model(text="hello"), "it has no role"),
        ({"role": "user", "parts": [{"text": "hello"}]}, "contents of Gemini"),
        (Model(role="user", parts=[Model(text="hello")]), "contents of Gemini"),
        ({"content": "hello"}, "it has no role"),
        (object(), "a object has no JSON form"),
        (7, "a int cannot be read"),
        (None, "a NoneType cannot be read"),
        ([], "a list cannot be read"),
    ],
)
def test_what_cannot_be_read_whole_is_refused_in_a_sentence_and_nothing_is_stored(
    message: Any, reason: str
) -> None:
    session = fresh()
    takes: list[Callable[[list[Any]], Any]] = [session.extend, session.sync]
    for take in takes:
        with pytest.raises(Unreadable, match=reason) as raised:
            take([message])
        assert str(raised.value).startswith("message: ")
        assert "\n" not in str(raised.value)
        assert said(session) == []
    with pytest.raises(Unreadable, match=reason):
        holdfast.compress([{"role": "user", "content": "x"}, message], 1_000)


def test_messages_of_formats_that_exclude_each_other_are_refused_and_not_emptied() -> None:
    item = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "x"}
    with pytest.raises(MixedWires):
        told({"role": "user", "content": [result]}, item)


def test_an_item_of_a_kind_nobody_knows_is_carried_whole() -> None:
    item = {"type": "something_new", "content": "x"}
    assert sent(item) == [item]


class Usage:
    """Counts of any provider's, as attributes."""

    def __init__(self, **counts: Any) -> None:
        self.__dict__.update(counts)


USAGES = {
    "anthropic": (
        Usage(
            input_tokens=4,
            cache_read_input_tokens=200,
            cache_creation_input_tokens=30,
            output_tokens=9,
        ),
        Used(234, 234, 9, 200, 30),
    ),
    "anthropic without a cache": (
        Usage(input_tokens=4, cache_read_input_tokens=None, output_tokens=9),
        Used(4, 4, 9),
    ),
    "openai chat": (
        Usage(
            prompt_tokens=300,
            completion_tokens=7,
            prompt_tokens_details=Usage(cached_tokens=256, audio_tokens=None),
        ),
        Used(300, 300, 7, 256),
    ),
    "openai chat without details": (
        Usage(prompt_tokens=300, completion_tokens=7, prompt_tokens_details=None),
        Used(300, 300, 7),
    ),
    "openai responses": (
        Usage(input_tokens=300, output_tokens=7, input_tokens_details=Usage(cached_tokens=256)),
        Used(300, 300, 7, 256),
    ),
    "langchain": (
        {
            "input_tokens": 300,
            "output_tokens": 7,
            "total_tokens": 307,
            "input_token_details": {"cache_read": 200, "cache_creation": 50},
        },
        Used(300, 300, 7, 200, 50),
    ),
    "pydantic-ai": (
        Usage(
            input_tokens=300,
            cache_read_tokens=200,
            cache_write_tokens=50,
            output_tokens=7,
            requests=1,
        ),
        Used(300, 300, 7, 200, 50),
    ),
    "gemini": (
        Usage(
            prompt_token_count=300,
            cached_content_token_count=100,
            candidates_token_count=7,
            thoughts_token_count=20,
            tool_use_prompt_token_count=None,
        ),
        Used(300, 300, 27, 100),
    ),
    "gemini over REST": (
        {"promptTokenCount": 300, "candidatesTokenCount": 7, "totalTokenCount": 307},
        Used(300, 300, 7),
    ),
}


def reported(usage: Any) -> Used:
    """What a session noted of a usage that was reported before the answer was appended."""
    session = fresh()
    session.append({"role": "user", "content": "x"})
    session.report(usage=usage)
    return next(entry.body for entry in session.ledger.events() if isinstance(entry.body, Used))


@pytest.mark.parametrize("provider", USAGES)
def test_a_usage_object_counts_as_its_provider_means_it(provider: str) -> None:
    usage, used = USAGES[provider]
    assert reported(usage) == used
    if not isinstance(usage, Mapping):
        members = {
            key: vars(value) if isinstance(value, Usage) else value
            for key, value in vars(usage).items()
        }
        assert reported(members) == used


@pytest.mark.parametrize(
    ("usage", "reason"),
    [
        ({}, "counts no input tokens"),
        (Usage(), "counts no input tokens"),
        ({"input_tokens": None}, "counts no input tokens"),
        (Usage(input_tokens="many"), "counts no input tokens"),
        ("17 tokens", "a str that counts no input tokens"),
        (17, "a int that counts no input tokens"),
        (Usage(input_tokens=900, requests=3), "the sum of 3 requests"),
    ],
)
def test_a_usage_that_tells_no_size_is_refused_and_not_noted(usage: Any, reason: str) -> None:
    session = fresh()
    session.append({"role": "user", "content": "x"})
    with pytest.raises(Unreadable, match=reason):
        session.report(usage=usage, model="gpt-4o")
    assert session.ledger.events() == []


def test_the_exception_of_an_sdk_teaches_the_limit() -> None:
    session = fresh()
    session.append({"role": "user", "content": "x"})
    session.report(error=ValueError("prompt is too long: 205030 tokens > 200000 maximum"))
    assert session.ledger.head().limit == 200_000


# The real ones, where they are installed.


def test_the_messages_of_langchain_are_read_whole() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    assert (
        told(
            messages.SystemMessage("Be brief."),
            messages.HumanMessage("Read a.py"),
            messages.AIMessage("Reading.", tool_calls=[CALL]),
            messages.ToolMessage("print(1)", tool_call_id="c1", artifact=object()),
            messages.AIMessage("It prints 1."),
        )
        == SAID
    )
    assert told(messages.AIMessageChunk("It prints 1.")) == [SAID[-1]]
    assert told(messages.ChatMessage("x", role="critic")) == [Said("critic", "x")]
    with pytest.raises(Unreadable):
        told(messages.RemoveMessage(id="1"))
    counts = {"input_tokens": 300, "output_tokens": 7, "total_tokens": 307}
    answer = messages.AIMessage("x", usage_metadata=counts)
    assert reported(answer.usage_metadata) == Used(300, 300, 7)


def test_the_messages_of_pydantic_ai_are_read_whole() -> None:
    messages = pytest.importorskip("pydantic_ai.messages")
    usage = pytest.importorskip("pydantic_ai.usage")
    history = [
        messages.ModelRequest(
            parts=[
                messages.SystemPromptPart("Be brief."),
                messages.UserPromptPart("Read a.py"),
            ]
        ),
        messages.ModelResponse(
            parts=[
                messages.TextPart("Reading."),
                messages.ToolCallPart("read", {"path": "a.py"}, "c1"),
            ]
        ),
        messages.ModelRequest(parts=[messages.ToolReturnPart("read", "print(1)", "c1")]),
        messages.ModelResponse(parts=[messages.TextPart("It prints 1.")]),
    ]
    assert told(*history) == SAID
    dumps = messages.ModelMessagesTypeAdapter.dump_python(history, mode="json")
    assert told(*dumps) == SAID
    picture = messages.BinaryContent(b"\x89PNG", media_type="image/png")
    assert len(told(messages.ModelRequest(parts=[messages.UserPromptPart(["x", picture])]))) == 2
    counts = usage.RequestUsage(input_tokens=300, cache_read_tokens=200, output_tokens=7)
    assert reported(counts) == Used(300, 300, 7, 200)
    with pytest.raises(HoldfastError):
        reported(usage.RunUsage(input_tokens=900, requests=3))


def test_the_objects_of_the_anthropic_sdk_are_read_whole() -> None:
    types = pytest.importorskip("anthropic.types")
    answer = types.Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-4-5",
        stop_reason="tool_use",
        content=[
            types.TextBlock(type="text", text="Reading."),
            types.ToolUseBlock(type="tool_use", id="c1", name="read", input={"path": "a.py"}),
        ],
        usage=types.Usage(input_tokens=4, output_tokens=9, cache_read_input_tokens=200),
    )
    assert told(answer) == [Said("assistant", "Reading."), CALLED]
    assert set(sent(answer)[0]) == {"role", "content"}
    assert reported(answer.usage) == Used(204, 204, 9, 200)


def test_the_objects_of_the_openai_sdk_are_read_whole() -> None:
    chat = pytest.importorskip("openai.types.chat")
    types = pytest.importorskip("openai.types")
    calls = [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]
    message = chat.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": calls}
    )
    assert told(message) == [ToolCalled("c1", "read", "{}")]
    counts = types.CompletionUsage.model_validate(
        {
            "prompt_tokens": 300,
            "completion_tokens": 7,
            "total_tokens": 307,
            "prompt_tokens_details": {"cached_tokens": 256},
        }
    )
    assert reported(counts) == Used(300, 300, 7, 256)
    completion = chat.ChatCompletion.model_validate(
        {
            "id": "x",
            "choices": [],
            "created": 1,
            "model": "gpt-4o",
            "object": "chat.completion",
        }
    )
    with pytest.raises(Unreadable, match="choices"):
        told(completion)


def test_the_usage_of_the_gemini_sdk_is_read() -> None:
    types = pytest.importorskip("google.genai.types")
    counts = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=300, candidates_token_count=7, cached_content_token_count=100
    )
    assert reported(counts) == Used(300, 300, 7, 100)
    with pytest.raises(Unreadable, match="Gemini"):
        told(types.Content(role="user", parts=[types.Part(text="x")]))
