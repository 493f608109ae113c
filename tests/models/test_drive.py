"""What drives a computation that asks."""

import pytest

from holdfast.core.asking import Answer, Ask, Failed
from holdfast.errors import BadSetting
from holdfast.models.drive import answer
from holdfast.models.limits import Guard, Limits
from holdfast.models.naming import model_named, resolve_model
from tests.models.asks import ASK, asking
from tests.models.scripted import scripted

SOON = 0.05


def test_a_computation_gets_the_answers_in_order() -> None:
    asked: list[Ask] = []
    model = scripted(["one", Failed("two"), "three"], asked=asked)
    replies = [Answer("one", "scripted"), Failed("two"), Answer("three", "scripted")]
    assert answer(asking(3), model) == replies
    assert asked == [ASK] * 3


def test_a_script_that_has_run_out_fails() -> None:
    (reply,) = answer(asking(), scripted([]))
    assert isinstance(reply, Failed)


def test_a_model_is_not_asked_when_it_is_left_alone() -> None:
    asked: list[Ask] = []
    model = scripted([Failed("no")] * 9, asked=asked)
    replies = answer(asking(5), model, Guard(Limits(failures=3), clock=lambda: 0.0))
    assert len(asked) == 3
    assert replies[:3] == [Failed("no")] * 3
    assert isinstance(replies[3], Failed)
    assert replies[3] != Failed("no")


def test_a_plain_function_is_a_model() -> None:
    def shout(text: str) -> str:
        return text.upper()

    expected = Answer("BE BRIEF.\n\nWHAT IS IT?", "shout")
    assert answer(asking(), resolve_model(shout)) == [expected]


def test_whatever_a_function_raises_is_a_reason() -> None:
    def broken(text: str) -> str:
        raise StopIteration(f"\x1b[31m{len(text)} characters\n were too many")

    (reply,) = answer(asking(), resolve_model(broken))
    assert reply == Failed("the model raised StopIteration: [31m22 characters were too many")


def test_a_function_that_returns_no_text_has_failed() -> None:
    def wrong(text: str) -> str:
        return len(text)  # pyright: ignore[reportReturnType]

    assert answer(asking(), resolve_model(wrong)) == [Failed("wrong returned int, not text")]


def test_a_function_that_hangs_is_left_behind() -> None:
    import threading

    go_on = threading.Event()

    def hangs(text: str) -> str:
        go_on.wait(30)
        return text

    replies = answer(asking(), resolve_model(hangs), Guard(Limits(deadline=SOON)))
    go_on.set()
    assert replies == [Failed("no answer came within 0.05 seconds")]


@pytest.mark.parametrize(
    "name", ["", "gpt", "command:", "command:  ", "command:'", ":x", "openai:"]
)
def test_a_name_that_is_no_models_is_a_bad_setting(name: str) -> None:
    with pytest.raises(BadSetting) as caught:
        model_named(name)
    assert caught.value.name == "summarizer"
