"""The providers' models, against a stub that speaks their forms."""

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from holdfast.core.asking import Answer, Ask, Failed
from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.ask.answers import ask_for_rows
from holdfast.errors import BadSetting
from holdfast.models.drive import answer
from holdfast.models.limits import Guard, Limits
from holdfast.models.naming import model_named
from tests.core.building import ask as said
from tests.core.building import items
from tests.core.shrink.ask.test_answers import about
from tests.models.asks import ASK
from tests.models.stub import Reply, chat, messages, responses, stub

HERE = find_spec("pydantic_ai") is not None
needed = pytest.mark.skipif(not HERE, reason="the extra `llm` is not installed")

FORMS: dict[str, tuple[Callable[..., dict[str, Any]], str]] = {
    "openai-chat:stub-1": (chat, "/v1/chat/completions"),
    "openai:stub-1": (responses, "/v1/responses"),
    "anthropic:stub-1": (messages, "/v1/messages"),
}


def ask(
    reply: Reply,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    seconds: float = 30,
    question: Ask = ASK,
) -> Any:
    """One question through the environment that the providers' own libraries read."""
    with stub(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        return model_named(name)(question, seconds), server.seen


@pytest.mark.skipif(HERE, reason="the extra `llm` is installed")
def test_without_the_extra_the_error_says_what_to_install() -> None:
    with pytest.raises(BadSetting) as caught:
        model_named("anthropic:claude-haiku-4-5")
    assert "pip install 'holdfast[llm]'" in caught.value.reason


@needed
@pytest.mark.parametrize("name", FORMS)
def test_an_answer_comes_with_its_model_and_its_cost(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, path = FORMS[name]
    reply, seen = ask(Reply(form('{"a": 1}')), monkeypatch, name)
    assert reply == Answer('{"a": 1}', "stub-1", 11, 7, "end")
    ((asked, body),) = seen
    assert asked == path
    assert str(body).count("What is it?") == 1
    assert str(body).count("Be brief.") == 1
    sent = [body.get(key) for key in ("max_tokens", "max_completion_tokens", "max_output_tokens")]
    assert ASK.limit in sent


@needed
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("openai-chat:stub-1", chat("half", "length")),
        ("openai:stub-1", responses("half", "incomplete")),
        ("anthropic:stub-1", messages("half", "max_tokens")),
    ],
)
def test_an_answer_that_was_cut_off_says_so(
    name: str, form: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, _ = ask(Reply(form), monkeypatch, name)
    assert reply == Answer("half", "stub-1", 11, 7, "length")


@needed
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("openai-chat:stub-1", chat("", "tool_calls")),
        ("anthropic:stub-1", messages("let me", "tool_use")),
    ],
)
def test_a_call_of_a_tool_is_told_from_an_answer(
    name: str, form: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, _ = ask(Reply(form), monkeypatch, name)
    assert isinstance(reply, Answer)
    assert reply.stop == "tool"


@needed
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_a_status_that_is_no_success_is_a_reason(
    name: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Reply({"error": {"message": "no", "type": "x"}}, status)
    reply, _ = ask(refused, monkeypatch, name)
    assert reply == Failed(f"the provider answered with status {status}")


@needed
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    "page",
    [
        Reply("<html>Sign in</html>", kind="text/html"),
        Reply("<html>Sign in</html>"),
        Reply("{}"),
        Reply("[]"),
        Reply(""),
    ],
)
def test_what_no_provider_says_is_never_an_answer_with_words(
    name: str, page: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, _ = ask(page, monkeypatch, name)
    assert isinstance(reply, Failed) or reply.text.startswith("<") or not reply.text


@needed
@pytest.mark.parametrize("name", FORMS)
def test_a_provider_that_is_late_has_failed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form, _ = FORMS[name]
    reply, _ = ask(Reply(form("late"), wait=20), monkeypatch, name, seconds=0.5)
    assert reply == Failed("no answer came within 0.5 seconds")


BAD: dict[str, Callable[[Callable[..., dict[str, Any]]], Reply]] = {
    "empty": lambda form: Reply(form("")),
    "white space": lambda form: Reply(form(" \n ")),
    "refusal": lambda form: Reply(form("I'm sorry, but I can't help with that.")),
    "two documents": lambda form: Reply(form('{"decisions": []}{"decisions": []}')),
    "too long": lambda form: Reply(form('{"decisions": [' + " " * 9_000 + "]}")),
    "429": lambda form: Reply({"error": {"message": "slow down"}}, 429),
    "HTML": lambda form: Reply("<html>Sign in</html>", kind="text/html"),
    "HTML as an answer": lambda form: Reply(form("<html>Sign in</html>")),
    "timeout": lambda form: Reply(form("late"), wait=20),
}


@needed
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kind", BAD)
def test_a_provider_that_answers_badly_adds_nothing_to_a_summary(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def through(question: Ask, seconds: float) -> Answer | Failed:
        return ask(BAD[kind](FORMS[name][0]), monkeypatch, name, seconds, question)[0]

    span = items(said("Please move the importer to SQLite storage. " * 40))
    asking = ask_for_rows(about(span), Summary(), lambda text: len(text.split()), 4_000)
    made = answer(asking, through, Guard(Limits(deadline=1.0)))
    assert made.summary == Summary()
    assert made.refused


@needed
def test_a_caller_with_a_running_loop_can_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    async def inside() -> Any:
        return ask(Reply(chat("yes")), monkeypatch, "openai-chat:stub-1")[0]

    reply = asyncio.run(inside())
    assert isinstance(reply, Answer)
    assert reply.text == "yes"


@needed
@pytest.mark.parametrize("name", ["nobody:x", "openai-chat:stub-1"])
def test_a_model_that_cannot_be_reached_is_a_reason(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert isinstance(model_named(name)(ASK, 20), Failed)
