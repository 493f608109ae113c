"""Call models of providers through pydantic-ai: `anthropic:claude-…`, `openai:gpt-…` and others.

Keys and base URLs come from the environment, as the providers' own libraries read them. pydantic-ai
is an extra and takes a second to import, so it is imported at the first call.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from holdfast.core.asking import Answer, Ask, Failed, Stop
from holdfast.errors import BadSetting
from holdfast.models.drive import AskFn, error_line, too_late, within

LIBRARY = "pydantic_ai"
GRACE_SECONDS = 1.0
"""Extra seconds for an orderly cancellation of a late request."""
STOP_REASONS: dict[str, Stop] = {
    "stop": "end",
    "length": "length",
    "tool_call": "tool",
    "content_filter": "filter",
}


def provider_model(name: str) -> AskFn:
    """Return a function that calls the model of that name.

    Raises:
        BadSetting: pydantic-ai is not installed.
    """
    if find_spec(LIBRARY) is None:
        reason = f"the model {name!r} needs an extra: pip install 'holdfast[llm]'"
        raise BadSetting("summarizer", reason, origin="its name")

    def ask(question: Ask, seconds: float) -> Answer | Failed:
        import asyncio

        # In a thread of its own: the caller's thread may already run an event loop.
        return within(
            seconds + GRACE_SECONDS, lambda: asyncio.run(ask_provider(name, question, seconds))
        )

    return ask


async def ask_provider(name: str, question: Ask, seconds: float) -> Answer | Failed:
    """Call the model of that name, for callers that await."""
    import asyncio

    messages, errors = _library_module("messages"), _library_module("exceptions")
    message = messages.ModelRequest.user_text_prompt(question.prompt, instructions=question.system)
    settings = {"max_tokens": question.limit, "timeout": seconds}
    request = _library_module("direct").model_request(name, [message], model_settings=settings)
    try:
        return _to_answer(name, await asyncio.wait_for(request, seconds), messages)
    except TimeoutError:
        return Failed(too_late(seconds))
    except errors.ModelHTTPError as error:
        return Failed(f"the provider answered with status {error.status_code}")
    except (errors.AgentRunError, errors.UserError, ImportError) as error:
        return Failed(f"the model {name!r} could not be asked: {error_line(str(error))}")


def _library_module(name: str) -> Any:
    """Import a module of pydantic-ai by name, so that type checks do not need it installed."""
    return import_module(f"{LIBRARY}.{name}")


def _to_answer(name: str, response: Any, messages: Any) -> Answer:
    texts: list[str] = [
        part.content for part in response.parts if isinstance(part, messages.TextPart)
    ]
    called = any(isinstance(part, messages.ToolCallPart) for part in response.parts)
    return Answer(
        text="\n".join(texts),
        model=response.model_name or name,
        input=response.usage.input_tokens or 0,
        output=response.usage.output_tokens or 0,
        stop="tool" if called else STOP_REASONS.get(response.finish_reason or "stop", "other"),
    )
